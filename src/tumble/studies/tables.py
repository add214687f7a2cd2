"""What a study says as JSON: the same tables for `tumble ... --json` and for the HTTP door."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tumble.studies.config import StudyConfig
    from tumble.studies.records import Entry, Found, Status
    from tumble.trials import Expected, Recommended, Suggestion


def suggestion_table(found: Suggestion) -> dict[str, Any]:
    """A trial to run by hand."""
    return {
        "trial": found.number,
        "parameters": found.x,
        "mode": found.mode,
        "rho": found.rho,
        "p_safe": None if found.mode == "start" or isnan(found.p_safe) else found.p_safe,
        "why": found.why,
        "expected_gain": found.expected_gain,
        "gain_bound": found.gain_bound,
        "alarm": found.alarm,
    }


def status_table(found: Status) -> dict[str, Any]:
    """Where a study stands."""
    return asdict(found)


def best_table(
    found: Found | None, choice: Recommended | None, expected: Expected | None = None
) -> dict[str, Any]:
    """`best`, `recommended`, and `expected` where results are noisy."""
    return {
        "best": None if found is None else asdict(found),
        "expected": None
        if expected is None
        else {
            "trial": expected.number,
            "parameters": expected.x,
            "mean": expected.mean,
            "std": expected.std,
            "p_safe": expected.p_safe,
        },
        "recommended": None
        if choice is None
        else {
            "parameters": choice.x,
            "mean": choice.mean,
            "std": choice.std,
            "p_safe": choice.p_safe,
            "reached": choice.reached,
        },
    }


DECIDED = ("mode", "rho", "p_safe", "mean", "std", "why", "expected_gain", "gain_bound", "alarm")


def entry_table(entry: Entry, config: StudyConfig) -> dict[str, Any]:
    """One trial: what was asked, what came of it, and what the search had decided for it."""
    return {
        "trial": entry.trial,
        "outcome": entry.outcome,
        "parameters": entry.parameters,
        "results": entry.results,
        "reason": entry.reason(config),
        "billed": entry.is_billed,
        "amended": entry.is_amended,
        "changes": [str(change) for change in entry.changes],
        "by_hand": entry.owner is None or entry.owner.kind == "hand",
        **{key: entry.decision.get(key) for key in DECIDED},
        "p_safe": entry.p_safe,
    }
