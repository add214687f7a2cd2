"""What a benchmark problem is: frozen data, two functions, and how regret is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Objective = Callable[[Array], float]
Constraints = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One trial of a problem: the objective's value and the constraints' values, in the problem's units."""

    value: float
    constraints: Array

    @property
    def safe(self) -> bool:
        """Whether every constraint is at or below zero (true without constraints)."""
        return bool(np.all(self.constraints <= 0.0))


@dataclass(frozen=True, eq=False)
class Problem:
    """A black box to minimise subject to g(x) <= 0, with what is known about it.

    Everything is in the problem's own units; nothing here knows of the unit cube or of a model.

    Attributes
    ----------
    name: the name under which ``tumble.problems.get`` finds it.
    bounds: (D, 2) lower and upper bounds.
    objective: x of shape (D,) -> float.
    constraints: x of shape (D,) -> (G,), safe where all are <= 0; None without constraints.
    constraint_names: G names; empty without constraints.
    f_min: the smallest safe value, against which regret is counted.
    x_min: (D,) where it is attained; None where it is not known.
    trials, failures: T and B; ``failures`` is None where nothing can fail.
    initial: (n, D) points told before the first trial, unbilled.
    parameter_names: D names.
    truth: the noise-free problem behind a noisy one.
    note: one or two sentences on origin and difficulty.
    """

    name: str
    bounds: Array
    objective: Objective
    f_min: float
    trials: int = 100
    constraints: Constraints | None = None
    constraint_names: tuple[str, ...] = ()
    failures: int | None = None
    x_min: Array | None = None
    initial: Array = field(default_factory=lambda: np.empty((0, 0)))
    parameter_names: tuple[str, ...] = ()
    truth: Problem | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("bounds", "x_min", "initial"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _frozen(value))
        if self.initial.size == 0:
            object.__setattr__(self, "initial", _frozen(np.empty((0, self.dimension))))
        if not self.parameter_names:
            object.__setattr__(self, "parameter_names", tuple(f"x{i + 1}" for i in range(self.dimension)))
        assert self.bounds.shape == (self.dimension, 2)
        assert self.initial.shape[1] == self.dimension
        assert (self.constraints is None) == (not self.constraint_names)

    @property
    def dimension(self) -> int:
        """D, the number of parameters."""
        return len(self.bounds)

    @property
    def n_constraints(self) -> int:
        """G, the number of constraints."""
        return len(self.constraint_names)

    @cached_property
    def initial_evaluations(self) -> tuple[Evaluation, ...]:
        """The outcomes at the initial points, evaluated once."""
        return tuple(self.evaluate(x) for x in self.initial)

    def evaluate(self, x: ArrayLike) -> Evaluation:
        """Run one trial at x of shape (D,); raises `tumble.Failure` where the problem crashes."""
        point = np.asarray(x, dtype=np.float64)
        g = np.empty(0) if self.constraints is None else np.asarray(self.constraints(point), dtype=np.float64)
        return Evaluation(float(self.objective(point)), g)

    def __call__(self, x: ArrayLike) -> float | tuple[float, Array]:
        """Evaluate in the form ``tumble.minimize`` takes: a float, or (value, constraints)."""
        outcome = self.evaluate(x)
        return outcome.value if self.constraints is None else (outcome.value, outcome.constraints)

    def regret(self, values: ArrayLike, safe: ArrayLike | None = None) -> Array:
        """Simple regret after each of n trials, shape (n,).

        ``values`` are the (noise-free) objective values in order, ``safe`` says which trials were safe
        (all, when None). Until a safe trial exists the worst value seen so far stands in. A value of NaN
        (a trial without a value) takes no part; regret is NaN while no value at all has been seen.
        """
        y = np.asarray(values, dtype=np.float64)
        ok = np.ones(y.shape, dtype=bool) if safe is None else np.asarray(safe, dtype=bool)
        known = np.isfinite(y)
        best = np.minimum.accumulate(np.where(ok & known, y, np.inf)) if y.size else y
        worst = np.maximum.accumulate(np.where(known, y, -np.inf)) if y.size else y
        result: Array = (
            np.where(np.isfinite(best), best, np.where(np.isfinite(worst), worst, np.nan)) - self.f_min
        )
        return result


def _frozen(values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def unit_cube(dimension: int) -> Array:
    """Bounds of the unit cube, shape (D, 2)."""
    return np.tile(np.array([0.0, 1.0]), (dimension, 1))
