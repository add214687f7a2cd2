"""Driving a rig through a study: ask, run, tell, until nothing is left or a person has to look.

A runner first takes over the trials of runners that died, under their old numbers.  It does so as well while
it waits for a place within a hard budget, so that no runner waits for a dead one.

The storage may go away at any moment.  A rig that runs never notices; what it measured is kept in a file
until the storage has it (`tumble.studies.kept`); everything else is tried again until the storage answers.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import optuna
from optuna.trial import FrozenTrial

from tumble.core.budget import stop_reason
from tumble.errors import BudgetExhausted, InputError, TrialsExhausted, TumbleError
from tumble.integrations.optuna.gate import LOOKING
from tumble.integrations.optuna.notes import VoidKind
from tumble.parameters import Choice
from tumble.shown import as_word
from tumble.studies import rig
from tumble.studies.config import StudyConfig
from tumble.studies.edits import StudyFileWatch
from tumble.studies.errors import NoCommand
from tumble.studies.kept import KeptResult
from tumble.studies.ledger import Ledger
from tumble.studies.outages import Patience, StorageAway
from tumble.studies.ownership import this_runner
from tumble.studies.records import Entry
from tumble.studies.storage import HEARTBEAT
from tumble.studies.waiting import holders
from tumble.trials import Suggestion

LONG_WAIT = 10.0  # seconds after which it is said who is waited for
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before a transient fault is tried again


@dataclass(frozen=True)
class End:
    """Why a runner ended: nothing is left, someone stopped it, or someone has to look at a fault."""

    kind: Literal["done", "stopped", "fault"]
    why: str
    output: str = ""


class Withdrawn(TumbleError):
    """Raised while a trial waits for its place, where the runner is to stop."""


class _Edited(TumbleError):
    """Raised while a trial waits for its place, where the study file was edited: it is to ask again."""


class RigFault(TumbleError):
    """Raised where someone has to look at the rig; `end` says why."""

    def __init__(self, end: End) -> None:
        super().__init__(end.why)
        self.end = end


class Runner:
    """Runs the trials of one study, one at a time.

    Parameters
    ----------
    ledger
        The study; its file must have a command.
    should_stop
        Looked at between trials and while waiting.
    on_start, on_told, on_beat
        Called with each trial that starts, with each that is over, and about every second in between, then
        from another thread.
    on_notice
        Called with a sentence that someone who watches should read: the storage is away, or back, or
        the study file was edited.
    """

    def __init__(
        self,
        ledger: Ledger,
        should_stop: Callable[[], bool] = lambda: False,
        on_start: Callable[[Suggestion], None] = lambda suggestion: None,
        on_told: Callable[[Entry], None] = lambda entry: None,
        on_beat: Callable[[], None] = lambda: None,
        on_notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        if ledger.config.command is None:
            raise NoCommand(ledger.config.path)
        self.ledger = ledger
        self.should_stop = should_stop
        self.on_start, self.on_told, self.on_beat = on_start, on_told, on_beat
        self._notice = on_notice
        self._waits = (-1, math.inf)  # the trial that waits, and when it is said for whom
        self._me = this_runner()
        self._storage = Patience(on_notice, should_stop)
        ledger.kept.say = on_notice
        self._file = StudyFileWatch(ledger, on_notice)
        self._is_repeating = False  # a single trial goes by the file as it was when it was asked
        self._last_beat = 0.0
        self._look_for_dead_at = 0.0  # while a trial waits, at the earliest
        self._last_output = ""  # of the error stream of the last trial that failed here
        ledger.sampler.while_waiting = self._while_waiting

    def run(self) -> End:
        """Until nothing is left; the study file is read again before each trial."""
        self._is_repeating = True
        try:
            while not self.should_stop():
                self._file.look()
                with contextlib.suppress(_Edited):
                    self._storage.insist(self._check_can_succeed)
                    self.run_one(self._storage.insist(self._next))
        except (BudgetExhausted, TrialsExhausted) as end:
            return End("done", str(end))
        except StorageAway as away:
            why = f"{away}; run it again to go on: nothing that was measured is lost"
            return End("stopped", why)
        except Withdrawn:
            pass
        except RigFault as fault:
            return fault.end
        return End("stopped", "stopped; run it again to go on")

    def _next(self) -> Suggestion:
        """The trial of a dead runner, else a new one."""
        self.ledger.kept.end_left_overs()
        return self.ledger.adopt(self._me) or self.ledger.ask(self._me)

    def _check_can_succeed(self) -> None:
        """With no failure left and nothing safe seen, or one failure too many, only a person can help."""
        if self.ledger.config.on_exhausted != "safe":  # the hard cap ends by itself
            return
        status = self.ledger.status()
        allowed = self.ledger.config.failures
        why = stop_reason(status.failures, allowed, status.best is not None)
        too_many = allowed is not None and status.failures > allowed
        if why and (too_many or not status.pending):
            failed = [e for e in self.ledger.entries() if e.is_billed and e.outcome == "failed"]
            seen = "" if status.best is not None else "; nothing safe was seen"
            remedy = _remedy(self.ledger.config, failed, status.best is not None)
            raise RigFault(End("fault", f"{why}{_same_reason(failed)}{seen}: {remedy}", self._last_output))

    def _check_start(self, suggestion: Suggestion, reason: str) -> None:
        """Where a start crashes before any trial was safe, the command is at fault, or the start is not safe.

        Only a person can tell. To go on by itself would spend failure after failure on a command that never
        worked.
        """
        config = self.ledger.config
        is_start = any(start.items() <= suggestion.x.items() for start in config.starts)
        if is_start and self.ledger.status().best is None:
            why = f"trial {suggestion.number}, the setting given under [start], crashed: {reason}"
            void = f"tumble void {as_word(config.path)} {suggestion.number}"
            remedy = (
                "a start is known to be safe, so look at the command; if it was at fault, mend it and give "
                f"the trial back ({void}); run it again to go on"
            )
            raise RigFault(End("fault", f"{why}; {remedy}", self._last_output))

    def confirm(self) -> Suggestion:
        """One more trial, at the recommendation, for `run_single`."""
        return self.ledger.confirm(self._me)

    def try_(self, parameters: Mapping[str, Choice]) -> Suggestion:
        """One more trial, with a setting of one's own, for `run_single`."""
        return self.ledger.try_(parameters, self._me)

    def run_single(self, suggestion: Suggestion) -> Entry:
        """Run one trial, and give it as it was told; `RigFault` where someone has to look."""
        self.run_one(suggestion)
        return self.ledger.entry(suggestion.number)

    def run_one(self, suggestion: Suggestion) -> None:
        """Run one trial to its end; a fault of the infrastructure is tried again, then raised."""
        self._storage.attempt(lambda: self.on_start(suggestion))
        verdict, number = self._verdict(suggestion), suggestion.number
        if isinstance(verdict, rig.Transient):
            reason = f"{verdict.reason}, {self.ledger.config.retries + 1} times"
            self._void(number, reason, "transient", verdict.output)
        elif isinstance(verdict, rig.Unusable):
            self._void(number, verdict.reason, "unusable", verdict.output)
        else:
            self._last_output = verdict.output if isinstance(verdict, rig.Crashed) else self._last_output
            self._tell(suggestion, verdict)
            if isinstance(verdict, rig.Crashed) and self._is_repeating:
                self._storage.insist(lambda: self._check_start(suggestion, verdict.reason))

    def _tell(self, suggestion: Suggestion, verdict: rig.Measured | rig.Crashed) -> None:
        """Tell what came of a trial; it is kept beside the study until the storage has it."""
        number, reason = suggestion.number, verdict.reason if isinstance(verdict, rig.Crashed) else None
        self.ledger.kept.keep(KeptResult(number, dict(suggestion.x), verdict.results, reason, self._me))
        entry = self._storage.insist(lambda: self._record(number, verdict.results, reason))
        self.ledger.kept.forget(number)
        self._storage.attempt(lambda: self.on_told(entry))

    def _record(self, number: int, results: dict[str, float], reason: str | None) -> Entry:
        """The trial as it is stored, by us or by someone who was faster."""
        try:
            if reason is None:
                return self.ledger.tell(number, results, owner=self._me)
            return self.ledger.fail(number, reason, results, owner=self._me)
        except InputError:
            entry = self.ledger.entry(number)
            if entry.is_running:
                raise
            return entry

    def _verdict(self, suggestion: Suggestion) -> rig.Verdict:
        """What the rig says, at the latest after the last retry."""
        verdict = self._run_rig(suggestion)
        for attempt in range(self.ledger.config.retries):
            if not isinstance(verdict, rig.Transient):
                break
            self._note_retry(suggestion.number, attempt + 1, verdict.reason)
            self._pause(min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE))
            verdict = self._run_rig(suggestion)
        return verdict

    def _note_retry(self, number: int, attempt: int, reason: str) -> None:
        """Leave a trace of a fault that is tried again."""
        self._notice(f"trial {number}: {reason}; try {attempt} of {self.ledger.config.retries} follows")
        self._storage.attempt(lambda: self.ledger.store.note_retry(number, reason))

    def _run_rig(self, suggestion: Suggestion) -> rig.Verdict:
        number = suggestion.number
        with self.ledger.kept.running(number, self._me) as mark:
            return rig.run(self.ledger.config, suggestion.x, number, self._beat, mark=mark)

    def _void(self, number: int, reason: str, kind: VoidKind, output: str = "") -> None:
        entry = self._storage.insist(lambda: self._withdraw(number, reason, kind))
        self._storage.attempt(lambda: self.on_told(entry))
        raise RigFault(End("fault", f"trial {number}: {reason}; it is not billed", output))

    def _withdraw(self, number: int, reason: str, kind: VoidKind) -> Entry:
        entry = self.ledger.entry(number)
        return self.ledger.skip(number, reason, owner=self._me, kind=kind) if entry.is_running else entry

    def _beat(self) -> None:
        """Once a second; a storage that is away is tried again at the next one."""
        if time.monotonic() - self._last_beat > HEARTBEAT and self._storage.attempt(self.ledger.beat):
            self._last_beat = time.monotonic()
        self._storage.attempt(self.on_beat)

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._beat()
            time.sleep(min(0.5, max(end - time.monotonic(), 0.0)))

    def _say_who_is_waited_for(self, number: int) -> None:
        """Once for each trial that waits for long."""
        waiting, until = self._waits
        if waiting != number:
            self._waits = (number, time.monotonic() + LONG_WAIT)
        elif time.monotonic() > until:
            self._waits = (number, math.inf)
            held = holders([entry for entry in self.ledger.entries() if entry.trial < number])
            self._notice(f"trial {number} waits: every failure left may be used by a trial in flight: {held}")

    def _while_waiting(self, study: optuna.Study, waiting: FrozenTrial) -> bool:
        """The gate has no place: stop if we are to stop, run the trial of a dead runner, or wait."""
        if self.should_stop():
            raise Withdrawn("stopped while waiting")
        if self._is_repeating and self._file.look():
            raise _Edited("the study file was edited while a trial waited")
        self._say_who_is_waited_for(waiting.number)
        self.on_beat()
        begin = time.monotonic()
        if begin < self._look_for_dead_at:
            return False
        self.ledger.kept.end_left_overs()
        abandoned = self.ledger.adopt(self._me, before=waiting.number)
        now = time.monotonic()
        self._look_for_dead_at = now + (now - begin) / LOOKING
        if abandoned is None:
            return False
        self.run_one(abandoned)
        return True


def _same_reason(failed: Sequence[Entry]) -> str:
    """The reason that every failed trial crashed with, in brackets; empty where there is no such one."""
    reasons = {" ".join(entry.reading.reason.split()) for entry in failed if entry.reading.crashed}
    if len(reasons) != 1 or reasons == {""} or not all(entry.reading.crashed for entry in failed):
        return ""
    return f" ({'with' if len(failed) == 1 else 'each with'}: {reasons.pop()})"


def _remedy(config: StudyConfig, failed: Sequence[Entry], safe_seen: bool) -> str:
    """What to do where the failures are spent: for a fault of the command, and for any other."""
    start = "" if config.starts or safe_seen else "add a [start] that is safe, and "
    trials = ", ".join(str(entry.trial) for entry in failed)
    one = len(failed) == 1
    void = f"tumble void {as_word(config.path)} {trials if one else f'TRIAL, for each of {trials}'}"
    return (
        "look at the command and the limits; if the command itself was at fault, mend it, give "
        f"{'that trial' if one else 'those trials'} back ({void}), and run it again; "
        f"if not, {start}raise failures to go on"
    )
