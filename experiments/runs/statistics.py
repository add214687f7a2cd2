"""Numbers of a table from lines: mean ± std, median, Ω, and paired tests.

Every ± is the standard deviation of the sample, the sum of squares divided by n − 1 (`sample_std`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, wilcoxon

from .records import Line

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """The runs of one problem, method and block, all with the same settings.

    ``replaced`` counts lines of other settings that were left out, ``codes`` the versions of the code.
    """

    family: str
    method: str
    block: str
    lines: tuple[Line, ...]
    replaced: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds, in order."""
        return tuple(line["seed"] for line in self.lines)

    @property
    def codes(self) -> frozenset[str]:
        """Hashes of the code that made the lines."""
        return frozenset(line["code"] for line in self.lines)

    @property
    def n_spent(self) -> int:
        """How many of the runs made as many failures as they were allowed, or more."""
        return sum(line["n_failures"] >= line["failures"] for line in self.lines)

    def values(self, name: str) -> Array:
        """A number of every line, in the order of the seeds."""
        return np.array([line[name] for line in self.lines], dtype=np.float64)


Cells = dict[tuple[str, str, str], Cell]  # by (family, method, block)


def cells(lines: Iterable[Line], seeds: range | None = None) -> Cells:
    """Lines by (family, method, block); of several settings only the newest, never a mixture."""
    groups: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for line in lines:
        if seeds is None or line["seed"] in seeds:
            groups[line["family"], line["method"], line["block"]].append(line)
    result = {}
    for key, group in groups.items():
        wanted = max(group, key=lambda line: line["started"])["settings_hash"]
        kept = sorted((g for g in group if g["settings_hash"] == wanted), key=lambda line: line["seed"])
        result[key] = Cell(*key, lines=tuple(kept), replaced=len(group) - len(kept))
    return result


def by_method(found: Cells, family: str, names: Sequence[str], block: str) -> dict[str, Cell]:
    """The cells of one problem and block, by method, for the methods that were run."""
    return {name: found[family, name, block] for name in names if (family, name, block) in found}


def newest(lines: Iterable[Line], task: str) -> Line | None:
    """The line of a task that was started last; None where there is none."""
    return max(
        (line for line in lines if line["task"] == task), key=lambda line: line["started"], default=None
    )


def sample_std(values: ArrayLike) -> Array:
    """Standard deviation over the first axis, by n − 1; NaN where fewer than two values are finite."""
    known = np.ma.masked_invalid(np.asarray(values, dtype=np.float64))
    std: Array = np.ma.filled(known.std(axis=0, ddof=1), np.nan)
    return std


def mean_and_std(values: Array, write: Callable[[float], str]) -> str:
    """The text "mean ± std", each number as ``write`` writes it; a dash for the spread of one value."""
    spread = write(float(sample_std(values))) if len(values) > 1 else "-"
    return f"{write(float(values.mean()))} ± {spread}"


@dataclass(frozen=True)
class Paired:
    """A method against another on the seeds both have: means, and Wilcoxon's two-sided p.

    lower: seeds on which the method has the smaller value. rank: mean signed rank of its differences,
    positive where it tends to be larger; it need not agree with the means, which a few runs may decide.
    """

    n: int
    mean: float
    other_mean: float
    p: float
    lower: int = 0
    rank: float = 0.0

    @property
    def worse(self) -> bool:
        """Significantly worse (larger) at the 5 % level."""
        return self.rank > 0.0 and self.p < 0.05

    @property
    def better(self) -> bool:
        """Significantly better (smaller) at the 5 % level."""
        return self.rank < 0.0 and self.p < 0.05

    def beside(self, other: str) -> str:
        """The two means in words."""
        how = "below" if self.mean < self.other_mean else "above"
        sure = "significantly" if self.p < 0.05 else "not significantly"
        return f"Its mean is {how} that of {other}, {sure} (p = {self.p:.2g}, n = {self.n})"


def paired(one: Cell, other: Cell, name: str = "regret") -> Paired:
    """Compare two cells seed by seed; p is 1 where nothing differs or fewer than three seeds are shared."""
    a, b = (dict(zip(cell.seeds, cell.values(name), strict=True)) for cell in (one, other))
    shared = sorted(a.keys() & b.keys())
    x, y = np.array([a[s] for s in shared]), np.array([b[s] for s in shared])
    alike = len(shared) < 3 or np.allclose(x, y, rtol=0.0, atol=1e-12)
    p = 1.0 if alike else float(wilcoxon(x, y).pvalue)
    mean, other_mean = (float(np.mean(v)) if len(shared) else float("nan") for v in (x, y))
    gaps = x - y
    rank = float(np.mean(np.sign(gaps) * rankdata(np.abs(gaps)))) if len(shared) else 0.0
    return Paired(len(shared), mean, other_mean, p, int(np.count_nonzero(gaps < 0.0)), rank)


def average_ranks(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    """Mean rank of each name over rows of scores (smaller is better); ties share their mean rank."""
    names = [name for name in scores[0] if all(name in row for row in scores)]
    ranks = np.array([rankdata([row[name] for name in names]) for row in scores])
    return dict(zip(names, ranks.mean(axis=0).tolist(), strict=True))


def claimed_and_kept(lines: Iterable[Line], threshold: float = 0.99) -> tuple[int, int]:
    """Of the suggestions with P(safe) >= threshold: how many there were, and how many were safe."""
    claims = kept = 0
    for line in lines:
        for p, failed in zip(line["p_safe"], line["failed"], strict=True):
            if p is not None and p >= threshold:
                claims += 1
                kept += not failed
    return claims, kept


def exhausted_at(line: Line) -> int | None:
    """The number of trials after which no failure was left; None where some was left to the end."""
    if line["failures"] is None:
        return None
    spent = np.cumsum(line["failed"])
    reached = np.flatnonzero(spent >= line["failures"])
    if line["failures"] == 0:
        return 0
    return int(reached[0]) + 1 if reached.size else None
