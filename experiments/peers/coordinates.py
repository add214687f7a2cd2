"""A problem's x ⇄ values by name ⇄ the unit cube: the numbers that each peer wants to see.

x is a vector of numbers, one for each parameter; a categorical parameter stands in it as the index of its
choice. A problem without a `space` is a box of floats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tumble.parameters import Categorical, Choice, Float, Int, Parameter
from tumble.problems import Problem
from tumble.space import Space

Array = NDArray[np.float64]


class Coordinates:
    """The parameters of a problem and how its points are written.

    Parameters
    ----------
    problem
        Its `space`, where it has one; else its `bounds` under its `parameter_names`.
    """

    def __init__(self, problem: Problem) -> None:
        self.space = _box(problem) if problem.space is None else problem.space
        self.parameters: dict[str, Parameter] = self.space.parameters

    def values(self, x: Array) -> dict[str, Choice]:
        """The values by name at x of shape (D,)."""
        return {
            name: _value(parameter, float(number))
            for (name, parameter), number in zip(self.parameters.items(), x, strict=True)
        }

    def point(self, values: Mapping[str, object]) -> Array:
        """The point x of shape (D,) for values by name: the reverse of `values`."""
        return np.array([_number(self.parameters[name], values[name]) for name in self.space.names])

    def encode(self, x: Array) -> Array:
        """The point of the unit cube for x; a categorical parameter is one-hot there."""
        return self.space.encode(self.values(x))

    def decode(self, unit: Array) -> Array:
        """The admissible x nearest to a point of the unit cube."""
        return self.point(self.space.decode(np.clip(unit, 0.0, 1.0)))

    def draw(self, rng: np.random.Generator) -> Array:
        """A point drawn uniformly from the space, in the logarithm where a parameter is logarithmic."""
        return np.array([_draw(parameter, rng) for parameter in self.parameters.values()])


def levels(parameter: Parameter) -> list[float] | None:
    """The coordinates in [0, 1] that an ordinal parameter can take, in order; None for any other."""
    if isinstance(parameter, Int):
        values = range(parameter.low, parameter.high + 1, parameter.step)
        return [float(parameter.encode(value)[0]) for value in values]
    if isinstance(parameter, Float) and parameter.step is not None:
        intervals = math.floor((parameter.high - parameter.low) / parameter.step + 1e-8)
        return [k / intervals for k in range(intervals + 1)]
    return None


def _box(problem: Problem) -> Space:
    bounds = problem.bounds.tolist()
    return Space(
        {name: Float(low, high) for name, (low, high) in zip(problem.parameter_names, bounds, strict=True)}
    )


def _value(parameter: Parameter, number: float) -> Choice:
    if isinstance(parameter, Categorical):
        return parameter.choices[round(number)]
    return round(number) if isinstance(parameter, Int) else number


def _number(parameter: Parameter, value: object) -> float:
    if isinstance(parameter, Categorical):
        return float(_index(parameter, value))
    if levels(parameter) is None:
        return float(value)  # type: ignore[arg-type]
    return float(parameter.decode(parameter.encode(value)))  # type: ignore[arg-type]


def _index(parameter: Categorical, value: object) -> int:
    unit = parameter.encode(value)
    return int(unit[0]) if parameter.width == 1 else int(np.argmax(unit))


def _draw(parameter: Parameter, rng: np.random.Generator) -> float:
    if isinstance(parameter, Categorical):
        return float(rng.integers(len(parameter.choices)))
    steps = None if getattr(parameter, "log", False) else levels(parameter)
    unit = rng.random() if steps is None else steps[rng.integers(len(steps))]
    return _number(parameter, parameter.decode(np.array([unit])))
