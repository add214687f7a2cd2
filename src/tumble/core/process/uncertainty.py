"""How much less a process knows because its hyperparameters θ were learned: the law of a prediction.

With θ at its most likely value, predictions are too sure. Laplace's approximation says how uncertain θ is:
N(θ, Σ), where Σ^-1 is the average information of the fit (core.process.fit) with that of the prior. To first
order, θ moves the mean μ and the standard deviation s (noise included) of a prediction by

    var(μ / s) = ∂μᵀ Σ ∂μ / s²,        var(log s) = ∂sᵀ Σ ∂s / s²

A normal law whose mean is uncertain is a wider normal law. One whose log s has the variance V is nearly
Student's t law with ν = 1 / (2 V) degrees of freedom, and exactly so where 1/s² has a gamma law. So a
prediction is taken for a t law that is wider than the process. Both variances are averaged over points all
over the cube, where P(safe) matters: all predictions of a process have the same law, and the gradient of
P(safe) is exact.

With A = B kᵀ for those points and w = B (y - prior_mean), in the notation of core.process.gp:

    ∂_i μ = (∂_i k) w - Aᵀ (∂_i K) w + (1 - 1ᵀ A) ∂_i prior_mean
    ∂_i s² = ∂_i (k(x, x) + noise) - 2 (∂_i k) A + Aᵀ (∂_i K) A
"""

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..student import Law
from .cholesky import solve
from .gp import GP
from .priors import Priors
from .tangents import PairCovariances

POINTS = 32  # where both variances are averaged
MOST = 400  # observations; hyperparameters that were learned from more of them are taken as known
# How often each variance counts: the approximation leaves something out. Chosen on draws from the prior.
MEAN_FACTOR, SPREAD_FACTOR = 2.0, 1.0
OTHER_MODES = 8.0, 50.0  # (c, k): 1/ν is larger by c / (n + k), because θ may be near another mode
USUAL_SCORE, SCORE_RANGE = 2.0, 1.5  # points count most where -μ/s is about 2, where P(safe) is about 0.98
LEAST_WEIGHT = 1e-3  # of any point, beside 1
RIDGE = 1e-3  # added to the diagonal of the information, so that it can be inverted
FEWEST, MOST_DEGREES = (1.25, 4.0), 200.0  # of freedom; n observations give n / 4 at least, from 1.25 to 4


class Sensitivity(NamedTuple):
    """Predictions at M points, noise included, and what uncertain hyperparameters do to them."""

    mean: Array  # (M,) μ
    var: Array  # (M,) s²
    d_mean: Array  # (P, M) ∂μ/∂θ
    d_var: Array  # (P, M) ∂s²/∂θ
    covariance: Array  # (P, P) Σ


def law_of(gp: GP, priors: Priors) -> Law:
    """The law of what `gp` predicts, with its hyperparameters integrated out.

    Parameters
    ----------
    gp
        A process whose hyperparameters are the most likely ones.
    priors
        The priors that they were learned under.
    """
    n, dim = gp.X.shape
    if not 0 < n <= MOST:
        return Law()
    points = np.random.default_rng(0).random((POINTS, dim))  # the same for every process
    found = sensitivity(gp, priors, points)
    of_mean = _quadratic(found.d_mean, found.covariance) / found.var
    of_log_std = _quadratic(0.5 * found.d_var / found.var, found.covariance)
    score = -found.mean / np.sqrt(found.var)
    weight = np.exp(-0.5 * ((score - USUAL_SCORE) / SCORE_RANGE) ** 2) + LEAST_WEIGHT
    weight /= weight.sum()
    width = np.sqrt(1.0 + MEAN_FACTOR * weight @ of_mean)
    more, late = OTHER_MODES
    freedom = 1.0 / (2.0 * SPREAD_FACTOR * weight @ of_log_std + more / (n + late))
    return Law(float(width), float(np.clip(freedom, np.clip(n / 4.0, *FEWEST), MOST_DEGREES)))


def sensitivity(gp: GP, priors: Priors, points: Array) -> Sensitivity:
    """What the hyperparameters of `gp`, learned under `priors`, do to its predictions at `points` (M, D)."""
    n, dim = gp.X.shape
    theta, additive = priors.to_theta(gp.hyper), priors.additive is not None
    d_k = PairCovariances.across(gp.kernel, points, gp.X, additive=additive).tangents(theta)
    d_k = d_k.reshape(len(theta), len(points), n)
    half = solve(gp.chol, d_k[dim].T)  # ∂k/∂log v is k itself
    solved = solve(gp.chol, half, transposed=True)  # (N, M) A
    noise = gp.hyper.noise**2
    pairs = PairCovariances(gp.kernel, gp.X, additive=additive)
    columns = np.asfortranarray(np.column_stack([solved, gp.weights]))
    products = np.array([pairs.times(tangent, columns) for tangent in pairs.tangents(theta)])  # (P, N, M + 1)
    products += _diagonal(gp, len(theta))[:, :, None] * columns
    by_points, moved = products[:, :, :-1], products[:, :, -1]  # ∂K A and ∂K w
    ones = solve(gp.chol, solve(gp.chol, np.ones(n)), transposed=True)
    mean_var = 0.0 if priors.mean_std is None else 1.0 / (ones.sum() + priors.mean_std**-2.0)
    by_mean = -mean_var * (moved @ ones)  # (P,) how the learned mean moves
    d_mean = d_k @ gp.weights - moved @ solved + by_mean[:, None] * (1.0 - d_k[dim] @ ones)
    d_var = np.einsum("pnm,nm->pm", by_points, solved) - 2.0 * np.vecdot(d_k, solved.T)
    d_var[dim] += gp.hyper.variance
    d_var[dim + 1] += noise
    return Sensitivity(
        mean=gp.prior_mean + d_k[dim] @ gp.weights,
        var=gp.hyper.variance - np.einsum("nm,nm->m", half, half) + noise,
        d_mean=d_mean, d_var=d_var,
        covariance=_covariance(gp, priors, moved, ones, mean_var),
    )  # fmt: skip


def _diagonal(gp: GP, count: int) -> Array:
    """(P, N) derivatives of the diagonal of K, noise included, by each of the `count` entries of θ."""
    n, dim = gp.X.shape
    diagonal = np.zeros((count, n))
    diagonal[dim] = gp.hyper.variance
    diagonal[dim + 1] = gp.hyper.noise**2 if gp.noise_var is None else gp.noise_var
    return diagonal


def _covariance(gp: GP, priors: Priors, moved: Array, ones: Array, mean_var: float) -> Array:
    """(P, P) Σ, the inverse of the average information; 0 along what is known, such as a noise."""
    half, through = solve(gp.chol, moved.T), moved @ ones
    information = 0.5 * (half.T @ half - mean_var * np.outer(through, through))
    information += priors.log_density(priors.to_theta(gp.hyper)).information
    information.flat[:: len(moved) + 1] += RIDGE
    low, high = np.array(priors.bounds(gp.X.shape[1])).T
    free = np.flatnonzero(low < high)
    covariance = np.zeros_like(information)
    covariance[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
    return covariance


def _quadratic(rows: Array, matrix: Array) -> Array:
    """(M,) the form rowsᵀ matrix rows of each column of `rows` (P, M)."""
    return np.asarray(np.einsum("pm,pm->m", rows, matrix @ rows))
