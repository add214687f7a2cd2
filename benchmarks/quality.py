"""Regret under a budget beside BoTorch, SCBO and Optuna: python -m benchmarks.quality [--seeds N] [--jobs N]

Same problems, seeds and initial points for all; every method but XsF is stopped when its budget is spent, and
XsF is run both ways ("safe" goes on, "stop" is the hard cap). Safe-set expansion is left out where no initial
point is safe. Each run is a JSON line under ``--out``; a killed command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from experiments.runs import machine

machine.one_thread_each()

import numpy as np  # noqa: E402

from experiments.peers.settings import SETTINGS  # noqa: E402
from experiments.runs import methods, pool, statistics  # noqa: E402
from experiments.runs.records import Line, Spec  # noqa: E402
from experiments.runs.statistics import Cell  # noqa: E402
from experiments.runs.store import Store  # noqa: E402
from tumble import problems  # noqa: E402
from tumble.core.history import violated  # noqa: E402
from tumble.problems import Problem  # noqa: E402

from .tables import table, verdict  # noqa: E402

PROBLEMS = (
    "hartmann6-constrained", "michalewicz10-constrained", "in-model", "gardner-cosine", "gardner-sine",
    "branin-disk", "gramacy", "corrugated-bulkhead", "piston-lever", "thrust-bearing", "alkylation", "cliff",
    "staircase", "chirp", "stalling",
)  # fmt: skip
METHODS = ("xsf", "xsf/stop", "eic", "safe-set", "botorch", "scbo", "optuna")
NEEDS = {"botorch": "botorch", "scbo": "botorch", "optuna": "optuna"}
OURS = "xsf"


def specs_of(families: Sequence[str], chosen: Sequence[str], seeds: range) -> list[Spec]:
    """Every run, seeds outermost. "xsf/stop" is XsF with the hard cap, as a block of its own."""
    specs = []
    for seed in seeds:
        for family in families:
            name = f"{family}:{seed}" if family == "in-model" else family
            problem = problems.get(name)
            for method, _, rule in (m.partition("/") for m in chosen):
                if method == "safe-set" and not _starts_safely(problem):
                    continue
                specs.append(
                    Spec(
                        problem=name,
                        method=method,
                        seed=seed,
                        trials=problem.trials,
                        failures=problem.failures,
                        on_exhausted="stop" if rule else methods.when_spent(method),
                        block=rule or "default",
                        settings=methods.settings_of(method, "default", name),
                    )
                )
    return specs


def _starts_safely(problem: Problem) -> bool:
    """Whether an initial point is safe: safe-set expansion cannot begin without one."""
    return any(not violated(problem.evaluate(x).constraints) for x in problem.initial)


def report(lines: Sequence[Line], families: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """A table for each problem, the average ranks, and the promises."""
    found = statistics.cells(lines)
    answer: list[str] = []
    scores: list[dict[str, float]] = []
    for family in families:
        cells = {m: found[key] for m in chosen if (key := _key(family, m)) in found}
        if cells:
            answer += ["", family, table(_HEADER, [_row(name, cell) for name, cell in cells.items()])]
            scores.append({name: float(cell.values("regret").mean()) for name, cell in cells.items()})
    rivals = [m for m in chosen if m != "xsf/stop"]
    ranks = statistics.average_ranks([{m: row[m] for m in rivals if m in row} for row in scores])
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    answer += ["", f"average rank by mean regret over {len(scores)} problems"]
    answer.append(table(("method", "rank"), [[_label(name), f"{rank:.2f}"] for name, rank in ordered]))
    stops = [cell for (_, method, block), cell in found.items() if (method, block) == ("xsf", "stop")]
    beyond = sum(int(np.sum(cell.values("beyond") > 0)) for cell in stops)
    answer.append(verdict("tumble's average rank is the best", ordered[0][0] == OURS))
    answer.append(
        verdict(f'{beyond} of {sum(len(c.lines) for c in stops)} runs with "stop" beyond B', not beyond)
    )
    return answer


_HEADER = ("method", "n", "mean ± std", "median", "Ω %", "budget gone at", "failures beyond B", "s/ask")


def _row(name: str, cell: Cell) -> list[str]:
    regret = cell.values("regret")
    gone = [statistics.exhausted_at(line) for line in cell.lines]
    spent = [g for g in gone if g is not None]
    seconds = cell.values("seconds_total").sum() / max(1.0, cell.values("n_trials").sum())
    return [
        _label(name),
        str(len(regret)),
        statistics.mean_and_std(regret, "{:.4g}".format),
        f"{np.median(regret):.4g}",
        f"{cell.values('omega').mean():.0f}",
        f"{np.mean(spent):.0f} ({len(spent)}/{len(gone)})" if spent else "never",
        f"{int(cell.values('beyond').sum())}",
        f"{seconds:.3f}",
    ]


def _key(family: str, method: str) -> tuple[str, str, str]:
    name, _, rule = method.partition("/")
    return family, name, rule or "default"


def _label(method: str) -> str:
    name, _, rule = method.partition("/")
    return "tumble " * (name not in methods.PEERS) + methods.LABELS[name] + f' ("{rule}")' * bool(rule)


def main(arguments: list[str] | None = None) -> int:
    """Run, print, and answer 0 when every promise held."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seed-base", type=int, default=1000)
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("out/quality"))
    options = parser.parse_args(arguments)
    families, asked = options.problems.split(","), options.methods.split(",")
    chosen = [m for m in asked if m not in NEEDS or find_spec(NEEDS[m])]
    print(json.dumps({**machine.description(), "peers": SETTINGS}, indent=1, ensure_ascii=False))
    for missing in set(asked) - set(chosen):
        print(f"left out, not installed: {missing}", file=sys.stderr)
    specs = specs_of(families, chosen, range(options.seed_base, options.seed_base + options.seeds))
    store = Store(options.out, "quality")
    summary = pool.run_all(specs, store, jobs=options.jobs, fresh=True)
    for error in summary.errors:
        print(f"failed: {error}", file=sys.stderr)
    wanted = {spec.key for spec in specs}
    answer = report([line for line in store.lines() if line["key"] in wanted], families, chosen)
    print("\n".join(answer))
    return 1 if summary.errors or any(line.startswith("MISSED") for line in answer) else 0


if __name__ == "__main__":
    sys.exit(main())
