"""Checks of what users pass in. Each error says what was expected, what came and what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from .core.history import violated
from .errors import InputError
from .trials import Fitted, Trial

LARGEST = 2**53  # beyond it float64 can't tell neighbours apart
MOST_CONSTRAINTS = 1000  # each has a process of its own


@dataclass(frozen=True)
class Checked:
    """An outcome that can be recorded."""

    value: float | None
    constraints: tuple[float | None, ...]
    reason: str


def whole(value: object, name: str, low: int) -> int:
    """`value` as an int of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InputError(f"{name} must be a whole number of at least {low}, not {value!r}")
    if value > LARGEST:
        raise InputError(f"{name} must be at most 2^53; write a smaller number")
    return int(value)


def budget(trials: object, failures: object) -> tuple[int, int | None]:
    """T and B."""
    T = whole(trials, "trials", 1)
    if failures is None:
        return T, None
    B = whole(failures, "failures", 0)
    if B > T:
        raise InputError(
            f"failures ({B}) cannot exceed trials ({T}); leave failures out where failing costs nothing"
        )
    return T, B


def seed(value: object) -> int:
    """An integer seed, drawn where none was given."""
    if value is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**32))
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InputError(f"seed must be a whole number of at least 0, a Generator or None, not {value!r}")
    return int(value)


def constraint_names(constraints: object) -> tuple[str, ...] | None:
    """Names of the constraints from a count or a list of names; None: to be learned from the first trial."""
    if constraints is None:
        return None
    if isinstance(constraints, Sequence) and not isinstance(constraints, str):
        names = tuple(constraints)
        if not all(isinstance(n, str) and n for n in names) or len(set(names)) < len(names):
            raise InputError(f"constraints must be distinct names, or a count, not {constraints!r}")
        if "crash" in names:
            raise InputError(
                "a constraint cannot be called 'crash': that is the name for trials with no measurement"
            )
        return names
    counted = isinstance(constraints, int | np.integer) and not isinstance(constraints, bool)
    count = int(constraints) if counted else -1  # type: ignore[call-overload]
    if not 0 <= count <= MOST_CONSTRAINTS:
        raise InputError(
            f"constraints must be a count from 0 to {MOST_CONSTRAINTS} or a list of names, "
            f"not {constraints!r}"
        )
    return tuple(f"g{j}" for j in range(count))


def number(value: object, name: str) -> float:
    """`value` as a finite float."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} must be a number, not {value!r}")
    try:
        result = float(value)
    except OverflowError:
        result = np.inf
    if not np.isfinite(result):
        raise InputError(
            f"{name} must be finite, not {result}; tell a trial that gave no number with failed=True"
        )
    return result


def constraint_values(constraints: object, names: tuple[str, ...]) -> tuple[float | None, ...]:
    """Constraint values in the order of `names`; None where not measured."""
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
        if isinstance(constraints, str) or not (np.iterable(constraints) or isinstance(constraints, Real)):
            raise InputError(f"constraints must be a list or a dict by name, not {constraints!r}")
        values = list(np.atleast_1d(np.asarray(constraints, dtype=object)))
    if len(values) != len(names):
        raise InputError(
            f"expected {len(names)} constraints ({', '.join(names) or 'none'}), got {len(values)}; every "
            "trial gives the same ones, in the same order, None where a failed trial did not measure one"
        )
    return tuple(
        None if v is None else number(v, f"constraint {n}") for n, v in zip(names, values, strict=True)
    )


def outcome(
    value: object, constraints: object, failed: object, reason: object, names: tuple[str, ...]
) -> Checked:
    """What was told, if it can be recorded."""
    if failed is not True and failed is not False:
        raise InputError(f"failed must be True or False, not {failed!r}")
    if not isinstance(reason, str):
        raise InputError(f"reason must be a string, not {reason!r}")
    g = constraint_values(constraints, names)
    if failed:
        if value is not None:
            raise InputError(
                f"a failed trial has no value, but {value!r} came; leave out the value or failed=True"
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
    return Checked(number(value, "value"), g, reason)


def history(trials: Sequence[Trial], dim: int, count: int) -> None:
    """Whether trials from elsewhere fit a unit cube of `dim` coordinates and `count` constraints."""
    for trial in trials:
        if not isinstance(trial, Trial):
            raise InputError(f"history must hold objects of tumble.Trial, not {trial!r}")
        _trial(trial, dim, count)
    numbers = [t.number for t in trials]
    if any(after <= before for before, after in pairwise(numbers)):
        raise InputError(f"the numbers of the trials must rise, not {numbers}")


def _trial(trial: Trial, dim: int, count: int) -> None:
    number = whole(trial.number, "the number of a trial", 0)
    if len(trial.u) != dim or not all(0.0 <= v <= 1.0 for v in trial.u):
        raise InputError(
            f"the coordinates of trial {number} must lie in [0, 1], and there must be {dim} of them, "
            f"not {trial.u}"
        )
    if len(trial.constraints) not in (0, count):
        raise InputError(f"trial {number} has {len(trial.constraints)} constraints, not {count}")
    if trial.crashed and trial.value is not None:
        raise InputError(f"trial {number} failed and has a value; drop one of them")
    if trial.suggestion is None:
        return
    if trial.suggestion.number != number:
        raise InputError(f"the suggestion of trial {number} is called {trial.suggestion.number}")
    if max(len(trial.suggestion.constraint_means), len(trial.suggestion.constraint_stds)) > count:
        raise InputError(f"the suggestion of trial {number} predicts more than {count} constraints")


def fitted(hyperparameters: Fitted | None, dim: int) -> Fitted | None:
    """Hyperparameters of an earlier fit, one lengthscale a coordinate."""
    if hyperparameters is not None:
        for hyper in (hyperparameters.objective, *hyperparameters.constraints):
            if len(hyper.lengthscales) != dim:
                raise InputError(f"{dim} lengthscales are expected, not {len(hyper.lengthscales)}")
    return hyperparameters
