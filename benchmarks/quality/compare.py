"""Who is ahead: wins, ranks, intervals over problems, and Holm's correction.

A run is won where its regret is lower by more than `MARGIN` of the objective's spread. Else it is tied and
counts half. No safe trial is the worst there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

MARGIN = 1e-3  # of the spread of the objective
RESAMPLES = 10_000
FEW = 8  # problems: resampling fewer of them gives intervals that are far too narrow
Problem = tuple[str, int]
Scores = Mapping[Problem, Mapping[str, float]]  # regret of each method on each problem


def won(mine: float, other: float, margin: float = MARGIN) -> float:
    """1 where `mine` is ahead of `other`, 0 where it is behind, ½ where they are level."""
    if mine == other or abs(mine - other) <= margin:  # two without a safe trial are level
        return 0.5
    return float(mine < other)


def ranks(regrets: Mapping[str, float]) -> dict[str, float]:
    """The rank of each method on one problem: one more than those ahead of it; a tie counts half."""
    return {
        name: 1.0 + sum(1.0 - won(mine, other) for rival, other in regrets.items() if rival != name)
        for name, mine in regrets.items()
    }


@dataclass(frozen=True)
class Interval:
    """A mean over problems with its 95 % bootstrap interval, and over how many problems."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        """As it stands in a table; without an interval where problems are too `FEW` to resample."""
        if self.n < FEW:
            return f"{self.mean:.2f} (n = {self.n})"
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"

    @property
    def percent(self) -> str:
        """The same for a share."""
        if self.n < FEW:
            return f"{self.n * self.mean:g} of {self.n}"
        return f"{100 * self.mean:.0f} % [{100 * self.low:.0f}, {100 * self.high:.0f}]"


def over_problems(values: Mapping[Problem, float], seed: int = 0) -> Interval:
    """The mean of one number a problem; problems are resampled within their families.

    Where a family has one problem only, that would hide its spread: all problems are resampled together then.
    """
    families: dict[str, list[float]] = {}
    for (family, _), value in values.items():
        families.setdefault(family, []).append(value)
    if any(len(group) < 2 for group in families.values()):
        families = {"all": list(values.values())}
    rng = np.random.default_rng(seed)
    total = np.zeros(RESAMPLES)
    for group in families.values():
        data = np.array(group)
        total += data[rng.integers(len(data), size=(RESAMPLES, len(data)))].sum(axis=1)
    means = total / max(1, len(values))
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(np.mean(list(values.values()))), float(low), float(high), len(values))


def mean_ranks(scores: Scores, methods: Sequence[str]) -> dict[str, Interval]:
    """The mean rank of each method among `methods`, over the problems that all of them ran."""
    shared = {p: {m: row[m] for m in methods} for p, row in scores.items() if all(m in row for m in methods)}
    placed = {problem: ranks(row) for problem, row in shared.items()}
    return {m: over_problems({p: row[m] for p, row in placed.items()}) for m in methods if placed}


def wins(scores: Scores, mine: str, other: str) -> dict[Problem, float]:
    """By problem: 1, ½ or 0."""
    return {p: won(row[mine], row[other]) for p, row in scores.items() if mine in row and other in row}


@dataclass(frozen=True)
class Duel:
    """One family, one rival: wins, losses, and the p-value of a sign test, corrected by Holm."""

    family: str
    rival: str
    wins: int
    losses: int
    ties: int
    p: float

    @property
    def beaten(self) -> bool:
        """Whether the rival is significantly ahead."""
        return self.losses > self.wins and self.p < 0.05


def duels(scores: Scores, mine: str, rivals: Sequence[str]) -> list[Duel]:
    """Every family against every rival, with p-values that hold for all of them together."""
    found: list[Duel] = []
    for family in dict.fromkeys(problem[0] for problem in scores):
        own = {problem: row for problem, row in scores.items() if problem[0] == family}
        for rival in rivals:
            points = list(wins(own, mine, rival).values())
            ahead, behind = points.count(1.0), points.count(0.0)
            p = float(binomtest(ahead, ahead + behind).pvalue) if ahead + behind else 1.0
            found.append(Duel(family, rival, ahead, behind, len(points) - ahead - behind, p))
    corrected = holm([duel.p for duel in found])
    return [
        Duel(d.family, d.rival, d.wins, d.losses, d.ties, p) for d, p in zip(found, corrected, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: the k-th smallest of m p-values times m - k + 1, never falling, at most 1."""
    p = np.array(p_values)
    order = np.argsort(p, kind="stable")
    scaled = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)) if len(p) else p
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(scaled, 1.0)
    return [float(value) for value in corrected]


def resampled_share(groups: Sequence[NDArray[np.bool_]], seed: int = 0) -> Interval:
    """The share of true flags, its interval by resampling whole groups (runs).

    Where no flag is true, or every one, there is nothing to resample: its end is the exact one for flags that
    do not depend on each other (about 3.7 / n).
    """
    rng = np.random.default_rng(seed)
    count = np.array([len(g) for g in groups], dtype=float)
    true = np.array([np.count_nonzero(g) for g in groups], dtype=float)
    rows = rng.integers(len(groups), size=(RESAMPLES, len(groups)))
    shares = true[rows].sum(axis=1) / count[rows].sum(axis=1)
    low, high = np.quantile(shares, (0.025, 0.975))
    mean, n = float(true.sum() / count.sum()), int(count.sum())
    if mean in (0.0, 1.0):
        least = 0.025 ** (1.0 / n)
        low, high = (0.0, 1.0 - least) if mean == 0.0 else (least, 1.0)
    return Interval(mean, float(low), float(high), n)
