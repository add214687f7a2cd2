"""What a user's function returned, read: a value with constraints, or a failure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import checks
from .errors import Failure, InputError
from .shown import count
from .trials import Outcome


@dataclass(frozen=True)
class Reading:
    """The results of one evaluation, as `Optimizer.tell` takes them."""

    value: Any
    constraints: Any
    failed: bool = False
    reason: str = ""


def read_failure(failure: Failure) -> Reading:
    """What a function that raised `Failure` has measured before."""
    constraints = checks.by_label(failure.constraints)
    return Reading(None, _measured(constraints), failed=True, reason=failure.reason)


def read_outcome(returned: Any) -> Reading:
    """What a function returned; a value or constraint that is not finite makes the trial a failure.

    Parameters
    ----------
    returned
        A number, a pair (value, constraints) or an `Outcome`.

    Raises
    ------
    InputError
        If it is something else.

    Examples
    --------
    >>> read_outcome((2.0, [-1.0]))
    Reading(value=2.0, constraints=[-1.0], failed=False, reason='')
    >>> read_outcome(float("nan"))
    Reading(value=None, constraints=None, failed=True, reason='returned nan')
    """
    value, given = _unpack(returned)
    constraints = checks.by_label(given)
    bad = [v for v in (value, *_values(constraints)) if not _is_finite(v)]
    if bad:
        return Reading(
            None, _measured(constraints), failed=True, reason=f"returned {checks.to_float(_single(bad[0]))}"
        )
    return Reading(value, constraints)


def _unpack(returned: Any) -> tuple[Any, Any]:
    if isinstance(returned, Outcome):
        return returned.value, returned.constraints
    if isinstance(returned, tuple) and len(returned) == 2:
        value, constraints = returned
        if value is None or _is_number(value):
            return value, constraints
    elif _is_number(returned):
        return returned, None
    came = (
        count(len(returned), "value")
        if isinstance(returned, tuple) and len(returned) != 2
        else repr(returned)
    )
    raise InputError(
        f"fun must return a number, a pair (value, constraints) or a tumble.Outcome, not {came}; "
        'raise tumble.Failure("why") where a trial failed'
    )


def _values(constraints: Any) -> list[Any]:
    if constraints is None:
        return []
    return list(constraints.values() if isinstance(constraints, Mapping) else np.atleast_1d(constraints))


def _measured(constraints: Any) -> Any:
    """The same constraints, None where a value is not finite."""
    known = [g if _is_finite(g) else None for g in _values(constraints)]
    if isinstance(constraints, Mapping):
        return dict(zip(constraints, known, strict=True))
    return None if constraints is None else known


def _is_number(value: Any) -> bool:
    return checks.is_number(_single(value))


def _is_finite(value: Any) -> bool:
    """False for NaN and infinity. What is no number at all is refused later, with a message of its own."""
    single = _single(value)
    return not checks.is_number(single) or bool(np.isfinite(checks.to_float(single)))


def _single(value: Any) -> Any:
    """The only element of an array; anything else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
