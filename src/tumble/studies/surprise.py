"""Values that are far from what was predicted: most of them are right, and some are a slip of the finger.

A value is questioned where it lies

    more than 8 predicted standard deviations from its predicted mean, and
    more than the whole spread (highest less lowest) of the values seen so far,

and only once five values were seen.  Early predictions, and those of a model that is too sure of itself, pass
by the second rule; a noisy rig passes by the first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tumble.shown import as_word, number
from tumble.studies.config import StudyConfig
from tumble.studies.ledger import Ledger
from tumble.studies.records import Entry

STDS = 8.0  # predicted standard deviations
SHARE = 1.0  # of the spread seen so far
LEAST = 5  # values, before any is questioned


def is_surprising(
    value: float, mean: float, std: float, seen: Sequence[float], *, stds: float = STDS, share: float = SHARE
) -> bool:
    """Whether a value is to be questioned.

    Parameters
    ----------
    value
        What was measured.
    mean, std
        What was predicted.
    seen
        The values that were measured before.
    stds, share
        The rule: how many standard deviations, and how much of the spread.

    Examples
    --------
    >>> is_surprising(32.0, 3.1, 0.2, [3.0, 3.5, 4.0, 6.0, 8.0])
    True
    >>> is_surprising(5.0, 3.1, 0.2, [3.0, 3.5, 4.0, 6.0, 8.0])
    False
    """
    if len(seen) < LEAST:
        return False
    off = abs(value - mean)
    return off > stds * std and off > share * (max(seen) - min(seen))


def surprises(
    config: StudyConfig, entry: Entry, results: Mapping[str, float], others: Sequence[Entry]
) -> list[str]:
    """What is to be questioned of the results of a trial, in words; empty where nothing is.

    Parameters
    ----------
    config
        The study.
    entry
        The trial, with what was predicted of it.
    results
        What was measured, in the user's units.
    others
        The trials of the study; those that are told make the spread.
    """
    found = []
    told = [e.results for e in others if e.reading.phase == "told" and e.trial != entry.trial]
    for name, value in results.items():
        mean, std = _predicted(config, entry, name)
        seen = [r[name] for r in told if name in r]
        if math.isfinite(value) and is_surprising(value, mean, std, seen):
            found.append(f"{name} = {number(value)}, where {mean:.4g} ± {std:.2g} was predicted")
    return found


def doubts_about(
    ledger: Ledger, number: int, results: Mapping[str, float], *, correcting: bool = False
) -> list[str]:
    """What is to be questioned of results before they are told; nothing where the trial can't be told.

    Parameters
    ----------
    ledger
        The study.
    number
        The trial; where it can't be told, or amended, the ledger says why.
    results
        What was measured, in the user's units.
    correcting
        Whether a told trial is amended. What stays the same is passed over then.
    """
    entries = ledger.entries()
    if not 0 <= number < len(entries):
        return []
    entry = entries[number]
    if not (entry.reading.phase == "told" if correcting else entry.is_running):
        return []
    new = {name: value for name, value in results.items() if entry.results.get(name) != value}
    return surprises(ledger.config, entry, new, entries)


class SurpriseWatch:
    """Finds the surprises among the trials that were told since the last look.

    Parameters
    ----------
    ledger
        The study; trials that are over already are passed over.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seen = {e.trial for e in ledger.entries() if not e.is_running}

    def look(self) -> list[str]:
        """A sentence for each trial with a surprise, once."""
        config, entries = self._ledger.config, self._ledger.entries()
        new = [e for e in entries if not e.is_running and e.trial not in self._seen]
        self._seen |= {e.trial for e in new}
        told = [e for e in new if e.reading.phase == "told"]
        found = [(e, surprises(config, e, e.results, entries)) for e in told]
        return [warning(config, e.trial, texts) for e, texts in found if texts]


def warning(config: StudyConfig, number: int, texts: Sequence[str]) -> str:
    """What is said of surprising results that are recorded."""
    file = as_word(config.path)
    return (
        f"trial {number}: {'; '.join(texts)}. It is recorded; if it is a slip: "
        f"tumble amend {file} {number} name=value, or tumble void {file} {number}"
    )


def _predicted(config: StudyConfig, entry: Entry, name: str) -> tuple[float, float]:
    """Mean and standard deviation in the user's units; NaN where nothing was predicted."""
    if name == config.objective:
        return _number(entry.decision.get("mean")), _number(entry.decision.get("std"))
    limit = next((limit for limit in config.limits if limit.name == name), None)
    predicted = entry.decision.get("constraints") or {}
    return (math.nan, math.nan) if limit is None else limit.predicted(predicted)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
