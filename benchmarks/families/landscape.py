"""The noise-free functions behind a member of a family, for many points at once, and samples of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tumble.parameters import Categorical, Fixed, Parameter
from tumble.problems import numeric_bounds
from tumble.space import Space

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Function = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Landscape:
    """Objective and limits over a space, in the user's units; g <= 0 is safe.

    Attributes
    ----------
    space: the D parameters. In a point a choice stands as its index.
    objective: points (n, D) -> (n,).
    limits: points (n, D) -> (n, G), what is measured. None where nothing is.
    hidden: points (n, D) -> (n, H); where one is above zero a trial crashes and measures nothing.
    smooth: the smooth functions (n, D) -> (n, G) whose zeros are those of the limits, where those jump.
    hints: (k, D) points from which a search for the optimum does well to start.
    """

    space: Space
    objective: Function
    limits: Function | None = None
    hidden: Function | None = None
    smooth: Function | None = None
    hints: Array = field(default_factory=lambda: np.empty((0, 0)))

    @cached_property
    def bounds(self) -> Array:
        """(D, 2) lower and upper bounds in numbers."""
        return numeric_bounds(self.space)

    @cached_property
    def discrete(self) -> Flags:
        """(D,) whether a parameter has steps or choices."""
        return np.array([_step(p) > 0.0 for p in self.space.parameters.values()])

    @cached_property
    def steps(self) -> Array:
        """The step of each discrete parameter, in numbers."""
        steps = np.array([_step(p) for p in self.space.parameters.values()])
        return steps[self.discrete]

    def points(self, unit: Array) -> Array:
        """Admissible points (n, D) in numbers from the unit cube, one coordinate a parameter."""
        columns = [_stretched(p, unit[..., j]) for j, p in enumerate(self.space.parameters.values())]
        return np.stack(columns, axis=-1)

    def unit(self, points: Array) -> Array:
        """The reverse of `points`, in [0, 1]."""
        columns = [_shrunk(p, points[..., j]) for j, p in enumerate(self.space.parameters.values())]
        return np.clip(np.stack(columns, axis=-1), 0.0, 1.0)

    def edges(self, points: Array) -> Array:
        """Every limit (n, G + H), measured and hidden, by its smooth function where it has one."""
        known = self.smooth or self.limits
        parts = [part(points) for part in (known, self.hidden) if part is not None]
        return np.concatenate(parts, axis=-1) if parts else np.full((len(points), 1), -1.0)

    def safe(self, points: Array) -> Flags:
        """(n,) whether a trial neither crashes nor violates a limit."""
        parts = [part(points) for part in (self.limits, self.hidden) if part is not None]
        result: Flags = np.all(np.concatenate(parts, axis=-1) <= 0.0, axis=-1)
        return result

    def uniform(self, n: int, seed: int) -> Array:
        """Uniform points (n, D), each parameter on its own scale."""
        return self.points(np.random.default_rng([17, seed]).random((n, len(self.bounds))))


def _step(parameter: Parameter) -> float:
    assert not isinstance(parameter, Fixed), "no family draws one"
    return 1.0 if isinstance(parameter, Categorical) else float(parameter.step or 0.0)


def _stretched(parameter: Parameter, unit: Array) -> Array:
    if isinstance(parameter, Categorical):
        n = len(parameter.choices)
        choice: Array = np.minimum(np.floor(unit * n), n - 1.0)
        return choice
    assert not isinstance(parameter, Fixed)
    low, high, step = float(parameter.low), float(parameter.high), _step(parameter)
    if parameter.log:
        x: Array = np.exp(np.log(low) + unit * np.log(high / low))
        return np.clip(np.rint(x) if step else x, low, high)
    x = low + unit * (high - low)
    if step:
        last = np.floor((high - low) / step + 1e-8)
        x = low + step * np.clip(np.rint((x - low) / step), 0.0, last)
    return np.clip(x, low, high)


def _shrunk(parameter: Parameter, x: Array) -> Array:
    if isinstance(parameter, Categorical):
        return (x + 0.5) / len(parameter.choices)
    assert not isinstance(parameter, Fixed)
    low, high = float(parameter.low), float(parameter.high)
    return np.log(x / low) / np.log(high / low) if parameter.log else (x - low) / (high - low)
