"""Crossings of a level by a Gaussian process (§2.3-2.5, App. A.1).

Rice's formula (2) counts upcrossings of a stationary process over the unit interval; (4)-(6) turn it into an
intensity at a point of a conditioned process; (8) is that intensity in D dimensions. All of (8) is worked out
from the posterior of (f, ∇f): the virtual observation {x, u} of App. A.2 is a rank-one conditional.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import erf

from .gp import GP, KERNELS, Array, Curvature, Hyper, Slopes

LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)
SQRT_2_OVER_PI = np.sqrt(2.0 / np.pi)
TINY = 1e-300


def rice_upcrossings(kernel: str, hyper: Hyper, u: float) -> float:
    """Expected upcrossings of `u` on [0, 1] by the prior process, D = 1. Also the bound (3): as u grows it
    approaches Pr(sup f >= u).
    """  # (2)
    slope_var = -hyper.variance * KERNELS[kernel](np.zeros(1), 1)[1][0] / hyper.lengthscales[0] ** 2
    return float(np.sqrt(slope_var / hyper.variance) / (2.0 * np.pi) * np.exp(-0.5 * u * u / hyper.variance))


def expected_crossings(gp: GP, u: float, points: int = 2001) -> float:
    """Expected crossings of `u` on [0, 1] by a conditioned process, D = 1: (4), the integral of (6)."""
    x = np.linspace(0.0, 1.0, points)[:, None]
    return float(np.trapezoid(np.exp(log_intensity(gp.slopes(x), np.array([u]))[:, 0]), x[:, 0]))


def expected_abs(mean: Array, std: Array) -> Array:
    """E|s| for s ~ N(mean, std²), elementwise: the bracket of (7)."""
    gamma = mean / std
    return np.asarray(std * SQRT_2_OVER_PI * np.exp(-0.5 * gamma * gamma) + mean * erf(gamma * np.sqrt(0.5)))


@dataclass(frozen=True)
class _Conditional:
    """∇f given f(x) = u: the virtual observation (App. A.2)."""

    mean: Array  # (M, U, D)  μ_j(x; u)
    std: Array  # (M, D)     ν_j
    z: Array  # (M, U)     (u - μ) / σ²


def _given_crossing(at: Slopes, u: Array) -> _Conditional:
    z = (u - at.mean[:, None]) / at.var[:, None]
    mean = at.grad_mean[:, None, :] + at.cov_f_grad[:, None, :] * z[:, :, None]
    var = at.var_grad - at.cov_f_grad**2 / at.var[:, None]
    return _Conditional(mean, np.sqrt(np.maximum(var, 1e-12 * np.maximum(at.var_grad, TINY))), z)


def log_intensity(at: Slopes, u: Array) -> Array:
    """(M, U) logarithm of the intensity of crossings (8) of the levels u (U,) at M points."""
    given = _given_crossing(at, u)
    norm = expected_abs(given.mean, given.std[:, None, :]).sum(axis=2)
    log_density = -0.5 * given.z**2 * at.var[:, None] - 0.5 * np.log(at.var)[:, None] - LOG_SQRT_2PI
    return np.asarray(log_density + np.log(np.maximum(norm, TINY)))  # (8)


def log_mean_intensity_and_gradient(
    at: Slopes, bend: Curvature, u: Array, weights: Array
) -> tuple[Array, Array]:
    """Logarithm (M,) of the mean of (8) over levels u (U,) with `weights` (U,), and its gradient by x (M, D).

    The mean is taken inside: ∂_l log Σ_u w_u I_u = Σ_u p_u ∂_l log I_u with p_u the share of level u, and all
    that depends on u is summed before it meets the (D, D) derivatives of the process.
    """
    given = _given_crossing(at, u)
    mean, std, z = given.mean, given.std[:, None, :], given.z
    gamma = mean / std
    bell = SQRT_2_OVER_PI * np.exp(-0.5 * gamma * gamma)  # ∂E|s|/∂ν = 2 φ(γ)
    sign = erf(gamma * np.sqrt(0.5))  # ∂E|s|/∂μ
    norm = np.maximum((std * bell + mean * sign).sum(axis=2), TINY)  # (M, U)
    var, c = at.var[:, None], at.cov_f_grad
    value = np.log(weights * norm) - 0.5 * z * z * var
    top = value.max(axis=1, keepdims=True)
    share = np.exp(value - top)
    total = share.sum(axis=1, keepdims=True)
    log_mean = (top + np.log(total) - 0.5 * np.log(var))[:, 0] - LOG_SQRT_2PI
    share /= total

    pull = share / norm
    signs = (pull[:, None, :] @ sign)[:, 0]  # (M, D) Σ_u pull_u sign_uj, and with z_u
    signs_z = ((pull * z)[:, None, :] @ sign)[:, 0]
    bells = (pull[:, None, :] @ bell)[:, 0] / (2.0 * given.std)
    # ∂_l ν_j² = ∂_l V_j - 2 c_j ∂_l c_j / σ² + c_j² ∂_l σ² / σ⁴, with ∂_l σ² = 2 c_l
    ratio = c / var
    # ∂_l μ_j(x; u) = ∂_l∂_jμ + z ∂_l c_j + c_j ∂_l z, with ∂_l z = -(∂_l μ + 2 z c_l) / σ²
    bent = bend.hess_mean @ signs[:, :, None]
    bent += bend.d_cov_f_grad @ (signs_z - 2.0 * bells * ratio)[:, :, None]
    bent += bend.d_var_grad @ bells[:, :, None]
    first, second = (share * z).sum(axis=1), (share * z * z).sum(axis=1)
    along_mean = first - (signs * ratio).sum(axis=1)
    along_c = (
        second - (1.0 - 2.0 * (bells * ratio * c).sum(axis=1)) / at.var - 2.0 * (signs_z * ratio).sum(axis=1)
    )
    return log_mean, bent[:, :, 0] + along_mean[:, None] * at.grad_mean + along_c[:, None] * c
