"""What a trial of Optuna means to a search with a budget of failures.

Optuna's states say less than a budget needs; the notes (`tumble.integrations.optuna.notes`) say the rest.

============================================  ==========================================================
state                                         meaning
============================================  ==========================================================
COMPLETE, every constraint <= 0               told, safe
COMPLETE, a constraint of others not set      told, not safe: what was not measured is missing
COMPLETE, some constraint > 0                 told, failed (a violation, with its value)
COMPLETE, value infinite, or beyond 1e300     told, crashed
COMPLETE or PRUNED, such a constraint         told, crashed, also where it is below 0
COMPLETE, its constraints are not known       as PRUNED (`OUTCOME` is "unmeasured")
PRUNED                                        told without a value; failed only where a constraint is > 0
FAIL, told (`OUTCOME` is "failure")           told, crashed: billed, and it teaches
FAIL, never to be tried ("never")             told, crashed: it teaches, and is not billed
FAIL, told as transient, skipped, unstarted   void: nothing learned, nothing charged
FAIL, a parameter could not be given          void ("unusable")
FAIL, unmarked (a dead worker, Ctrl-C)        void
RUNNING                                       in flight
WAITING                                       void, until someone takes it
============================================  ==========================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from tumble.core.history import violated
from tumble.integrations.optuna import private
from tumble.integrations.optuna.notes import BILLED, outcome_of, to_suggestion
from tumble.parameters import Choice
from tumble.space import Space
from tumble.trial_checks import LARGEST
from tumble.trials import Trial

ConstraintsOf: TypeAlias = Callable[[FrozenTrial], Mapping[str, float]]
Phase: TypeAlias = Literal["told", "running", "void"]


@dataclass(frozen=True)
class Reading:
    """What one trial of Optuna means.

    Parameters
    ----------
    number
        The trial's number within its study.
    phase
        "told", "running", or "void": it counts as if it had never been.
    value
        To be minimised; None where there is none.
    constraints
        g by name, as far as measured; g <= 0 is safe.
    crashed
        Whether the trial failed without all of its measurements.
    reason
        Why it failed, or why it is void.
    billed
        Whether it charges a trial, and a failure where it failed.
    """

    number: int
    phase: Phase
    value: float | None
    constraints: Mapping[str, float]
    crashed: bool
    reason: str
    billed: bool

    @property
    def failed(self) -> bool:
        """Γ: a crash, or a measured constraint above 0."""
        return self.phase == "told" and (self.crashed or violated(self.constraints.values()))


def stored_constraints(trial: FrozenTrial) -> Mapping[str, float]:
    """The constraints in Optuna's own place: `trial.set_constraint` (5.x) or the old list (4.x)."""
    return trial.constraints


def read(trial: FrozenTrial, sign: float, constraints_of: ConstraintsOf = stored_constraints) -> Reading:
    """What a trial means.

    Parameters
    ----------
    trial
        As it is stored.
    sign
        1 where the study minimises, -1 where it maximises.
    constraints_of
        Gives g by name of a trial that was told.
    """
    outcome = outcome_of(trial)
    reason, phase = outcome.get("reason", ""), _phase(trial)
    crashed = trial.state == TrialState.FAIL and phase == "told"
    value: float | None = None
    if trial.state == TrialState.COMPLETE and outcome.get("kind") != "unmeasured":
        value = sign * trial.values[0]
        if is_too_large(value):
            value, crashed, reason = None, True, f"returned {trial.values[0]:g}"
    constraints = constraints_of(trial) if phase == "told" else {}
    infinite = [name for name, g in constraints.items() if is_too_large(g)]
    if infinite:  # no model can be fitted to it, on either side
        reason = reason or f"constraint {infinite[0]} is {constraints[infinite[0]]:g}"
        value, crashed = None, True
    return Reading(
        number=trial.number,
        phase=phase,
        value=value,
        constraints={name: float(g) for name, g in constraints.items() if not is_too_large(g)},
        crashed=crashed,
        reason=reason,
        billed=bool(trial.system_attrs.get(BILLED, True)) and outcome.get("kind") != "never",
    )


def is_too_large(result: float) -> bool:
    """Whether a result is infinite, or so large that the difference of two is: nothing can be learned."""
    return not math.isfinite(result) or abs(result) > LARGEST


def _phase(trial: FrozenTrial) -> Phase:
    if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
        return "told"
    if trial.state == TrialState.RUNNING:
        return "running"
    teaches = outcome_of(trial).get("kind") in ("failure", "never")
    return "told" if teaches and trial.state == TrialState.FAIL else "void"


def has_setting(values: Mapping[str, Choice], search_space: Mapping[str, BaseDistribution]) -> bool:
    """Whether a setting has a value inside each of these distributions."""
    return all(n in values and private.contains(d, values[n]) for n, d in search_space.items())


def to_trial(
    trial: FrozenTrial, values: Mapping[str, Choice], reading: Reading, space: Space, names: Sequence[str]
) -> Trial:
    """Optuna's trial with this setting as ours, with its constraints in the order of `names`."""
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
        suggestion=to_suggestion(trial, x, names),
    )


def constraint_names(known: Sequence[str], readings: Sequence[Reading]) -> list[str]:
    """The names of the constraints: those known beforehand, then by their first appearance."""
    return list(dict.fromkeys([*known, *(name for reading in readings for name in reading.constraints)]))
