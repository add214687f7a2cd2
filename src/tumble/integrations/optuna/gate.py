"""The gate: which trial may start.

Where the budget of failures is no hard cap ("safe"), a trial is refused once more trials failed than may, and
never waits.  The rest is about the hard cap ("stop").

Every trial in flight has a place in one order, its turn.  A trial may start when

    billed failures + trials in flight with a turn up to its own  <=  B

and waits otherwise.  The turn of a trial is its number, which every storage hands out atomically.  A trial
that waited in Optuna's queue (enqueued, or a retry) got its number before it runs.  When it starts and
another trial has a later turn, it draws a ticket that lies just behind the last turn, and before the number
of the next trial that is created.  A turn never becomes earlier.

Why this never exceeds B, for threads, processes and machines alike, without a lock: of the trials that have
started, let L be the one with the last turn.  Every other one was in flight when L looked for its place, and
L counted it.  (One that came later has a turn behind L's, because it was created or drew its ticket after L
had its own.)  From then on a counted trial fails, and the sum stays, or it does not fail, and the sum falls.

A trial that waits also fails the trials whose worker died (their heartbeat has expired), which frees their
place.  It sends its own heartbeats meanwhile, because Optuna sends them only for trials that run.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import optuna
from optuna.trial import FrozenTrial, TrialState

from tumble.core.budget import beyond
from tumble.errors import BudgetExhausted, TrialsExhausted, TumbleError
from tumble.integrations.optuna import private
from tumble.integrations.optuna.changes import changed_trials
from tumble.integrations.optuna.notes import BY_HAND, OUTCOME, TICKET, outcome
from tumble.integrations.optuna.trials import Reading
from tumble.shown import all_are

ReadTrial: TypeAlias = Callable[[FrozenTrial], Reading]
WhileWaiting: TypeAlias = Callable[[optuna.Study, FrozenTrial], bool]
MOST_SHOWN = 5  # trials that are named
TICKET_STEP = 2.0**-30  # so that a billion tickets fit between two numbers
SHORTEST_WAIT, LONGEST_WAIT = 0.02, 0.5  # seconds between two looks
LOOKING = 0.1  # share of its time in which a waiting trial reads every other one
BEATING = 0.1  # of the grace of a heartbeat: how often a trial that waits sends one
LONG_WAIT = 10.0  # seconds after which it is said who is waited for
EXTRA_GRACE = 1.0  # seconds that a trial without a first heartbeat gets beyond the grace of a heartbeat


@dataclass(frozen=True)
class _Queue:
    """The numbers of the trials ahead of one, and how many of them have to leave before it may start."""

    ahead: set[int]
    to_leave: int


@dataclass(frozen=True)
class Gate:
    """Admits trials to a study within a number of failures and a number of trials.

    Parameters
    ----------
    failures
        How many billed trials may fail; None for no limit.
    trials
        How many billed trials there may be; None for no limit.
    read
        Gives the meaning of a stored trial.
    while_waiting
        Called with the study and the trial that waits, whenever there was no place for it.  It returns True
        where it changed something; then the gate looks again at once.
    hard
        Whether failures and trials in flight never exceed `failures` together.  If not, a trial is refused
        only where more trials failed than may.
    queued
        Whether a trial may have waited in Optuna's queue.  Where none does, the number of a trial is its
        turn, also for a process that goes on with the trial of a dead one.
    withdraws
        Whether a trial is made void where something else, such as Ctrl-C, ends its wait.  Where it is not,
        the caller sees to it.
    say
        Called with a sentence while a trial has been waiting for long: who holds its place.
    """

    failures: int | None
    trials: int | None
    read: ReadTrial
    while_waiting: WhileWaiting
    hard: bool = True
    queued: bool = True
    withdraws: bool = True
    say: Callable[[str], None] = lambda text: None

    def admit(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Return when the trial may start; where it never may, make it void, stop the study and raise.

        Raises
        ------
        BudgetExhausted
            If all failures are spent; where the cap is not hard, if more trials failed than may.
        TrialsExhausted
            If all trials are told or in flight.
        """
        if self.failures is None and self.trials is None:
            return
        try:
            self._admit(study, trial)
        except (BudgetExhausted, TrialsExhausted):
            raise
        except BaseException as ended:  # Ctrl-C, or a storage that fails
            if self.withdraws:
                _withdraw(study, trial, ended)
            raise

    def _admit(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Return when the trial may start, or refuse it."""
        if not self.hard and self.trials is None:
            self._check_failures(study, trial, self._told(changed_trials(study)))
            return
        newcomers, patience = _WithoutHeartbeat(), time.monotonic() + LONG_WAIT
        _announce(study, trial)
        if self.queued:
            _draw_ticket(study, trial)
        while True:
            begin = time.monotonic()
            trials = changed_trials(study)
            queue = self._queue(study, trial, trials)
            if queue.to_leave <= 0:
                return
            newcomers.adopt(study, trials)
            if time.monotonic() > patience:
                self.say(_holders(study, trial, trials))
            now = time.monotonic()
            self._wait(study, trial, queue, now + (now - begin) / LOOKING)

    def _queue(self, study: optuna.Study, trial: FrozenTrial, trials: list[FrozenTrial]) -> _Queue:
        """Who is ahead of a trial; it is refused where it never may start."""
        told = self._told(trials)
        mine = next(_turn(t) for t in trials if t.number == trial.number)
        ahead = {t.number for t in trials if t.state == TrialState.RUNNING and _turn(t) < mine}
        failures = self._check_failures(study, trial, told)
        if self.trials is not None and len(told) + len(ahead) + 1 > self.trials:
            why = f"{all_are(self.trials, 'trial')} told or in flight"
            raise refused(study, trial, TrialsExhausted(f"{why}: the study is over; raise trials to go on"))
        free = self.failures is None or not self.hard
        return _Queue(ahead, 0 if free else failures + len(ahead) + 1 - (self.failures or 0))

    def _wait(self, study: optuna.Study, trial: FrozenTrial, queue: _Queue, until: float) -> None:
        """Return when the trial may have a place, or at the time `until`.

        Reading every trial is dear where many are in flight.  Their numbers alone are cheap: while too few of
        those ahead have left, there is no place.
        """
        storage, trial_id = private.storage_of(study), private.trial_id_of(trial)
        pause, beat_at, grace = SHORTEST_WAIT, 0.0, private.heartbeat_grace(storage)
        while True:
            if grace is not None and time.monotonic() >= beat_at:
                private.record_heartbeat(storage, trial_id)
                beat_at = time.monotonic() + BEATING * grace
            if self.while_waiting(study, trial):
                return
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_WAIT)
            running = private.running_numbers(storage, private.study_id_of(study))
            if running is None or len(queue.ahead - running) >= queue.to_leave or time.monotonic() > until:
                return

    def _told(self, trials: list[FrozenTrial]) -> list[Reading]:
        """The billed trials that were told."""
        return [r for r in map(self.read, trials) if r.phase == "told" and r.billed]

    def _check_failures(self, study: optuna.Study, trial: FrozenTrial, told: list[Reading]) -> int:
        """How many failed; the trial is refused where that is too many."""
        failures = sum(reading.failed for reading in told)
        if self.failures is None or failures < self.failures + (not self.hard):
            return failures
        why = f"the budget of {self.failures} failures is spent"
        if not self.hard:
            why = beyond(failures, self.failures)
        raise refused(study, trial, BudgetExhausted(f"{why}: the study is over; raise failures to go on"))


def stop(study: optuna.Study) -> None:
    """End the `study.optimize` that this thread runs; without one, do nothing."""
    with contextlib.suppress(RuntimeError):  # it is not called from inside an `optimize`
        study.stop()


def fail_silent_trials(study: optuna.Study, waiting: FrozenTrial) -> bool:
    """Fail the trials whose heartbeat has expired; True where there was one."""
    if not private.silent_trial_ids(private.storage_of(study), private.study_id_of(study)):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        optuna.storages.fail_stale_trials(study)
    return True


def _announce(study: optuna.Study, trial: FrozenTrial) -> None:
    """Send a first heartbeat, or say that there will be none."""
    storage = private.storage_of(study)
    if private.is_in_optimize(study):
        private.record_heartbeat(storage, private.trial_id_of(trial))
    elif private.heartbeat_grace(storage) is not None:
        private.set_attribute(study, trial, BY_HAND, True)


def _draw_ticket(study: optuna.Study, trial: FrozenTrial) -> None:
    """Go behind every other trial, where the turn of one of them is later."""
    turns = [_turn(other) for other in study.get_trials(deepcopy=False) if other.number != trial.number]
    if turns and max(turns) > _turn(trial):
        private.set_attribute(study, trial, TICKET, max(turns)[0] + TICKET_STEP)


def refused(
    study: optuna.Study,
    trial: FrozenTrial,
    error: TumbleError,
    *,
    started: bool = False,
) -> TumbleError:
    """Make the trial void, stop the study, and give the error to raise.

    If the trial has `started`, as one of `study.optimize` that asks for its parameters, Optuna ends it.
    """
    _make_void(study, trial, str(error), end=not started)
    stop(study)
    return error


def _withdraw(study: optuna.Study, trial: FrozenTrial, ended: BaseException) -> None:
    """Make a trial void that nobody will run: others would wait for it. `ended` says where that failed."""
    try:
        _make_void(study, trial, "withdrawn before it started", end=True)
    except Exception as error:
        ended.add_note(f"trial {trial.number} stays in flight, because the storage does not answer: {error}")


def _make_void(study: optuna.Study, trial: FrozenTrial, reason: str, *, end: bool) -> None:
    private.set_attribute(study, trial, OUTCOME, outcome("unstarted", reason))
    if end:
        private.storage_of(study).set_trial_state_values(private.trial_id_of(trial), TrialState.FAIL)


def _holders(study: optuna.Study, waiting: FrozenTrial, trials: list[FrozenTrial]) -> str:
    """For whom a trial waits, since when they run, and what to do about it."""
    others = [t for t in trials if t.state == TrialState.RUNNING and _turn(t) < _turn(waiting)]
    shown = [f"{t.number} (since {t.datetime_start:%Y-%m-%d %H:%M:%S})" for t in others[:MOST_SHOWN]]
    more = [f"{len(others) - MOST_SHOWN} more"] if len(others) > MOST_SHOWN else []
    remedy = "tell each of them with study.tell"
    if private.heartbeat_grace(private.storage_of(study)) is None:
        remedy += "; a storage with heartbeats would notice the death of a worker"
    return (
        f"trial {waiting.number} waits, because trials in flight may use every failure that is left: "
        f"{', '.join(shown + more)}; where nobody runs them any more, {remedy}"
    )


class _WithoutHeartbeat:
    """Trials that may have lost their worker between their creation and their first heartbeat."""

    def __init__(self) -> None:
        self._first_seen: dict[int, float] = {}

    def adopt(self, study: optuna.Study, trials: list[FrozenTrial]) -> None:
        """Send one heartbeat for a trial that has been silent for long; if no other follows, it expires."""
        storage = private.storage_of(study)
        grace = private.heartbeat_grace(storage)
        if grace is None:
            return
        for trial in trials:
            if trial.state == TrialState.RUNNING and not trial.params and BY_HAND not in trial.system_attrs:
                trial_id = private.trial_id_of(trial)
                seen = self._first_seen.setdefault(trial_id, time.monotonic())
                late = time.monotonic() - seen > grace + EXTRA_GRACE
                if late and not private.has_heartbeat(storage, trial_id):
                    private.record_heartbeat(storage, trial_id)
                    self._first_seen[trial_id] = time.monotonic()


def _turn(trial: FrozenTrial) -> tuple[float, int]:
    """The place in the order; trials that drew the same ticket at once are ordered by their numbers."""
    return max(float(trial.system_attrs.get(TICKET, 0)), trial.number), trial.number
