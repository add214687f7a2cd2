"""What an Optuna trial means to a search with a budget of failures.

Optuna's states say less than a budget needs, so a few system attributes say the rest:

==============  ============================================================================================
`DECISION`      what the sampler decided: mode, rho, p_safe, why, and the setting itself
`OUTCOME`       kind ("failure", "transient", "skipped", "unstarted") and reason of a FAIL
`BILLED`        False on evidence that charges neither trials nor failures
`TICKET`        an enqueued trial's place in the queue for the budget (others: their number)
==============  ============================================================================================

============================================  ==========================================================
state                                         reading
============================================  ==========================================================
COMPLETE, every constraint <= 0               told, safe
COMPLETE, a constraint of others not set      told, not safe: what was not measured is missing
COMPLETE, some constraint > 0                 told, failed (a violation, with its value)
COMPLETE, value infinite                      told, crashed
PRUNED                                        told without a value; failed only where a constraint is > 0
FAIL, told (`OUTCOME` is "failure")           told, crashed: billed, and it teaches
FAIL, told as transient, skipped, unstarted   void: nothing learned, nothing charged
FAIL, unmarked (a dead worker, Ctrl-C)        void
RUNNING                                       in flight
WAITING                                       void, until someone takes it
============================================  ==========================================================
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState

from tumble.core.history import violated
from tumble.errors import InputError
from tumble.parameters import Categorical, Choice, Float, Int, Parameter
from tumble.serialize import OLD_MODES

DECISION = "tumble:decision"
OUTCOME = "tumble:outcome"
BILLED = "tumble:billed"
TICKET = "tumble:ticket"
REASON = "tumble:reason"  # user attributes, to be set before a trial is told as failed
TRANSIENT = "tumble:transient"
ATTRIBUTE_LIMIT = 2000  # characters; a storage takes 2046

PAST = (
    "all {trials} trials of the TumbleSampler are used, and the study goes on: the budget of failures was "
    "planned for those; give the sampler as many trials as the study will run"
)
UNMEASURED = (
    "trial {trial} is complete without {names}: what was not measured is missing, never safe, so this trial "
    "can't be the best; set every constraint with trial.set_constraint"
)

ConstraintsOf: TypeAlias = Callable[[FrozenTrial], Mapping[str, float]]


@dataclass(frozen=True)
class Reading:
    """One Optuna trial, read."""

    number: int
    phase: Literal["told", "running", "void"]
    value: float | None  # to be minimised
    constraints: Mapping[str, float]  # g by name, as far as measured
    crashed: bool
    reason: str
    billed: bool

    @property
    def failed(self) -> bool:
        """Γ: a crash, or a measured constraint above 0."""
        return self.phase == "told" and (self.crashed or violated(self.constraints.values()))


def stored_constraints(trial: FrozenTrial) -> Mapping[str, float]:
    """The constraints in Optuna's own place: `trial.set_constraint` (5.x) or the old list (4.x)."""
    named = {
        key.removeprefix("constraints:"): value
        for key, value in trial.system_attrs.items()
        if key.startswith("constraints:")
    }
    listed = trial.system_attrs.get("constraints")
    return named or {str(i): value for i, value in enumerate(listed or ())}


def read(trial: FrozenTrial, sign: float, constraints_of: ConstraintsOf = stored_constraints) -> Reading:
    """What a trial means; `sign` is 1 for minimisation and -1 for maximisation."""
    outcome = trial.system_attrs.get(OUTCOME) or {}
    reason = str(outcome.get("reason", ""))
    billed = bool(trial.system_attrs.get(BILLED, True))
    value: float | None = None
    crashed = False
    phase: Literal["told", "running", "void"] = "told"
    if trial.state == TrialState.COMPLETE:
        value = sign * trial.values[0]
        if not math.isfinite(value):
            value, crashed, reason = None, True, f"returned {trial.values[0]:g}"
    elif trial.state == TrialState.FAIL:
        crashed = outcome.get("kind") == "failure"
        phase = "told" if crashed else "void"
    elif trial.state != TrialState.PRUNED:
        phase = "running" if trial.state == TrialState.RUNNING else "void"
    constraints = constraints_of(trial) if phase == "told" else {}
    boundless = [name for name, g in constraints.items() if g == math.inf]
    if boundless:  # broken beyond measure: nothing to fit a model to
        value, crashed, reason = None, True, reason or f"constraint {boundless[0]} is inf"
    finite = {name: float(g) for name, g in constraints.items() if math.isfinite(g)}
    return Reading(trial.number, phase, value, finite, crashed, reason, billed)


def decision(trial: FrozenTrial) -> dict[str, Any]:
    """What the sampler decided for a trial; empty where it decided nothing."""
    note = dict(trial.system_attrs.get(DECISION) or {})
    if note.get("mode") in OLD_MODES:
        note["mode"] = OLD_MODES[note["mode"]]
    return note


def setting(trial: FrozenTrial) -> dict[str, Any]:
    """The trial's parameters: as stored, or as decided where it has not asked for all of them yet."""
    return {**decision(trial).get("params", {}), **trial.params}


def fitting(note: dict[str, Any]) -> dict[str, Any]:
    """The note, without its largest parts where a storage would refuse the whole."""
    for droppable in ("params", "why"):
        if len(json.dumps(note)) <= ATTRIBUTE_LIMIT:
            break
        note = {key: value for key, value in note.items() if key != droppable}
    return note


def to_parameter(distribution: BaseDistribution) -> Parameter:
    """Our parameter for Optuna's distribution."""
    if isinstance(distribution, FloatDistribution):
        return Float(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
    if isinstance(distribution, IntDistribution):
        return Int(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(distribution.choices)
    raise InputError(f"expected a float, int or categorical distribution, but {distribution!r} came")


def to_distribution(parameter: Parameter) -> BaseDistribution:
    """Optuna's distribution for our parameter."""
    if isinstance(parameter, Float):
        return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
    if isinstance(parameter, Int):
        return IntDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
    return CategoricalDistribution(parameter.choices)


def admissible(value: Choice, distribution: BaseDistribution) -> bool:
    """Whether a value belongs to a distribution."""
    try:
        return distribution._contains(distribution.to_internal_repr(value))
    except ValueError:
        return False
