"""Which problems, methods and seeds: the runs to carry out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from benchmarks.families import FAMILIES, draw
from experiments.runs import methods
from experiments.runs.records import Spec
from tumble import Settings

TASK = "benchmarks.quality.play:carry_out"
TUNING = 0  # the block of seeds to choose by; verdict blocks start at 10,000, 20,000, …
BLOCK = 1000  # seeds in a block
PER_FAMILY = 8  # problems of each family in a table
Problem = tuple[str, int]  # a family and a seed


@dataclass(frozen=True)
class Row:
    """One row of a table: a method of ours with some settings changed, or a peer.

    Attributes
    ----------
    name
        What the table calls it, and the key of its runs.
    method
        A name of `experiments.runs.methods`.
    changes
        Settings that differ from the default.
    against
        The row that it is compared with, where there is one.
    failures
        B; None for that of the problem.
    """

    name: str
    method: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    against: str = "tumble"
    failures: int | None = None

    def settings(self) -> dict[str, Any]:
        """In full, JSON-ready."""
        if self.method in methods.PEERS:
            return methods.settings_of(self.method, "default", "")
        return replace(Settings(), **self.changes).to_dict()


OURS = Row("tumble", "tumble")
BASELINES = (Row("EIC", "eic"), Row("safe set", "safe-set"))
FAST_PEERS = (Row("random", "random"), Row("TPE", "tpe"), Row("GPSampler", "optuna"))
SLOW_PEERS = (
    Row("bayesian-optimization", "bayesian-optimization"),
    Row("LogCEI", "botorch"),
    Row("SCBO", "scbo"),
    Row("qLogNEI", "qlognei"),
)  # 1 to 20 processor seconds a suggestion
PEERS = (*FAST_PEERS, *SLOW_PEERS)
TOO_SLOW = ("mixed",)  # beside choices, slow peers take 6 minutes and more for 30 trials


def rounds(
    block: int, count: int = PER_FAMILY, families: Sequence[str] = FAMILIES, trials: int | None = None
) -> list[list[Problem]]:
    """The problems of a table, round by round over the families.

    Each round takes from every family the next seed of the block; with `trials` the next seed that draws this
    T. The rule looks at no result.
    """
    found = {family: list(islice(_seeds(family, block, trials), count)) for family in families}
    return [[(family, found[family][k]) for family in families] for k in range(count)]


def _seeds(family: str, block: int, trials: int | None) -> Iterator[int]:
    """The seeds of a block whose T is `trials`; all of them without."""
    return (s for s in range(block, block + BLOCK) if trials is None or draw(family, s).trials == trials)


def specs(rows: Sequence[Row], problems: Sequence[Sequence[Problem]]) -> list[Spec]:
    """Every run, round by round: a table may be stopped anywhere.

    In each round slow peers come last, and problems with few limits first, which take them least.
    """
    parts = [row for row in rows if row not in SLOW_PEERS], [row for row in rows if row in SLOW_PEERS]
    return [
        spec
        for group in problems
        for part in parts
        for problem in sorted(group, key=lambda problem: draw(*problem).n_constraints)
        for row in part
        if (spec := _spec(row, *problem)) is not None
    ]


def _spec(row: Row, family: str, seed: int) -> Spec | None:
    """One run; None for a method that needs a safe start where there is none, or that takes too long."""
    problem = draw(family, seed)
    if row in SLOW_PEERS and family in TOO_SLOW:
        return None
    if row.method == "safe-set" and not any(outcome.safe for outcome in problem.initial_evaluations):
        return None  # it never leaves what is known to be safe
    return Spec(
        problem=f"{family}:{seed}",
        method=row.method,
        seed=seed,
        trials=problem.trials,
        failures=problem.failures if row.failures is None else row.failures,
        on_exhausted="safe",
        block=row.name,
        settings=row.settings(),
        task=TASK,
    )
