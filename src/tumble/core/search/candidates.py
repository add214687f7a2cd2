"""Candidates: points that are compared before the local search starts from the best of them."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ..arrays import Array
from ..process.gp import GP
from ..process.slopes import curvature_of_mean
from .domain import Domain
from .known import Known
from .maximize import Pace, ValueAndGrad, maximize

Held: TypeAlias = Callable[[ValueAndGrad], ValueAndGrad]  # keeps a climb to the coordinates that move
# A descent ends after a step that lowers the mean by less, in prior deviations.
DOWNHILL = Pace(0.01)
QUICKLY_DOWNHILL = Pace(0.01, by_slopes=True)
LONGEST = 0.2  # of a Newton step, in lengthscales along each coordinate
FLATTEST = 0.01  # of its curvatures, in prior deviations per lengthscale squared


def low_discrepancy(count: int, dim: int, rng: np.random.Generator) -> Array:
    """(count, dim) points of a Kronecker sequence on the generalised golden ratio, randomly shifted.

    Point n is the fractional part of shift + n (ψ^-1, ψ^-2, …, ψ^-dim), where ψ^(dim+1) = ψ + 1.
    """
    ratio = 2.0
    for _ in range(40):
        ratio = (1.0 + ratio) ** (1.0 / (dim + 1))
    steps = ratio ** -np.arange(1.0, dim + 1.0)
    points = rng.random(dim) + np.arange(1, count + 1)[:, None] * steps
    return np.asarray(points - np.floor(points))


def all_over(
    count: int, dim: int, rng: np.random.Generator, domain: Domain | None, known: Known | None
) -> Array:
    """(count, dim) settings that can be run and keep the known constraints, all over the cube."""
    points = low_discrepancy(count, dim, rng)
    points = points if known is None else known.fill(points, count, rng)
    return points if domain is None else domain.snap(points)


def surroundings(centres: Array, scales: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, D) points around `centres` (C, D), a hundredth to one lengthscale (`scales`, (D,)) away.

    A point is centre + 10^-u min(scale, 1/2) ε, where u is uniform on [0, 2] and ε is standard normal.
    """
    chosen = centres[rng.integers(len(centres), size=count)]
    reach = np.exp(rng.uniform(np.log(0.01), 0.0, (count, 1)))
    shape = (count, centres.shape[1])
    return np.clip(chosen + reach * np.minimum(scales, 0.5) * rng.standard_normal(shape), 0.0, 1.0)


def downhill(gp: GP, starts: Array, held: Held = lambda fun: fun, pace: Pace = DOWNHILL) -> Array:
    """(M, D) points downhill on the mean of `gp` from `starts` (M, D). The most promising go furthest."""
    scales = np.asarray(gp.hyper.lengthscales)
    rise = held(_fall_of_mean(gp))
    return maximize(rise, starts, scales=scales, max_evaluations=20, pace=pace).points


def step_downhill(gp: GP, starts: Array) -> Array:
    """(M, D) where a Newton step on the mean of `gp` leads from `starts` (M, D).

    From beside the lowest mean that is as good as `downhill`, and takes half the time.
    """
    # With the curvature V diag(λ) Vᵀ, in lengthscales: the step is -V (Vᵀ slope / |λ|), downhill in any case
    scales = np.asarray(gp.hyper.lengthscales)
    slope, curvature = curvature_of_mean(gp, starts)
    curvatures, V = np.linalg.eigh(curvature * scales[:, None] * scales)
    size = np.maximum(np.abs(curvatures), FLATTEST * np.sqrt(gp.hyper.variance))
    along = ((slope * scales)[:, None] @ V)[:, 0] / size
    step = -(V @ along[:, :, None])[:, :, 0]
    step /= np.maximum(np.abs(step).max(axis=1, keepdims=True) / LONGEST, 1.0)
    return np.asarray(np.minimum(np.maximum(starts + step * scales, 0.0), 1.0))


def _fall_of_mean(gp: GP) -> ValueAndGrad:
    """-μ in prior standard deviations, and its gradient."""
    unit = np.sqrt(gp.hyper.variance)

    def fall(x: Array) -> tuple[Array, Array]:
        mean, slope = gp.mean_with_gradient(x)
        return -mean / unit, -slope / unit

    return fall


def everywhere(
    gp: GP, best: Array, count: int, rng: np.random.Generator, *, descend: bool = True,
    held: Held = lambda fun: fun, pace: Pace = DOWNHILL,
) -> Array:  # fmt: skip
    """(P, D) candidates: `count` all over the cube, a quarter as many around `best` (C, D), and one downhill
    from each of `best` (`descend`), at that `pace`.

    In many dimensions only the descents come near the lowest mean. Without them, samples of f* would lie
    above the lowest mean, and Xs would avoid the best region that the process already knows.
    """
    near = around(gp, best, count // 4, rng)
    lowest = downhill(gp, best, held, pace) if descend else best[:0]
    return np.vstack([low_discrepancy(count, best.shape[1], rng), near, lowest])


def around(gp: GP, best: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, D) candidates around `best` (C, D), on the scale of the process."""
    return surroundings(best, np.asarray(gp.hyper.lengthscales), count, rng)


@lru_cache(maxsize=16)
def settled(count: int, dim: int, seed: int) -> Array:
    """(count, dim) points all over the cube, the same read-only ones for the same seed."""
    points = low_discrepancy(count, dim, np.random.default_rng(seed))
    points.flags.writeable = False
    return points
