"""Two states side by side: which doors differ, from where on, and by how much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.fingerprint.running import Passage
from benchmarks.tables import table


@dataclass(frozen=True)
class Difference:
    """Where two passages part, and by how much at most."""

    first: int  # index of the first suggestion that differs
    largest: float  # absolute, over all numbers; inf where one of them is not a number or not there


def difference(here: Sequence[Sequence[str]], there: Sequence[Sequence[str]]) -> Difference | None:
    """Where two lists of rows part; None where they are one."""
    if here == there:
        return None
    both = list(zip(here, there, strict=False))
    first = next((i for i, (a, b) in enumerate(both) if a != b), len(both))
    alike = len(here) == len(there) and all(len(a) == len(b) for a, b in both)
    gaps = [_gap(a, b) for left, right in both for a, b in zip(left, right, strict=False)]
    return Difference(first, max(gaps, default=0.0) if alike else math.inf)


def _gap(a: str, b: str) -> float:
    if a == b:
        return 0.0
    if a.startswith("=") or b.startswith("="):
        return math.inf
    gap = abs(float.fromhex(a) - float.fromhex(b))
    return math.inf if math.isnan(gap) else gap


def report(here: Mapping[str, Passage]) -> str:
    """A table of one state."""
    rows = [(name, p.hash, str(len(p.rows)), f"{p.seconds:.1f}") for name, p in here.items()]
    return "\n".join([table(("door", "hash", "rows", "s"), rows), *_remarks(here, "here")])


def comparison(here: Mapping[str, Passage], there: Mapping[str, Passage]) -> tuple[str, bool]:
    """A table of two states, and whether every door is the same."""
    rows, notes = [], []
    for name, mine in here.items():
        other = there[name]
        equal = not (mine.error or other.error) and mine.hash == other.hash
        rows.append((name, mine.hash, other.hash, "-" if mine.skipped else "yes" if equal else "NO"))
        parted = difference(mine.rows, other.rows)
        if parted is not None:
            notes.append(
                f"{name}: differs from suggestion {parted.first} on, by at most {parted.largest:.3g}"
            )
    notes += _remarks(here, "here") + _remarks(there, "there")
    same = all(row[-1] != "NO" for row in rows)
    return "\n".join([table(("door", "here", "there", "equal"), rows), *notes]), same


def _remarks(passages: Mapping[str, Passage], where: str) -> list[str]:
    """Why a door has no hash."""
    skipped = [f"{name}: skipped {where}, {p.skipped}" for name, p in passages.items() if p.skipped]
    return skipped + [f"{name}: raised {where}\n{p.error}" for name, p in passages.items() if p.error]
