"""A suggestion as a row of tokens, one for each number, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

import tumble

Row: TypeAlias = list[str]
Door: TypeAlias = Callable[[int], list[Row]]  # of a seed

UNKNOWN = "nan"  # None and NaN alike


def token(value: object) -> str:
    """One value to the last bit; what is not a number is marked with "="."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool | np.bool_ | str):
        return f"={value}"
    return float(value).hex()  # type: ignore[arg-type]


def row(x: object, *numbers: object) -> Row:
    """A setting (by name or in order) and what is said of it."""
    values = list(x.values()) if isinstance(x, Mapping) else list(np.ravel(np.asarray(x, dtype=float)))
    return [token(value) for value in (*values, *numbers)]


def suggested(s: tumble.Suggestion) -> Row:
    """The row of a suggestion."""
    return row(s.x, s.rho, s.p_safe, s.mean, s.std)


def recommended(found: tumble.Recommended | None) -> list[Row]:
    """The row of a recommendation, if there is one."""
    return [] if found is None else [row(found.x, None, found.p_safe, found.mean, found.std)]
