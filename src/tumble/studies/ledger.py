"""The ledger of a study: ask, tell, skip, count, and go on after a crash.  An Optuna storage is its memory.

What was measured is stored as it was measured.  Limits are applied when it is read, so that limits, trials
and failures may be edited in the study file.  A trial is told when its state is stored, which is one
transaction; everything before that may be repeated.  Only one process at a time ends a trial.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import TrialState

from tumble.core.algorithm import NoSafeStart
from tumble.core.budget import beyond
from tumble.core.gain import is_too_little
from tumble.errors import BudgetExhausted, BudgetReserved, InputError, TrialsExhausted
from tumble.integrations.optuna.notes import DECISION, FIXED, Kind, decision
from tumble.optimizer import Optimizer
from tumble.parameters import Choice
from tumble.shown import all_are, count
from tumble.studies.asking import confirm_note, is_part_of, start_note, try_note
from tumble.studies.config import StudyConfig
from tumble.studies.deaths import DeathWatch
from tumble.studies.errors import NoSafeTrial, StudyFileError, TrialOver
from tumble.studies.evolution import fit_to_study
from tumble.studies.kept import KeptFiles, KeptResult
from tumble.studies.locking import lock_study
from tumble.studies.opening import open_study
from tumble.studies.outages import is_outage
from tumble.studies.ownership import BY_HAND, Owner, this_process
from tumble.studies.parameter_tables import exact
from tumble.studies.records import Entry, Status, to_entry, to_status
from tumble.studies.results import check_results, check_usable, is_usable, missing_results
from tumble.studies.sampler import StudySampler
from tumble.studies.storage import give_back, open_storage
from tumble.studies.store import TrialStore
from tumble.studies.waiting import holders
from tumble.trials import Expected, Recommended, Suggestion


class Ledger:
    """The trials of the study that a file describes.

    Parameters
    ----------
    config
        What the study file says; `tumble.studies.study_file.read_study_file` reads it.
    reading
        Whether the study is only looked at.  It must exist then; nothing is created and nothing is written.
    creating
        Whether a study that is not there yet is created; else `NoStudy` is raised.

    Attributes
    ----------
    config
        What the file says, as it goes on with the study: kinds of parameters are those of its trials.
    written
        What the file says.
    asker
        Who asks for a person; None for this process.  One that asks again and again has a name of its own, so
        that it finds what an asking that failed left behind.

    Raises
    ------
    StudyFileError
        If the storage can't be opened, or the file does not fit the study in it.

    Examples
    --------
    >>> from tumble.studies.study_file import read_study_file
    >>> with Ledger(read_study_file("drill.toml")) as ledger:  # doctest: +SKIP
    ...     suggestion = ledger.ask()
    ...     ledger.tell(suggestion.number, {"cost": 3.2, "torque": 11.4})
    """

    def __init__(self, config: StudyConfig, *, reading: bool = False, creating: bool = True) -> None:
        self.written = config
        creating = creating and not reading
        self.storage = open_storage(config, reading=reading, creating=creating)
        weakref.finalize(self, give_back, self.storage)  # where nobody closes it
        self.study = open_study(config, self.storage, StudySampler(config), creating=creating)
        self.config = fit_to_study(config, self.study, self.storage, reading=reading)
        self.study.sampler = self.sampler = StudySampler(self.config)
        self.store = TrialStore(self.study, self.storage)
        self.kept = KeptFiles(config)
        self.asker: Owner | None = None
        self._deaths = DeathWatch(self.store)

    def __enter__(self) -> Self:
        """Itself; it is closed at the end."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Give back every connection to the storage; a ledger that is dropped does so by itself."""
        give_back(self.storage)

    def follow(self, config: StudyConfig) -> None:
        """Go on with an edited study file; trials that were asked already keep their settings.

        Parameters
        ----------
        config
            The file as it is now.

        Raises
        ------
        StudyFileError
            If its name, storage or objective are others than before, or its parameters don't fit the trials.
        """
        now = self.config
        for what in ("name", "storage"):
            if getattr(config, what) != getattr(now, what):
                remedy = "change it back, or stop the run and start it again"
                raise StudyFileError(f"{config.path}: {what}: can't change while the study runs; {remedy}")
        fitted = fit_to_study(config, self.study, self.storage, reading=False)
        sampler = StudySampler(fitted)
        sampler.while_waiting = self.sampler.while_waiting
        self.written, self.config = config, fitted
        self.sampler = self.study.sampler = sampler

    # -- asking ------------------------------------------------------------------------------------------

    def ask(self, owner: Owner = BY_HAND) -> Suggestion:
        """The next trial to run.

        Parameters
        ----------
        owner
            Who will run it: a person, or a process that then waits where a hard budget makes it wait.  A
            person may get a trial whose asking was interrupted, under its old number.

        Returns
        -------
        Suggestion
            Its `x` is the setting by name.

        Raises
        ------
        TrialsExhausted
            If every trial is told or in flight, or the trials left gain less than `min_gain`.
        BudgetExhausted
            If more trials failed than may; if no failure is left and the budget is a hard cap; or if none is
            left and no setting is safe enough.
        BudgetReserved
            If trials in flight may use every failure that is left, and a person asks.
        """
        if owner != BY_HAND:
            return self._ask(owner)
        return self._hand_over(self.adopt(self.asker or this_process()) or self._ask(owner))

    def confirm(self, owner: Owner = BY_HAND) -> Suggestion:
        """A new trial at the recommendation; billed like any other."""
        found = self.recommend()
        if found is None:
            raise InputError("there is nothing to confirm yet: tell a trial first")
        return self._hand_out(confirm_note(self.config, self.optimizer(), found), owner)

    def try_(self, parameters: Mapping[str, Choice], owner: Owner = BY_HAND) -> Suggestion:
        """A new trial with a setting of one's own; billed like any other.

        Parameters
        ----------
        parameters
            The setting by name; a fixed parameter need not be named.
        owner
            Who will run it.

        Returns
        -------
        Suggestion
            With mode "try", and what is predicted of it.

        Raises
        ------
        InputError
            If it is no setting of the study, or does not keep a known constraint.  Nothing is stored then.
        TrialsExhausted, BudgetExhausted, BudgetReserved
            As for `ask`.
        """
        setting = exact(self.config.space, {**self.config.fixed, **parameters})
        self.config.space.check_known(setting)
        self.check_may_start(owner, {})
        return self._hand_out(try_note(self.config, self.optimizer(), setting), owner)

    def adopt(self, owner: Owner, before: float = math.inf) -> Suggestion | None:
        """Take over the earliest trial whose process died.

        Parameters
        ----------
        owner
            The process that takes it over.
        before
            Only trials with a lower number are taken.  A later one would wait behind the trial that the
            caller holds itself, so that neither could start.

        Returns
        -------
        Suggestion or None
            None where every process lives.
        """
        kept = self.kept.results()  # before the trials, so that each result finds its trial in flight
        entries = self.entries()
        if self._tell_kept(kept, entries):
            entries = self.entries()
        if not self._deaths.abandoned(entries, owner, before):
            return None
        try:
            with lock_study(self.storage, self.config.name):
                abandoned = self._deaths.abandoned(self.entries(), owner, before)
                if not abandoned:
                    return None
                trial_id = abandoned[0].trial_id
                self.store.take_over(trial_id, owner)
            return self._start(trial_id)
        except UpdateFinishedTrialError:  # the last words of its process arrived after all
            return None

    def beat(self) -> None:
        """Send a heartbeat for every trial that this process runs."""
        self.store.beat()

    # -- telling -----------------------------------------------------------------------------------------

    def tell(self, number: int, results: Mapping[str, float], owner: Owner = BY_HAND) -> Entry:
        """Record what was measured.

        Parameters
        ----------
        number
            The trial.
        results
            By name: the objective and every limited result.  A trial that broke a limit may lack others.
        owner
            Who tells.

        Returns
        -------
        Entry
            The trial as it stands in the ledger now.

        Raises
        ------
        InputError
            If the trial is over, or does not exist, or the results can't be used.  Nothing is stored then.
        """
        with self._closing(number, owner):
            check_results(self.config, results)
            self._end(number, results)
        return self.entry(number)

    def fail(
        self,
        number: int,
        reason: str,
        results: Mapping[str, float] | None = None,
        transient: bool = False,
        owner: Owner = BY_HAND,
    ) -> Entry:
        """Record a crash.  It is billed and teaches, unless it was only the infrastructure (`transient`).

        What was measured is kept in the record either way.
        """
        with self._closing(number, owner):
            self._store_results(number, {k: v for k, v in (results or {}).items() if is_usable(v)})
            if transient:
                self.store.make_void(self.store.id_of(number), "transient", reason)
            else:
                self.store.mark_failure(self.store.id_of(number), reason)
                self._finish(number, TrialState.FAIL)
        return self.entry(number)

    def skip(self, number: int, reason: str = "", owner: Owner = BY_HAND, kind: Kind = "skipped") -> Entry:
        """Withdraw a trial: nothing is charged, and nothing is learned unless the kind is "never"."""
        with self._closing(number, owner):
            self.store.make_void(self.store.id_of(number), kind, reason)
        return self.entry(number)

    # -- reading -----------------------------------------------------------------------------------------

    def entries(self) -> list[Entry]:
        """Every trial, in the order of the numbers."""
        reading_of = self.sampler.reader(self.study)
        return [to_entry(trial, reading_of(trial), self.config) for trial in self.store.trials()]

    def entry(self, number: int) -> Entry:
        """One trial."""
        trial = self.store.trial(number)
        if trial is None:
            there = len(self.entries())
            known = f"the trials are 0 to {there - 1}" if there else "none was asked yet"
            raise InputError(f"there is no trial {number}: {known}")
        return to_entry(trial, self.sampler.reader(self.study)(trial), self.config)

    def suggestion(self, number: int) -> Suggestion:
        """A trial as it was handed out."""
        entry = self.entry(number)
        x = {name: entry.parameters[name] for name in self.config.space.names}
        return self._suggestion(entry.trial_id, x)

    def status(self) -> Status:
        """The counts, and the best safe trial."""
        return to_status(self.entries(), self.config)

    def recommend(self) -> Recommended | None:
        """The setting to use, with its P(safe); x is by name, mean in the user's units."""
        found = self.sampler.recommend(self.study)
        return None if found is None else replace(found, x=self._whole(found.x))

    def expected_best(self) -> Expected | None:
        """The safe trial that is expected to be best, where results are noisy; in the user's units."""
        found = self.optimizer().expected_best()
        if found is None:
            return None
        return replace(found, x=self._whole(found.x), mean=self.config.sign * found.mean)

    def optimizer(self) -> Optimizer:
        """The study as an `Optimizer`: for figures, and for the models behind them."""
        found = self.sampler.optimizer(self.study)
        assert found is not None  # a study file has parameters
        return found

    # -- inside ------------------------------------------------------------------------------------------

    def _whole(self, x: Mapping[str, Choice]) -> dict[str, Choice]:
        """A setting with the parameters that are fixed now, in the order of the file."""
        return self.config.completed({**x, **self.config.fixed})

    def _ask(self, owner: Owner, note: Mapping[str, Any] | None = None) -> Suggestion:
        """A new trial.  This process owns it at first, so that its death is noticed."""
        self.check_may_start(owner, note)
        by = (self.asker or this_process()) if owner == BY_HAND else owner
        return self._start(self.store.create(by, note, self.config.fixed))

    def _hand_out(self, note: Mapping[str, Any], owner: Owner) -> Suggestion:
        """A new trial whose setting is decided."""
        suggestion = self._ask(owner, note)
        return self._hand_over(suggestion) if owner == BY_HAND else suggestion

    def _hand_over(self, suggestion: Suggestion) -> Suggestion:
        """From the process that asked to the person that it asked for."""
        self.store.hand_over(self.store.id_of(suggestion.number), BY_HAND)
        return suggestion

    def check_may_start(self, owner: Owner, note: Mapping[str, Any] | None = None) -> None:
        """Say what the gate would say, before there is a trial; a person is never made to wait.

        A setting that was decided already (`note`) may start, however little it gains.
        """
        status, config = self.status(), self.config
        if status.trials_left <= 0:
            flying = f": {holders(self.entries())}" if status.pending else ""
            why = f"{_all_used(status, config)}{flying}"
            raise TrialsExhausted(f"{why}; raise trials in {config.path} to go on")
        if config.failures is not None and status.failures > config.failures:
            raise BudgetExhausted(
                f"{beyond(status.failures, config.failures)}; look at the trials that failed, and raise "
                f"failures in {config.path} to go on, or void or amend what was told wrongly"
            )
        if note is None and is_too_little(status.gain_bound, config.min_gain):
            raise TrialsExhausted(
                f"the trials left improve {config.objective} by at most {status.gain_bound:.3g} (90 %), less "
                f"than min_gain = {config.min_gain:g}; lower min_gain in {config.path} to go on"
            )
        if config.on_exhausted != "stop":
            return
        if status.failures_left == 0:
            raise BudgetExhausted(
                f"{all_are(config.failures or 0, 'failure')} spent; raise failures in {config.path} to go "
                "on, or void or amend what was told wrongly"
            )
        if owner == BY_HAND and status.pending >= status.failures_left:
            raise BudgetReserved(
                f"{count(status.failures_left, 'failure is', 'failures are')} left and "
                f"{count(status.pending, 'trial')} in flight may use every one; "
                f"tell or skip one of those first: {holders(self.entries())}"
            )

    def _start(self, trial_id: int) -> Suggestion:
        """Pass the gate, and give the trial its setting; a trial that can't start is withdrawn."""
        try:
            first = self._first_setting(trial_id)
            if first is not None:
                self.store.decide(trial_id, start_note(self.store.get(trial_id).number, first))
            x = self.store.enter(trial_id, self.config.space.parameters)
        except BaseException as error:
            if not is_outage(error) and not self.store.get(trial_id).state.is_finished():
                self.store.make_void(trial_id, "unstarted", "withdrawn before it started")
            if isinstance(error, NoSafeStart):
                raise NoSafeTrial(self.config.path, str(self.config.method)) from None
            raise
        return self._suggestion(trial_id, x)

    def _first_setting(self, trial_id: int) -> dict[str, Choice] | None:
        """The setting under [start] that this trial is to run; None where each is told or in flight.

        Trials that are in flight and undecided take one each, in the order of their numbers.
        """
        trial = self.store.get(trial_id)
        if not self.config.starts or DECISION in trial.system_attrs:
            return None
        others = [e for e in self.entries() if e.reading.phase != "void" and not e.is_imported]
        had = [e.parameters for e in others if e.trial != trial.number]
        left = [start for start in self.config.starts if not any(is_part_of(start, one) for one in had)]
        ahead = sum(not e.parameters and e.trial < trial.number for e in others)
        return left[ahead] if ahead < len(left) else None

    def _suggestion(self, trial_id: int, x: dict[str, Choice]) -> Suggestion:
        """A trial that has started, as a suggestion; NaN where nothing was decided."""
        trial = self.store.get(trial_id)
        note, status = decision(trial), self.status()
        return Suggestion(
            number=trial.number,
            x={**x, **trial.system_attrs.get(FIXED, {})},
            mode=note.get("mode", ""),
            rho=_number(note.get("rho")),
            p_safe=_number(note.get("p_safe")),
            mean=_number(note.get("mean")),
            std=_number(note.get("std")),
            failures_left=status.failures_left,
            trials_left=status.trials_left,
            why=note.get("why", ""),
            expected_gain=note.get("expected_gain"),
            gain_bound=note.get("gain_bound"),
            alarm=note.get("alarm"),
        )

    def _tell_kept(self, results: Sequence[KeptResult], entries: Sequence[Entry]) -> bool:
        """Tell what runners measured that died before the storage had it; False where there was nothing."""
        told = False
        open_trials = {e.trial: e for e in entries if e.is_running}
        dead = {e.trial for e in self._deaths.abandoned(entries)} if results else set()
        for kept in results:
            entry = open_trials.get(kept.trial)
            same = entry is not None and (entry.owner, entry.parameters) == (kept.owner, kept.parameters)
            if same and kept.trial in dead:
                self._tell_result(kept)
                told = True
            elif not same and not kept.owner.is_alive_here():
                self.kept.forget(kept.trial)  # it was told in another way
        return told

    def _tell_result(self, kept: KeptResult) -> None:
        """Tell one; where that can't be done, what was measured is set aside."""
        of_trial = f"the result of trial {kept.trial}, which a killed runner had kept,"
        try:
            missing = self._record_kept(kept)
        except StudyFileError:  # the study is locked: the next look tells it
            raise
        except InputError as refusal:
            if self.entry(kept.trial).is_running:
                where = self.kept.set_aside(kept.trial)
                self.kept.say(
                    f"{of_trial} can't be told ({refusal}); it stays in {where}, and the trial is to be run "
                    "again: look at the file, and remove it when it is not needed"
                )
                return
        else:  # no error: nobody told it meanwhile
            asked = f"which {self.config.path} asks for by now: amend the trial if that is known"
            lacking = f" without {', '.join(missing)}, {asked}" if missing else ""
            self.kept.say(f"{of_trial} is told{lacking}")
        self.kept.forget(kept.trial)

    def _record_kept(self, kept: KeptResult) -> list[str]:
        """Tell one as its runner would have, and give what it lacks.

        It was complete for the file of then.  A limit that was edited since is no reason to refuse it: trials
        that were told before the edit lack the same.
        """
        if kept.reason is not None:
            self.fail(kept.trial, kept.reason, kept.results, owner=kept.owner)
            return []
        with self._closing(kept.trial, kept.owner):
            check_usable(kept.results)
            self._end(kept.trial, kept.results)
        return missing_results(self.config, kept.results)

    @contextlib.contextmanager
    def _closing(self, number: int, owner: Owner) -> Iterator[None]:
        """Let one process at a time end a trial: results and state then come from the same one."""
        self._check_open(number, owner)  # also without the lock, so that most mistakes wait for nobody
        with lock_study(self.storage, self.config.name):
            self._check_open(number, owner)
            yield

    def _check_open(self, number: int, owner: Owner) -> None:
        entry = self.entry(number)
        if not entry.is_running:
            is_told = entry.reading.phase == "told"
            raise TrialOver(self.config.path, number, entry.outcome, is_told)
        other = entry.owner
        if other is None or other.is_process_of(owner):
            return
        if other.kind == "run" and other.is_alive_here():
            raise InputError(f"trial {number} is being run by process {other.pid}; wait for it or stop it")

    def _store_results(self, number: int, results: Mapping[str, float]) -> None:
        self.store.store_results(self.store.id_of(number), results, self.config.excesses(results))

    def _end(self, number: int, results: Mapping[str, float]) -> None:
        """Store what was measured, and end the trial."""
        self._store_results(number, results)
        if self.config.objective in results:
            self._finish(number, TrialState.COMPLETE, results[self.config.objective])
        else:
            self._finish(number, TrialState.PRUNED)

    def _finish(self, number: int, state: TrialState, value: float | None = None) -> None:
        try:
            self.store.finish(number, state, value)
        except ValueError as error:  # told by someone else in the meantime
            raise InputError(f"trial {number} can't be told: {error}") from None


def _all_used(status: Status, config: StudyConfig) -> str:
    """That no trial is left, in words; a study file may have been edited to fewer than there are."""
    used = status.trials + status.pending
    flying = " or in flight" if status.pending else ""
    if used > config.trials:
        return f"{count(used, 'trial')} are told{flying}, more than trials = {config.trials}"
    return f"{used} of {count(used, 'trial is', 'trials are')} told{flying}"


def _number(value: float | None) -> float:
    """NaN for what is not known."""
    return math.nan if value is None else value
