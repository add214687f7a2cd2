"""Which problems, methods and seeds: the runs to carry out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.families import FAMILIES, draw
from experiments.runs import methods
from experiments.runs.records import Spec
from tumble import Settings

TASK = "benchmarks.quality.play:carry_out"
TUNING = 0  # the block of seeds to choose by; verdict blocks start at 10,000, 20,000, …
BLOCK = 1000  # seeds in a block
PER_FAMILY = 8  # problems of each family in a table


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
    """

    name: str
    method: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """In full, JSON-ready."""
        if self.method in methods.PEERS:
            return methods.settings_of(self.method, "default", "")
        return replace(Settings(), **self.changes).to_dict()


OURS = Row("tumble", "xsf")
BASELINES = (Row("EIC", "eic"), Row("safe set", "safe-set"))
PEERS = (
    Row("LogCEI", "botorch"),
    Row("qLogNEI", "qlognei"),
    Row("SCBO", "scbo"),
    Row("GPSampler", "optuna"),
    Row("TPE", "tpe"),
    Row("bayesian-optimization", "bayesian-optimization"),
    Row("random", "random"),
)


def seeds_of(block: int, count: int = PER_FAMILY) -> range:
    """The seeds of a block that a table uses."""
    return range(block, block + count)


def specs(rows: Sequence[Row], seeds: range, families: Sequence[str] = tuple(FAMILIES)) -> list[Spec]:
    """Every run, seeds outermost, so that a table that was stopped early is whole on fewer problems."""
    found = []
    for seed in seeds:
        for family in families:
            problem = draw(family, seed)
            safe_start = any(outcome.safe for outcome in problem.initial_evaluations)
            for row in rows:
                if row.method == "safe-set" and not safe_start:
                    continue  # it never leaves what is known to be safe
                found.append(
                    Spec(
                        problem=f"{family}:{seed}",
                        method=row.method,
                        seed=seed,
                        trials=problem.trials,
                        failures=problem.failures,
                        on_exhausted="safe",
                        block=row.name,
                        settings=row.settings(),
                        task=TASK,
                    )
                )
    return found
