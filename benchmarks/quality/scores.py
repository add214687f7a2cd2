"""A run as two readings: stopped when the budget is spent, and left to go on.

A peer has no budget, so that its user must stop it when B failures are spent: the next trial might fail.
tumble goes on after that, carefully; its user stops at the first failure beyond B. `Run.stopped` reads each
run by its own rule, `Run.prefix` reads any run as if it had no budget, and `Run.whole` reads all T trials.

The result of a reading is the true (noise-free) regret of its best safe trial. A trial is safe where it was
measured to be safe and truly is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tumble.methods import METHODS

from .foils import FOILS

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Reading:
    """What a run had reached after `n_trials` trials.

    Attributes
    ----------
    regret
        True regret of the best safe trial, in units of the objective's spread; infinite where none was safe.
    n_trials, n_failures
        Trials made, and failures among them.
    beyond
        Failures beyond B.
    omega
        Safe trials among all T, in per cent.
    """

    regret: float
    n_trials: int
    n_failures: int
    beyond: int
    omega: float


@dataclass(frozen=True, eq=False)
class Run:
    """One line of the store.

    Attributes
    ----------
    family, seed
        The problem is `draw(family, seed)`.
    method
        Who searched: the name of a row of `plan`.
    budgeted
        Whether the method goes on by itself when B is spent.
    trials, failures
        T and B.
    regrets
        (n,) true regret of each trial in units of the spread; infinite where the trial was not safe.
    failed
        (n,) what was measured.
    p_safe, rho
        (n,) what was claimed and what was asked for; NaN where the method says nothing.
    start
        True regret of the best safe initial point; infinite where none is safe.
    seconds
        Processor seconds of all suggestions.
    """

    family: str
    seed: int
    method: str
    budgeted: bool
    trials: int
    failures: int
    regrets: Array
    failed: Flags
    p_safe: Array
    rho: Array
    start: float
    seconds: float

    @staticmethod
    def of(line: Mapping[str, Any]) -> Run:
        """Read a line."""
        claims = [np.array([_number(v) for v in line[key]], dtype=float) for key in ("p_safe", "rho")]
        return Run(
            family=line["family"],
            seed=int(line["problem"].partition(":")[2]),
            method=line["block"],
            budgeted=_goes_on(line["method"]),
            trials=line["trials"],
            failures=line["failures"],
            regrets=np.array([np.inf if r is None else r for r in line["regrets"]], dtype=float),
            failed=np.array(line["failed"], dtype=bool),
            p_safe=claims[0],
            rho=claims[1],
            start=np.inf if line["start"] is None else float(line["start"]),
            seconds=line["seconds_total"],
        )

    @property
    def problem(self) -> tuple[str, int]:
        """Which problem this is."""
        return self.family, self.seed

    @property
    def stopped(self) -> Reading:
        """Where a user with a budget ends."""
        return self._read(self._end(self.failures + 1 if self.budgeted else self.failures))

    @property
    def prefix(self) -> Reading:
        """Where any method ends when it is stopped at the moment B is spent."""
        return self._read(self._end(self.failures))

    @property
    def whole(self) -> Reading:
        """All trials: how good is the search itself?"""
        return self._read(len(self.failed))

    def best_after(self, end: int) -> Array:
        """(end + 1,) the best regret after 0, 1, …, `end` trials; what it had at the end stays."""
        curve = np.minimum.accumulate(np.append(self.start, self.regrets[:end]))
        return np.append(curve, np.full(max(0, end - len(self.regrets)), curve[-1]))

    def _end(self, failures: int) -> int:
        """After how many trials so many failures were made; all of them where they were not."""
        reached = np.flatnonzero(np.cumsum(self.failed) >= failures)
        if failures <= 0:
            return 0
        return int(reached[0]) + 1 if reached.size else len(self.failed)

    def _read(self, end: int) -> Reading:
        failures = int(np.count_nonzero(self.failed[:end]))
        return Reading(
            regret=float(self.best_after(end)[-1]),
            n_trials=end,
            n_failures=failures,
            beyond=max(0, failures - self.failures),
            omega=100.0 * (end - failures) / self.trials,
        )


def _goes_on(method: str) -> bool:
    """Whether a method knows its budget, so that its user need not stop it when B is spent."""
    known = {**METHODS, **FOILS}
    return method in known and known[method].controlled


def _number(value: float | None) -> float:
    return np.nan if value is None else value
