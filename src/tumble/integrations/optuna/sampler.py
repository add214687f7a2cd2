"""`TumbleSampler`: the search and its budget of failures behind Optuna's interface.

The sampler translates.  Optuna's trials become the trials of an `Optimizer`, which is asked for the next one.
What it decided is written back as one attribute of the trial.  Between two calls the sampler keeps only what
saves time, so any number of threads, processes and machines may share a study, and any of them may die.

Beside it: `trials` says what a stored trial means, `notes` and `outcomes` what is written to it,
`distributions` translates parameters, `gate` keeps a hard budget among many workers, `advice` says what a
user may not expect, and `private` holds every private name of Optuna.
"""

from __future__ import annotations

import copy
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.storages import BaseStorage
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from tumble import checks
from tumble.core.settings import Settings
from tumble.counting import safe_range, without_gain
from tumble.errors import BudgetExhausted, InputError
from tumble.explanation import explain
from tumble.integrations.optuna import advice, distributions, private
from tumble.integrations.optuna.changes import changed_trials, changes_of, last_change
from tumble.integrations.optuna.gate import Gate, fail_silent_trials, refused, stop
from tumble.integrations.optuna.insisting import insist
from tumble.integrations.optuna.notes import (
    DECISION,
    LIMITS,
    OUTCOME,
    decision,
    has_other_limits,
    last_fit,
    setting,
    to_note,
)
from tumble.integrations.optuna.outcomes import mark_failure, mark_unmeasured, store_constraints
from tumble.integrations.optuna.trials import (
    Reading,
    constraint_names,
    has_setting,
    read,
    stored_constraints,
    to_trial,
)
from tumble.methods import MethodName, find_method, resolve_settings
from tumble.optimizer import ON_EXHAUSTED, Optimizer
from tumble.parameters import Choice
from tumble.space import Space
from tumble.starting import NO_TRIAL
from tumble.trials import OnExhausted, Recommended, Suggestion, Trial

__all__ = ["TumbleSampler"]

_logger = optuna.logging.get_logger(__name__)


@dataclass(frozen=True)
class _Kept:
    """What a sampler keeps of one study, to save time and to warn once.

    What a finished trial means is worked out once, and again after each change: by its number and how many
    changes it has.
    """

    readings: dict[tuple[int, int], Reading] = field(default_factory=dict)
    translated: dict[tuple[Space, tuple[str, ...]], dict[tuple[int, int], Trial]] = field(
        default_factory=dict
    )
    warned: set[str] = field(default_factory=set)


class TumbleSampler(BaseSampler):
    """A sampler for Optuna that searches within `trials` trials and `failures` failures.

    A constraint comes from ``trial.set_constraint(name, value)``, where value <= 0 is safe, or, as in
    Optuna 4, from `constraints_func`.  A complete trial without a constraint that other trials have is not
    safe, because what was not measured is missing.

    A trial told as FAIL is a failure: it teaches and is billed.  Set the user attribute ``"tumble:reason"``
    before telling it to say why, and ``"tumble:transient"`` where only the infrastructure failed.

    The sampler warns once of a trial that misses a constraint, once of a study that runs past `trials`, once
    of each parameter that is drawn at random after the first trial, or that is searched in another range than
    the trial asks for, and once where "stop" makes a trial wait
    for long: it names the trials that hold what is left.

    Parameters
    ----------
    trials
        How many trials the study will run.  Past them the search goes on as if one trial were left.
    failures
        How many of them may fail; None for no limit.
    seed
        A whole number of at least 0, or None for one that is drawn.
    method
        The name of a method of search (see `tumble.methods`); None for the default.
    settings
        "default", "paper" or a `tumble.Settings`.
    on_exhausted
        What happens when no failure is left: "safe" goes on where P(safe) is high, "stop" is a hard cap.
        No parameter is drawn at random then.
    constraints_func
        Gives the constraints of a finished trial: a sequence of floats, each <= 0 where safe, or None where
        it was not measured.  A trial for which it raises, or gives a NaN, counts as a pruned one.
    space
        The distributions by name, where they are known beforehand.  Otherwise they are learned from the
        trials, and the first one is drawn at random; those that every trial has with the same distribution
        are searched.  A parameter that is not among them is drawn at random while a failure is left.
    noise
        Standard deviations of what is measured, where they are known: of the objective under "value", and of
        constraints by name.
    known
        Constraints between parameters that are known beforehand and cost no trial, as text:
        ``["x + y <= 1"]`` (see `tumble.space.Space`). They need `space`. Only settings that keep them are
        suggested; trials that are enqueued may break them.
    boldness
        From 0, cautious, to 1: how much risk the search takes while failures are left, as for
        `tumble.Optimizer`. None for the default.

    Raises
    ------
    InputError
        If an argument can't be used.

    Examples
    --------
    >>> import optuna, tumble
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> def objective(trial):
    ...     x = trial.suggest_float("x", -1.0, 1.0)
    ...     trial.set_constraint("load", 0.1 - x)  # x below 0.1 fails
    ...     return x**2
    >>> study = optuna.create_study(sampler=tumble.TumbleSampler(trials=10, failures=3, seed=0))
    >>> study.optimize(objective, n_trials=10)
    >>> len(study.trials)
    10
    """

    def __init__(
        self,
        trials: int = 100,
        failures: int | None = None,
        seed: int | None = None,
        method: MethodName | None = None,
        settings: str | Settings = "default",
        on_exhausted: OnExhausted = "safe",
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        *,
        space: Mapping[str, BaseDistribution] | None = None,
        noise: Mapping[str, float] | None = None,
        known: str | Sequence[str] = (),
        boldness: float | None = None,
    ) -> None:
        self.trials, self.failures = checks.budget(trials, failures)
        self.seed = checks.seed(seed)
        self.method = method
        self.settings = resolve_settings(settings, boldness)
        find_method(method, limited=failures is not None)
        self.on_exhausted = _checked_end(on_exhausted, failures)
        self.noise = checks.noise(noise)
        if constraints_func is not None and not callable(constraints_func):
            checks.refuse("constraints_func", "a function of a trial, or None", constraints_func)
        self._constraints_func = constraints_func
        self._space = None if space is None else distributions.check(space)
        self._limited = distributions.limited(self._space, known)
        self._kept: WeakKeyDictionary[BaseStorage, dict[int, _Kept]] = WeakKeyDictionary()
        self._marks: dict[str, str] = {}  # of the problem, where it may be edited; kept with each decision

    def __getstate__(self) -> dict[str, Any]:
        """All but what is kept of the studies: a copy works it out again."""
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kept=WeakKeyDictionary())

    # -- what Optuna calls -------------------------------------------------------------------------------

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Wait until the trial has a place within a hard budget; refuse it where too many failed.

        Only "stop" makes a trial wait.
        """
        if len(study.directions) == 1:
            self.gate(study).admit(study, trial)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that are searched together: those that every trial had."""
        return self._search_space(study)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The next setting; what was decided, and why, is written to the trial."""
        _check_single_objective(study)
        if not search_space:
            return {}
        earlier = decision(trial).get("params", {})
        if all(n in earlier and private.contains(d, earlier[n]) for n, d in search_space.items()):
            return {name: earlier[name] for name in search_space}  # its worker died after deciding
        try:
            suggestion, note = self._suggest(study, trial, search_space)
        except (BudgetExhausted, InputError) as error:  # nothing is safe enough, or what was told is unusable
            raise refused(study, trial, error, started=private.is_in_optimize(study)) from None
        private.set_attribute(study, trial, DECISION, note)
        return dict(suggestion.x)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A seeded random value: for the first trial, and for parameters that can't be searched.

        P(safe) is not known for it.  So there is none once a trial is told and no failure is left.
        """
        _check_single_objective(study)
        _, others = self._with_parameters(study) if self._space is None else ([], [])
        why = advice.why_at_random(param_name, param_distribution, self._space, others)
        if self._no_failure_is_left(study):
            error = BudgetExhausted(advice.refusal(param_name, param_distribution, why))
            raise refused(study, trial, error, started=private.is_in_optimize(study))
        if why:
            self.warn(study, advice.kind_of(param_name), advice.at_random(param_name, why))
        entropy = [self.seed, trial.number, zlib.crc32(param_name.encode())]
        seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
        return RandomSampler(seed).sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Store constraints, mark a failure as one that was told, and stop where the budget is spent."""
        if len(study.directions) > 1:
            return
        if state in (TrialState.COMPLETE, TrialState.PRUNED) and self._constraints_func is not None:
            self._measure(study, trial, self._constraints_func)
        if state == TrialState.FAIL and OUTCOME not in trial.system_attrs:
            insist(lambda: mark_failure(study, trial), trial.number)
        ended = _as_ended(study, trial, state, values)
        for kind, text in (*advice.unexpected_result(ended), *advice.unexpected_ranges(ended, self._space)):
            self.warn(study, kind, text)
        self._stop_where_spent(study, ended)

    # -- what else is of use -----------------------------------------------------------------------------

    def recommend(self, study: Study) -> Recommended | None:
        """The setting to use.

        Returns
        -------
        Recommended or None
            As from `Optimizer.recommend`, with x as parameters by name; None before any data.
        """
        optimizer = self.optimizer(study)
        found = None if optimizer is None else optimizer.recommend()
        return None if found is None else replace(found, mean=_sign(study) * found.mean)

    def optimizer(self, study: Study) -> Optimizer | None:
        """The study as an `Optimizer`, whose values are to be minimised.

        Where the study maximises, they have the other sign: its `best.value` of -3 is a best value of 3.  A
        told trial that lies outside the space, or crashed before it had every parameter, is not among its
        trials; what it spent is taken off `max_trials` and `max_failures`.

        Returns
        -------
        Optimizer or None
            None while the parameters are not known.
        """
        space = self._search_space(study)
        return self._optimizer(study, space, changed_trials(study)) if space else None

    def gate(self, study: Study) -> Gate:
        """The gate that says which trial of this study may start."""
        return Gate(
            self.failures,
            None,
            self.reader(study),
            fail_silent_trials,
            hard=self.on_exhausted == "stop",
            say=lambda text: self.warn(study, "waits", text),
        )

    def reader(self, study: Study) -> Callable[[FrozenTrial], Reading]:
        """The function that says what a stored trial of this study means."""
        sign, known = _sign(study), self._kept_of(study).readings

        def reading_of(trial: FrozenTrial) -> Reading:
            if not trial.state.is_finished():
                return read(trial, sign, self.constraints_of)
            key = trial.number, len(changes_of(trial))
            if key not in known:
                known[key] = read(trial, sign, self.constraints_of)
            return known[key]

        return reading_of

    def constraints_of(self, trial: FrozenTrial) -> Mapping[str, float]:
        """The constraints of a told trial by name; <= 0 is safe."""
        return stored_constraints(trial)

    def setting_of(self, trial: FrozenTrial) -> dict[str, Choice]:
        """The parameters of a trial by name; empty while it has none."""
        return setting(trial)

    def constraint_names(self) -> Sequence[str]:
        """The constraints that are known before any trial; others are learned from the trials."""
        return ()

    def warn(self, study: Study, kind: str, text: str) -> None:
        """Warn of something, once for each study and kind.

        Parameters
        ----------
        study
            The study that it is about.
        kind
            What kind of thing it is.
        text
            The sentence.
        """
        warned = self._kept_of(study).warned
        if kind not in warned:
            warned.add(kind)
            warnings.warn(text, UserWarning, stacklevel=2)

    # -- inside ------------------------------------------------------------------------------------------

    def _measure(
        self, study: Study, trial: FrozenTrial, constraints_func: Callable[[FrozenTrial], Sequence[float]]
    ) -> None:
        """Store the constraints of a finished trial, or that they could not be worked out.

        Optuna ends the trial as complete also where this raises.
        """
        try:
            measured = constraints_func(trial)
            insist(lambda: store_constraints(study, trial, measured), trial.number)
        except BaseException as error:
            why = f"constraints_func: {str(error) or type(error).__name__}"
            insist(lambda: mark_unmeasured(study, trial, why), trial.number)
            raise

    def _kept_of(self, study: Study) -> _Kept:
        """What is kept of a study; studies in two storages may have the same number."""
        studies = self._kept.setdefault(private.storage_of(study), {})
        return studies.setdefault(private.study_id_of(study), _Kept())

    def _search_space(self, study: Study) -> dict[str, BaseDistribution]:
        """The parameters that are searched: those given, else those that all trials share."""
        _check_single_objective(study)
        if self._space is not None:
            return distributions.searchable(self._space)
        crashed, others = self._with_parameters(study)
        return distributions.searchable(distributions.common(others or crashed))

    def _with_parameters(self, study: Study) -> tuple[list[FrozenTrial], list[FrozenTrial]]:
        """The told trials that have parameters: those that crashed, and the others."""
        reading_of = self.reader(study)
        told = [
            (trial, reading)
            for trial in changed_trials(study)
            if (reading := reading_of(trial)).phase == "told" and trial.distributions
        ]
        crashed = [trial for trial, reading in told if reading.crashed]
        return crashed, [trial for trial, reading in told if not reading.crashed]

    def _no_failure_is_left(self, study: Study) -> bool:
        """Whether a trial is told, and every failure is spent."""
        reading_of = self.reader(study)
        told = [r for r in map(reading_of, changed_trials(study)) if r.phase == "told"]
        spent = sum(r.failed and r.billed for r in told)
        return bool(told) and self.failures is not None and spent >= self.failures

    def _suggest(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> tuple[Suggestion, dict[str, Any]]:
        """The suggestion in the user's sign, and what is to be written to the trial."""
        others = [t for t in changed_trials(study) if t.number != trial.number]
        optimizer = self._optimizer(study, search_space, others)
        for kind, text in advice.unexpected(optimizer, self.trials):
            self.warn(study, kind, text)
        earlier = [t for t in others if t.state == TrialState.RUNNING and t.number < trial.number]
        undecided = sum(not has_setting(self.setting_of(t), search_space) for t in earlier)
        suggestion = optimizer.suggest(trial.number, reserved=undecided)
        suggestion = replace(
            suggestion, mean=_sign(study) * suggestion.mean, trials_left=max(suggestion.trials_left, 0)
        )
        if suggestion.mode == "start" and not optimizer.constraint_names:  # the objective may set some yet
            suggestion = replace(suggestion, p_safe=np.nan)
        why = explain(suggestion, optimizer.active_method.name, safe_range(optimizer.trials))
        suggestion = replace(suggestion, why=why)
        fitted = suggestion.fitted or optimizer.fitted
        note = to_note(suggestion, fitted, optimizer.constraint_names)
        return suggestion, {**note, **self._marks}

    def _optimizer(
        self, study: Study, search_space: Mapping[str, BaseDistribution], trials: Sequence[FrozenTrial]
    ) -> Optimizer:
        """An `Optimizer` with these trials of the study."""
        space, reading_of = self._limited or distributions.to_space(search_space), self.reader(study)
        readings = [reading_of(trial) for trial in trials]
        names = constraint_names(self.constraint_names(), readings)
        max_trials, max_failures = self._budget(search_space, trials, readings)
        noise = {name: std for name, std in self.noise.items() if name in checks.noise_keys(names)}
        if len(noise) < len(self.noise) and any(reading.value is not None for reading in readings):
            unknown = ", ".join(map(repr, self.noise.keys() - noise.keys()))
            self.warn(study, "noise", f"noise names {unknown}, which no trial has measured so far")
        ours = self._translate(study, search_space, space, names, zip(trials, readings, strict=True))
        since = last_change(trials)
        same = [trial for trial in trials if not has_other_limits(trial, self._marks.get(LIMITS))]
        return Optimizer.from_trials(
            space,
            without_gain(list(ours), since),
            trials=max_trials,
            failures=max_failures,
            constraints=names,
            seed=self.seed,
            method=self.method,
            settings=self.settings,
            on_exhausted=self.on_exhausted,
            fitted=last_fit(same, names, space.dim, since),
            noise=noise,
        )

    def _budget(
        self,
        search_space: Mapping[str, BaseDistribution],
        trials: Sequence[FrozenTrial],
        readings: Sequence[Reading],
    ) -> tuple[int, int | None]:
        """T and B, less what was spent by told trials that lie outside the space and so can't teach."""
        outside = [
            reading
            for trial, reading in zip(trials, readings, strict=True)
            if reading.phase == "told" and reading.billed
            if not has_setting(self.setting_of(trial), search_space)
        ]
        max_trials = max(self.trials - len(outside), 1)
        allowed = self.failures
        if allowed is None and any(reading.crashed for reading in readings):
            allowed = self.trials
        if allowed is None:
            return max_trials, None
        return max_trials, min(max(allowed - sum(r.failed for r in outside), 0), max_trials)

    def _translate(
        self,
        study: Study,
        search_space: Mapping[str, BaseDistribution],
        space: Space,
        names: Sequence[str],
        pairs: Iterable[tuple[FrozenTrial, Reading]],
    ) -> Iterator[Trial]:
        """Optuna's trials as ours, without those that are void or lie outside the space."""
        known = self._kept_of(study).translated.setdefault((space, tuple(names)), {})
        for trial, reading in pairs:
            key = trial.number, len(changes_of(trial))
            if key in known:
                yield known[key]
            elif reading.phase != "void" and has_setting(values := self.setting_of(trial), search_space):
                own = distributions.own_values(values, search_space)
                translated = to_trial(trial, own, reading, space, names)
                if reading.phase == "told":
                    if has_other_limits(trial, self._marks.get(LIMITS)):
                        translated = replace(translated, suggestion=None)
                    known[key] = translated
                yield translated

    def _stop_where_spent(self, study: Study, ended: FrozenTrial) -> None:
        if self.failures is None:
            return
        reading_of = self.reader(study)
        told = [reading_of(t) for t in changed_trials(study) if t.number != ended.number]
        told.append(read(ended, _sign(study), self.constraints_of))
        spent = sum(reading.failed and reading.billed for reading in told)
        if spent >= self.failures + (self.on_exhausted == "safe"):
            if private.is_in_optimize(study):
                _logger.warning(advice.spent(spent, self.failures))
            stop(study)


def _as_ended(
    study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
) -> FrozenTrial:
    """A trial as it will be stored."""
    ended = copy.copy(private.stored_trial(study, trial))
    ended.state, ended.values = state, values
    return ended


def _checked_end(on_exhausted: OnExhausted, failures: int | None) -> OnExhausted:
    checks.one_of(on_exhausted, "on_exhausted", ON_EXHAUSTED)
    if on_exhausted == "stop" and failures is None:
        raise InputError('on_exhausted="stop" needs a budget: give failures')
    if on_exhausted == "stop" and failures == 0:
        raise InputError(NO_TRIAL)
    return on_exhausted


def _check_single_objective(study: Study) -> None:
    count = len(study.directions)
    if count > 1:
        raise InputError(
            f"TumbleSampler searches for one objective, but the study has {count}; "
            "keep one of them and make the others constraints"
        )


def _sign(study: Study) -> float:
    return -1.0 if study.direction == StudyDirection.MAXIMIZE else 1.0
