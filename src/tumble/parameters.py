"""One parameter and its coordinates in the unit cube: `Float`, `Int`, `Categorical`, `Fixed`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tumble import checks
from tumble.errors import InputError

Array: TypeAlias = NDArray[np.float64]
Choice: TypeAlias = str | int | float | bool | None
MOST_BLUR = 0.25  # of a step: beyond it float64 can't tell its multiples apart
EPSILON = float(np.finfo(float).eps)
EXACT = Context(prec=40, traps=[])  # of steps in decimal digits, whatever context the program has
DIGITS = 12  # of a value that comes back exactly as it was given; from those of the range on


@dataclass(frozen=True)
class Float:
    """A real number.

    Parameters
    ----------
    low, high
        Its range, both ends included.
    log
        Whether it is searched by its logarithm; low must be above 0 then.
    step
        Only low, low + step, … are tried, up to the last one that is not above high; None for every number of
        the range.

    Raises
    ------
    InputError
        If there is no such parameter.

    Examples
    --------
    >>> round(Float(1e-4, 1.0, log=True).decode(np.array([0.5])), 6)
    0.01
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        low, high = checks.number(self.low, "low"), checks.number(self.high, "high")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "log", checks.truth(self.log, "log"))
        _check_order(low, high)
        if not math.isfinite(high - low):
            raise InputError(
                f"the range [{low:g}, {high:g}] is too wide for floating point: scale the parameter"
            )
        if self.log and low <= 0:
            raise InputError(
                f"a logarithmic parameter needs low > 0, but low is {low:g}: raise low or drop log"
            )
        if self.step is not None:
            self._check_step(checks.number(self.step, "step"))

    def _check_step(self, step: float) -> None:
        object.__setattr__(self, "step", step)
        if self.log:
            raise InputError("a parameter takes log or step, not both: drop one of them")
        if step > 0 and self._blur > MOST_BLUR:
            raise InputError(f"step {step:g} gives more values than float64 can tell apart: drop it")
        if step <= 0 or self._intervals < 1:
            raise InputError(
                f"step must lie in (0, high - low] = (0, {self.high - self.low:g}], but it is {step:g}: "
                "with a larger step there is only one value to try"
            )

    @property
    def width(self) -> int:
        """How many coordinates of the unit cube it has."""
        return 1

    @property
    def is_continuous(self) -> bool:
        """Whether every coordinate in [0, 1] is admissible."""
        return self.step is None

    @property
    def _intervals(self) -> int:
        assert self.step is not None
        return math.floor((self.high - self.low) / self.step + 1e-8)

    @property
    def _blur(self) -> float:
        """By what part of a step a float64 of the range may lie beside the value that it stands for."""
        assert self.step is not None
        return float(np.spacing(max(abs(self.low), abs(self.high)))) / self.step

    @property
    def _size(self) -> int:
        """How many digits the largest number of the range has before its decimal point."""
        return 1 + math.floor(math.log10(max(abs(self.low), abs(self.high))))

    @property
    def _log_span(self) -> float:
        return math.log(self.high) - math.log(self.low)

    def encode(self, value: object) -> Array:
        """The coordinates of a value.

        Parameters
        ----------
        value
            What the parameter is set to.

        Returns
        -------
        Array
            Shape (1,).

        Raises
        ------
        InputError
            If the value is not admissible.
        """
        x = checks.number(value, "value")
        if not self.low <= x <= self.high:
            low, high = _written(self.low), _written(self.high)
            raise InputError(f"expected a number in [{low}, {high}], but {_written(x)} came")
        if self.step is not None:
            k = self._steps_to(x)
            if abs(k - round(k)) > max(1e-6, 1.5 * self._blur) or round(k) > self._intervals:
                first, step = _written(self.low), _written(self.step)
                raise InputError(f"expected {first} plus a multiple of {step}, but {_written(x)} came")
            return np.array([round(k) / self._intervals])
        return np.array([self._place(x)])

    def _steps_to(self, x: float) -> float:
        """How many steps lie between low and a number, all of them as they are written.

        float64 keeps few digits of a step below 1e-308, and so many of those add up to another number.
        """
        distance = EXACT.subtract(Decimal(repr(x)), Decimal(repr(self.low)))
        return float(EXACT.divide(distance, Decimal(repr(self.step))))

    def _place(self, x: float) -> float:
        """The coordinate of a number of the range, where there is no step."""
        if self.log:
            return (math.log(x) - math.log(self.low)) / self._log_span
        return (x - self.low) / (self.high - self.low)

    def decode(self, u: Array) -> float:
        """The value, within [low, high], at the coordinates u (1,)."""
        t = min(max(float(u[0]), 0.0), 1.0)
        if self.step is not None:
            k = round(t * self._intervals)
            value = EXACT.fma(k, Decimal(repr(self.step)), Decimal(repr(self.low)))
            return min(float(value), self.high)
        if t in (0.0, 1.0):
            return self.high if t else self.low
        if self.log:
            x = math.exp(math.log(self.low) + t * self._log_span)
            plain = float(f"{x:.{DIGITS}g}")
        else:
            x = self.low + t * (self.high - self.low)
            plain = round(x, DIGITS - self._size)
        # a value that someone gave comes back as it was given
        is_given = self.low <= plain <= self.high and self._place(plain) == t
        return plain if is_given else min(max(x, self.low), self.high)

    def decode_many(self, t: Array) -> Array:
        """(M,) the values at the coordinates t (M,) in [0, 1], to the last digit what `decode` gives.

        Nearly all of them are no round number, so that they can be worked out at once; where one may be a
        value that someone gave, and on a logarithmic scale, `decode` is asked.
        """
        if self.log or self.step is not None:
            return np.array([self.decode(np.array([v])) for v in t.tolist()])
        x, given = self.low + t * (self.high - self.low), 16.0 * EPSILON * max(abs(self.low), abs(self.high))
        with np.errstate(all="ignore"):  # what can't be rounded is asked for as well
            maybe = ~(np.abs(np.round(x, DIGITS - self._size) - x) > given) | (t == 0.0) | (t == 1.0)
        values = np.clip(x, self.low, self.high)
        values[maybe] = [self.decode(np.array([v])) for v in t[maybe].tolist()]
        return values

    def snap(self, u: Array) -> Array:
        """The nearest admissible coordinates of u (M, 1)."""
        clipped = np.clip(u, 0.0, 1.0)
        return clipped if self.step is None else np.rint(clipped * self._intervals) / self._intervals

    @property
    def count(self) -> int | None:
        """How many values there are; None where every number of the range is one."""
        return None if self.step is None else self._intervals + 1

    def neighbours(self, u: Array) -> Array:
        """(K, 1) the coordinates one step away from u (1,); none where it moves freely."""
        return np.empty((0, 1)) if self.step is None else _one_step(u, self._intervals)

    def to_dict(self) -> dict[str, Any]:
        """The parameter as a dict that `json` can write."""
        return {"type": "float", "low": self.low, "high": self.high, "log": self.log, "step": self.step}


@dataclass(frozen=True)
class Int:
    """A whole number.

    Parameters
    ----------
    low, high
        Its range, both ends included.
    log
        Whether it is searched by its logarithm; low must be at least 1 then, and step 1.
    step
        Only low, low + step, … are tried, up to the last one that is not above high.

    Raises
    ------
    InputError
        If there is no such parameter.

    Examples
    --------
    >>> Int(2, 10, step=4).decode(np.array([0.5]))
    6
    """

    low: int
    high: int
    log: bool = False
    step: int = 1

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, _integer(getattr(self, name), name))
        object.__setattr__(self, "log", checks.truth(self.log, "log"))
        _check_order(self.low, self.high)
        if self.log and self.low < 1:
            raise InputError(
                f"a logarithmic integer needs low >= 1, but it is {self.low}: raise low or drop log"
            )
        if self.log and self.step != 1:
            raise InputError(
                f"a parameter takes log or step, not both, but step is {self.step}: drop one of them"
            )
        if not 1 <= self.step <= self.high - self.low:
            raise InputError(
                f"step must be an integer from 1 to {self.high - self.low} = high - low, but is {self.step}: "
                "with a larger step there is only one value to try"
            )

    @property
    def width(self) -> int:
        """How many coordinates of the unit cube it has."""
        return 1

    @property
    def is_continuous(self) -> bool:
        """False: only whole numbers are admissible."""
        return False

    @property
    def _intervals(self) -> int:
        return (self.high - self.low) // self.step

    def encode(self, value: object) -> Array:
        """The coordinates of a value.

        Parameters
        ----------
        value
            What the parameter is set to.

        Returns
        -------
        Array
            Shape (1,).

        Raises
        ------
        InputError
            If the value is not admissible.
        """
        v = _integer(value, "value")
        if not self.low <= v <= self.high:
            raise InputError(f"expected an integer from {self.low} to {self.high}, but {v} came")
        if (v - self.low) % self.step:
            raise InputError(f"expected {self.low} plus a multiple of {self.step}, but {v} came")
        if self.log:
            return self._log_unit(np.array([float(v)]))
        return np.array([(v - self.low) // self.step / self._intervals])

    def decode(self, u: Array) -> int:
        """The integer at the coordinates u (1,)."""
        t = np.clip(np.asarray(u, dtype=float), 0.0, 1.0)
        if self.log:
            return int(self._nearest(t)[0])
        return self.low + round(float(t[0]) * self._intervals) * self.step

    def snap(self, u: Array) -> Array:
        """The nearest admissible coordinates of u (M, 1)."""
        clipped = np.clip(u, 0.0, 1.0)
        if self.log:
            return self._log_unit(self._nearest(clipped))
        return np.rint(clipped * self._intervals) / self._intervals

    @property
    def count(self) -> int:
        """How many values there are."""
        return self._intervals + 1

    def neighbours(self, u: Array) -> Array:
        """(K, 1) the coordinates one step away from u (1,)."""
        if not self.log:
            return _one_step(u, self._intervals)
        value = self.decode(u)
        near = [v for v in (value - 1, value + 1) if self.low <= v <= self.high]
        return self._log_unit(np.array(near, dtype=float))[:, None]

    def to_dict(self) -> dict[str, Any]:
        """The parameter as a dict that `json` can write."""
        return {"type": "int", "low": self.low, "high": self.high, "log": self.log, "step": self.step}

    def _log_unit(self, v: Array) -> Array:
        unit: Array = np.log(v / self.low) / np.log(self.high / self.low)
        return unit

    def _nearest(self, u: Array) -> Array:
        """The integers nearest to u in the logarithm: the border between n and n + 1 is sqrt(n(n + 1))."""
        v = self.low * np.exp(u * np.log(self.high / self.low))
        below, above = np.floor(v), np.ceil(v)
        nearest: Array = np.clip(np.where(v * v < below * above, below, above), self.low, self.high)
        return nearest


@dataclass(frozen=True)
class Categorical:
    """One of several choices that have no order.

    Parameters
    ----------
    choices
        At least two different ones: text, numbers, True, False or None. No two may be equal, and 1, 1.0 and
        True are; NaN is none.

    Raises
    ------
    InputError
        If there is no such parameter.

    Examples
    --------
    >>> Categorical(("hss", "carbide")).decode(np.array([1.0]))
    'carbide'
    """

    choices: tuple[Choice, ...]

    def __post_init__(self) -> None:
        given: object = self.choices
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise InputError(f"choices must be a list of at least two values, but {self.choices!r} came")
        plain = (choice.item() if isinstance(choice, np.generic) else choice for choice in self.choices)
        object.__setattr__(self, "choices", tuple(plain))
        for choice in self.choices:
            if choice is not None:
                checks.choice(choice, "a choice")
        if len(self.choices) < 2:
            raise InputError(
                f"choices need at least two values, but {list(self.choices)!r} came: add another, or give "
                "the parameter one fixed value"
            )
        _check_distinct(self.choices)

    @property
    def width(self) -> int:
        """How many coordinates of the unit cube it has: 1 for two choices, else one for each."""
        return 1 if len(self.choices) == 2 else len(self.choices)

    @property
    def is_continuous(self) -> bool:
        """False: only the choices are admissible."""
        return False

    def encode(self, value: object) -> Array:
        """The coordinates of a choice.

        Parameters
        ----------
        value
            One of the choices.

        Returns
        -------
        Array
            Shape (width,).

        Raises
        ------
        InputError
            If it is none of the choices.
        """
        identities = [_identity(choice) for choice in self.choices]
        if _identity(value) not in identities:
            raise self._unknown(value)
        k = identities.index(_identity(value))
        return np.array([float(k)]) if self.width == 1 else np.eye(self.width)[k]

    def _unknown(self, value: object) -> InputError:
        """What is raised for a value that is none of the choices."""
        texts = [choice for choice in self.choices if isinstance(choice, str)]
        hint = checks.nearest(value, texts) if isinstance(value, str) else ""
        came = f"expected one of {list(self.choices)!r}, but {value!r} came"
        return InputError(f"{came}; {hint}" if hint else came)

    def decode(self, u: Array) -> Choice:
        """The choice at the coordinates u (width,)."""
        return self.choices[int(u[0] >= 0.5) if self.width == 1 else int(np.argmax(u))]

    def snap(self, u: Array) -> Array:
        """The nearest admissible coordinates of u (M, width): 0 or 1, or the largest coordinate's corner."""
        return (u >= 0.5).astype(float) if self.width == 1 else np.eye(self.width)[np.argmax(u, axis=1)]

    @property
    def count(self) -> int:
        """How many choices there are."""
        return len(self.choices)

    def neighbours(self, u: Array) -> Array:
        """(K, width) the coordinates of every other choice."""
        if self.width == 1:
            return np.array([[1.0 if u[0] < 0.5 else 0.0]])
        return np.delete(np.eye(self.width), int(np.argmax(u)), axis=0)

    def to_dict(self) -> dict[str, Any]:
        """The parameter as a dict that `json` can write."""
        return {"type": "categorical", "choices": list(self.choices)}


@dataclass(frozen=True)
class Fixed:
    """A parameter that is held at one value: it belongs to every setting, and nothing is searched.

    Parameters
    ----------
    value
        Text, a finite number, True, False or None.

    Raises
    ------
    InputError
        If it is something else.

    Examples
    --------
    >>> Fixed("oil").decode(np.array([]))
    'oil'
    """

    value: Choice

    def __post_init__(self) -> None:
        if isinstance(self.value, np.generic):
            object.__setattr__(self, "value", self.value.item())
        if self.value is not None:
            checks.choice(self.value, "a fixed value")
        if isinstance(self.value, float):
            checks.number(self.value, "a fixed value")

    @property
    def width(self) -> int:
        """How many coordinates of the unit cube it has: none."""
        return 0

    @property
    def is_continuous(self) -> bool:
        """True: it has no coordinate that could be snapped."""
        return True

    def encode(self, value: object) -> Array:
        """The coordinates of the value: none.

        Parameters
        ----------
        value
            The value that the parameter is held at; 3 and 3.0 are the same one.

        Returns
        -------
        Array
            Shape (0,).

        Raises
        ------
        InputError
            If another value came.
        """
        value = value.item() if isinstance(value, np.generic) else value
        alike = np.ndim(value) == 0 and isinstance(value, bool) is isinstance(self.value, bool)  # type: ignore[arg-type]
        if not (alike and value == self.value):
            raise InputError(f"is fixed at {self.value!r}, but {checks.show(value)} came")
        return np.empty(0)

    def decode(self, u: Array) -> Choice:
        """The value."""
        return self.value

    def snap(self, u: Array) -> Array:
        """The same coordinates u (M, 0)."""
        return u

    @property
    def count(self) -> int:
        """How many values there are: one."""
        return 1

    def neighbours(self, u: Array) -> Array:
        """(0, 0): there is no other value."""
        return np.empty((0, 0))

    def to_dict(self) -> dict[str, Any]:
        """The parameter as a dict that `json` can write."""
        return {"type": "fixed", "value": self.value}


Searched: TypeAlias = Float | Int | Categorical
Parameter: TypeAlias = Searched | Fixed


def _integer(value: object, name: str) -> int:
    """A whole number; 3.0 is one too."""
    is_float = isinstance(value, float | np.floating)
    return checks.whole(int(value) if is_float and float(value).is_integer() else value, name)  # type: ignore[arg-type, call-overload]


def _written(x: float) -> str:
    """A number in few digits where these are all of it, else in all of its digits."""
    short = f"{x:g}"
    return short if float(short) == x else repr(x)


def _one_step(u: Array, intervals: int) -> Array:
    """(K, 1) the multiples of 1 / intervals next to u (1,), within [0, 1]."""
    k = round(float(u[0]) * intervals)
    return np.array([[j / intervals] for j in (k - 1, k + 1) if 0 <= j <= intervals])


def _check_order(low: float, high: float) -> None:
    if low == high:
        raise InputError(f"low and high are both {low:g}: give it a range, or drop the parameter")
    if low > high:
        raise InputError(f"low must be below high, but low is {low:g} and high is {high:g}: swap them")


def _check_distinct(choices: Sequence[Choice]) -> None:
    """Refuse NaN, and two choices that are equal: a storage could not tell which of them was tried."""
    seen: dict[Choice, Choice] = {}
    for choice in choices:
        if choice != choice:
            raise InputError(
                f"a choice can't be {choice!r}, which is not equal to itself: use text such as 'none' instead"
            )
        if choice in seen:
            raise InputError(
                f"choices must differ from each other, but {checks.show(seen[choice])} and "
                f"{checks.show(choice)} are equal: drop one of them, or write them as text"
            )
        seen[choice] = choice


def _identity(choice: object) -> tuple[str, object]:
    """The value 1.0 is not the choice 1, and True is not either; a member of an enumeration is its value."""
    if isinstance(choice, np.generic):
        choice = choice.item()
    kind = next((kind for kind in (str, bool, int, float) if isinstance(choice, kind)), type(choice))
    return kind.__name__, choice
