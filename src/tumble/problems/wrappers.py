"""The same problem under noise, in other units, from another start, or with failures that measure nothing."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..errors import Failure, InputError
from ._problem import Array, Problem

MOST_STARTS = 10_000  # points that are tried for a safe start


def rescaled(
    problem: Problem, *, scale: float = 1.0, offset: float = 0.0, constraint_scale: float = 1.0
) -> Problem:
    """The same problem in other units.

    Parameters
    ----------
    problem
        The problem.
    scale
        The objective becomes scale · f + offset.
    offset
        See `scale`.
    constraint_scale
        The constraints become constraint_scale · g.

    Raises
    ------
    InputError
        If a scale is not above 0.
    """
    if not (scale > 0.0 and constraint_scale > 0.0):
        raise InputError(f"scales must be positive, got scale={scale}, constraint_scale={constraint_scale}")
    objective, constraints = problem.objective, problem.constraints
    return dataclasses.replace(
        problem,
        name=f"{problem.name}*{scale:g}+{offset:g}",
        objective=lambda x: scale * objective(x) + offset,
        constraints=None if constraints is None else lambda x: constraint_scale * constraints(x),
        f_min=scale * problem.f_min + offset,
    )


def noisy(problem: Problem, *, sd: float, constraint_sd: float = 0.0, seed: int = 0) -> Problem:
    """Add normal noise to what is measured; ``truth`` keeps the problem itself, against which regret counts.

    The noise is a stream: two evaluations of one point differ, and the same seed gives the same stream.

    Parameters
    ----------
    problem
        The problem.
    sd
        Standard deviation of the noise of the objective.
    constraint_sd
        Standard deviation of the noise of each constraint.
    seed
        A whole number.

    Raises
    ------
    InputError
        If a standard deviation is below 0.
    """
    if sd < 0.0 or constraint_sd < 0.0:
        raise InputError(f"standard deviations must be >= 0, got sd={sd}, constraint_sd={constraint_sd}")
    rng = np.random.default_rng(seed)
    objective, constraints = problem.objective, problem.constraints

    def noisy_constraints(x: Array) -> Array:
        assert constraints is not None
        g = constraints(x)
        return np.asarray(g + constraint_sd * rng.standard_normal(g.shape))

    return dataclasses.replace(
        problem,
        name=f"{problem.name}~{sd:g}",
        objective=lambda x: objective(x) + sd * float(rng.standard_normal()),
        constraints=None if constraints is None else noisy_constraints,
        truth=problem,
    )


def crashing(problem: Problem) -> Problem:
    """A trial that violates a constraint raises `tumble.Failure` and measures nothing."""
    constraints, objective, names = problem.constraints, problem.objective, problem.constraint_names
    if constraints is None:
        raise InputError(f"{problem.name} has no constraint to crash on; take a constrained problem")

    def crash_or_measure(x: Array) -> float:
        violated = np.flatnonzero(constraints(x) > 0.0)
        if violated.size:
            raise Failure(f"crashed: {names[violated[0]]}")
        return objective(x)

    return dataclasses.replace(
        problem,
        name=f"{problem.name}!",
        objective=crash_or_measure,
        constraints=None,
        constraint_names=(),
    )


def started(problem: Problem, *, seed: int) -> Problem:
    """The same problem from one safe start, which is drawn at random over the bounds.

    Parameters
    ----------
    problem
        The problem.
    seed
        A whole number.

    Raises
    ------
    InputError
        If no safe start was found among 10,000 points.
    """
    rng, (low, high) = np.random.default_rng(seed), problem.bounds.T
    for _ in range(MOST_STARTS):
        x = low + (high - low) * rng.random(problem.dimension)
        try:
            is_safe = problem.evaluate(x).safe
        except Failure:
            continue
        if is_safe:
            return dataclasses.replace(problem, name=f"{problem.name}?:{seed}", initial=x[None, :])
    raise InputError(f"{problem.name} has no safe start among {MOST_STARTS:,} random points")
