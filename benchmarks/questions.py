"""How often is a right value questioned? `tumble tell` asks about values that are far from their prediction.

    python -m benchmarks.questions [--seeds 0:20] [--families classic,design,...]

Runs the default on members of the families (tuning seeds), where every value is right. What is printed: the
share of the trials of which a value is questioned, by `tumble.studies.surprise` and by rules beside it; and
the share of slips that would be questioned, where the objective is told ten times as large.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from experiments.runs import machine

machine.one_thread_each()  # before numpy is loaded

from benchmarks.families import FAMILIES, Member, draw  # noqa: E402
from tumble import Optimizer, Suggestion  # noqa: E402
from tumble.errors import BudgetExhausted, Failure  # noqa: E402
from tumble.studies import surprise  # noqa: E402

from .tables import table, verdict  # noqa: E402

MOST = 0.01  # of the trials
RULES = tuple((stds, share) for share in (0.5, 0.75, 1.0) for stds in (6.0, 8.0, 12.0))
RESERVED = 90_000  # seeds from here on are for judging alone


@dataclass(frozen=True)
class Measured:
    """One value of a trial: what was predicted of it, and the values that were seen before."""

    value: float
    mean: float
    std: float
    seen: tuple[float, ...]


def run(problem: Member, seed: int) -> list[list[Measured]]:
    """One run of the default: for each trial that gave values, what was measured and predicted."""
    drawn, space = problem.drawn, problem.space
    names = list(problem.constraint_names)
    opt = Optimizer(
        problem.bounds if space is None else space, drawn.trials, drawn.failures, names, seed=seed
    )
    for x, outcome in zip(problem.initial, problem.initial_evaluations, strict=True):
        at = x if space is None else problem.params(x)
        opt.tell(at, outcome.value, list(outcome.constraints), billed=False)
    trials: list[list[Measured]] = []
    for _ in range(drawn.trials):
        try:
            suggestion = opt.ask()
        except BudgetExhausted:  # B was exceeded
            break
        try:
            found = problem.evaluate(suggestion.x if space is None else problem.point(suggestion.x))
        except Failure:
            opt.tell(suggestion, failed=True)
            continue
        trials.append(list(_measured(opt, suggestion, [found.value, *found.constraints])))
        opt.tell(suggestion, found.value, list(found.constraints))
    return trials


def _measured(opt: Optimizer, s: Suggestion, values: Sequence[float | None]) -> Iterator[Measured]:
    told = [[t.value, *t.constraints] for t in opt.trials if t.status == "told"]
    predicted = zip((s.mean, *s.constraint_means), (s.std, *s.constraint_stds), strict=True)
    for k, (value, (mean, std)) in enumerate(zip(values, predicted, strict=False)):
        if value is not None:
            seen = tuple(v for row in told if len(row) > k and (v := row[k]) is not None)
            yield Measured(value, mean, std, seen)


def share_questioned(trials: Sequence[Sequence[Measured]], stds: float, share: float) -> float:
    """The share of the trials of which a value is questioned."""
    asked = [
        any(surprise.is_surprising(m.value, m.mean, m.std, m.seen, stds=stds, share=share) for m in trial)
        for trial in trials
    ]
    return sum(asked) / max(len(asked), 1)


def share_found(trials: Sequence[Sequence[Measured]], stds: float, share: float) -> float:
    """The share of the trials whose objective, told ten times as large, is questioned."""
    known = [trial[0] for trial in trials if trial and len(trial[0].seen) >= surprise.LEAST]
    found = [
        surprise.is_surprising(10 * m.value, m.mean, m.std, m.seen, stds=stds, share=share) for m in known
    ]
    return sum(found) / max(len(found), 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the verdict; 1 where too much is questioned."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", default="0:20", help="first:last, the last one not included")
    parser.add_argument("--families", default=",".join(FAMILIES), help="names with commas between")
    chosen = parser.parse_args(arguments)
    first, last = (int(word) for word in chosen.seeds.split(":"))
    if last > RESERVED:
        parser.error(f"seeds from {RESERVED} on are reserved for judging")
    found: dict[str, list[list[Measured]]] = {}
    for family in chosen.families.split(","):
        found[family] = [trial for seed in range(first, last) for trial in run(draw(family, seed), seed)]
        print(f"{family}: {len(found[family])} trials", file=sys.stderr, flush=True)
    every = [trial for trials in found.values() for trial in trials]
    rules = ((surprise.STDS, surprise.SHARE), *RULES)
    rows = [
        [
            f"{stds:g} deviations, {share:g} of the spread",
            *(_percent(trials, stds, share) for trials in (*found.values(), every)),
            f"{100 * share_found(every, stds, share):.0f} %",
        ]
        for stds, share in rules
    ]
    print(table(("rule", *found, f"all {len(every)}", "slips found"), rows))
    asked = share_questioned(every, surprise.STDS, surprise.SHARE)
    print(verdict(f"{100 * asked:.2f} % of right trials are questioned (at most 1 %)", asked <= MOST))
    return int(asked > MOST)


def _percent(trials: Sequence[Sequence[Measured]], stds: float, share: float) -> str:
    return f"{100 * share_questioned(trials, stds, share):.2f} %"


if __name__ == "__main__":
    sys.exit(main())
