"""What a ledger hands out: one trial, the best of them, and where the study stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial

from tumble import checks
from tumble.core.alarm import Alarm, alarm
from tumble.core.gain import LATEST
from tumble.counting import is_for
from tumble.integrations.optuna import private
from tumble.integrations.optuna.changes import StoredChange, changes_of, last_change
from tumble.integrations.optuna.notes import (
    MARK,
    decision,
    has_other_limits,
    outcome_of,
    setting,
)
from tumble.integrations.optuna.trials import Reading
from tumble.parameters import Choice
from tumble.studies.config import StudyConfig
from tumble.studies.ownership import OWNER, Owner

RESULTS = "results"  # user attribute: what was measured, as it was measured
RETRIES = "tumble:retries"  # system attribute: why the trial was run again, each time


@dataclass(frozen=True)
class Entry:
    """One trial of a ledger.

    Parameters
    ----------
    trial
        Its number.
    parameters
        Its setting; empty while it has none.
    results
        What was measured, in the user's units.
    reading
        What it means to the budget.
    decision
        What the search decided for it: mode, rho, p_safe, why; empty where it decided nothing.
    owner
        Who runs it; None for old data.
    stored
        As Optuna stores it.
    unmeasured
        The limited results that were not measured.
    """

    trial: int
    parameters: dict[str, Choice]
    results: dict[str, float]
    reading: Reading
    decision: dict[str, Any]
    owner: Owner | None
    stored: FrozenTrial
    unmeasured: tuple[str, ...] = ()

    @property
    def trial_id(self) -> int:
        """The number under which the storage knows it."""
        return private.trial_id_of(self.stored)

    @property
    def is_running(self) -> bool:
        """Whether it is in flight."""
        return self.reading.phase == "running"

    @property
    def p_safe(self) -> float | None:
        """P(safe) as it was predicted; None where nothing was known."""
        return None if self.decision.get("mode") == "start" else self.decision.get("p_safe")

    @property
    def retries(self) -> tuple[str, ...]:
        """Why it was run again, once for each time."""
        return tuple(self.stored.system_attrs.get(RETRIES, ()))

    def extra_results(self, config: StudyConfig) -> dict[str, float]:
        """What was measured beyond what the study asks for."""
        return {name: value for name, value in self.results.items() if name not in config.result_names}

    @property
    def is_billed(self) -> bool:
        """Whether it is charged to the budget: old data are not, nor what is void."""
        return self.reading.billed and self.reading.phase != "void"

    @property
    def is_imported(self) -> bool:
        """Whether it is old data, which teach and are not billed."""
        return not self.reading.billed and self.reading.phase == "told" and self.outcome != "never"

    @property
    def changes(self) -> list[StoredChange]:
        """What was voided or amended, and what it was before."""
        return changes_of(self.stored)

    @property
    def is_amended(self) -> bool:
        """Whether it counts, with other results than were told first."""
        return self.reading.phase == "told" and bool(self.changes)

    @property
    def outcome(self) -> str:
        """In a word or two: safe, failed, unmeasured, no value, running, never, or why it is void."""
        if self.is_running:
            return "running"
        if self.reading.phase == "void":
            return outcome_of(self.stored).get("kind", "lost")
        if outcome_of(self.stored).get("kind") == "never":
            return "never"
        if self.reading.failed:
            return "failed"
        if self.reading.value is None:
            return "no value"
        return "unmeasured" if self.unmeasured else "safe"

    def reason(self, config: StudyConfig) -> str:
        """Why it failed: a crash, the limits that it broke, or both; else why it is void, if it is."""
        if not self.reading.failed or self.outcome == "never":
            return self.reading.reason
        crash = [": ".join(filter(None, ("crash", self.reading.reason)))] if self.reading.crashed else []
        return "; ".join([*crash, *config.violations(self.results)]) or self.reading.reason


@dataclass(frozen=True)
class Found:
    """The best safe trial, in the user's units."""

    trial: int
    parameters: dict[str, Choice]
    value: float
    results: dict[str, float]


@dataclass(frozen=True)
class Status:
    """Where a study stands.

    Parameters
    ----------
    trials, failures
        How many billed trials were told, and how many of them failed.
    trials_left, failures_left
        How many trials may still be asked for, and how many of those may fail.
    pending
        How many trials are in flight.
    best
        The best safe trial; None where nothing safe was seen.
    voided, amended
        How many told trials were taken out, and how many have other results than were told first.
    expected_gain, gain_bound
        How far the trials left are expected to improve the best safe value, and how far at most (90 %), as of
        the latest suggestion, and the largest of the latest five bounds; None where nothing can be said.
    alarm
        Why P(safe) can't be trusted, where the alarm rings; else None.
    imported, never
        How many old trials were imported, and how many settings are never to be tried; neither is billed.
    remarks
        Sentences about limits that no told trial has measured.
    """

    trials: int
    trials_left: int
    failures: int
    failures_left: int
    pending: int
    best: Found | None
    voided: int = 0
    amended: int = 0
    expected_gain: float | None = None
    gain_bound: float | None = None
    alarm: str | None = None
    imported: int = 0
    never: int = 0
    remarks: tuple[str, ...] = ()


def to_entry(trial: FrozenTrial, reading: Reading, config: StudyConfig) -> Entry:
    """The entry of a stored trial."""
    owner = trial.system_attrs.get(OWNER)
    return Entry(
        trial=trial.number,
        parameters=config.completed(setting(trial)),
        results=dict(trial.user_attrs.get(RESULTS, {})),
        reading=reading,
        decision=decision(trial),
        owner=None if owner is None else Owner.from_dict(owner),
        stored=trial,
        unmeasured=tuple(name for name in config.limited_names if name not in reading.constraints),
    )


def to_status(entries: Sequence[Entry], config: StudyConfig) -> Status:
    """Where a study with these trials stands."""
    billed = [entry for entry in entries if entry.reading.billed]
    told = [entry for entry in billed if entry.reading.phase == "told"]
    pending = sum(entry.is_running for entry in billed)
    failures = sum(entry.reading.failed for entry in told)
    budget = config.trials if config.failures is None else config.failures
    said = _gains(entries, config, budget)[-LATEST:]
    return Status(
        trials=len(told),
        trials_left=max(config.trials - len(told) - pending, 0),
        failures=failures,
        failures_left=max(budget - failures, 0),
        pending=pending,
        best=_best(entries, config),
        voided=sum(entry.outcome == "voided" for entry in entries),
        amended=sum(entry.is_amended for entry in entries),
        expected_gain=said[-1].get("expected_gain") if said else None,
        gain_bound=max((note["gain_bound"] for note in said), default=None),
        alarm=_alarm(entries, config).sentence,
        imported=sum(entry.is_imported for entry in entries),
        never=sum(entry.outcome == "never" for entry in entries),
        remarks=_unmeasured_limits(entries, config),
    )


def _unmeasured_limits(entries: Sequence[Entry], config: StudyConfig) -> tuple[str, ...]:
    """What is said of each limit that no told trial has measured: it is new, or its name was misspelt."""
    told = [entry for entry in entries if entry.reading.phase == "told"]
    measured = dict.fromkeys(name for entry in told for name in entry.results)
    if not measured:
        return ()
    spare = [name for name in measured if name not in config.result_names]
    found = []
    for name in config.limited_names:
        if name not in measured:
            hint = checks.nearest(name, spare)
            found.append(
                f"no told trial has measured {name}, so that none counts as safe{f'; {hint}' if hint else ''}"
            )
    return tuple(found)


def _gains(entries: Sequence[Entry], config: StudyConfig, failures: int) -> list[dict[str, Any]]:
    """The decisions that say what can be gained: for this problem and budget, since the last correction."""
    since, mark = last_change([entry.stored for entry in entries]), config.mark
    notes = [e.decision for e in entries if e.trial >= since and e.decision.get("gain_bound") is not None]
    same = [note for note in notes if note.get(MARK) == mark]
    return [note for note in same if is_for(note.get("budget"), config.trials, failures)]


def _alarm(entries: Sequence[Entry], config: StudyConfig) -> Alarm:
    """What betting against the P(safe) of the told trials came to.

    Those that were never tried say nothing, and neither does what was claimed for other limits.
    """
    told = [
        entry
        for entry in entries
        if entry.reading.phase == "told" and entry.reading.billed
        if not has_other_limits(entry.stored, config.limits_mark)
        if entry.decision.get("mode") not in (None, "start", "try")
    ]
    p_safe = np.array([entry.decision.get("p_safe") for entry in told], dtype=float)  # None becomes NaN
    return alarm(p_safe, np.array([entry.reading.failed for entry in told], dtype=bool))


def _best(entries: Sequence[Entry], config: StudyConfig) -> Found | None:
    safe = [entry for entry in entries if entry.outcome == "safe"]
    if not safe:
        return None
    best = min(safe, key=lambda entry: (entry.reading.value, entry.trial))
    return Found(best.trial, best.parameters, best.results[config.objective], best.results)
