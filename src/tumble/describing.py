"""A search in words and in a notebook, from its trials."""

from __future__ import annotations

from collections.abc import Sequence

from . import counting, notebook
from .svg import Point
from .trials import Trial


def sentence(trials: Sequence[Trial], max_trials: int, max_failures: int | None) -> str:
    """How far a search is.

    Examples
    --------
    >>> sentence([Trial(0, [0.5], (0.5,), "told", value=1.0)], 10, 2)
    '1 of 10 trials told, 0 of 2 failures, best 1 in trial 0'
    """
    billed = [t for t in trials if t.billed and t.status == "told"]
    flying = counting.in_flight(trials)
    parts = [f"{len(billed)} of {max_trials} trials told"]
    parts += [f"{flying} in flight"] if flying else []
    failed = counting.failures(trials)
    parts.append(f"{failed} failures" if max_failures is None else f"{failed} of {max_failures} failures")
    best = counting.best(trials)
    parts.append("nothing safe yet" if best is None else f"best {best.value:.6g} in trial {best.number}")
    return ", ".join(parts)


def page(trials: Sequence[Trial], lines: Sequence[str]) -> str:
    """A search for a notebook: sentences, a figure of the trials that were told, and the best setting."""
    points = [Point(t.number, t.value, t.failed) for t in counting.told(trials)]
    best = counting.best(trials)
    return notebook.search(lines, points, None if best is None else best.x)
