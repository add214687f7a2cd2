"""Max-value entropy search (Wang and Jegelka 2017), for minima: what an observation tells about f*.

    α(x) = mean over f* of  γ φ(γ) / (2 Φ(γ)) - log Φ(γ),     γ = (μ - f*)/σ

The logarithm of α has a closed form, so that it is not flat where f* lies far below anything likely.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from ..core import minimum
from ..core.acquisition import log_mean_exp
from ..core.arrays import Array
from ..core.normal import (
    LOG_SQRT_2PI,
    cdf_over_density,
    density_over_cdf,
    log_density,
    log_density_over_cdf,
)
from ..core.process.gp import GP
from ..core.search.candidates import low_discrepancy
from ..core.search.context import Context

BEYOND = 5.0  # f* lies at least so many standard deviations of the noise below the incumbent
LOW, HIGH = -50.0, 5.0  # below and above them a series replaces a difference that would cancel


def log_reduction(gamma: Array) -> Array:
    """Log of γ φ(γ)/(2 Φ(γ)) - log Φ(γ), elementwise: the entropy lost by knowing f*.

    Above HIGH it is taken from 1 - Φ: -log Φ = m + m²/2 + m³/3 with m = 1 - Φ. Below LOW it is taken from
    log Φ(γ) = -γ²/2 - log(|γ| √2π) + log(1 - w + 3 w² - 15 w³), w = γ^-2.
    """
    out = np.empty_like(gamma)
    low, high = gamma < LOW, gamma > HIGH
    g = gamma[~low & ~high]
    log_cdf = log_ndtr(g)
    out[~low & ~high] = np.log(0.5 * g * density_over_cdf(g, log_cdf) - log_cdf)
    g = gamma[high]
    tail = cdf_over_density(-g)  # (1 - Φ)/φ
    missing = tail * np.exp(log_density(g))  # 1 - Φ
    ratio = tail * (1.0 + missing * (0.5 + missing / 3.0))  # -log Φ / φ
    out[high] = log_density(g) + np.log(0.5 * g / (1.0 - missing) + ratio)
    w = gamma[low] ** -2.0
    rest = w * (1.0 - 5.0 * w) - np.log1p(-w * (1.0 - w * (3.0 - 15.0 * w)))
    out[low] = np.log(-0.5 * np.log(w) + LOG_SQRT_2PI - 0.5 + rest)
    return out


def log_slope(gamma: Array) -> Array:
    """Log of minus the derivative of the reduction, ½ (φ/Φ) (1 + γ² + γ φ/Φ), elementwise."""
    log_ratio = log_density_over_cdf(gamma, log_ndtr(gamma))
    bracket = np.empty_like(gamma)
    low = gamma < LOW
    bracket[~low] = 1.0 + gamma[~low] ** 2 + gamma[~low] * np.exp(log_ratio[~low])
    w = gamma[low] ** -2.0
    bracket[low] = w * (2.0 - w * (10.0 - 74.0 * w))
    return np.asarray(log_ratio + np.log(0.5 * bracket))


@dataclass(frozen=True)
class MaxValueEntropy:
    """log α over samples of f* (S,)."""

    gp: GP
    minima: Array

    def screen(self, x: Array) -> Array:
        """(M,) the value itself."""
        mean, var = self.gp.predict(x)
        return log_mean_exp(log_reduction((mean[:, None] - self.minima) / np.sqrt(var)[:, None]))

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """log α and its gradient: ∇γ = (∇μ - γ ∇σ)/σ, each sample weighted by its share of α."""
        mean, var, d_mean, d_var = self.gp.predict_with_gradient(x)
        std = np.sqrt(var)
        gamma = (mean[:, None] - self.minima) / std[:, None]  # (M, S)
        each = log_reduction(gamma)
        value = log_mean_exp(each)
        slope = -np.exp(log_slope(gamma) - value[:, None]) / len(self.minima)  # ∂ log α/∂γ of each sample
        d_std = d_var / (2.0 * std)[:, None]
        grad = slope.sum(axis=1)[:, None] * d_mean - (slope * gamma).sum(axis=1)[:, None] * d_std
        return value, grad / std[:, None]


def max_value_entropy(context: Context) -> MaxValueEntropy:
    """MES. It draws f* by Gumbel's law; where the settings draw jointly, it takes those draws, as Xs does."""
    settings = context.settings
    if settings.minima == "joint":
        return MaxValueEntropy(context.objective, context.minima.samples)
    gp, rng = context.objective, context.rng
    grid = low_discrepancy(settings.grid, gp.X.shape[1], rng)
    drawn = minimum.gumbel(*gp.predict(grid), context.eta, settings.n_minima, rng)
    return MaxValueEntropy(gp, np.minimum(drawn.samples, context.eta - BEYOND * gp.hyper.noise))
