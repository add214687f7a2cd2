"""What a design of the literature is: functions for many points at once, and the published optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...space import Space
from .._problem import Array, Problem, numeric_bounds

Functions = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Design:
    """An engineering design: minimise the objective where every limit is at or below zero.

    Attributes
    ----------
    name: the name under which ``tumble.problems.get`` finds it.
    space: the D parameters by name.
    objective: x of shape (..., D) -> (...).
    limits: x of shape (..., D) -> (..., G). Each is a load over what is allowed, minus one.
    limit_names: G names.
    published: the best value that the literature reports.
    source: who posed the problem, and who reports the value.
    f_min, x_min: the best that our own search found; the tests repeat the search.
    start: (D,) a safe but poor design.
    trials, failures: T and B.
    slack: how far each limit may be tightened, as a share of what is allowed, and leave a safe design.
    note: what makes it hard.
    """

    name: str
    space: Space
    objective: Functions
    limits: Functions
    limit_names: tuple[str, ...]
    published: float
    source: str
    f_min: float
    x_min: tuple[float, ...]
    start: tuple[float, ...]
    trials: int
    failures: int
    note: str
    slack: float = 0.1

    @property
    def bounds(self) -> Array:
        """(D, 2) lower and upper bounds."""
        return numeric_bounds(self.space)

    def problem(self) -> Problem:
        """The design as a problem to minimise."""
        return Problem(
            name=self.name,
            bounds=self.bounds,
            space=None if self.space.is_continuous and not self._has_log else self.space,
            objective=lambda x: float(self.objective(x)),
            constraints=self.limits,
            constraint_names=self.limit_names,
            parameter_names=self.space.names,
            f_min=self.f_min,
            x_min=np.array(self.x_min),
            initial=np.array([self.start]),
            trials=self.trials,
            failures=self.failures,
            note=f"{self.note} {self.source}",
        )

    @property
    def _has_log(self) -> bool:
        return any(getattr(parameter, "log", False) for parameter in self.space.parameters.values())


def columns(x: Array) -> tuple[Array, ...]:
    """The D parameters of points (..., D), each of shape (...)."""
    return tuple(np.moveaxis(np.asarray(x, dtype=np.float64), -1, 0))


def rows(*limits: Array) -> Array:
    """G limits, each of shape (...), as (..., G)."""
    return np.stack(np.broadcast_arrays(*limits), axis=-1)
