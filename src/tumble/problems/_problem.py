"""What a benchmark problem is: frozen data, two functions, and how regret is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..parameters import Categorical, Choice, Fixed
from ..space import Space

Array = NDArray[np.float64]
Objective = Callable[[Array], float]
Constraints = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One trial of a problem, in the problem's units.

    Parameters
    ----------
    value
        The value of the objective.
    constraints : (G,)
        The values of the constraints; g <= 0 is safe.
    """

    value: float
    constraints: Array

    @property
    def safe(self) -> bool:
        """Whether every constraint is at or below zero (true without constraints)."""
        return bool(np.all(self.constraints <= 0.0))


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best safe value that is known.

    Parameters
    ----------
    value
        The value.
    x
        Where it is attained; None where that is not known.
    how
        How it was found.
    """

    value: float
    x: Array | None
    how: str


@dataclass(frozen=True, eq=False)
class Problem:
    """A black box to minimise subject to g(x) <= 0, with what is known about it.

    Everything is in the problem's own units; nothing here knows of the unit cube or of a model.

    Parameters
    ----------
    name
        The name under which `tumble.problems.get` finds it.
    bounds : (D, 2)
        Lower and upper bounds.
    objective
        Takes x (D,) and returns a float.
    f_min
        The smallest safe value, against which regret is counted.
    trials
        T.
    constraints
        Takes x (D,) and returns (G,), safe where all are <= 0; None without constraints.
    constraint_names
        G names; none without constraints.
    failures
        B; None where nothing can fail.
    x_min : (D,)
        Where the smallest safe value is attained; None where it is not known.
    initial : (n, D)
        Points that are told before the first trial, unbilled.
    parameter_names
        D names.
    truth
        The noise-free problem behind a noisy one.
    note
        One or two sentences on origin and difficulty.
    space
        What the D parameters are where they are not all linear floats. x stays a vector of numbers: a
        categorical parameter stands in it as the index of its choice (see `params` and `point`).
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
    space: Space | None = None

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
        assert self.space is None or self.space.names == self.parameter_names
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

    @property
    def optimum(self) -> Optimum:
        """The best safe value that is known; regret is counted against it."""
        return Optimum(self.f_min, self.x_min, "stated with the problem")

    @property
    def noise_free(self) -> Problem:
        """The problem without noise: itself where nothing is noisy."""
        return self if self.truth is None else self.truth

    def params(self, x: ArrayLike) -> dict[str, Choice]:
        """The values by name at x of shape (D,): floats, integers and choices.

        Parameters
        ----------
        x
            A point in the problem's numbers, a categorical parameter as the index of its choice.

        Returns
        -------
        dict
            What a rig would be told, by the parameters' names.
        """
        values = np.asarray(x, dtype=np.float64).tolist()
        if self.space is None:
            return dict(zip(self.parameter_names, values, strict=True))
        return {
            name: parameter.choices[round(value)] if isinstance(parameter, Categorical) else value
            for (name, parameter), value in zip(self.space.parameters.items(), values, strict=True)
        }

    def point(self, params: Mapping[str, object]) -> Array:
        """The point x of shape (D,) for values by name: the reverse of `params`.

        Raises
        ------
        InputError
            Where a choice is none of the parameter's.
        """
        parameters = {} if self.space is None else self.space.parameters
        return np.array([_number(params[name], parameters.get(name)) for name in self.parameter_names])

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

        Until a safe trial exists the worst value seen so far stands in. Regret is NaN while no value at all
        has been seen.

        Parameters
        ----------
        values
            The (noise-free) values in order; NaN for a trial without one, which takes no part.
        safe
            Which trials were safe; None for all.
        """
        y = np.asarray(values, dtype=np.float64)
        ok = np.ones(y.shape, dtype=bool) if safe is None else np.asarray(safe, dtype=bool)
        known = np.isfinite(y)
        best = np.minimum.accumulate(np.where(ok & known, y, np.inf)) if y.size else y
        worst = np.maximum.accumulate(np.where(known, y, -np.inf)) if y.size else y
        result: Array = (
            np.where(np.isfinite(best), best, np.where(np.isfinite(worst), worst, np.nan))
            - self.optimum.value
        )
        return result


def _frozen(values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _number(value: object, parameter: object) -> float:
    if isinstance(parameter, Categorical):
        if value not in parameter.choices:
            raise InputError(f"expected one of {list(parameter.choices)!r}, but {value!r} came")
        return float(parameter.choices.index(value))
    return float(value)  # type: ignore[arg-type]


def numeric_bounds(space: Space) -> Array:
    """Bounds (D, 2) of a space in numbers: a categorical parameter runs over the indices of its choices."""
    parameters = [p for p in space.parameters.values() if not isinstance(p, Fixed)]  # problems have none
    return np.array(
        [(0, len(p.choices) - 1) if isinstance(p, Categorical) else (p.low, p.high) for p in parameters],
        dtype=np.float64,
    )


def unit_cube(dimension: int) -> Array:
    """Bounds of the unit cube, shape (D, 2)."""
    return np.tile(np.array([0.0, 1.0]), (dimension, 1))
