"""What a ledger hands out: a trial to run, a line of the ledger, where the study stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optuna.trial import FrozenTrial

from tumble.integrations.optuna_trials import OUTCOME, Reading, decision, setting
from tumble.parameters import Choice
from tumble.studies.owners import OWNER, Owner

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

    @property
    def outcome(self) -> str:
        """In one word: safe, failed, no value, running, or why it is void."""
        if self.reading.phase == "running":
            return "running"
        if self.reading.phase == "void":
            return str((self.stored.system_attrs.get(OUTCOME) or {}).get("kind", "lost"))
        if self.reading.failed:
            return "failed"
        return "safe" if self.reading.value is not None else "no value"


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


def entry_of(trial: FrozenTrial, reading: Reading) -> Entry:
    """The line of the ledger for a stored trial."""
    owner = trial.system_attrs.get(OWNER)
    return Entry(
        trial=trial.number,
        parameters=setting(trial),
        results=dict(trial.user_attrs.get(RESULTS, {})),
        reading=reading,
        decision=decision(trial),
        owner=None if owner is None else Owner(**owner),
        stored=trial,
    )
