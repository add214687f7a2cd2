"""In-model functions of App. E: draws from the very Gaussian process the methods assume.

A draw is sampled at one fixed set of points and continued by the posterior mean given those values. With
K = L Lᵀ and z standard normal the values are L z, so the weights of the mean are K⁻¹ L z = L⁻ᵀ z: one
Cholesky factor serves every draw. Factorising 8000 points takes 0.5 GB and some seconds, so the weights
are computed for a block of seeds at once and kept in a cache directory of the user (see `cache_dir`).
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..errors import InputError
from ._problem import Array, Problem, unit_cube

DIMENSION = 3
LENGTHSCALE = 0.1
N_POINTS = 8000
JITTER = 1e-6
TRIALS = 100
FAILURES = 15
F_MIN = -4.0  # the paper's conservative bound on every draw, not the draw's own minimum
SEEDS_PER_BLOCK = 50
_FORMAT = 1
_POINTS_SEED = 20_200_613


def in_model(seed: int, *, constrained: bool = True, n_points: int = N_POINTS) -> Problem:
    """Objective and constraint number ``seed``: independent 3-D draws with lengthscale 0.1 and variance 1.

    The one initial point is uniform on the cube, depends on the seed alone, and need not be safe.

    Parameters
    ----------
    seed
        The number of the draw.
    constrained
        Whether the problem has the constraint.
    n_points
        Points that the draw is interpolated from. Fewer than 8000 give other, cheaper functions, for tests.

    Raises
    ------
    InputError
        If the seed is below 0.
    """
    if seed < 0:
        raise InputError(f"the seed of a draw is an integer >= 0, got {seed}")
    weights = _block(seed // SEEDS_PER_BLOCK, n_points)[seed % SEEDS_PER_BLOCK]
    support = points(n_points)
    suffix = "" if n_points == N_POINTS else f"@{n_points}"
    return Problem(
        name=f"in-model{'' if constrained else '-free'}{suffix}:{seed}",
        bounds=unit_cube(DIMENSION),
        objective=lambda x: _mean(x, support, weights[0]),
        f_min=F_MIN,
        trials=TRIALS,
        constraints=(lambda x: np.array([_mean(x, support, weights[1])])) if constrained else None,
        constraint_names=("draw",) if constrained else (),
        failures=FAILURES if constrained else None,
        initial=np.random.default_rng([_POINTS_SEED, seed]).random((1, DIMENSION)),
        note="Rough: about a thousand cells of one lengthscale; half of the cube is unsafe.",
    )


@lru_cache(maxsize=4)
def points(n_points: int = N_POINTS) -> Array:
    """The fixed irregular grid, shape (n_points, 3)."""
    grid = np.random.default_rng(_POINTS_SEED).random((n_points, DIMENSION))
    grid.setflags(write=False)
    return grid


def cache_dir() -> Path:
    """Where draws are kept: $TUMBLE_CACHE, else the user's cache directory."""
    if chosen := os.environ.get("TUMBLE_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "tumble"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tumble"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tumble"


@lru_cache(maxsize=8)
def _block(block: int, n_points: int) -> Array:
    """Weights of one block of seeds, shape (SEEDS_PER_BLOCK, 2, n_points), from the cache or computed."""
    path = cache_dir() / f"in-model-v{_FORMAT}-n{n_points}-block{block}.npy"
    if path.exists():
        cached: Array = np.load(path)
        return cached
    weights = _weights(block, n_points)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npy", delete=False) as file:
        np.save(file, weights)
    os.replace(file.name, path)  # whole or not at all, also with several processes at work
    return weights


def _weights(block: int, n_points: int) -> Array:
    """L⁻ᵀ z for the objective and the constraint of each seed of a block."""
    seeds = range(block * SEEDS_PER_BLOCK, (block + 1) * SEEDS_PER_BLOCK)
    normal = np.stack([np.random.default_rng(seed).standard_normal((2, n_points)) for seed in seeds])
    factor = _factor(n_points)
    flat = solve_triangular(
        factor, normal.reshape(-1, n_points).T, lower=True, trans="T", overwrite_b=True, check_finite=False
    )
    result: Array = np.ascontiguousarray(flat.T).reshape(normal.shape)
    return result


def _factor(n_points: int) -> Array:
    """Lower Cholesky factor of the kernel matrix of the grid, in place: one (n, n) array in all."""
    grid = points(n_points) / LENGTHSCALE
    gram = grid @ grid.T
    norms = np.diagonal(gram).copy()
    gram *= 2.0
    gram -= norms[:, None]
    gram -= norms
    gram *= 0.5
    np.exp(gram, out=gram)
    np.fill_diagonal(gram, 1.0 + JITTER)
    factor: Array = cholesky(gram.T, lower=True, overwrite_a=True, check_finite=False)
    return factor


def _mean(x: Array, support: Array, weights: Array) -> float:
    """The posterior mean k(x, X) K⁻¹ L z at one point."""
    distance = np.sum(((support - x) / LENGTHSCALE) ** 2, axis=1)
    return float(np.exp(-0.5 * distance) @ weights)
