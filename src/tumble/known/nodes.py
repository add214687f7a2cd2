"""What a known constraint means, worked out for many settings at once.

A number is an array (M,). A comparison is an excess (M,): at most 0 where it holds, else by how much it is
missed. Where a side is not finite (a division by 0, the root of a negative number) a comparison does not
hold: its excess is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = Mapping[str, Array]  # by parameter: its values, or the place of the choice
TINY = float(np.finfo(float).tiny)


class Node(Protocol):
    """A part of a constraint: a number, or the excess of a comparison."""

    def __call__(self, columns: Columns) -> Array:
        """The number, or the excess, for each setting."""
        ...


@dataclass(frozen=True)
class Constant:
    """A number."""

    value: float

    def __call__(self, columns: Columns) -> Array:
        """The number, once for all settings."""
        return np.array([self.value])


@dataclass(frozen=True)
class Column:
    """A parameter."""

    name: str

    def __call__(self, columns: Columns) -> Array:
        """Its values."""
        return columns[self.name]


@dataclass(frozen=True)
class Chain:
    """first (op second) (op third) …, from left to right: sums and products."""

    first: Node
    rest: tuple[tuple[np.ufunc, Node], ...]

    def __call__(self, columns: Columns) -> Array:
        """The sum or the product."""
        value = self.first(columns)
        for operation, node in self.rest:
            value = operation(value, node(columns))
        return value


@dataclass(frozen=True)
class Call:
    """A function of one number, or of several, which it takes two at a time."""

    function: Callable[..., Array]
    arguments: tuple[Node, ...]

    def __call__(self, columns: Columns) -> Array:
        """The value of the function."""
        values = [argument(columns) for argument in self.arguments]
        if len(values) == 1:
            return self.function(values[0])
        value = values[0]
        for other in values[1:]:
            value = self.function(value, other)
        return value


@dataclass(frozen=True)
class Compared:
    """One comparison of two numbers."""

    left: Node
    sign: str
    right: Node

    def __call__(self, columns: Columns) -> Array:
        """By how much it is missed."""
        left, right = self.left(columns), self.right(columns)
        gap = left - right if self.sign in ("<=", "<") else right - left
        if self.sign == "==":
            gap = np.abs(gap)
        elif self.sign == "!=":
            gap = np.where(gap == 0.0, TINY, -np.abs(gap))
        elif self.sign in ("<", ">"):
            gap = np.where(gap == 0.0, TINY, gap)
        known = np.isfinite(left) & np.isfinite(right)
        return np.where(known, gap, np.inf)


@dataclass(frozen=True)
class Chosen:
    """Whether a parameter is set to one of its choices, or to another one."""

    name: str
    place: int
    wanted: bool

    def __call__(self, columns: Columns) -> Array:
        """0 where it is as wanted, else 1."""
        is_it = columns[self.name] == self.place
        return np.where(is_it if self.wanted else ~is_it, 0.0, 1.0)


@dataclass(frozen=True)
class All:
    """Several comparisons that must all hold."""

    parts: tuple[Node, ...]

    def __call__(self, columns: Columns) -> Array:
        """The largest excess."""
        excess = self.parts[0](columns)
        for part in self.parts[1:]:
            excess = np.maximum(excess, part(columns))
        return excess


@dataclass(frozen=True)
class Any:
    """Several comparisons of which one must hold."""

    parts: tuple[Node, ...]

    def __call__(self, columns: Columns) -> Array:
        """The smallest excess."""
        excess = self.parts[0](columns)
        for part in self.parts[1:]:
            excess = np.minimum(excess, part(columns))
        return excess
