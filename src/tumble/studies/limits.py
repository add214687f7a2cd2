"""The limits of results, on one side or on both: ``"<= 12"``, ``">= 3"``, ``"5 <= temperature <= 80"``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tumble import checks
from tumble.errors import InputError
from tumble.studies.values import number_hint

# There is one way to read each text, so that no text takes long.
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_SENSE = re.compile(r"(<=|>=)")


@dataclass(frozen=True)
class Limit:
    """A limit of one result, as one constraint g <= 0 for each side; the bounds themselves are safe.

    Parameters
    ----------
    name
        The result that is limited.
    low, high
        The bounds in the result's own units; None where that side is open.

    Examples
    --------
    >>> temperature = Limit("temperature", 5.0, 80.0)
    >>> temperature.excesses(83.0)
    {'temperature': 3.0, 'temperature (low)': -78.0}
    >>> str(temperature)
    '5 <= temperature <= 80'
    """

    name: str
    low: float | None = None
    high: float | None = None

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What the model calls the sides: the result's name, and with "(low)" the second of two."""
        return tuple(self.excesses(0.0))

    def excesses(self, result: float) -> dict[str, float]:
        """g of each side, by how much a result breaks it; at most 0 where it keeps it."""
        found = {} if self.high is None else {self.name: result - self.high}
        if self.low is not None:
            found[self.name if self.high is None else f"{self.name} (low)"] = self.low - result
        return found

    def excess(self, result: float) -> float:
        """By how much a result breaks the limit on either side; at most 0 where it keeps it."""
        return max(self.excesses(result).values())

    def predicted(self, constraints: Mapping[str, Sequence[float | None]]) -> tuple[float, float]:
        """Mean and standard deviation of the result, from those of g; NaN where nothing was predicted."""
        g, std = constraints.get(self.name) or (None, None)
        if g is None or std is None:
            return math.nan, math.nan
        return (self.high + g if self.high is not None else (self.low or 0.0) - g), std

    def __str__(self) -> str:
        """As it is said: torque <= 12, or 5 <= temperature <= 80."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} <= {self.name} <= {self.high:g}"
        return f"{self.name} <= {self.high:g}" if self.high is not None else f"{self.name} >= {self.low:g}"


def parse_limit(name: str, text: str) -> Limit:
    """The limit that a line of ``[constraints]`` says.

    Raises
    ------
    InputError
        If it says none; the message shows a line that does.
    """
    parts = [part.strip() for part in _SENSE.split(text)]
    first, last = parts[0], parts[-1]
    if len(parts) == 5 and _is_number(first) and _is_number(last):
        return _two_sided(name, text, *parts)
    line = f'{name} = "<= 12"'
    if len(parts) == 3:
        word, _, number = last.rpartition(" ")
        if first == "" and _is_number(last):
            bound = _finite(name, text, last)
            return Limit(name, None, bound) if parts[1] == "<=" else Limit(name, bound, None)
        if _is_number(first) and _is_number(number):
            return _two_sided(name, text, first, parts[1], word.strip(), "", number)
        if _is_number(last) and len(first.split()) == 1:
            line = f'{name} = "{parts[1]} {last}"'
    wrong = 'expected "<= number", ">= number" or "low <= name <= high"'
    hints = filter(None, (number_hint(word) for part in parts for word in part.split()))
    hint = next(hints, f"; write for example: {line}")
    raise InputError(f"{wrong}, but {checks.show(text)} came{hint}")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _two_sided(name: str, text: str, first: str, sense: str, word: str, other: str, last: str) -> Limit:
    """Both sides, written upwards or downwards, with the key between them."""
    one, two = _finite(name, text, first), _finite(name, text, last)
    low, high = (first, last) if one < two else (last, first)
    line = f'{name} = "{low} <= {name} <= {high}"'
    if one == two:
        raise _refused(text, "the two sides must differ", f'{name} = "<= {last}"')
    if word != name:
        came = f"the middle word must be {name}, the key of the line"
        raise _refused(text, came, line)
    if other != sense:
        raise _refused(text, "both signs must point the same way", line)
    if (one < two) != (sense == "<="):
        raise _refused(text, f"the lower side must be below the higher one, and {first} is not", line)
    return Limit(name, min(one, two), max(one, two))


def _finite(name: str, text: str, number: str) -> float:
    if not math.isfinite(float(number)):
        raise _refused(text, "a limit must be finite", f'{name} = "<= 12"')
    return float(number)


def _refused(text: str, wrong: str, line: str) -> InputError:
    return InputError(f"{wrong}, but {checks.show(text)} came; write for example: {line}")
