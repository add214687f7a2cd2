"""Points to look at before the local search: low-discrepancy ones, and the surroundings of good trials."""

import numpy as np

from .gp import Array


def low_discrepancy(count: int, dim: int, rng: np.random.Generator) -> Array:
    """(count, dim) points of a Kronecker sequence on the generalised golden ratio, randomly shifted."""
    ratio = 2.0
    for _ in range(40):
        ratio = (1.0 + ratio) ** (1.0 / (dim + 1))
    steps = ratio ** -np.arange(1.0, dim + 1.0)
    points = rng.random(dim) + np.arange(1, count + 1)[:, None] * steps
    return np.asarray(points - np.floor(points))


def surroundings(centres: Array, scales: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, D) points around `centres` (C, D), a hundredth to one lengthscale (`scales`, (D,)) away."""
    chosen = centres[rng.integers(len(centres), size=count)]
    reach = np.exp(rng.uniform(np.log(0.01), 0.0, (count, 1)))
    shape = (count, centres.shape[1])
    return np.clip(chosen + reach * np.minimum(scales, 0.5) * rng.standard_normal(shape), 0.0, 1.0)


def everywhere(count: int, best: Array, scales: Array, rng: np.random.Generator) -> Array:
    """(count + count // 4, D) points all over the cube, and a quarter as many around the `best` (C, D)."""
    return np.vstack(
        [low_discrepancy(count, best.shape[1], rng), surroundings(best, scales, count // 4, rng)]
    )
