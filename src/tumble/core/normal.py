"""Functions of the standard normal law, elementwise and exact in both tails.

φ is its density, Φ its distribution function. SciPy has log Φ (`log_ndtr`), Φ (`ndtr`) and Φ^-1 (`ndtri`);
here stands what SciPy has not. Constants are plain floats, so that torch can use them as well.
"""

import math

import numpy as np
from scipy.special import erf, erfcx, ndtri_exp

from .arrays import Array

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
SQRT_HALF = math.sqrt(0.5)
SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
LOG_SQRT_2_OVER_PI = math.log(SQRT_2_OVER_PI)
SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
NEARLY_CERTAIN = -1e-300  # the largest log p that still has a finite quantile


def log_density(z: Array) -> Array:
    """log φ(z)."""
    return -0.5 * z * z - LOG_SQRT_2PI


def log_density_over_cdf(z: Array, log_cdf: Array) -> Array:
    """log of φ(z)/Φ(z), the inverse Mills ratio; log_cdf: log Φ(z), which every caller has at hand."""
    return log_density(z) - log_cdf


def density_over_cdf(z: Array, log_cdf: Array) -> Array:
    """φ(z)/Φ(z), the derivative of log Φ; log_cdf: log Φ(z)."""
    return np.asarray(np.exp(log_density_over_cdf(z, log_cdf)))


def cdf_over_density(z: Array) -> Array:
    """Φ(z)/φ(z), for z of at most 5 or so: beyond that it overflows soon."""
    return np.asarray(SQRT_HALF_PI * erfcx(-z * SQRT_HALF))


def quantile_from_log(log_p: Array) -> Array:
    """Φ^-1(p) from log p: exact where p is near 0 and where it is near 1."""
    log_p = np.minimum(log_p, NEARLY_CERTAIN)
    return np.where(log_p < -1.0, ndtri_exp(log_p), -ndtri_exp(np.log(-np.expm1(log_p))))


def quantile_slope(log_p: Array, quantile: Array) -> Array:
    """Derivative of Φ^-1(p) by log p, which is p/φ; quantile: Φ^-1(p)."""
    return np.asarray(np.exp(log_p + 0.5 * quantile * quantile + LOG_SQRT_2PI))


def expected_abs(mean: Array, std: Array) -> Array:
    """E|s| for s ~ N(mean, std²): the bracket of (7)."""
    gamma = mean / std
    return np.asarray(std * SQRT_2_OVER_PI * np.exp(-0.5 * gamma * gamma) + mean * erf(gamma * SQRT_HALF))
