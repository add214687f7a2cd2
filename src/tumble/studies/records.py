"""What a ledger hands out: a trial to run, a line of the ledger, where the study stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optuna.trial import FrozenTrial

from tumble.integrations.optuna.notes import OUTCOME, decision, setting
from tumble.integrations.optuna.trials import Reading
from tumble.parameters import Choice
from tumble.studies.config import StudyConfig
from tumble.studies.ownership import OWNER, Owner

RESULTS = "results"  # user attribute: what was measured, raw


@dataclass(frozen=True)
class Asked:
    """A trial to run, and why."""

    trial: int
    parameters: dict[str, Choice]
    mode: str
    rho: float | None
    p_safe: float | None
    why: str


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    trial: int
    parameters: dict[str, Choice]
    results: dict[str, float]
    reading: Reading
    decision: dict[str, Any]
    owner: Owner | None
    stored: FrozenTrial
    unmeasured: tuple[str, ...] = ()  # limited results that are not among the results

    @property
    def outcome(self) -> str:
        """In a word or two: safe, failed, unmeasured, no value, running, or why it is void."""
        if self.reading.phase == "running":
            return "running"
        if self.reading.phase == "void":
            return str((self.stored.system_attrs.get(OUTCOME) or {}).get("kind", "lost"))
        if self.reading.failed:
            return "failed"
        if self.reading.value is None:
            return "no value"
        return "unmeasured" if self.unmeasured else "safe"

    def reason(self, config: StudyConfig) -> str:
        """Why it failed: a crash, the limits that it broke, or both; else why it is void, if it is."""
        if not self.reading.failed:
            return self.reading.reason
        crash = [": ".join(filter(None, ("crash", self.reading.reason)))] if self.reading.crashed else []
        return "; ".join([*crash, *config.breaches(self.results)]) or self.reading.reason


@dataclass(frozen=True)
class Found:
    """The best safe trial, in the user's units."""

    trial: int
    parameters: dict[str, Choice]
    value: float
    results: dict[str, float]


@dataclass(frozen=True)
class Status:
    """Where a study stands."""

    trials: int
    trials_left: int
    failures: int
    failures_left: int
    pending: int
    best: Found | None


def entry_of(trial: FrozenTrial, reading: Reading, limited: Sequence[str] = ()) -> Entry:
    """The line of the ledger for a stored trial; `limited` are the results that have a limit."""
    owner = trial.system_attrs.get(OWNER)
    return Entry(
        trial=trial.number,
        parameters=setting(trial),
        results=dict(trial.user_attrs.get(RESULTS, {})),
        reading=reading,
        decision=decision(trial),
        owner=None if owner is None else Owner(**owner),
        stored=trial,
        unmeasured=tuple(name for name in limited if name not in reading.constraints),
    )
