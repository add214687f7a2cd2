"""`TumbleSampler`: the search, its budget and its manners behind Optuna's interface.

A thin translation: Optuna's trials become the trials of an `Optimizer`, which is asked for the next one; what
it decided is written back as one attribute of the trial.  Nothing is kept between two calls but speed, so any
number of threads, processes and machines may share a study, and any of them may die.

`optuna_trials` says what a stored trial means, `optuna_gate` keeps a hard budget among many workers.
"""

from __future__ import annotations

import copy
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from tumble import checks
from tumble.core.process.gp import Hyper
from tumble.core.process.models import Warm
from tumble.core.settings import Settings
from tumble.errors import Failure, InputError
from tumble.integrations.optuna.gate import Gate, bury, stop
from tumble.integrations.optuna.trials import (
    DECISION,
    OUTCOME,
    PAST,
    REASON,
    TRANSIENT,
    UNMEASURED,
    Reading,
    admissible,
    decision,
    fitting,
    read,
    setting,
    stored_constraints,
    to_parameter,
)
from tumble.methods import policy, resolve_settings
from tumble.optimizer import NO_TRIAL, ON_EXHAUSTED, Optimizer
from tumble.space import Space
from tumble.trials import Recommended, Suggestion, Trial, explain

__all__ = ["TumbleSampler"]


class TumbleSampler(BaseSampler):
    """Optuna's way to search within `trials` trials and `failures` failures.

    Constraints come from ``trial.set_constraint(name, value)`` (value <= 0 is safe) or, as in Optuna 4, from
    `constraints_func`.  A trial told as FAIL is a failure that teaches and is billed; set the user attribute
    ``"tumble:transient"`` first where it was only the infrastructure, and ``"tumble:reason"`` to say why.
    A complete trial without a constraint that others have is no safe one: what was not measured is missing.
    That, and a study that runs past `trials`, is said once, as a warning.

    Parameters
    ----------
    trials, failures, seed, method, settings, on_exhausted
        As for `tumble.Optimizer`.  Past `trials` the search goes on as if one trial were left.
    constraints_func
        FrozenTrial -> sequence of floats, each <= 0 where safe.
    space
        The distributions by name, where they are known beforehand; else they are learned from the trials, and
        the first one is drawn at random.
    """

    def __init__(
        self,
        trials: int = 100,
        failures: int | None = None,
        seed: int | None = None,
        method: str | None = None,
        settings: str | Settings = "default",
        on_exhausted: str = "safe",
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        *,
        space: Mapping[str, BaseDistribution] | None = None,
    ) -> None:
        self.trials, self.failures = checks.budget(trials, failures)
        self.seed = checks.seed(seed)
        self.method = method
        self.settings = resolve_settings(settings)
        policy(method, limited=failures is not None)
        if on_exhausted not in ON_EXHAUSTED:
            raise InputError(f'on_exhausted must be "safe" or "stop", not {on_exhausted!r}')
        if on_exhausted == "stop" and failures is None:
            raise InputError('on_exhausted="stop" needs a budget: give failures')
        if on_exhausted == "stop" and failures == 0:
            raise InputError(NO_TRIAL)
        self.on_exhausted = on_exhausted
        self._constraints_func = constraints_func
        self._space = None if space is None else _checked(space)
        # What finished trials mean does not change: by study (and space and constraints), then by number.
        self._readings: dict[int, dict[int, Reading]] = {}
        self._placed: dict[tuple[int, Space, tuple[str, ...]], dict[int, Trial]] = {}
        self._said: set[tuple[int, str]] = set()

    # -- what Optuna calls -------------------------------------------------------------------------------

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Wait for a place within the budget (only "stop" makes anyone wait)."""
        if not study._is_multi_objective():
            self.gate(study).admit(study, trial)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that are searched together: those that every trial had."""
        self._raise_error_if_multi_objective(study)
        known = self._space if self._space is not None else self._common_space(study)
        return {name: distribution for name, distribution in known.items() if _searchable(distribution)}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The next setting; what was decided, and why, is written to the trial."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        earlier = decision(trial).get("params", {})
        if all(n in earlier and admissible(earlier[n], d) for n, d in search_space.items()):
            return {name: earlier[name] for name in search_space}  # its worker died after deciding
        suggestion, note = self._suggest(study, trial, search_space)
        study._storage.set_trial_system_attr(trial._trial_id, DECISION, note)
        return dict(suggestion.x)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A seeded random value: for the first trial, and for parameters that not every trial has."""
        self._raise_error_if_multi_objective(study)
        entropy = [self.seed, trial.number, zlib.crc32(param_name.encode())]
        seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
        return RandomSampler(seed).sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Mark a failure as one that was told, store constraints, and stop where the budget is gone."""
        if study._is_multi_objective():
            return
        if state in (TrialState.COMPLETE, TrialState.PRUNED) and self._constraints_func is not None:
            _store_constraints(study, trial, self._constraints_func(trial))
        if state == TrialState.FAIL and OUTCOME not in trial.system_attrs:
            _mark(study, trial)
        if self.on_exhausted == "stop":
            self._stop_where_spent(study, trial, state, values)

    # -- what else is of use -----------------------------------------------------------------------------

    def recommend(self, study: Study) -> Recommended | None:
        """As `Optimizer.recommend`, with x as parameters by name; None before any data."""
        optimizer = self.optimizer(study)
        found = None if optimizer is None else optimizer.recommend()
        return None if found is None else replace(found, mean=_sign(study) * found.mean)

    def optimizer(self, study: Study) -> Optimizer | None:
        """The study as an `Optimizer` (values to be minimised); None while the parameters are not known."""
        self._raise_error_if_multi_objective(study)
        space = {n: d for n, d in (self._space or self._common_space(study)).items() if _searchable(d)}
        return self._mirror(study, space, study.get_trials(deepcopy=False)) if space else None

    def gate(self, study: Study) -> Gate:
        """Who may start a trial of this study."""
        return Gate(self.failures if self.on_exhausted == "stop" else None, None, self.reader(study), bury)

    def reader(self, study: Study) -> Callable[[FrozenTrial], Reading]:
        """What a stored trial of this study means."""
        sign, known = _sign(study), self._readings.setdefault(study._study_id, {})

        def reading_of(trial: FrozenTrial) -> Reading:
            if not trial.state.is_finished():
                return read(trial, sign, self.constraints_of)
            if trial.number not in known:
                known[trial.number] = read(trial, sign, self.constraints_of)
            return known[trial.number]

        return reading_of

    def constraints_of(self, trial: FrozenTrial) -> Mapping[str, float]:
        """g by name of a told trial."""
        return stored_constraints(trial)

    def constraint_names(self) -> Sequence[str]:
        """The constraints that are known before any trial; others are learned from the trials."""
        return ()

    def remark(self, study: Study, kind: str, text: str) -> None:
        """Warn of something, once for each study and kind."""
        if (study._study_id, kind) not in self._said:
            self._said.add((study._study_id, kind))
            warnings.warn(text, UserWarning, stacklevel=2)

    # -- inside ------------------------------------------------------------------------------------------

    def _suggest(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> tuple[Suggestion, dict[str, Any]]:
        """The suggestion in the user's sign, and what is to be written to the trial."""
        others = [t for t in study.get_trials(deepcopy=False) if t.number != trial.number]
        mirror = self._mirror(study, search_space, others)
        for kind, text in _remarks(mirror):
            self.remark(study, kind, text)
        undecided = sum(
            t.state == TrialState.RUNNING and t.number < trial.number and not _has(t, search_space)
            for t in others
        )
        suggestion = mirror.suggest(trial.number, reserved=undecided)
        suggestion = replace(
            suggestion, mean=_sign(study) * suggestion.mean, trials_left=max(suggestion.trials_left, 0)
        )
        if suggestion.mode == "start" and not mirror.constraint_names:  # there may be some all the same
            suggestion = replace(suggestion, p_safe=np.nan)
        suggestion = replace(suggestion, why=explain(suggestion, mirror.active_method.name))
        return suggestion, _note(suggestion, suggestion.fitted or mirror.fitted, mirror.constraint_names)

    def _mirror(
        self, study: Study, search_space: Mapping[str, BaseDistribution], trials: Sequence[FrozenTrial]
    ) -> Optimizer:
        """An `Optimizer` with the study's trials."""
        space = Space({name: to_parameter(distribution) for name, distribution in search_space.items()})
        reading_of = self.reader(study)
        readings = [reading_of(trial) for trial in trials]
        names = _union(self.constraint_names(), readings)
        crashed = any(reading.crashed for reading in readings)
        known = self._placed.setdefault((study._study_id, space, tuple(names)), {})
        placed: list[Trial] = []
        for trial, reading in zip(trials, readings, strict=True):
            if trial.number in known:
                placed.append(known[trial.number])
            elif reading.phase != "void" and _has(trial, search_space):
                placed.append(_translate(trial, reading, space, names))
                if reading.phase == "told":
                    known[trial.number] = placed[-1]
        return Optimizer.from_trials(
            space,
            placed,
            trials=self.trials,
            failures=self.trials if self.failures is None and crashed else self.failures,
            constraints=names,
            seed=self.seed,
            method=self.method,
            settings=self.settings,
            on_exhausted=self.on_exhausted,
            fitted=_last_warm(trials, names, space.dim),
        )

    def _common_space(self, study: Study) -> dict[str, BaseDistribution]:
        """The parameters of all trials with a value; of all failed ones while there is none with a value."""
        reading_of = self.reader(study)
        told = [
            (trial, reading)
            for trial in study.get_trials(deepcopy=False)
            if (reading := reading_of(trial)).phase == "told" and trial.distributions
        ]
        whole = [trial for trial, reading in told if not reading.crashed] or [trial for trial, _ in told]
        if not whole:
            return {}
        common = dict(whole[-1].distributions)
        for trial in whole[:-1]:
            common = {n: d for n, d in common.items() if trial.distributions.get(n) == d}
        return common

    def _stop_where_spent(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        reading_of = self.reader(study)
        told = [reading_of(other) for other in trials if other.number != trial.number]
        mine = copy.copy(study._storage.get_trial(trial._trial_id))
        mine.state, mine.values = state, values
        told.append(read(mine, _sign(study), self.constraints_of))
        spent = sum(reading.failed and reading.billed for reading in told)
        if self.failures is not None and spent >= self.failures:
            stop(study)


def _sign(study: Study) -> float:
    return -1.0 if study.direction == StudyDirection.MAXIMIZE else 1.0


def _searchable(distribution: BaseDistribution) -> bool:
    """More than one value, and of a kind that our space knows."""
    if distribution.single():
        return False
    try:
        to_parameter(distribution)
    except InputError:
        return False
    return True


def _has(trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]) -> bool:
    """Whether the trial's setting is known in the whole search space, and lies in it."""
    values = setting(trial)
    return all(name in values and admissible(values[name], d) for name, d in search_space.items())


def _translate(trial: FrozenTrial, reading: Reading, space: Space, names: Sequence[str]) -> Trial:
    """Optuna's trial as ours."""
    values = setting(trial)
    x = {name: values[name] for name in space.names}
    return Trial(
        number=trial.number,
        x=x,
        u=tuple(space.encode(x).tolist()),
        status="told" if reading.phase == "told" else "pending",
        value=reading.value,
        constraints=tuple(reading.constraints.get(name) for name in names),
        crashed=reading.crashed,
        reason=reading.reason,
        billed=reading.billed,
        suggestion=_suggestion(trial, x, names),
    )


def _remarks(mirror: Optimizer) -> Iterator[tuple[str, str]]:
    """What a user of Optuna may not expect: what kind of thing, and a sentence."""
    if mirror.trials_left <= 0:
        yield "past", PAST.format(trials=mirror.max_trials)
    for trial in mirror.trials:
        if trial.value is not None and None in trial.constraints and not trial.failed:
            measured = zip(mirror.constraint_names, trial.constraints, strict=True)
            names = ", ".join(name for name, g in measured if g is None)
            yield "unmeasured", UNMEASURED.format(trial=trial.number, names=names)


def _union(known: Sequence[str], readings: Sequence[Reading]) -> list[str]:
    """The names of the constraints: those known beforehand, then by their first appearance."""
    return list(dict.fromkeys([*known, *(name for reading in readings for name in reading.constraints)]))


def _checked(space: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    remedy = 'write for example {"x": optuna.distributions.FloatDistribution(0.0, 1.0)}'
    if not isinstance(space, Mapping):
        raise InputError(f"space must be a dict of distributions by name, not {space!r}; {remedy}")
    for name, distribution in space.items():
        if not isinstance(distribution, BaseDistribution):
            raise InputError(
                f"space: {name!r} must be a distribution of Optuna, not {distribution!r}; {remedy}"
            )
    return dict(space)


def _note(suggestion: Suggestion, warm: Warm | None, names: Sequence[str]) -> dict[str, Any]:
    """What is written to the trial; NaN becomes None, because not every database takes it."""
    predicted = zip(names, suggestion.constraint_means, suggestion.constraint_stds, strict=False)
    note: dict[str, Any] = {
        "mode": suggestion.mode,
        "rho": _round(suggestion.rho),
        "p_safe": _round(suggestion.p_safe),
        "why": suggestion.why,
        "mean": _round(suggestion.mean),
        "std": _round(suggestion.std),
        "constraints": {name: [_round(mean), _round(std)] for name, mean, std in predicted},
        "params": suggestion.x,
    }
    if warm is not None:
        hypers = [warm.objective, *warm.constraints]
        rows = [(*h.lengthscales, h.variance, h.noise, h.additive) for h in hypers]
        note["warm"] = [[*map(_round, row), h.learned] for row, h in zip(rows, hypers, strict=True)]
    return fitting(note)


def _round(value: float) -> float | None:
    return float(f"{value:.9g}") if np.isfinite(value) else None


def _suggestion(trial: FrozenTrial, x: dict[str, Any], names: Sequence[str]) -> Suggestion | None:
    """The suggestion a trial came from, as far as the controller and the calibration want it."""
    note = decision(trial)
    if note.get("p_safe") is None:
        return None
    predicted = [note.get("constraints", {}).get(name) or [None, None] for name in names]
    means, stds = ([np.nan if p[k] is None else p[k] for p in predicted] for k in (0, 1))
    return Suggestion(
        trial.number, x, note["mode"], note["rho"], note["p_safe"], np.nan, np.nan, 0, 0,
        constraint_means=tuple(means), constraint_stds=tuple(stds),
    )  # fmt: skip


def _last_warm(trials: Sequence[FrozenTrial], names: Sequence[str], dim: int) -> Warm | None:
    """The hyperparameters of the latest decision that fit this space and these constraints."""
    for trial in reversed(trials):
        rows = decision(trial).get("warm")
        if rows and len(rows) == 1 + len(names) and all(len(row) == dim + 4 for row in rows):
            hypers = [Hyper(tuple(row[:dim]), *row[dim:]) for row in rows]
            return Warm(hypers[0], tuple(hypers[1:]))
    return None


def _store_constraints(
    study: Study, trial: FrozenTrial, constraints: Sequence[float] | Mapping[str, float]
) -> None:
    pairs = constraints.items() if isinstance(constraints, Mapping) else enumerate(constraints)
    for name, value in pairs:
        if value is None:
            continue
        if np.isnan(value):
            raise InputError(f"constraint {name} must be a number (<= 0 where safe), but it is nan")
        study._storage.set_trial_system_attr(trial._trial_id, f"constraints:{name}", float(value))


def _mark(study: Study, trial: FrozenTrial) -> None:
    """Someone told this FAIL: a failure, unless they said that it was transient or pressed Ctrl-C."""
    error = _raised_by_objective()
    if isinstance(error, KeyboardInterrupt):
        return
    if isinstance(error, Failure) and isinstance(error.constraints, (Mapping, Sequence)):
        _store_constraints(study, trial, error.constraints)
    reason = trial.user_attrs.get(REASON) or (str(error) or repr(error) if error else "told as failed")
    kind = "transient" if trial.user_attrs.get(TRANSIENT) else "failure"
    note = {"kind": kind, "reason": str(reason)[:500]}
    study._storage.set_trial_system_attr(trial._trial_id, OUTCOME, note)


def _raised_by_objective() -> BaseException | None:
    """What the objective of the running `study.optimize` raised; None where the trial was told by hand.

    Optuna stores FAIL for a Ctrl-C and for a failure alike and passes the sampler nothing to tell them apart:
    the exception is only to be found in the frame of its loop.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if (
            frame.f_code.co_name == "_run_trial"
            and frame.f_globals.get("__name__") == "optuna.study._optimize"
        ):
            error = frame.f_locals.get("func_err")
            return error if isinstance(error, BaseException) else None
        frame = frame.f_back
    return None
