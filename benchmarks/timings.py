"""Timings that are kept: those of `python -m benchmarks.speed headline --store`, and the table of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .tables import table

FILE = Path(__file__).parent / "results" / "speed.jsonl"
Machine = Mapping[str, Any]


@dataclass(frozen=True)
class Timing:
    """Seconds a suggestion of one library in one case.

    Parameters
    ----------
    constraints
        How many constraints the problem has.
    kind
        Which history it was asked after: "own", "search" or "uniform".
    library
        Whose suggestion it was; "tumble" is ours.
    mean, low, high
        The mean, and the quantiles of 10 and 90 %, in processor seconds.
    """

    constraints: int
    kind: str
    library: str
    mean: float
    low: float
    high: float

    @property
    def case(self) -> str:
        """The row's name."""
        return f"G = {self.constraints}, {self.kind}: {self.library}"


def times_tumble(timing: Timing, timings: Sequence[Timing]) -> float:
    """How many times as long as tumble's it takes, in the same case."""
    same = [t for t in timings if (t.constraints, t.kind) == (timing.constraints, timing.kind)]
    ours = next(t for t in same if t.library == "tumble")
    return timing.mean / ours.mean


def timing_table(timings: Sequence[Timing]) -> str:
    """One row a library and a case, in Markdown."""
    rows = [
        [t.case, f"{t.mean:.4f}", f"{t.low:.4f}-{t.high:.4f}", f"{times_tumble(t, timings):.1f}"]
        for t in timings
    ]
    return table(("N = 100, D = 6", "mean s/ask", "10-90 %", "times tumble"), rows)


def store(timings: Sequence[Timing], about: Machine, file: Path = FILE) -> None:
    """Keep the timings in the place of those before, with what they were measured on."""
    head = {"about": dict(about)}
    lines = [head, *({"timing": asdict(timing)} for timing in timings)]
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def read(file: Path = FILE) -> tuple[Machine, list[Timing]]:
    """What the timings were measured on, and the timings; both empty where none are kept."""
    if not file.exists():
        return {}, []
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return lines[0]["about"], [Timing(**line["timing"]) for line in lines[1:]]


def sentence(about: Machine, timings: Sequence[Timing]) -> str:
    """What the timings come to, in words: seconds of a suggestion, and how many times the others take."""
    ours = [t.mean for t in timings if t.library == "tumble"]
    said = [f"A suggestion takes {_range([1000 * s for s in ours])} ms on one core (N = 100, D = 6)"]
    for library in dict.fromkeys(t.library for t in timings if t.library != "tumble"):
        ratios = [times_tumble(t, timings) for t in timings if t.library == library]
        said.append(f"{library} takes {_range(ratios)} times as long")
    return "; ".join(said) + f". *Measured on {about['version']}, {about['processor']}.*"


def _range(numbers: Sequence[float]) -> str:
    low, high = round(min(numbers)), round(max(numbers))
    return f"{low}" if low == high else f"{low} to {high}"


def manual_part(file: Path = FILE) -> str:
    """The part of docs/benchmarks.md."""
    about, timings = read(file)
    if not timings:
        return "*Nothing is stored yet: `python -m benchmarks.speed headline --store`.*"
    return f"{sentence(about, timings)}\n\n{timing_table(timings)}"
