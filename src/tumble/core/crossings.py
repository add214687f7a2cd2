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


def log_intensity_and_gradient(at: Slopes, bend: Curvature, u: Array) -> tuple[Array, Array]:
    """`log_intensity` (M, U) and its gradient by x (M, U, D)."""
    given = _given_crossing(at, u)
    mean, std, z = given.mean, given.std[:, None, :], given.z
    gamma = mean / std
    bell = SQRT_2_OVER_PI * np.exp(-0.5 * gamma * gamma)  # ∂E|s|/∂ν = 2 φ(γ)
    sign = erf(gamma * np.sqrt(0.5))  # ∂E|s|/∂μ
    norm = np.maximum((std * bell + mean * sign).sum(axis=2), TINY)  # (M, U)
    var = at.var[:, None]
    value = -0.5 * z * z * var - 0.5 * np.log(var) - LOG_SQRT_2PI + np.log(norm)

    c, d_var = at.cov_f_grad, 2.0 * at.cov_f_grad  # ∂_l σ² = 2 c_l
    d_z = -(at.grad_mean[:, None, :] + z[:, :, None] * d_var[:, None, :]) / var[:, :, None]  # (M, U, L)
    # ∂_l μ_j(x; u) = ∂_l∂_jμ + z ∂_l c_j + c_j ∂_l z, contracted with `sign` over j
    pull = np.einsum("muj,mlj->mul", sign, bend.hess_mean)
    pull += z[:, :, None] * np.einsum("muj,mlj->mul", sign, bend.d_cov_f_grad)
    pull += np.einsum("muj,mj->mu", sign, c)[:, :, None] * d_z
    # ∂_l ν_j² = ∂_l V_j - 2 c_j ∂_l c_j / σ² + c_j² ∂_l σ² / σ⁴
    ratio = c / at.var[:, None]
    d_nu2 = bend.d_var_grad - 2.0 * bend.d_cov_f_grad * ratio[:, None, :]
    d_nu2 += d_var[:, :, None] * (ratio**2)[:, None, :]
    pull += np.einsum("muj,mlj->mul", bell, d_nu2 / (2.0 * given.std[:, None, :]))
    d_density = z[:, :, None] * (at.grad_mean[:, None, :] + 0.5 * z[:, :, None] * d_var[:, None, :])
    d_density -= 0.5 * (d_var / at.var[:, None])[:, None, :]
    return value, d_density + pull / norm[:, :, None]
