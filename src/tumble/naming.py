"""Which trial is meant: by its number, its suggestion, or the trial itself; what constraints are called."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import checks
from .errors import InputError
from .shown import count
from .trials import Suggestion, Trial


def named(trials: Sequence[Trial], trial: Suggestion | Trial | int) -> Trial:
    """The one of `trials` that `trial` names.

    Raises
    ------
    InputError
        If there is none, or it is a trial of another search.
    """
    number = trial.number if isinstance(trial, Suggestion | Trial) else trial
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise InputError(f"a trial is named by its Suggestion or its number, not {checks.show(trial)}")
    record = next((t for t in trials if t.number == number), None)
    if record is None:
        known = count(len(trials), "trial was", "trials were")
        raise InputError(f"there is no trial {number}; {known} asked or told so far")
    if isinstance(trial, Suggestion | Trial) and not _is_same(trial.x, record.x):
        what = type(trial).__name__.lower()
        raise InputError(
            f"{what} {number} is not one of this Optimizer, or its x was changed; it differs from trial "
            f"{number}: if that ran as it was asked, name it by its number"
        )
    return record


def pending(trials: Sequence[Trial], trial: Suggestion | int) -> Trial:
    """The trial in flight that `trial` names.

    Raises
    ------
    InputError
        If there is none, or it is told, skipped or voided.
    """
    record = named(trials, trial)
    if record.status != "pending":
        raise InputError(
            f"trial {record.number} is {record.status} already; each trial is told or skipped once"
        )
    return record


def is_name(trial: object) -> bool:
    """Whether this names a trial: anything else is a setting."""
    is_number = isinstance(trial, int | np.integer) and not isinstance(trial, bool)
    return isinstance(trial, Suggestion) or is_number


def constraint_names(known: tuple[str, ...] | None, constraints: object) -> tuple[str, ...]:
    """The names of the constraints; where they were left open, the first ones that are told give them."""
    if known is not None:
        return known
    constraints = checks.by_label(constraints)
    if constraints is None:
        return ()
    if isinstance(constraints, Mapping):
        return checks.constraint_names(list(constraints)) or ()
    return checks.constraint_names(len(np.atleast_1d(np.asarray(constraints, dtype=object)))) or ()


def _is_same(a: Any, b: Any) -> bool:
    """Whether two settings (arrays or dicts) are one."""
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        return bool(a == b)
    return np.array_equal(a, b)
