"""Crossings of a level by a Gaussian process (§2.3-2.5, App. A.1).

Rice's formula (2) counts upcrossings of a stationary process over the unit interval; (4)-(6) turn it into an
intensity at a point of a conditioned process; (8) is that intensity in D dimensions:

    I(x; u) = N(u; μ, σ²) Σ_j E|s_j|,     s_j ~ N(m_j, ν_j²) is ∂_j f given f(x) = u

All of (8) is worked out from the posterior of (f, ∇f): the virtual observation {x, u} of App. A.2 is a
rank-one conditional.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erf

from .arrays import Array
from .normal import LOG_SQRT_2_OVER_PI, LOG_SQRT_2PI, SQRT_HALF, expected_abs
from .process.covariance import Covariance, Hyper
from .process.gp import GP
from .process.kernels import Kernel
from .process.slopes import Curvature, Slopes, slopes_at

TINY = 1e-300


class SlopesGivenCrossing(NamedTuple):
    """∇f given f(x) = u, at M points and for U levels; c is Cov(f, ∇f)."""

    gamma: Array  # (M, U, D) means of the slopes in units of their standard deviations, m_j / ν_j
    std: Array  # (M, D) those standard deviations, ν_j
    z: Array  # (M, U) (u - μ) / σ²
    ratio: Array  # (M, D) c / σ²


class LogIntensity(NamedTuple):
    """Logarithm of a mean intensity at M points, and its gradient by x."""

    value: Array  # (M,)
    grad: Array  # (M, D)


def rice_upcrossings(kernel: Kernel, hyper: Hyper, u: float) -> float:
    """Expected upcrossings of `u` on [0, 1] by the prior process, D = 1. Also the bound (3): as u grows it
    approaches Pr(sup f >= u).
    """  # (2)
    slope_var = float(Covariance(kernel, hyper).of_slopes[0])
    return float(np.sqrt(slope_var / hyper.variance) / (2.0 * np.pi) * np.exp(-0.5 * u * u / hyper.variance))


def expected_crossings(gp: GP, u: float, points: int = 2001) -> float:
    """Expected crossings of `u` on [0, 1] by a conditioned process, D = 1: (4), the integral of (6)."""
    x = np.linspace(0.0, 1.0, points)[:, None]
    return float(np.trapezoid(np.exp(log_intensity(slopes_at(gp, x), np.array([u]))[:, 0]), x[:, 0]))


def slopes_given_crossing(at: Slopes, u: Array) -> SlopesGivenCrossing:
    """∇f given the virtual observation f(x) = u, for each of the levels u (U,) (App. A.2)."""
    # m_j = ∂_j μ + c_j (u - μ) / σ²,  ν_j² = V_j - c_j² / σ²
    var, c = at.var[:, None], at.cov_f_grad
    ratio = c / var
    floor = 1e-12 * np.maximum(at.var_grad, TINY)
    std = np.sqrt(np.maximum(at.var_grad - c * ratio, floor))
    z = (u - at.mean[:, None]) / var
    gamma = c[:, None, :] * z[:, :, None]
    gamma += at.grad_mean[:, None, :]
    gamma /= std[:, None, :]
    return SlopesGivenCrossing(gamma, std, z, ratio)


def log_intensity(at: Slopes, u: Array) -> Array:
    """(M, U) logarithm of the intensity of crossings (8) of the levels u (U,) at M points."""
    gamma, std, z, _ = slopes_given_crossing(at, u)
    norm = expected_abs(gamma * std[:, None, :], std[:, None, :]).sum(axis=2)
    log_density = -0.5 * z**2 * at.var[:, None] - 0.5 * np.log(at.var)[:, None] - LOG_SQRT_2PI
    return np.asarray(log_density + np.log(np.maximum(norm, TINY)))  # (8)


def log_mean_intensity_and_gradient(
    at: Slopes, curvature: Curvature, u: Array, weights: Array, *, band: bool = False
) -> LogIntensity:
    """Logarithm of the mean of (8) over levels, and its gradient by x.

    Parameters
    ----------
    at, curvature
        Posterior of (f, ∇f) at M points, and its derivatives.
    u, weights : (U,)
        The levels and their weights.
    band
        Whether to give σ times that mean: the crossings of a band of levels as wide as σ.
    """
    given = slopes_given_crossing(at, u)
    std, z, ratio = given.std, given.z, given.ratio
    slope = _absolute_slopes(given)
    # log Σ_u w_u I_u = log Σ_u w_u slope_u exp(-σ² z_u²/2) - log √(2π) - log σ, with p_u the share of level u
    squares = z * z
    value = np.log(weights * slope.total)
    value -= (0.5 * at.var[:, None]) * squares
    top = np.maximum.reduce(value, axis=1, keepdims=True)
    value -= top
    share = np.exp(value, out=value)
    total = np.add.reduce(share, axis=1, keepdims=True)
    log_mean = (top + np.log(total))[:, 0] - LOG_SQRT_2PI
    share /= total  # p_u

    # ∂_l log Σ_u w_u I_u = Σ_u p_u ∂_l log I_u. The factors of the (D, D) derivatives are summed over u
    # first, so that each derivative is used once:
    #   ∂_l m_j = ∂_l ∂_j μ + z ∂_l c_j + c_j ∂_l z,  ∂_l z = -(∂_l μ + 2 z c_l) / σ²
    #   ∂_l ν_j² = ∂_l V_j - 2 c_j ∂_l c_j / σ² + c_j² ∂_l σ² / σ⁴,  ∂_l σ² = 2 c_l
    per_slope = np.empty((len(z), 2, z.shape[1]))
    np.divide(share, slope.total, out=per_slope[:, 0])
    np.multiply(per_slope[:, 0], z, out=per_slope[:, 1])
    summed = per_slope @ slope.by_mean  # (M, 2, D) without and with the factor z_u
    by_mean, by_mean_z = summed[:, 0], summed[:, 1]
    by_var = (per_slope[:, :1] @ slope.by_std)[:, 0] / (2.0 * std)  # by ν_j²
    by_var_c = by_var * ratio
    grad = curvature.along(by_mean, by_mean_z - 2.0 * by_var_c, by_var)
    along_mean = np.vecdot(share, z) - np.vecdot(by_mean, ratio)
    along_c = np.vecdot(share, squares) + 2.0 * np.vecdot(by_var_c - by_mean_z, ratio)
    if not band:
        log_mean -= 0.5 * np.log(at.var)
        along_c -= 1.0 / at.var
    grad += along_mean[:, None] * at.grad_mean
    grad += along_c[:, None] * at.cov_f_grad
    return LogIntensity(log_mean, grad)


class _AbsoluteSlopes(NamedTuple):
    """Σ_j E|s_j| (M, U), and the derivatives of each E|s_j| by its mean and standard deviation (M, U, D)."""

    total: Array
    by_mean: Array
    by_std: Array


def _absolute_slopes(given: SlopesGivenCrossing) -> _AbsoluteSlopes:
    """Expected absolute slopes; `given.gamma` is overwritten."""
    # With γ = m/ν:  E|s| = ν [γ erf(γ/√2) + 2 φ(γ)],  ∂E|s|/∂m = erf(γ/√2),  ∂E|s|/∂ν = 2 φ(γ)
    gamma = given.gamma
    by_std = gamma * SQRT_HALF
    by_mean = erf(by_std)
    by_std *= by_std
    np.subtract(LOG_SQRT_2_OVER_PI, by_std, out=by_std)
    np.exp(by_std, out=by_std)
    gamma *= by_mean
    gamma += by_std
    total = np.maximum(gamma @ given.std[:, :, None], TINY)[:, :, 0]
    return _AbsoluteSlopes(total, by_mean, by_std)
