"""An Optuna storage as the memory of a study: ask, tell, skip, count, and go on after a crash.

What was measured is stored raw (`RESULTS`); limits are applied when it is read, so that limits, trials and
failures may be edited in the study file between two trials.  A trial is told when its state is stored, which
is one transaction; everything before that may be repeated.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any, Self

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

from tumble.core.history import violated
from tumble.errors import BudgetExhausted, BudgetReserved, InputError, TrialsExhausted
from tumble.integrations.optuna.notes import DECISION, OUTCOME, REASON, decision
from tumble.optimizer import Optimizer
from tumble.parameters import Categorical, Float
from tumble.studies.config import StudyConfig, StudyFileError
from tumble.studies.ownership import HAND, OWNER, Owner, exclusive, me
from tumble.studies.records import RESULTS, Asked, Entry, Found, Status, entry_of
from tumble.studies.sampler import StudySampler
from tumble.studies.storage import NoStudy, no_study, open_storage
from tumble.trials import Recommended

PARAMETERS = "tumble:parameters"
OBJECTIVE = "tumble:objective"
REASON_LIMIT = 500  # characters


class Ledger:
    """The trials of the study that a file describes.

    reading: only to look at a study that is there; nothing is created and nothing is written.
    """

    def __init__(self, config: StudyConfig, *, reading: bool = False) -> None:
        self.config = config
        self.storage = open_storage(config, reading=reading)
        self.sampler = StudySampler(config)
        self._mine: set[int] = set()
        self.study = self._load() if reading else self._load_or_create()
        self._check_unchanged(reading)

    def __enter__(self) -> Self:
        """Itself; it is closed at the end."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Give back every connection to the storage."""
        self._backend.remove_session()
        self._backend.engine.dispose()

    # -- asking ------------------------------------------------------------------------------------------

    def ask(self, owner: Owner = HAND) -> Asked:
        """A new trial; waits where a hard budget makes it wait, and raises where nothing is left.

        By hand it may be one that was interrupted: such a trial goes on under its number.
        """
        if owner == HAND:
            return self._hand_over(self.adopt(me()) or self._ask(owner))
        return self._ask(owner)

    def confirm(self, owner: Owner = HAND) -> Asked:
        """A new trial at the recommendation; billed like any other."""
        found = self.recommend()
        if found is None:
            raise InputError("there is nothing to confirm yet: tell a trial first")
        why = f"confirms the recommendation: P(safe) = {found.p_safe:.3g}, predicted {found.mean:.4g}"
        self._check_may_start(owner)
        note = {"mode": "confirm", "rho": None, "p_safe": found.p_safe, "why": why, "params": found.x}
        asked = self._start(self._create(owner if owner.kind == "run" else me(), {DECISION: note}))
        return self._hand_over(asked) if owner == HAND else asked

    def adopt(self, owner: Owner, before: float = math.inf) -> Asked | None:
        """Take over the earliest trial whose runner died; None where all live.

        before: only trials with a lower number; whoever waits with a trial of its own must not take one that
        would have to wait for that.
        """
        if not self._orphans(before):
            return None
        with exclusive(self._backend, self.config.name):
            orphans = self._orphans(before)
            if not orphans:
                return None
            trial_id = orphans[0].stored._trial_id
            self._take(trial_id)
            self.study._storage.set_trial_system_attr(trial_id, OWNER, owner.to_dict())
        return self._start(trial_id)

    def beat(self) -> None:
        """A sign of life for every trial that this process has in hand."""
        for trial_id in self._mine:
            self._backend.record_heartbeat(trial_id)

    # -- telling -----------------------------------------------------------------------------------------

    def tell(self, number: int, results: Mapping[str, float], owner: Owner = HAND) -> Entry:
        """What was measured. Without the objective only where a limit was broken (an emergency stop)."""
        self._check_open(number, owner)
        measured = self._check_results(results)
        self._store_results(number, measured)
        if self.config.objective in measured:
            self._finish(number, TrialState.COMPLETE, measured[self.config.objective])
        else:
            self._finish(number, TrialState.PRUNED)
        return self.entry(number)

    def check_names(self, results: Mapping[str, float]) -> None:
        """Refuse a result that the file does not know: by hand a slip; a rig may print what it likes."""
        known = [self.config.objective, *(limit.name for limit in self.config.limits)]
        for name in results:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]}? " if close else ""
                raise InputError(f"unknown result {name!r}; {hint}known are {', '.join(known)}")

    def fail(
        self,
        number: int,
        reason: str,
        results: Mapping[str, float] | None = None,
        transient: bool = False,
        owner: Owner = HAND,
    ) -> Entry:
        """A crash: billed, and it teaches; or, where transient, a fault of the infrastructure: neither."""
        self._check_open(number, owner)
        if transient:
            return self.skip(number, reason, owner=owner, kind="transient")
        self._store_results(number, {k: v for k, v in (results or {}).items() if math.isfinite(v)})
        self.study._storage.set_trial_user_attr(self._id(number), REASON, reason[:REASON_LIMIT])
        self._finish(number, TrialState.FAIL)
        return self.entry(number)

    def skip(self, number: int, reason: str = "", owner: Owner = HAND, kind: str = "skipped") -> Entry:
        """Withdrawn: nothing learned, nothing charged."""
        self._check_open(number, owner)
        self._void(self._id(number), kind, reason)
        return self.entry(number)

    # -- reading -----------------------------------------------------------------------------------------

    def entries(self) -> list[Entry]:
        """Every trial, in the order of the numbers."""
        reader = self.sampler.reader(self.study)
        trials = self.study._storage.get_all_trials(self.study._study_id, deepcopy=False)
        return [entry_of(trial, reader(trial), self.sampler.constraint_names()) for trial in trials]

    def entry(self, number: int) -> Entry:
        """One trial."""
        entries = self.entries()
        if not 0 <= number < len(entries):
            known = f"the trials are 0 to {len(entries) - 1}" if entries else "none was asked yet"
            raise InputError(f"there is no trial {number}: {known}")
        return entries[number]

    def status(self) -> Status:
        """The counts, and the best safe trial."""
        entries = self.entries()
        billed = [e for e in entries if e.reading.billed]
        told = [e for e in billed if e.reading.phase == "told"]
        pending = sum(e.reading.phase == "running" for e in billed)
        failures = sum(e.reading.failed for e in told)
        budget = self.config.trials if self.config.failures is None else self.config.failures
        return Status(
            trials=len(told),
            trials_left=max(self.config.trials - len(told) - pending, 0),
            failures=failures,
            failures_left=max(budget - failures, 0),
            pending=pending,
            best=self._best(entries),
        )

    def recommend(self) -> Recommended | None:
        """The setting to use, with its P(safe); x is by name, mean in the user's units."""
        return self.sampler.recommend(self.study)

    def optimizer(self) -> Optimizer:
        """The study as an `Optimizer`: for figures, and for whoever wants the models."""
        found = self.sampler.optimizer(self.study)
        assert found is not None  # a study file has parameters
        return found

    # -- inside ------------------------------------------------------------------------------------------

    @property
    def _backend(self) -> RDBStorage:
        backend = self.study._storage._backend  # type: ignore[attr-defined]
        assert isinstance(backend, RDBStorage)
        return backend

    def _ask(self, owner: Owner) -> Asked:
        self._check_may_start(owner)
        return self._start(self._create(owner if owner.kind == "run" else me(), {}))

    def _hand_over(self, asked: Asked) -> Asked:
        """From the process that asked to the person it asked for: until then, its death is noticed."""
        trial_id = self._id(asked.trial)
        self.study._storage.set_trial_system_attr(trial_id, OWNER, HAND.to_dict())
        self._mine.discard(trial_id)
        return asked

    def _check_may_start(self, owner: Owner) -> None:
        """Say at once what the gate would say, before there is a trial; a person is never made to wait."""
        status, config = self.status(), self.config
        if status.trials_left <= 0:
            raise TrialsExhausted(
                f"all {config.trials} trials are told or in flight ({status.pending}); "
                f"raise trials in {config.path} to go on"
            )
        if config.on_exhausted != "stop":
            return
        if status.failures_left == 0:
            raise BudgetExhausted(
                f"all {config.failures} failures are spent; raise failures in {config.path} to go on"
            )
        if owner == HAND and status.pending >= status.failures_left:
            raise BudgetReserved(
                f"{status.failures_left} failures are left and {status.pending} trials in flight may use "
                "them; tell or skip one of those first"
            )

    def _create(self, owner: Owner, attributes: dict[str, Any]) -> int:
        """A trial in flight that has its owner from the first moment: one transaction."""
        template = optuna.trial.create_trial(
            state=TrialState.RUNNING, system_attrs={OWNER: owner.to_dict(), **attributes}
        )
        trial_id = self.study._storage.create_new_trial(self.study._study_id, template)
        self._take(trial_id)
        return trial_id

    def _take(self, trial_id: int) -> None:
        self._mine.add(trial_id)
        self._backend.record_heartbeat(trial_id)

    def _start(self, trial_id: int) -> Asked:
        """Through the gate, and give the trial its setting."""
        try:
            stored = self.study._storage.get_trial(trial_id)
            if self._is_first(stored):
                why = f"Trial {stored.number}: the setting given under [start]."
                first = {
                    "mode": "start",
                    "rho": None,
                    "p_safe": None,
                    "why": why,
                    "params": self.config.start,
                }
                self.study._storage.set_trial_system_attr(trial_id, DECISION, first)
            trial = optuna.Trial(self.study, trial_id)  # waits at the gate
            parameters = {name: self._suggest(trial, name) for name in self.config.space.names}
        except BaseException:
            if not self.study._storage.get_trial(trial_id).state.is_finished():
                self._void(trial_id, "unstarted", "withdrawn before it started")
            raise
        note = decision(self.study._storage.get_trial(trial_id))
        return Asked(
            trial=trial.number,
            parameters=parameters,
            mode=note.get("mode", ""),
            rho=note.get("rho"),
            p_safe=note.get("p_safe"),
            why=note.get("why", ""),
        )

    def _suggest(self, trial: optuna.Trial, name: str) -> Any:
        parameter = self.config.space.parameters[name]
        if isinstance(parameter, Categorical):
            return trial.suggest_categorical(name, parameter.choices)
        if isinstance(parameter, Float):
            return trial.suggest_float(
                name, parameter.low, parameter.high, log=parameter.log, step=parameter.step
            )
        return trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log, step=parameter.step)

    def _is_first(self, trial: FrozenTrial) -> bool:
        """Whether this trial runs the setting under [start]: no earlier one was billed or is in flight."""
        if self.config.start is None or DECISION in trial.system_attrs:
            return False
        earlier = [e for e in self.entries() if e.trial < trial.number and e.reading.billed]
        return all(e.reading.phase == "void" for e in earlier)

    def _orphans(self, before: float) -> list[Entry]:
        running = [e for e in self.entries() if e.reading.phase == "running" and e.owner is not None]
        owned = [e for e in running if e.owner is not None and e.owner.kind == "run"]
        dead = [e for e in owned if e.owner is not None and e.owner.is_here() and not e.owner.lives_here()]
        if any(e.owner is not None and not e.owner.is_here() for e in owned):
            silent = set(self._backend._get_stale_trial_ids(self.study._study_id))
            dead += [e for e in owned if e.owner and not e.owner.is_here() and e.stored._trial_id in silent]
        return sorted((e for e in dead if e.trial < before), key=lambda entry: entry.trial)

    def _id(self, number: int) -> int:
        return self.study._storage.get_trial_id_from_study_id_trial_number(self.study._study_id, number)

    def _check_open(self, number: int, owner: Owner) -> None:
        entry = self.entry(number)
        if entry.reading.phase != "running":
            raise InputError(
                f"trial {number} is over already ({entry.outcome}); each trial is told or skipped once"
            )
        if entry.owner and entry.owner.kind == "run" and entry.owner != owner and entry.owner.lives_here():
            raise InputError(
                f"trial {number} is being run by process {entry.owner.pid}; wait for it or stop it"
            )

    def _check_results(self, results: Mapping[str, float]) -> dict[str, float]:
        for name, value in results.items():
            if not math.isfinite(value):
                raise InputError(
                    f"{name} must be a finite number, but {value} came; tell a crash with --failed"
                )
        broken = violated(self.config.excesses(dict(results)).values())
        wanted = [limit.name for limit in self.config.limits] + [self.config.objective]
        missing = [name for name in wanted if name not in results]
        if missing and not broken:
            hint = "tell a trial that failed with --failed"
            raise InputError(f"{missing[0]} is missing: give {' '.join(f'{n}=...' for n in wanted)}; {hint}")
        return dict(results)

    def _store_results(self, number: int, results: Mapping[str, float]) -> None:
        storage, trial_id = self.study._storage, self._id(number)
        if results:
            storage.set_trial_user_attr(trial_id, RESULTS, dict(results))
        for name, g in self.config.excesses(dict(results)).items():
            storage.set_trial_system_attr(trial_id, f"constraints:{name}", g)

    def _finish(self, number: int, state: TrialState, value: float | None = None) -> None:
        try:
            self.study.tell(number, value, state=state)
        except ValueError as error:  # told by someone else in the meantime
            raise InputError(f"trial {number} can't be told: {error}") from None
        finally:
            self._mine.discard(self._id(number))

    def _void(self, trial_id: int, kind: str, reason: str) -> None:
        note = {"kind": kind, "reason": reason[:REASON_LIMIT]}
        self.study._storage.set_trial_system_attr(trial_id, OUTCOME, note)
        self.study._storage.set_trial_state_values(trial_id, TrialState.FAIL)
        self._mine.discard(trial_id)

    def _best(self, entries: list[Entry]) -> Found | None:
        safe = [e for e in entries if e.outcome == "safe"]
        if not safe:
            return None
        best = min(safe, key=lambda e: (e.reading.value, e.trial))
        return Found(best.trial, best.parameters, best.results[self.config.objective], best.results)

    def _load(self) -> optuna.Study:
        name, storage = self.config.name, self.storage
        try:
            return optuna.load_study(study_name=name, storage=storage, sampler=self.sampler)
        except KeyError:
            raise no_study(self.config, f"there is no study {name!r} in it") from None

    def _load_or_create(self) -> optuna.Study:
        """The study; most of the time it is there already, and then nothing is written."""
        try:
            return self._load()
        except NoStudy:
            return optuna.create_study(
                study_name=self.config.name,
                storage=self.storage,
                sampler=self.sampler,
                direction="maximize" if self.config.maximize else "minimize",
                load_if_exists=True,
            )

    def _check_unchanged(self, reading: bool) -> None:
        """Parameters and objective are fixed by the first opening of the study."""
        now: dict[str, Any] = {
            PARAMETERS: self.config.space.to_dict(),
            OBJECTIVE: [self.config.objective, self.config.maximize],
        }
        storage, study_id = self.study._storage, self.study._study_id
        then = storage.get_study_system_attrs(study_id)
        for key, value in now.items():
            if key not in then:
                if not reading:
                    storage.set_study_system_attr(study_id, key, value)
            elif then[key] != value:
                what = "parameters" if key == PARAMETERS else "objective"
                raise StudyFileError(
                    f"{self.config.path}: {what}: differ from those that study {self.config.name!r} was "
                    "started with; change them back, or give the study another name and import the old trials"
                )
