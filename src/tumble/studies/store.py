"""What a ledger writes to Optuna's storage, trial by trial."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

from tumble.integrations.optuna import private
from tumble.integrations.optuna.changes import changed_trial, changed_trials
from tumble.integrations.optuna.notes import DECISION, FIXED, OUTCOME, Kind, outcome, storable
from tumble.parameters import Categorical, Choice, Fixed, Float, Parameter, Searched
from tumble.studies.creation import Creator
from tumble.studies.ownership import OWNER, Owner
from tumble.studies.records import RESULTS, RETRIES

ASKED_BY = (
    "tumble:asked-by"  # system attributes of a trial: the marks of the requests that began and ended it
)
MOST_RETRIES, RETRY_LENGTH = 5, 200  # retries whose reasons are kept, and characters of each
ENDED_BY = "tumble:ended-by"
LARGEST = 2**31 - 1  # number of a trial that every database can look for


class TrialStore:
    """The trials of one study in its storage.

    Parameters
    ----------
    study
        The study.
    database
        The database behind it, which keeps the heartbeats.

    Attributes
    ----------
    mark
        The mark of the request that is being carried out; it is stored with what the request does.
    """

    def __init__(self, study: optuna.Study, database: RDBStorage) -> None:
        self.study, self.database = study, database
        self.study_id = private.study_id_of(study)
        self._storage = private.storage_of(study)
        self._creator = Creator(database)
        self.mark: dict[str, Any] | None = None
        self._held: set[int] = set()  # the ids of the trials that this process runs

    def trials(self) -> list[FrozenTrial]:
        """Every trial as it stands now, changes included, in the order of the numbers."""
        return changed_trials(self.study)

    def trial(self, number: int) -> FrozenTrial | None:
        """One trial as it stands now, changes included; None where there is none with this number."""
        if not 0 <= number <= LARGEST:
            return None
        try:
            trial_id = self.id_of(number)
        except KeyError:
            return None
        return changed_trial(self.study, trial_id)

    def get(self, trial_id: int) -> FrozenTrial:
        """One trial as it is stored now."""
        return self._storage.get_trial(trial_id)

    def id_of(self, number: int) -> int:
        """The id of the trial with this number."""
        return self._storage.get_trial_id_from_study_id_trial_number(self.study_id, number)

    def create(
        self,
        owner: Owner,
        decision: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Choice] | None = None,
    ) -> int:
        """A trial in flight, held by this process, which has its owner from the first moment.

        One transaction makes it, with its owner, what was decided for it and the fixed parameters; none makes
        it twice.
        """
        attributes = {OWNER: owner.to_dict()} | ({FIXED: dict(fixed)} if fixed else {})
        attributes |= {} if decision is None else {DECISION: dict(decision)}
        attributes |= {} if self.mark is None else {ASKED_BY: self.mark}
        template = optuna.trial.create_trial(state=TrialState.RUNNING, system_attrs=attributes)
        trial_id = self.add(template)
        self._hold(trial_id)
        return trial_id

    def add(self, template: FrozenTrial) -> int:
        """The id of a new trial with this state, setting and results."""
        create = partial(self._storage.create_new_trial, self.study_id)
        return self._creator.create(self.study_id, template, create)

    def take_over(self, trial_id: int, owner: Owner) -> None:
        """Make `owner` the owner of a trial, held by this process."""
        self._hold(trial_id)
        self._storage.set_trial_system_attr(trial_id, OWNER, owner.to_dict())
        self._set_mark(trial_id, ASKED_BY)

    def hand_over(self, trial_id: int, owner: Owner) -> None:
        """Make `owner` the owner of a trial that this process held until now."""
        self._storage.set_trial_system_attr(trial_id, OWNER, owner.to_dict())
        self._held.discard(trial_id)

    def decide(self, trial_id: int, decision: Mapping[str, Any]) -> None:
        """Store what was decided for a trial."""
        self._storage.set_trial_system_attr(trial_id, DECISION, dict(decision))

    def enter(self, trial_id: int, parameters: Mapping[str, Parameter]) -> dict[str, Choice]:
        """Pass the gate, which may wait or raise, and give the trial its setting."""
        trial = private.enter_trial(self.study, trial_id)
        return {
            name: parameter.value if isinstance(parameter, Fixed) else _value(trial, name, parameter)
            for name, parameter in parameters.items()
        }

    def store_results(
        self, trial_id: int, results: Mapping[str, float], excesses: Mapping[str, float]
    ) -> None:
        """Store what was measured, and g where Optuna keeps constraints.

        A process that was killed while it told this trial may have left results, which are replaced.
        """
        if results or RESULTS in self.get(trial_id).user_attrs:
            self._storage.set_trial_user_attr(trial_id, RESULTS, dict(results))
        for name, g in excesses.items():
            self._storage.set_trial_system_attr(trial_id, f"{private.CONSTRAINT}{name}", g)

    def note_retry(self, number: int, reason: str) -> None:
        """Store why a trial is run again."""
        trial_id = self.id_of(number)
        known = list(self.get(trial_id).system_attrs.get(RETRIES, ()))
        reasons = [*known, storable(reason)[:RETRY_LENGTH]][-MOST_RETRIES:]
        self._storage.set_trial_system_attr(trial_id, RETRIES, reasons)

    def mark_failure(self, trial_id: int, reason: str) -> None:
        """Store that a trial failed, and why, before it is finished.

        The sampler would note it while Optuna ends the trial, which Optuna does also where the note could not
        be written; the failure would then count as none.
        """
        self._storage.set_trial_system_attr(trial_id, OUTCOME, outcome("failure", reason or "told as failed"))

    def mark_end(self, trial_id: int) -> None:
        """Store which request ends a trial, before it does."""
        self._set_mark(trial_id, ENDED_BY)

    def finish(self, number: int, state: TrialState, value: float | None = None) -> None:
        """Tell Optuna the end of a trial; `ValueError` where it is over already."""
        trial_id = self.id_of(number)
        self.mark_end(trial_id)
        self.study.tell(number, value, state=state)
        self._held.discard(trial_id)

    def make_void(self, trial_id: int, kind: Kind, reason: str) -> None:
        """End a trial so that it counts as if it had never been."""
        self.mark_end(trial_id)
        self._storage.set_trial_system_attr(trial_id, OUTCOME, outcome(kind, reason))
        self._storage.set_trial_state_values(trial_id, TrialState.FAIL)
        self._held.discard(trial_id)

    def silent_ids(self) -> set[int]:
        """The ids of the trials whose heartbeat has expired."""
        return private.silent_trial_ids(self._storage, self.study_id)

    def has_heartbeat(self, trial_id: int) -> bool:
        """Whether a heartbeat was ever recorded for a trial."""
        return private.has_heartbeat(self._storage, trial_id)

    def beat(self) -> None:
        """Send a heartbeat for every trial that this process holds."""
        for trial_id in tuple(self._held):  # another thread may end one meanwhile
            self.database.record_heartbeat(trial_id)

    def _set_mark(self, trial_id: int, which: str) -> None:
        """Store the mark of the request; a mark that another request left unfinished is replaced."""
        if self.mark is not None or which in self.get(trial_id).system_attrs:
            self._storage.set_trial_system_attr(trial_id, which, self.mark)

    def _hold(self, trial_id: int) -> None:
        self._held.add(trial_id)
        self.database.record_heartbeat(trial_id)


def _value(trial: optuna.Trial, name: str, parameter: Searched) -> Any:
    if isinstance(parameter, Categorical):
        return trial.suggest_categorical(name, parameter.choices)
    suggest = trial.suggest_float if isinstance(parameter, Float) else trial.suggest_int
    return suggest(name, parameter.low, parameter.high, log=parameter.log, step=parameter.step)  # type: ignore[arg-type]
