"""What is written to a trial of Optuna when it is over: its constraints, and that a failure was told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial

from tumble import checks
from tumble.errors import Failure
from tumble.integrations.optuna import private
from tumble.integrations.optuna.notes import OUTCOME, REASON, TRANSIENT, Kind, outcome
from tumble.outcomes import read_failure


def store_constraints(study: Study, trial: FrozenTrial, constraints: object) -> None:
    """Store constraints where Optuna keeps them.

    Parameters
    ----------
    study, trial
        Where they belong.
    constraints
        Numbers, in order or by name; one that is None was not measured.

    Raises
    ------
    InputError
        If something else came, or a number is NaN.
    """
    for name, value in _pairs(constraints):
        if value is not None:
            private.set_attribute(study, trial, f"{private.CONSTRAINT}{name}", _number(value, name))


def mark_failure(study: Study, trial: FrozenTrial) -> None:
    """Note that this FAIL was told: a failure, unless it was called transient or came from Ctrl-C.

    Nor is it one where a parameter could not be given: such a trial has no setting.  It is noted before its
    constraints are stored: a constraint that can't be used does not undo the failure.
    """
    error = private.error_of_objective()
    if isinstance(error, KeyboardInterrupt):
        return
    reason = trial.user_attrs.get(REASON) or _reason(trial, error)
    private.set_attribute(study, trial, OUTCOME, outcome(_kind(trial, error), str(reason)))
    if isinstance(error, Failure) and error.constraints is not None:
        store_constraints(study, trial, read_failure(error).constraints)


def mark_unmeasured(study: Study, trial: FrozenTrial, reason: str) -> None:
    """Note that the constraints of a finished trial are not known, so that it does not count as safe."""
    private.set_attribute(study, trial, OUTCOME, outcome("unmeasured", reason))


def _kind(trial: FrozenTrial, error: BaseException | None) -> Kind:
    """What a FAIL is; `error` is what its objective raised."""
    if trial.user_attrs.get(TRANSIENT):
        return "transient"
    return "unusable" if private.is_from_suggest(error) else "failure"


def _reason(trial: FrozenTrial, error: BaseException | None) -> str:
    """Why a trial is FAIL, where nobody said it; `error` is what its objective raised."""
    if error is not None:
        return str(error) or repr(error)
    by_optimize = private.is_told_by_optimize(trial)
    return "the objective returned no single number" if by_optimize else "told as failed"


def _pairs(constraints: object) -> Iterable[tuple[object, object]]:
    """Constraints with their names, or with their places where they have none."""
    constraints = checks.by_label(constraints)
    if isinstance(constraints, Mapping):
        return constraints.items()
    if isinstance(constraints, str) or not (np.iterable(constraints) or checks.is_number(constraints)):
        checks.refuse("constraints", "numbers in a list or by name", constraints, "each is <= 0 where safe")
    if checks.is_masked(constraints):
        checks.refuse("constraints", "numbers", constraints, "give None for what was not measured")
    return enumerate(np.atleast_1d(np.asarray(constraints, dtype=object)))


def _number(value: object, name: object) -> float:
    """A constraint, which may be infinite."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not isinstance(value, Real | np.bool_) or np.isnan(float(value)):
        remedy = "give None where it was not measured"
        checks.refuse(f"constraint {name}", "a number (<= 0 where safe)", value, remedy)
    return float(value)
