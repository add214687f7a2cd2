"""How near to the optimum does a search come where many limits meet?

    python -m benchmarks.designs [--designs alkylation,...] [--seeds 20] [--first 0] [--jobs 2]

Runs the default on engineering designs with seven parameters or more and ten limits or more, T = 60 and
B = 9, from the safe start of each; a seed draws the search. What is printed: how far the best safe trial lies
above the optimum, in per cent of it (median and quartiles), and how many trials failed. The designs that are
kept for judging are refused.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from experiments.runs import machine

machine.one_thread_each()  # before numpy is loaded, here and in every worker

import numpy as np  # noqa: E402

from tumble import Optimizer, problems  # noqa: E402
from tumble.errors import BudgetExhausted, InputError, TumbleError  # noqa: E402

from .tables import table, verdict  # noqa: E402

TRIALS, FAILURES = 60, 9
DESIGNS = ("alkylation", "car-sheets", "ten-bar-truss", "car-side-impact", "refrigeration")
RESERVED = ("pressure-vessel", "tension-spring", "welded-beam", "speed-reducer")
MOST = 0.01  # per cent of the optimum, the median over the seeds

Run = tuple[str, int]  # a design and a seed


def carry_out(run: Run) -> tuple[float, int]:
    """One run: how far the best safe trial lies above the optimum, in per cent of it, and the failures."""
    name, seed = run
    problem = problems.get(name)
    space, names = problem.space, list(problem.constraint_names)
    opt = Optimizer(problem.bounds if space is None else space, TRIALS, FAILURES, names, seed=seed)
    for x in problem.initial:
        told = problem.evaluate(x)
        opt.tell(x if space is None else problem.params(x), told.value, list(told.constraints), billed=False)
    for _ in range(TRIALS):
        try:
            suggestion = opt.ask()
        except BudgetExhausted:  # B was exceeded
            break
        found = problem.evaluate(suggestion.x if space is None else problem.point(suggestion.x))
        opt.tell(suggestion, found.value, list(found.constraints))
    assert opt.best is not None  # the start is safe
    return 100.0 * (opt.best.value - problem.f_min) / abs(problem.f_min), opt.n_failures


def report(names: Sequence[str], found: Sequence[tuple[float, int]]) -> list[str]:
    """A table with a row for each design, and a verdict for each; `found` holds as many runs of each."""
    count = len(found) // len(names)
    rows, verdicts = [], []
    for k, name in enumerate(names):
        problem = problems.get(name)
        regrets, failures = np.array(found[k * count : (k + 1) * count]).T
        low, middle, high = np.quantile(regrets, (0.25, 0.5, 0.75))
        sizes = [str(problem.dimension), str(len(problem.constraint_names)), str(count)]
        beyond = int((failures > FAILURES).sum())
        regret = [f"{middle:.2g}", f"{low:.2g} to {high:.2g}"]
        rows.append([name, *sizes, *regret, f"{failures.mean():.1f}", str(beyond)])
        verdicts.append(verdict(f"{name}: median {middle:.2g} % (at most {MOST} %)", bool(middle <= MOST)))
    header = ("design", "parameters", "limits", "runs", "median, %", "quartiles, %", "failures", "beyond B")
    return [table(header, rows), *verdicts]


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 0 when every promise held, 1 when one is missed, 2 for bad input."""
    options = _parser().parse_args(arguments)
    names = options.designs.split(",")
    try:
        _check(names)
    except TumbleError as error:
        print(f"designs: {error}", file=sys.stderr)
        return 2
    runs = [(name, seed) for name in names for seed in range(options.first, options.first + options.seeds)]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as workers:
        found = list(workers.map(carry_out, runs))
    answer = report(names, found)
    print("\n".join(answer))
    return int(any(line.startswith("MISSED") for line in answer))


def _check(names: Sequence[str]) -> None:
    for name in names:
        if name in RESERVED:
            raise InputError(f"{name} is kept for judging: choose among {', '.join(DESIGNS)}")
        if problems.get(name).constraints is None or len(problems.get(name).initial) != 1:
            raise InputError(f"{name} is no design with limits: choose among {', '.join(DESIGNS)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.designs", description=__doc__)
    parser.add_argument("--designs", default=",".join(DESIGNS), help="separated by commas")
    parser.add_argument("--seeds", type=int, default=20, help="runs of each design")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side")
    return parser


if __name__ == "__main__":
    sys.exit(main())
