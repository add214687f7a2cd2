"""Crossings of a level by a Gaussian process (§2.3-2.5, App. A.1).

Rice's formula (2) counts upcrossings of a stationary process over the unit interval; (4)-(6) turn it into an
intensity at a point of a conditioned process; (8) is that intensity in D dimensions. All of (8) is worked out
from the posterior of (f, ∇f): the virtual observation {x, u} of App. A.2 is a rank-one conditional.
"""

import numpy as np
from scipy.special import erf

from .arrays import Array
from .normal import LOG_SQRT_2_OVER_PI, LOG_SQRT_2PI, SQRT_HALF, expected_abs
from .process.gp import GP, Curvature, Hyper, Slopes
from .process.kernels import KERNELS

TINY = 1e-300


def rice_upcrossings(kernel: str, hyper: Hyper, u: float) -> float:
    """Expected upcrossings of `u` on [0, 1] by the prior process, D = 1. Also the bound (3): as u grows it
    approaches Pr(sup f >= u).
    """  # (2)
    slope_var = -hyper.variance * KERNELS[kernel](np.zeros(1), 1, 1.0)[1][0] / hyper.lengthscales[0] ** 2
    return float(np.sqrt(slope_var / hyper.variance) / (2.0 * np.pi) * np.exp(-0.5 * u * u / hyper.variance))


def expected_crossings(gp: GP, u: float, points: int = 2001) -> float:
    """Expected crossings of `u` on [0, 1] by a conditioned process, D = 1: (4), the integral of (6)."""
    x = np.linspace(0.0, 1.0, points)[:, None]
    return float(np.trapezoid(np.exp(log_intensity(gp.slopes(x), np.array([u]))[:, 0]), x[:, 0]))


def _slopes_given_crossing(at: Slopes, u: Array) -> tuple[Array, Array, Array, Array]:
    """∇f given f(x) = u, the virtual observation (App. A.2): its means (M, U, D) in units of its standard
    deviations ν_j, those (M, D), z = (u - μ) / σ² (M, U) and c / σ² (M, D).
    """
    var, c = at.var[:, None], at.cov_f_grad
    ratio = c / var
    floor = 1e-12 * np.maximum(at.var_grad, TINY)
    std = np.sqrt(np.maximum(at.var_grad - c * ratio, floor))
    z = (u - at.mean[:, None]) / var
    gamma = c[:, None, :] * z[:, :, None]
    gamma += at.grad_mean[:, None, :]
    gamma /= std[:, None, :]
    return gamma, std, z, ratio


def log_intensity(at: Slopes, u: Array) -> Array:
    """(M, U) logarithm of the intensity of crossings (8) of the levels u (U,) at M points."""
    gamma, std, z, _ = _slopes_given_crossing(at, u)
    norm = expected_abs(gamma * std[:, None, :], std[:, None, :]).sum(axis=2)
    log_density = -0.5 * z**2 * at.var[:, None] - 0.5 * np.log(at.var)[:, None] - LOG_SQRT_2PI
    return np.asarray(log_density + np.log(np.maximum(norm, TINY)))  # (8)


def log_mean_intensity_and_gradient(
    at: Slopes, bend: Curvature, u: Array, weights: Array, *, band: bool = False
) -> tuple[Array, Array]:
    """Logarithm (M,) of the mean of (8) over levels u (U,) with `weights` (U,), and its gradient by x (M, D).

    band: of σ times that mean.
    The mean is taken inside: ∂_l log Σ_u w_u I_u = Σ_u p_u ∂_l log I_u with p_u the share of level u, and all
    that depends on u is summed before it meets the (D, D) derivatives of the process.
    """
    gamma, std, z, ratio = _slopes_given_crossing(at, u)
    var, c = at.var[:, None], at.cov_f_grad
    bell = gamma * SQRT_HALF
    sign = erf(bell)  # ∂E|s|/∂μ
    bell *= bell
    np.subtract(LOG_SQRT_2_OVER_PI, bell, out=bell)
    np.exp(bell, out=bell)  # ∂E|s|/∂ν = 2 φ(γ)
    gamma *= sign
    gamma += bell
    norm = np.maximum(gamma @ std[:, :, None], TINY)[:, :, 0]  # (M, U) Σ_j E|s_j|
    value = np.log(weights * norm)
    squares = z * z
    value -= (0.5 * var) * squares
    top = np.maximum.reduce(value, axis=1, keepdims=True)
    value -= top
    share = np.exp(value, out=value)
    total = np.add.reduce(share, axis=1, keepdims=True)
    log_mean = (top + np.log(total))[:, 0] - LOG_SQRT_2PI
    share /= total

    pull = np.empty((len(z), 2, z.shape[1]))
    np.divide(share, norm, out=pull[:, 0])
    np.multiply(pull[:, 0], z, out=pull[:, 1])
    summed = pull @ sign  # (M, 2, D) Σ_u pull_u sign_uj, and with z_u
    signs, signs_z = summed[:, 0], summed[:, 1]
    bells = (pull[:, :1] @ bell)[:, 0] / (2.0 * std)
    # ∂_l ν_j² = ∂_l V_j - 2 c_j ∂_l c_j / σ² + c_j² ∂_l σ² / σ⁴, with ∂_l σ² = 2 c_l
    bells_c = bells * ratio
    # ∂_l μ_j(x; u) = ∂_l∂_jμ + z ∂_l c_j + c_j ∂_l z, with ∂_l z = -(∂_l μ + 2 z c_l) / σ²
    grad = bend.along(signs, signs_z - 2.0 * bells_c, bells)
    along_mean = np.vecdot(share, z) - np.vecdot(signs, ratio)
    along_c = np.vecdot(share, squares) + 2.0 * np.vecdot(bells_c - signs_z, ratio)
    if not band:
        log_mean -= 0.5 * np.log(at.var)
        along_c -= 1.0 / at.var
    grad += along_mean[:, None] * at.grad_mean
    grad += along_c[:, None] * c
    return log_mean, grad
