"""SciPy's `Bounds` and constraint objects as a space and as known constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

from . import checks
from .errors import InputError
from .known import Rule, choices_of, is_number
from .parameters import Array, Categorical, Choice, Fixed, Float, Parameter
from .space import Space

Objects: TypeAlias = LinearConstraint | NonlinearConstraint | Mapping[str, Any]
MEASURED = (
    "constraints takes SciPy's constraint objects, which are known beforehand and cost no trial; constraints "
    "that a trial measures are what fun returns: return value, [g1, g2], where g <= 0 is safe"
)
TEXTS = (
    'known takes texts, such as "x0 + x1 <= 1", and SciPy\'s constraint objects: one of them or a list, and '
    "() where nothing is known beforehand"
)
SHORT = 4  # terms of a linear constraint that are written out


@dataclass(frozen=True, eq=False)
class FunctionRule:
    """low <= fun(setting) <= high, for a function of one's own."""

    text: str
    names: tuple[str, ...]
    fun: Callable[[dict[str, Array]], Array]  # the values (M, m) for columns (M,) by name
    low: Array  # (m,)
    high: Array  # (m,)

    def excess(self, columns: Mapping[str, Array]) -> Array:
        """By how much each setting misses it (M,); infinite where the function is not finite."""
        values = self.fun(dict(columns))
        missed = np.maximum(self.low - values, values - self.high).max(axis=1)
        return np.where(np.isfinite(values).all(axis=1), missed, np.inf)


def as_box(bounds: ArrayLike | Bounds | Space, x0: object = None) -> ArrayLike | Space:
    """`Bounds` as pairs (low, high), single numbers for each dimension of x0; anything else as it is."""
    if not isinstance(bounds, Bounds):
        return bounds
    low, high = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
    box = np.stack([low, high], axis=1)
    if len(box) > 1 or x0 is None or isinstance(x0, Mapping):
        return box
    return np.repeat(box, np.atleast_2d(np.asarray(x0, dtype=object)).shape[1], axis=0)


def read_constraints(given: object, space: Space, boxed: bool, expected: str = MEASURED) -> list[Rule]:
    """SciPy's constraint objects as known constraints.

    Parameters
    ----------
    given
        One of them, or a list.
    space
        What is searched.
    boxed
        Whether a function takes an array; else it takes a dict by name.
    expected
        The sentence that says what could have come.

    Raises
    ------
    InputError
        If something else came, its shape is another, or it is an equality of real numbers.
    """
    single = isinstance(given, LinearConstraint | NonlinearConstraint | Mapping | str)
    if not single and not isinstance(given, Sequence):
        raise InputError(f"{expected}; not {checks.show(given)}")
    items: list[Any] = [given] if single else list(given)  # type: ignore[call-overload]
    return [_rule(item, space, boxed, expected) for item in items]


def _rule(item: object, space: Space, boxed: bool, expected: str) -> Rule:
    if isinstance(item, LinearConstraint):
        return _linear(item, space)
    if isinstance(item, Mapping):
        item = _old_style(item)
    if isinstance(item, NonlinearConstraint):
        return _nonlinear(item, space, boxed)
    remedy = "; a text goes to known" if isinstance(item, str) else ""
    raise InputError(f"{expected}; not {checks.show(item)}{remedy}")


def _linear(constraint: LinearConstraint, space: Space) -> Rule:
    """low <= A x <= high, where x has the parameters in their order."""
    dense: Any = constraint.A.toarray() if hasattr(constraint.A, "toarray") else constraint.A
    A, names = np.atleast_2d(dense).astype(float), space.names
    if A.shape[1] != len(names):
        listed = ", ".join(names)
        raise InputError(f"a LinearConstraint needs {len(names)} columns ({listed}), not {A.shape[1]}")
    for name, parameter in space.parameters.items():
        if not all(map(is_number, choices_of(parameter) or ())):
            raise InputError(f"a LinearConstraint needs numbers, but {name!r} is a choice: write it as text")
    low, high = _limits(constraint.lb, constraint.ub, len(A))
    used = [p for p, column in zip(space.parameters.values(), A.T, strict=True) if column.any()]
    _check_room(low, high, used)
    text = _written(A, low, high, names)
    return FunctionRule(text, names, lambda columns: _stacked(columns, names) @ A.T, low, high)


def _nonlinear(constraint: NonlinearConstraint, space: Space, boxed: bool) -> Rule:
    """low <= fun(x) <= high, where fun takes what the function that is minimised takes."""
    names, parameters = space.names, space.parameters
    sample = space.decode(np.full(space.dim, 0.5) if space.region is None else space.region.inside[0])
    fun = constraint.fun
    text = f"NonlinearConstraint({getattr(fun, '__name__', type(fun).__name__)})"

    def call(setting: Mapping[str, Choice]) -> Array:
        x: Any = np.array(list(setting.values()), dtype=float) if boxed else dict(setting)
        return _numbers(fun(x), text)

    def values(columns: dict[str, Array]) -> Array:
        rows = zip(*(_choices(parameters[name], columns[name]) for name in names), strict=True)
        found = [call(dict(zip(names, row, strict=True))) for row in rows]
        counts = {len(low), *map(len, found)}
        if len(counts) > 1:
            many = " and ".join(map(str, sorted(counts)))
            raise InputError(f"the function of a {text} must always return as many numbers, but {many} came")
        return np.array(found)

    low, high = _limits(constraint.lb, constraint.ub, len(call(sample)))
    _check_room(low, high, list(parameters.values()))
    return FunctionRule(text, names, values, low, high)


def _numbers(returned: object, text: str) -> Array:
    """What the function of a constraint returned, as an array (m,).

    Parameters
    ----------
    returned
        A number, or a list or an array of them; NaN where a setting has none.
    text
        The constraint in words.
    """
    try:
        found = None if returned is None else np.atleast_1d(np.asarray(returned, dtype=float))
    except (TypeError, ValueError):
        found = None
    if found is None or found.ndim > 1:
        checks.refuse(f"what the function of a {text} returns", "a number or a list of numbers", returned)
    return found


def _old_style(item: Mapping[str, Any]) -> NonlinearConstraint:
    """{"type": "ineq", "fun": fun} means fun(x) >= 0."""
    if item.get("type") != "ineq" or not callable(item.get("fun")):
        came = checks.show(item)
        raise InputError(f'expected {{"type": "ineq", "fun": ...}} or a NonlinearConstraint, not {came}')
    fun, given = item["fun"], item.get("args", ())
    args = tuple(given) if isinstance(given, tuple | list) else (given,)
    return NonlinearConstraint(lambda x: fun(x, *args), 0.0, np.inf)


def _limits(low: ArrayLike, high: ArrayLike, count: int) -> tuple[Array, Array]:
    try:
        ends = [np.broadcast_to(np.asarray(end, dtype=float), (count,)) for end in (low, high)]
    except ValueError:
        raise InputError(f"lb and ub of a constraint must have {count} values, or one") from None
    if np.isnan(ends).any() or (ends[0] > ends[1]).any():
        raise InputError(f"lb must be at most ub, but {checks.show(low)} and {checks.show(high)} came")
    return ends[0], ends[1]


def _check_room(low: Array, high: Array, used: Sequence[Parameter]) -> None:
    if (low == high).any() and any(isinstance(parameter, Float) for parameter in used):
        raise InputError(
            "lb = ub is an equality of real numbers, which leaves nothing to search: leave room between "
            "them, or work one parameter out from the others inside fun"
        )


def _stacked(columns: Mapping[str, Array], names: Sequence[str]) -> Array:
    return np.stack([columns[name] for name in names], axis=1)


def _choices(parameter: Parameter, column: Array) -> list[Choice]:
    """The values of a column of numbers as a setting has them."""
    if isinstance(parameter, Float):
        return list(column.tolist())
    if isinstance(parameter, Fixed):
        return [parameter.value] * len(column)
    if isinstance(parameter, Categorical):
        numbers = {float(c): c for c in parameter.choices if is_number(c)}  # type: ignore[arg-type]
        if len(numbers) == len(parameter.choices):
            return [numbers[value] for value in column.tolist()]
        return [parameter.choices[int(place)] for place in column]
    return [int(value) for value in column]


def _written(A: Array, low: Array, high: Array, names: Sequence[str]) -> str:
    """A linear constraint of one row and few terms in words."""
    terms = [f"{a:g} {name}" for a, name in zip(A[0], names, strict=True) if a]
    if len(A) > 1 or len(terms) > SHORT:
        return f"LinearConstraint of {len(A)} {'row' if len(A) == 1 else 'rows'}"
    left = f"{low[0]:g} <= " if np.isfinite(low[0]) else ""
    right = f" <= {high[0]:g}" if np.isfinite(high[0]) else ""
    return f"{left}{' + '.join(terms)}{right}".replace("+ -", "- ")
