"""Trials that were told and changed afterwards: voided, or given other results.

Optuna keeps a finished trial as it was told.  A change is an attribute of the study, which one transaction
writes: the trial, what was done, when, by whom, why, what it was before, and what it is from then on.  Every
reader lays the changes over the trials as it reads them, so that all workers count alike; the original stays.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from tumble.integrations.optuna import private
from tumble.integrations.optuna.notes import CHANGED, OUTCOME, outcome
from tumble.trials import ChangeKind

CHANGE = "tumble:change:"  # the system attribute of a study, with a running number behind it


@dataclass(frozen=True)
class StoredChange:
    """One change of one trial.

    Parameters
    ----------
    trial
        The trial's number.
    kind
        "voided" or "amended".
    at, by
        When (UTC) and by whom (user@host).
    reason
        Why it was voided, or why the amended trial failed.
    was, before
        What the trial was until then, in a word, and its results.
    value
        The value from now on; None where there is none.
    constraints
        g by name from now on.
    failed
        Whether the amended trial crashed.
    user_attrs
        User attributes that are replaced.
    since
        How many trials there were: hyperparameters that were fitted before are forgotten.
    request
        The mark of the request that changed it; None where it had no key.
    """

    trial: int
    kind: ChangeKind
    at: str
    by: str
    reason: str = ""
    was: str = ""
    before: dict[str, float] = field(default_factory=dict)
    value: float | None = None
    constraints: dict[str, float] = field(default_factory=dict)
    failed: bool = False
    user_attrs: dict[str, Any] = field(default_factory=dict)
    since: int = 0
    request: dict[str, str] | None = None

    def __str__(self) -> str:
        """In words: what, when, by whom, why, and what it was before."""
        why = f" ({self.reason})" if self.reason else ""
        before = " ".join(f"{name}={value:.6g}" for name, value in self.before.items())
        return f"{self.kind} {self.at} by {self.by}{why}, was {self.was} {before}".rstrip()

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> StoredChange:
        """As it was stored, by this version or a later one: keys that are not known are passed over."""
        known = {f.name for f in fields(cls)}
        return cls(**{key: value for key, value in stored.items() if key in known})


def store_change(study: optuna.Study, change: StoredChange) -> None:
    """Store a change, in one transaction; the caller holds the lock of the study."""
    storage, study_id = private.storage_of(study), private.study_id_of(study)
    key = f"{CHANGE}{len(stored_changes(study)):06d}"
    storage.set_study_system_attr(study_id, key, asdict(change))


def stored_changes(study: optuna.Study) -> list[StoredChange]:
    """Every change of a study, the first one first."""
    attributes = private.storage_of(study).get_study_system_attrs(private.study_id_of(study))
    return [StoredChange.from_dict(attributes[key]) for key in sorted(attributes) if key.startswith(CHANGE)]


def changed_trials(study: optuna.Study) -> list[FrozenTrial]:
    """Every trial as it stands now, in the order of the numbers; what is stored is not altered."""
    changes = stored_changes(study)  # before the trials, so that each change finds its trial told
    trials = study.get_trials(deepcopy=False)
    if not changes:
        return trials
    found = {trial.number: trial for trial in trials}
    for change in changes:
        found[change.trial] = _changed(found[change.trial], change)
    return list(found.values())


def changed_trial(study: optuna.Study, trial_id: int) -> FrozenTrial:
    """One trial as it stands now."""
    changes = stored_changes(study)  # before the trial, as above
    trial = private.storage_of(study).get_trial(trial_id)
    for change in changes:
        trial = _changed(trial, change) if change.trial == trial.number else trial
    return trial


def changes_of(trial: FrozenTrial) -> list[StoredChange]:
    """The changes of a trial that `changed_trials` gave."""
    return list(trial.system_attrs.get(CHANGED, ()))


def last_change(trials: Sequence[FrozenTrial]) -> int:
    """How many trials there were at the last change of one of them; 0 where there was none."""
    return max((change.since for trial in trials for change in changes_of(trial)), default=0)


def _changed(trial: FrozenTrial, change: StoredChange) -> FrozenTrial:
    changed = copy.copy(trial)
    attributes = {k: v for k, v in trial.system_attrs.items() if k != OUTCOME}
    if change.kind == "voided":
        changed.state, attributes[OUTCOME] = TrialState.FAIL, outcome("voided", change.reason)
    else:
        attributes = {k: v for k, v in attributes.items() if not k.startswith(private.CONSTRAINT)}
        attributes |= {f"{private.CONSTRAINT}{name}": g for name, g in change.constraints.items()}
        if change.failed:
            attributes[OUTCOME] = outcome("failure", change.reason)
        measured = TrialState.PRUNED if change.value is None else TrialState.COMPLETE
        changed.state = TrialState.FAIL if change.failed else measured
        changed.values = None if change.failed or change.value is None else [change.value]
        changed.user_attrs = {**trial.user_attrs, **change.user_attrs}
    attributes[CHANGED] = [*changes_of(trial), change]
    changed.system_attrs = attributes
    return changed
