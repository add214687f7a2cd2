"""Independent searches of the tests: penalised differential evolution over a space, then SQP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint, differential_evolution, minimize

from tumble.parameters import Categorical, Fixed, Parameter
from tumble.problems import numeric_bounds
from tumble.space import Space

WIDE = 100.0  # a range over more than two decades is searched by its logarithm


@dataclass(frozen=True)
class Found:
    """The best safe point that a search found."""

    value: float
    x: np.ndarray


def stretch(space: Space) -> Callable[[np.ndarray], np.ndarray]:
    """Points (..., D) of the unit cube -> admissible points in the space's numbers."""
    parameters = list(space.parameters.values())
    low, high = numeric_bounds(space).T
    logs = np.array([_is_wide(p) for p in parameters])
    steps = np.array([_step(p) for p in parameters])

    def points(u):
        x = low + (high - low) * u
        with np.errstate(invalid="ignore", divide="ignore"):
            x = np.where(logs, np.exp(np.log(low) + u * (np.log(high) - np.log(low))), x)
            snapped = low + np.rint((x - low) / steps) * steps
        return np.clip(np.where(steps > 0.0, snapped, x), low, high)

    return points


def global_search(objective, limits, space, *, seeds=(0,), popsize=12, generations=250):
    """The best of one differential evolution for each seed, each with SQP behind it."""
    points, d = stretch(space), len(space.names)
    fixed = np.array([_step(p) > 0.0 for p in space.parameters.values()])

    def penalised(u):
        x = points(u.T)
        excess = np.maximum(limits(x), 0.0).sum(axis=1)
        return np.where(excess > 0.0, 1e12 * (1.0 + np.minimum(excess, 1e12)), objective(x))

    best = Found(np.inf, np.full(d, np.nan))
    for seed in seeds:
        ended = differential_evolution(
            penalised, Bounds(np.zeros(d), np.ones(d)), vectorized=True, updating="deferred", popsize=popsize,
            maxiter=generations, tol=1e-10, atol=0.0, rng=np.random.default_rng(seed), polish=False,
        )  # fmt: skip
        for u in (ended.x, _polished(ended.x, objective, limits, points, ~fixed)):
            x = points(u)[None]
            value = float(objective(x)[0])
            if value < best.value and np.all(limits(x) <= 0.0):
                best = Found(value, x[0])
    return best


def _polished(u, objective, limits, points, free):
    if not free.any():
        return u
    scale = abs(float(objective(points(u[None]))[0])) or 1.0

    def whole(v):
        return np.where(free, 0.0, u) + _spread(v, free)

    ended: Any = minimize(  # type: ignore[call-overload]
        lambda v: float(objective(points(whole(v)[None]))[0]) / scale,
        u[free],
        method="SLSQP",
        bounds=Bounds(0.0, 1.0),
        constraints=NonlinearConstraint(lambda v: -limits(points(whole(v)[None]))[0] - 1e-10, 0.0, np.inf),
        tol=1e-13,
        options={"maxiter": 300},
    )
    return np.clip(whole(np.nan_to_num(ended.x, nan=0.5)), 0.0, 1.0)


def _spread(v, free):
    out = np.zeros(len(free))
    out[free] = v
    return out


def _is_wide(parameter: Parameter) -> bool:
    if isinstance(parameter, Categorical | Fixed) or _step(parameter):
        return False
    return parameter.low > 0.0 and parameter.high / parameter.low >= WIDE


def _step(parameter: Parameter) -> float:
    return 1.0 if isinstance(parameter, Categorical | Fixed) else float(parameter.step or 0.0)
