"""Checks of whole trials: results that are told, and trials that were kept elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite
from typing import Any, get_args

import numpy as np

from . import checks
from .core.history import violated
from .core.process.models import Fitted
from .errors import InputError
from .trials import Status, Trial

NO_NUMBER = "tell a trial that gave no number with failed=True"
NO_RESULT = "give None where nothing was measured, and crashed=True where the trial failed"
LARGEST = 1e300  # of a result: beyond it the differences of two are infinite
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class Checked:
    """Results that can be recorded."""

    value: float | None
    constraints: tuple[float | None, ...]
    reason: str


def constraint_values(constraints: object, names: tuple[str, ...]) -> tuple[float | None, ...]:
    """Constraint values in the order of `names`; None where one was not measured."""
    constraints = checks.by_label(constraints)
    if constraints is None:
        return (None,) * len(names)
    if isinstance(constraints, Mapping):
        unknown = sorted(str(k) for k in constraints if k not in names)
        if unknown:
            raise InputError(
                f"unknown constraint {', '.join(unknown)}; expected {', '.join(names) or 'none'}"
            )
        values: list[Any] = [constraints.get(n) for n in names]
    else:
        single = checks.is_number(constraints) or isinstance(constraints, np.ndarray)
        if isinstance(constraints, str) or not (single or np.iterable(constraints)):
            checks.refuse("constraints", "a list or a dict by name", constraints)
        if checks.is_masked(constraints):
            checks.refuse("constraints", "numbers", constraints, "give None for what was not measured")
        values = list(np.atleast_1d(np.asarray(constraints, dtype=object)))
    if len(values) != len(names):
        raise InputError(
            f"expected {len(names)} constraint{'s' * (len(names) != 1)} ({', '.join(names) or 'none'}), "
            f"got {len(values)}; every "
            "trial gives the same ones, in the same order, None where a failed trial did not measure one"
        )
    return tuple(
        None if v is None else _measured(v, f"constraint {n}") for n, v in zip(names, values, strict=True)
    )


def _measured(value: object, name: str) -> float:
    """A result that a search can learn from."""
    result = checks.number(value, name, NO_NUMBER)
    if abs(result) > LARGEST:
        raise InputError(
            f"{name} must be at most {LARGEST:g} in size, not {result:g}; give no penalty to a trial that "
            "failed: tell it with failed=True, or raise tumble.Failure"
        )
    return result


def outcome(
    value: object, constraints: object, failed: bool, reason: object, names: tuple[str, ...]
) -> Checked:
    """What was told, if it can be recorded."""
    reason = checks.text(reason, "reason")
    g = constraint_values(constraints, names)
    if failed:
        if value is not None:
            came = checks.show(value)
            raise InputError(
                f"a failed trial has no value, but {came} came; leave out the value or failed=True"
            )
        return Checked(None, g, reason or "failed")
    if value is None:
        if not violated(g):
            raise InputError(
                "nothing was told: give a value, a constraint above 0 (a violation without a value), "
                "or failed=True"
            )
        return Checked(None, g, reason)
    if None in g:
        missing = [n for n, v in zip(names, g, strict=True) if v is None]
        raise InputError(
            f"constraint {', '.join(missing)} is missing; a trial with a value has all of its constraints"
        )
    return Checked(_measured(value, "value"), g, reason)


def history(trials: Sequence[Trial], dim: int, count: int) -> list[Trial]:
    """Trials from elsewhere that fit `dim` coordinates and `count` limits, their results in plain numbers.

    A database or an array hands out numbers of its own kinds, which neither a model nor JSON takes. A value
    without constraints, where there are some, measured none of them.
    """
    for trial in trials:
        if not isinstance(trial, Trial):
            raise InputError(f"history must hold objects of tumble.Trial, not {trial!r}")
    plain = [_trial(trial, dim, count) for trial in trials]
    numbers = [t.number for t in plain]
    if any(after <= before for before, after in pairwise(numbers)):
        raise InputError(f"the numbers of the trials must rise, not {numbers}")
    return plain


def _trial(trial: Trial, dim: int, count: int) -> Trial:
    number = checks.whole(trial.number, "the number of a trial", 0)
    if len(trial.u) != dim or not all(0.0 <= v <= 1.0 for v in trial.u):
        raise InputError(
            f"the coordinates of trial {number} must lie in [0, 1], and there must be {dim} of them, "
            f"not {trial.u}"
        )
    if len(trial.constraints) not in (0, count):
        raise InputError(f"trial {number} has {len(trial.constraints)} constraints, not {count}")
    plain = _plain(trial, number, count)
    if plain.crashed and plain.value is not None:
        raise InputError(f"trial {number} failed and has a value; drop one of them")
    if trial.suggestion is None:
        return plain
    if trial.suggestion.number != number:
        raise InputError(f"the suggestion of trial {number} is called {trial.suggestion.number}")
    if max(len(trial.suggestion.constraint_means), len(trial.suggestion.constraint_stds)) > count:
        raise InputError(f"the suggestion of trial {number} predicts more than {count} constraints")
    return plain


def _plain(trial: Trial, number: int, count: int) -> Trial:
    """The trial with its results checked, and in Python's own numbers; the same one where it has these."""
    checks.one_of(trial.status, f"the status of trial {number}", STATUSES)
    checks.text(trial.reason, f"the reason of trial {number}")
    measured = tuple(trial.constraints) or ((None,) * count if trial.value is not None else ())
    kinds = {type(v) for v in (trial.value, *trial.constraints, *trial.u)} - {type(None)}
    flags = (type(trial.number), type(trial.crashed), type(trial.billed))
    is_plain = kinds <= {float} and flags == (int, bool, bool) and type(trial.constraints) is tuple
    if (
        is_plain
        and len(measured) == len(trial.constraints)
        and all(isfinite(v) for v in (trial.value, *measured) if v is not None)
    ):
        return trial  # most are: thousands cost little
    return replace(
        trial, number=number, u=tuple(float(v) for v in trial.u),
        crashed=checks.truth(trial.crashed, f"'crashed' of trial {number}"),
        billed=checks.truth(trial.billed, f"'billed' of trial {number}"),
        value=_result(trial.value, f"the value of trial {number}"),
        constraints=tuple(_result(v, f"a constraint of trial {number}") for v in measured),
    )  # fmt: skip


def _result(value: float | None, name: str) -> float | None:
    return None if value is None else checks.number(value, name, NO_RESULT)


def fitted(hyperparameters: Fitted | None, dim: int) -> Fitted | None:
    """Hyperparameters of an earlier fit, one lengthscale a coordinate."""
    if hyperparameters is not None:
        for hyper in (hyperparameters.objective, *hyperparameters.constraints):
            if len(hyper.lengthscales) != dim:
                raise InputError(f"{dim} lengthscales are expected, not {len(hyper.lengthscales)}")
    return hyperparameters
