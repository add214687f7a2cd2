"""The gate: who may start a trial when failures are a hard cap ("stop").

Trial numbers are handed out atomically by every storage, so they serve as tickets.  Trial n starts when

    billed failures + trials in flight with a ticket up to its own  <=  B

and waits otherwise.  The one with the largest ticket among the started has counted all the others, and since
then a trial in flight can only turn into a failure (the sum stays) or into something else (it falls): so
failures + trials in flight never exceed B, for threads, processes and machines alike, without a lock.

An enqueued trial got its number long before it runs.  It draws a new ticket when it starts, as at a baker's:
one more than every number there is.  Until it has drawn, everyone else counts it as being in front.

Whoever waits also buries the dead: trials whose heartbeat has expired are failed, unmarked, and so free their
place; a trial that waits beats its own heart, because Optuna beats only for trials that run.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import optuna
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from tumble.errors import BudgetExhausted, TrialsExhausted
from tumble.integrations.optuna.trials import OUTCOME, TICKET, Reading

ReadTrial: TypeAlias = Callable[[FrozenTrial], Reading]
BY_HAND = "tumble:by-hand"
SHORTEST_WAIT, LONGEST_WAIT = 0.02, 0.5  # seconds between two looks
WINDOW = 1.0  # how much longer than a heartbeat's grace a trial without any sign of life is believed


@dataclass(frozen=True)
class Gate:
    """Admits trials to a study with at most `failures` billed failures, and `trials` billed trials.

    Either may be None: no limit.  `read` says what a stored trial means; `while_waiting` is called with the
    trial that waits at every look that found no place, and returns True where it changed something (then
    there is no pause): `bury`, where the workers run `study.optimize`.
    """

    failures: int | None
    trials: int | None
    read: ReadTrial
    while_waiting: Callable[[optuna.Study, FrozenTrial], bool]

    def admit(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Return when the trial may start; where it never may, void it, stop the study and raise."""
        if self.failures is None and self.trials is None:
            return
        pause, orphans = SHORTEST_WAIT, _Orphans()
        self._sign(study, trial)
        while True:
            trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
            if self._has_place(study, trial, trials):
                return
            _beat(study._storage, trial._trial_id)
            orphans.adopt(study, trials)
            if self.while_waiting(study, trial):
                pause = SHORTEST_WAIT
                continue
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_WAIT)

    def _sign(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Show a sign of life, and draw a ticket where the number is none."""
        storage, trial_id = study._storage, trial._trial_id
        if study._thread_local.in_optimize_loop:
            _beat(storage, trial_id)
        elif _heartbeat(storage) is not None:
            storage.set_trial_system_attr(trial_id, BY_HAND, True)
        if _is_enqueued(trial) and TICKET not in trial.system_attrs:
            others = storage.get_all_trials(study._study_id, deepcopy=False)
            last = max(max(t.number, t.system_attrs.get(TICKET, 0)) for t in others)
            storage.set_trial_system_attr(trial_id, TICKET, last + 1)

    def _has_place(self, study: optuna.Study, trial: FrozenTrial, trials: list[FrozenTrial]) -> bool:
        told = [r for r in map(self.read, trials) if r.phase == "told" and r.billed]
        failures = sum(reading.failed for reading in told)
        mine = next(_turn(t) for t in trials if t.number == trial.number)
        ahead = sum(t.state == TrialState.RUNNING and _turn(t) <= mine for t in trials)  # itself included
        if self.failures is not None and failures >= self.failures:
            why = f"the budget of {self.failures} failures is spent"
            self._refuse(study, trial, BudgetExhausted(f"{why}: the study is over; raise failures to go on"))
        if self.trials is not None and len(told) + ahead > self.trials:
            why = f"all {self.trials} trials are told or in flight"
            self._refuse(study, trial, TrialsExhausted(f"{why}: the study is over; raise trials to go on"))
        return self.failures is None or failures + ahead <= self.failures

    def _refuse(
        self, study: optuna.Study, trial: FrozenTrial, error: BudgetExhausted | TrialsExhausted
    ) -> None:
        study._storage.set_trial_system_attr(
            trial._trial_id, OUTCOME, {"kind": "unstarted", "reason": str(error)}
        )
        study._storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)
        stop(study)
        raise error


def stop(study: optuna.Study) -> None:
    """End the `optimize` loop that we are in, if we are in one."""
    if study._thread_local.in_optimize_loop:
        study.stop()


class _Orphans:
    """Trials whose worker died between their creation and their first sign of life."""

    def __init__(self) -> None:
        self._first_seen: dict[int, float] = {}

    def adopt(self, study: optuna.Study, trials: list[FrozenTrial]) -> None:
        """Beat once for a trial that has shown nothing for long: if nobody does after that, it expires."""
        grace = _heartbeat(study._storage)
        if grace is None:
            return
        for trial in trials:
            if trial.state == TrialState.RUNNING and not trial.params and not trial.system_attrs:
                seen = self._first_seen.setdefault(trial._trial_id, time.monotonic())
                if time.monotonic() - seen > grace + WINDOW and not _has_beaten(study, trial):
                    _beat(study._storage, trial._trial_id)
                    self._first_seen[trial._trial_id] = time.monotonic()


def _turn(trial: FrozenTrial) -> tuple[int, int]:
    """The order of the queue; an enqueued trial without a ticket yet stands in front of everyone."""
    ticket = trial.system_attrs.get(TICKET, -1 if _is_enqueued(trial) else trial.number)
    return ticket, trial.number


def _is_enqueued(trial: FrozenTrial) -> bool:
    return "fixed_params" in trial.system_attrs


def _heartbeat(storage: BaseStorage) -> float | None:
    """Seconds after which a silent trial is dead; None where the storage keeps no heartbeats."""
    interval = getattr(storage, "get_heartbeat_interval", lambda: None)()
    if interval is None:
        return None
    backend = getattr(storage, "_backend", storage)
    return float(getattr(backend, "grace_period", None) or 2 * interval)


def _beat(storage: BaseStorage, trial_id: int) -> None:
    if _heartbeat(storage) is not None:
        storage.record_heartbeat(trial_id)  # type: ignore[attr-defined]


def _has_beaten(study: optuna.Study, trial: FrozenTrial) -> bool:
    backend: Any = getattr(study._storage, "_backend", study._storage)
    with contextlib.closing(backend.scoped_session()) as session:
        models = optuna.storages._rdb.models
        return models.TrialHeartbeatModel.where_trial_id(trial._trial_id, session) is not None


def bury(study: optuna.Study, waiting: FrozenTrial) -> bool:
    """Fail the trials whose heartbeat has expired; True where there was one."""
    if _heartbeat(study._storage) is None or not study._storage._get_stale_trial_ids(study._study_id):  # type: ignore[attr-defined]
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        optuna.storages.fail_stale_trials(study)
    return True
