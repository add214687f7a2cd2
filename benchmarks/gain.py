"""Is the expected gain true? What the trials left were said to bring, beside what they brought.

    python -m benchmarks.gain [--seeds 0:6] [--families classic,design,...] [--trials 60]

Runs the default on members of the families (tuning seeds), and looks at the suggestions at T/2 and 3T/4. The
realised gain is the best safe value at that moment less the best safe one at the end, in units of the way
from the median to the best twentieth of the problem's safe points. What is printed: how often the realised
gain lay below `gain_bound` (with Wilson's 95 % interval), the means of both and of `expected_gain`, the ratio
of the means of expected and realised gain (with its 95 % bootstrap interval over the runs), how many times
the realised gain the bound is (the median, where something was gained), and what `min_gain` of 1 % would save
and lose.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.runs import machine

machine.one_thread_each()  # before numpy is loaded

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.stats import binomtest  # noqa: E402

from benchmarks.families import FAMILIES, Member, draw  # noqa: E402
from tumble import Optimizer, Suggestion  # noqa: E402
from tumble.core.gain import LATEST  # noqa: E402
from tumble.errors import BudgetExhausted, Failure  # noqa: E402

from .tables import table, verdict  # noqa: E402

MOMENTS = {"T/2": 0.5, "3T/4": 0.75}
LEAST = 0.01  # of the spread: the `min_gain` whose effect is shown
BOOTSTRAP = 4000  # draws of the runs
RESERVED = 90_000  # seeds from here on are for judging alone


@dataclass(frozen=True)
class Claim:
    """What a suggestion said of the trials left, and what they brought, in units of the problem's spread."""

    moment: float  # share of T that was used
    expected: float
    bound: float
    realised: float


def spread_of(problem: Member) -> float:
    """From the median to the best twentieth of the safe points."""
    low, middle, _ = problem.drawn.quantiles
    return middle - low


def claims(problem: Member, seed: int) -> list[Claim]:
    """One run of the default: what each suggestion claimed, where it claimed something."""
    drawn = problem.drawn
    space, names = problem.space, list(problem.constraint_names)
    opt = Optimizer(
        problem.bounds if space is None else space, drawn.trials, drawn.failures, names, seed=seed
    )
    for x, outcome in zip(problem.initial, problem.initial_evaluations, strict=True):
        opt.tell(
            x if space is None else problem.params(x), outcome.value, list(outcome.constraints), billed=False
        )
    said: list[tuple[float, Suggestion, float]] = []  # moment, what was said, the best so far
    for t in range(drawn.trials):
        try:
            suggestion = opt.ask()
        except BudgetExhausted:  # B was exceeded
            break
        if opt.best is not None and suggestion.gain_bound is not None:
            said.append((t / drawn.trials, suggestion, opt.best.value))
        try:
            found = problem.evaluate(suggestion.x if space is None else problem.point(suggestion.x))
        except Failure:
            opt.tell(suggestion, failed=True)
        else:
            opt.tell(suggestion, found.value, list(found.constraints))
    if opt.best is None:
        return []
    unit, end = spread_of(problem), opt.best.value
    return [
        Claim(moment, (s.expected_gain or 0.0) / unit, (s.gain_bound or 0.0) / unit, (best - end) / unit)
        for moment, s, best in said
    ]


def at(run: Sequence[Claim], moment: float) -> Claim | None:
    """The first claim at or after a moment."""
    return next((claim for claim in run if claim.moment >= moment), None)


def report(runs: Sequence[Sequence[Claim]]) -> list[str]:
    """A table, and a verdict for each promise."""
    rows, verdicts = [], []
    for name, moment in MOMENTS.items():
        found = [claim for run in runs if (claim := at(run, moment)) is not None]
        realised, expected, bound = (
            np.array([getattr(claim, part) for claim in found]) for part in ("realised", "expected", "bound")
        )
        held, ratio = float(np.mean(realised <= bound)), float(expected.mean() / max(realised.mean(), 1e-12))
        means = [f"{np.mean(part):.4f}" for part in (realised, expected, bound)]
        gained = realised > 0.0
        times = f"{np.median(bound[gained] / realised[gained]):.1f}" if gained.any() else ""
        below = f"{100 * held:.0f} % {_interval(realised <= bound)}"
        around = f"{ratio:.2f} {_ratio_interval(expected, realised)}"
        rows.append([name, str(len(found)), below, *means, around, f"{np.median(bound):.4f}", times])
        text = f"{name}: below the bound in {100 * held:.0f} % of the runs (at least 90 %)"
        verdicts.append(verdict(text, held >= 0.9))
        text = f"{name}: mean expected gain is {ratio:.2f} times the realised one (1/3 to 3)"
        verdicts.append(verdict(text, 1 / 3 <= ratio <= 3))
    header = (
        "", "runs", "below bound", "realised", "expected", "bound", "expected / realised", "median bound",
        "bound / realised",
    )  # fmt: skip
    return [table(header, rows), *verdicts, _stopping(runs)]


def _interval(held: NDArray[np.bool_]) -> str:
    """Wilson's 95 % interval of a share, in per cent."""
    found = binomtest(int(held.sum()), len(held)).proportion_ci(method="wilson")
    return f"({100 * found.low:.0f} to {100 * found.high:.0f})"


def _ratio_interval(expected: NDArray[np.float64], realised: NDArray[np.float64]) -> str:
    """The 95 % bootstrap interval of the ratio of two means over the same runs."""
    drawn = np.random.default_rng(0).integers(len(realised), size=(BOOTSTRAP, len(realised)))
    ratios = expected[drawn].mean(axis=1) / np.maximum(realised[drawn].mean(axis=1), 1e-12)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return f"({low:.2f} to {high:.2f})"


def ends(run: Sequence[Claim], least: float) -> Claim | None:
    """Where a `min_gain` ends a run: the largest of the latest bounds lies below it; None where none does."""
    largest = (max(claim.bound for claim in run[max(i - LATEST, 0) : i]) for i in range(1, len(run) + 1))
    return next((claim for claim, bound in zip(run, largest, strict=True) if bound < least), None)


def _stopping(runs: Sequence[Sequence[Claim]]) -> str:
    """What a `min_gain` of LEAST would save and lose."""
    stopped = [claim for run in runs if (claim := ends(run, LEAST)) is not None]
    if not stopped:
        return f"min_gain = {LEAST:g} of the spread ends no run early"
    saved, lost = (float(np.mean([f(c) for c in stopped])) for f in (lambda c: 1 - c.moment, _realised))
    return (
        f"min_gain = {LEAST:g} of the spread ends {len(stopped)} of {len(runs)} runs early: it saves "
        f"{100 * saved:.0f} % of their trials, and loses {lost:.4f} on average"
    )


def _realised(claim: Claim) -> float:
    return claim.realised


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 0 when every promise held."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gain", description=__doc__)
    parser.add_argument("--seeds", default="0:6", help="first:last+1, below 90,000")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--trials", type=int, default=60, help="leave out problems with more trials")
    options = parser.parse_args(arguments)
    first, last = map(int, options.seeds.split(":"))
    if last > RESERVED:
        parser.error(f"seeds from {RESERVED} on are reserved for judging")
    runs = []
    for seed in range(first, last):
        for family in options.families.split(","):
            problem = draw(family, seed)
            if problem.drawn.trials <= options.trials:
                runs.append(claims(problem, seed))
                print(f"{family}:{seed}", end=" ", file=sys.stderr, flush=True)
    answer = report([run for run in runs if run])
    print("\n".join(answer))
    return 1 if any(line.startswith("MISSED") for line in answer) else 0


if __name__ == "__main__":
    sys.exit(main())
