"""Seconds a suggestion, beside BoTorch and Optuna, in one run on one core.

    python -m benchmarks.speed [headline] [growth] [methods] [import] [history] [--asks N] [--store]
    python -m benchmarks.speed headline --peers optuna

An `ask` is timed with its fits, after one new observation, on Hartmann 6D. The history is the library's own
trials up to then ("own", what its user waits for), or the same one for all: tumble's own ("search"), or
uniform points ("uniform"); three of each. Seconds are those of the processor (all run on one thread), and the
libraries take turns, so that a busy machine disturbs all of them; it still costs tumble most, whose calls are
small. Means are compared as ratios, because beyond 60 observations tumble learns hyperparameters only when
there are a quarter more of them: a median would leave the fits out. Of the 24 suggestions around N = 100 one
learns them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from typing import Any

from experiments.runs import machine

machine.one_thread_each()  # before numpy is loaded

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from experiments.runs.methods import LABELS, TumbleSearcher, make_peer  # noqa: E402
from experiments.runs.records import Spec  # noqa: E402
from experiments.runs.searcher import Searcher  # noqa: E402
from tumble import Settings, __version__, problems  # noqa: E402
from tumble.methods import METHODS, find_method  # noqa: E402
from tumble.problems import Problem  # noqa: E402

from .tables import table, verdict  # noqa: E402
from .timings import Timing, store, times_tumble, timing_table  # noqa: E402

Array = NDArray[np.float64]
FAMILIES = {0: "hartmann6", 1: "hartmann6-constrained"}
HISTORIES = 3  # of a kind: how long a suggestion takes depends on how far its search has come
KINDS = ("own", "search", "uniform")
PEERS = ("botorch", "optuna")
LIMITS = {"botorch": 30, "optuna": 10}  # how many times as long as tumble's their suggestion takes
NAMES = {LABELS[name]: name for name in PEERS}


def tumble_searcher(
    problem: Problem, method: str, settings: Settings, trials: int = 1000, seed: int = 0
) -> Searcher:
    """A fresh optimizer of that method."""
    budget = None if problem.failures is None else trials
    return TumbleSearcher(
        Spec(problem.name, method, seed, trials, budget, "safe", settings=settings.to_dict()), problem
    )


def default_method(problem: Problem) -> str:
    """What `method=None` means for the problem."""
    return find_method(None, limited=problem.constraints is not None).name


@lru_cache(maxsize=8)
def trajectory(family: str, seed: int = 0, n: int = 100) -> Array:
    """The initial points and tumble's own first trials on a problem, shape (n, D)."""
    problem = problems.get(family)
    searcher = tumble_searcher(problem, default_method(problem), Settings(), seed=seed)
    points = [*problem.initial]
    for x in problem.initial:
        searcher.inform(x, problem.evaluate(x))
    while len(points) < n:
        trial = searcher.ask()
        searcher.tell(trial, problem.evaluate(trial.x))
        points.append(trial.x)
    return np.array(points)


def time_asks(
    problem: Problem, searchers: dict[str, Searcher], history: Array, asks: int
) -> dict[str, Array]:
    """Seconds of each of ``asks`` suggestions, in turns, one new observation between two.

    Each searcher is told its own suggestion; the first, from a cold start, is not counted.
    """
    for searcher in searchers.values():
        for x in history:
            searcher.inform(x, problem.evaluate(x))
    return {name: values[1:] for name, values in _in_turns(problem, searchers, asks + 1).items()}


def time_own(problem: Problem, searchers: dict[str, Searcher], n: int, asks: int) -> dict[str, Array]:
    """Seconds of each of ``asks`` suggestions, in turns, the last of n trials that each searcher chose.

    All start from the initial points of the problem.
    """
    for searcher in searchers.values():
        for x in problem.initial:
            searcher.inform(x, problem.evaluate(x))
    played = _in_turns(problem, searchers, n - len(problem.initial))
    return {name: values[-asks:] for name, values in played.items()}


def _in_turns(problem: Problem, searchers: dict[str, Searcher], asks: int) -> dict[str, Array]:
    """Seconds of each of ``asks`` suggestions; each searcher is told its own."""
    seconds: dict[str, list[float]] = {name: [] for name in searchers}
    for _ in range(asks):
        for name, searcher in searchers.items():
            begun = time.process_time()
            trial = searcher.ask()
            seconds[name].append(time.process_time() - begun)
            searcher.tell(trial, problem.evaluate(trial.x))
    return {name: np.array(values) for name, values in seconds.items()}


def history_of(kind: str, family: str, n: int, seed: int = 0) -> Array:
    """A history of n points: "search" or "uniform"."""
    if kind == "search":
        return trajectory(family, seed)[:n]
    problem = problems.get(family)
    low, high = problem.bounds.T
    points: Array = low + (high - low) * np.random.default_rng(seed).random((n, problem.dimension))
    return points


def headline(asks: int, peers: tuple[str, ...] = PEERS) -> list[str]:
    """N = 100, D = 6, without and with one constraint, beside BoTorch and Optuna, over several histories."""
    found = headline_timings(asks, peers)
    verdicts = []
    for timing in found:
        limit = LIMITS.get(NAMES.get(timing.library, ""))
        if limit is not None:
            ratio = times_tumble(timing, found)
            case = f"G = {timing.constraints}, {timing.kind}"
            text = f"{case}: 1/{ratio:.1f} of {timing.library} (at most 1/{limit})"
            verdicts.append(verdict(text, ratio >= limit))
    return [timing_table(found), *verdicts]


@lru_cache(maxsize=1)
def headline_timings(asks: int, peers: tuple[str, ...] = PEERS) -> list[Timing]:
    """Seconds a suggestion of tumble and of those of `peers` that are installed, in six cases."""
    found = []
    for (n_constraints, family), kind in product(FAMILIES.items(), KINDS):
        times: dict[str, Array] = {}
        for seed in range(HISTORIES):
            for name, values in _beside_peers(family, kind, asks, seed, peers).items():
                times[name] = np.append(times.get(name, []), values)
        for name, values in times.items():
            low, high = np.quantile(values, [0.1, 0.9]).tolist()
            label = "tumble" if name == "tumble" else LABELS[name]
            found.append(Timing(n_constraints, kind, label, float(np.mean(values)), low, high))
    return found


def _beside_peers(family: str, kind: str, asks: int, seed: int, peers: tuple[str, ...]) -> dict[str, Array]:
    """Seconds of tumble and of those of `peers` that are installed, after one history."""
    problem = problems.get(family)
    makers: dict[str, Callable[[], Searcher]] = {
        "tumble": partial(tumble_searcher, problem, default_method(problem), Settings(), seed=seed),
        **{peer: partial(make_peer, peer, problem, seed) for peer in peers},
    }
    searchers = {name: made for name, maker in makers.items() if (made := _available(maker)) is not None}
    if kind == "own":
        return time_own(problem, searchers, 100 + asks // 2, asks)
    return time_asks(problem, searchers, history_of(kind, family, 100 - asks // 2, seed), asks)


def _available(maker: Callable[[], Searcher]) -> Searcher | None:
    try:
        return maker()
    except ModuleNotFoundError as error:
        print(f"left out: {error}", file=sys.stderr)
        return None


def bowl(dimension: int, n_constraints: int) -> Problem:
    """A rippled bowl on the unit cube in any dimension, safe outside a ball around the centre."""
    return Problem(
        name=f"bowl{dimension}",
        bounds=np.tile([0.0, 1.0], (dimension, 1)),
        objective=lambda x: float(np.sum((x - 0.4) ** 2) + 0.1 * np.sum(np.cos(7.0 * x))),
        f_min=0.0,
        constraints=(lambda x: np.full(n_constraints, 0.1 - np.mean((x - 0.5) ** 2)))
        if n_constraints
        else None,
        constraint_names=tuple(f"g{i + 1}" for i in range(n_constraints)),
        failures=1 if n_constraints else None,
    )


def growth(asks: int) -> list[str]:
    """Cost in N, D, S and restarts; App. C: O(M R D (S + 1) + N_d log(1/κ) + (G + 1)(N + 1)³)."""
    base = {"N": 100, "D": 6, "S": Settings().n_minima, "restarts": Settings().restarts}
    sweeps: dict[str, Sequence[int]] = {
        "N": (20, 50, 100, 200, 500), "D": (2, 4, 6, 10, 20), "S": (5, 20, 80), "restarts": (5, 10, 20, 40),
    }  # fmt: skip
    stated = {"N": "cubic", "D": "linear", "S": "linear", "restarts": "linear"}
    parts = []
    for name, values in sweeps.items():
        rows = [[str(value), *_growth_row({**base, name: value}, asks)] for value in values]
        header = (f"{name} (App. C: {stated[name]})", "G = 0, s/ask", "G = 1, s/ask")
        parts += [table(header, rows), ""]
    return [f"at N = 100, D = 6, S = {base['S']}, restarts = {base['restarts']} unless varied", *parts]


def _growth_row(point: dict[str, int], asks: int) -> list[str]:
    cells = []
    for n_constraints in (0, 1):
        problem = bowl(point["D"], n_constraints)
        settings = replace(Settings(), n_minima=point["S"], restarts=point["restarts"])
        searcher = tumble_searcher(problem, default_method(problem), settings)
        history = np.random.default_rng(0).random((point["N"], point["D"]))
        times = time_asks(problem, {"tumble": searcher}, history, asks)["tumble"]
        cells.append(f"{np.mean(times):.4f}")
    return cells


def methods(asks: int) -> list[str]:
    """Seconds a suggestion of every method at N = 50 and 100, D = 6."""
    rows, slowest = [], 0.0
    for name, method in METHODS.items():
        problem = problems.get(FAMILIES[1 if method.constrained else 0])
        cells = []
        for n in (50, 100):
            searcher = tumble_searcher(problem, name, Settings())
            points = history_of("search", problem.name, n - asks // 2)
            seconds = float(np.mean(time_asks(problem, {name: searcher}, points, asks)[name]))
            cells.append(f"{seconds:.4f}")
            slowest = seconds if name == "pesc" else slowest
        rows.append([f"{LABELS.get(name, name)} (G = {int(method.constrained)})", *cells])
    answer = [table(("method", "N = 50, s/ask", "N = 100, s/ask"), rows)]
    if "pesc" in METHODS:
        answer.append(verdict(f"PESC at N = 100 takes {slowest:.2f} s <= 1 s", slowest <= 1.0))
    return answer


HISTORY = """
import json, resource, sys, time
import numpy as np
import tumble
n, D = int(sys.argv[1]), 6
f = lambda x: float(np.sum((x - 0.4) ** 2) + 0.1 * np.sum(np.cos(7.0 * x)))
g = lambda x: [float(np.sin(5.0 * x[0]) + x[1] - 1.2)]
opt = tumble.Optimizer([(0.0, 1.0)] * D, 5000, 500, constraints=1, seed=0)
for x in np.random.default_rng(0).random((n, D)):
    opt.tell(x, f(x), g(x), billed=False)
seconds = []
for _ in range(4):
    begun = time.process_time()
    s = opt.ask()
    seconds.append(time.process_time() - begun)
    opt.tell(s, f(s.x), g(s.x))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds[0], sum(seconds[1:]) / 3, peak / 1024]))
"""
# N: the least ratio of 0.1.0 to this state for the first suggestion, and for those after it
HISTORY_LIMITS = {1000: (4.0, 2.0), 2000: (5.0, None)}
MOST_MEGABYTES = 300  # at the largest N


def history(asks: int) -> list[str]:
    """The first suggestion after importing N trials, those after it, and the peak of memory; D = 6, G = 1.

    With TUMBLE_BASELINE, the folder of the sources of an earlier state (its src), beside that state.
    """
    baseline = os.environ.get("TUMBLE_BASELINE")
    rows, verdicts = [], []
    for n in (100, 300, 1000, 2000):
        ours = _history_in_fresh_process(n, None)
        theirs = None if baseline is None else _history_in_fresh_process(n, baseline)
        for label, found in (("this state", ours), ("baseline", theirs)):
            if found is not None:
                first, warm, peak = found
                rows.append([f"{n}, {label}", f"{first:.3f}", f"{warm:.3f}", f"{peak:.0f}"])
        if theirs is not None:
            for what, k, limit in zip(("first", "later"), (0, 1), HISTORY_LIMITS.get(n, ()), strict=False):
                if limit is not None:
                    ratio = theirs[k] / ours[k]
                    verdicts.append(
                        verdict(f"N = {n}: {what} 1/{ratio:.1f} (at most 1/{limit:g})", ratio >= limit)
                    )
        if n == max(HISTORY_LIMITS):
            text = f"N = {n}: peak of memory {ours[2]:.0f} MB (below {MOST_MEGABYTES} MB)"
            verdicts.append(verdict(text, ours[2] < MOST_MEGABYTES))
    return [table(("N", "first, s", "later, s", "peak, MB"), rows), *verdicts]


def _history_in_fresh_process(n: int, sources: str | None) -> list[float]:
    """Seconds of the first suggestion and of later ones, and megabytes."""
    path = [*([sources] if sources else []), os.environ.get("PYTHONPATH", "")]
    found = subprocess.run(
        [sys.executable, "-c", HISTORY, str(n)], capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
    )  # fmt: skip
    numbers: list[float] = json.loads(found.stdout)
    return numbers


def imports(asks: int) -> list[str]:
    """`import tumble`, and with the search loaded, beside the parts of numpy and scipy that the search uses.

    In fresh processes, with bytecode: as installed, whatever this shell says about writing it.
    """
    ours, search = "import tumble", "from tumble import Optimizer, minimize"
    listing = f"import sys, json\n{search}\nprint(json.dumps(list(sys.modules)))"
    with tempfile.TemporaryDirectory() as bytecode:
        loaded = json.loads(_fresh(listing, bytecode))
        # importable by name alone: public and private modules, without those made up at run time
        parts = [name for name in loaded if name.partition(".")[0] in ("numpy", "scipy")]
        floor = (
            f"import importlib, json\nfor name in json.loads({json.dumps(json.dumps(parts))}):\n"
            "    try: importlib.import_module(name)\n    except ModuleNotFoundError: pass"
        )
        codes = (ours, search, floor)
        times = [[_process_seconds(code, bytecode) for code in codes] for _ in range(max(7, asks))]
    foreign = sorted(
        {m.partition(".")[0] for m in loaded} & {"torch", "optuna", "botorch", "matplotlib", "pandas"}
    )
    least = np.min(times, axis=0)
    labels = (ours, search, "their parts of numpy and scipy")
    rows = [[label, f"{s:.3f}"] for label, s in zip(labels, least, strict=True)]
    more = [1000 * float(s - least[-1]) for s in least[:-1]]
    return [
        table(("fresh process", "least s"), rows),
        verdict(f"import tumble takes {max(more[0], 0):.0f} ms more (at most 50 ms)", more[0] <= 50),
        f"        with the search loaded it is {more[1]:.0f} ms more",
        verdict(f"it loads no optional package ({', '.join(foreign) or 'none'})", not foreign),
    ]


def _process_seconds(code: str, bytecode: str) -> float:
    return float(
        _fresh(f"import time\nt = time.process_time()\n{code}\nprint(time.process_time() - t)", bytecode)
    )


def _fresh(code: str, bytecode: str) -> bytes:
    """What `code` prints in a process of its own that keeps its bytecode in a folder."""
    wanted = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**wanted, "PYTHONPYCACHEPREFIX": bytecode},
        capture_output=True,
        check=True,
    ).stdout


PARTS = {
    "headline": headline, "growth": growth, "methods": methods, "import": imports, "history": history,
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Print the tables asked for; 0 when every promise held."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all of them when none is named")
    parser.add_argument("--asks", type=int, default=24, help="suggestions timed for each number")
    parser.add_argument(
        "--peers", nargs="+", choices=PEERS, default=PEERS, help="in the headline; BoTorch is slow"
    )
    parser.add_argument("--store", action="store_true", help="keep the headline for the manual")
    options = parser.parse_args(arguments)
    peers, description = tuple(options.peers), machine.description()
    print(json.dumps({**description["hardware"], **description["versions"], "blas threads": 1}))
    missed = False
    for name in options.parts or PARTS:
        answer = headline(options.asks, peers) if name == "headline" else PARTS[name](options.asks)
        missed = missed or any(line.startswith("MISSED") for line in answer)
        print(f"\n{name}\n" + "\n".join(answer), flush=True)
    if options.store:
        store(headline_timings(options.asks, peers), _about(description))
    return 1 if missed else 0


def _about(description: dict[str, Any]) -> dict[str, Any]:
    """What the manual says of the machine, and what else a reader may want to know."""
    hardware, versions = description["hardware"], description["versions"]
    version = f"version {__version__} (commit {description['commit'][:7]})"
    return {"version": version, **hardware, "versions": versions, "code": description["code"]}


if __name__ == "__main__":
    sys.exit(main())
