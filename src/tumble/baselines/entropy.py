"""Max-value entropy search (Wang and Jegelka 2017), for minima: what an observation tells about f*.

    α(x) = mean over f* of  γ φ(γ) / (2 Φ(γ)) - log Φ(γ),     γ = (μ - f*)/σ

taken to the logarithm in closed form, so that it does not go flat where f* is far below anything likely.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr

from ..core import minimum
from ..core.acquisition import log_mean_exp
from ..core.algorithm import Context, sample_minima
from ..core.candidates import low_discrepancy
from ..core.crossings import LOG_SQRT_2PI
from ..core.gp import GP, Array

BEYOND = 5.0  # noise standard deviations between the incumbent and the nearest f*
LARGE = 5.0  # from here on -log Φ is taken as its tail


def log_reduction(gamma: Array) -> Array:
    """Log of γ φ(γ)/(2 Φ(γ)) - log Φ(γ), elementwise: the entropy lost by knowing f*."""
    log_phi = -0.5 * gamma**2 - LOG_SQRT_2PI
    log_cdf = log_ndtr(gamma)
    g = np.maximum(gamma, LARGE)
    tail = np.sqrt(0.5 * np.pi) * erfcx(g * np.sqrt(0.5))  # (1 - Φ)/φ
    missing = tail * np.exp(-0.5 * g**2 - LOG_SQRT_2PI)  # 1 - Φ
    ratio = tail * (1.0 + missing * (0.5 + missing / 3.0))  # -log Φ / φ
    far = log_phi + np.log(0.5 * g * np.exp(-log_cdf) + ratio)
    small = np.clip(gamma, -1e4, LARGE)
    inverse_mills = np.exp(-0.5 * small**2 - LOG_SQRT_2PI - log_ndtr(small))
    near = np.log(0.5 * small * inverse_mills - log_ndtr(small))
    return np.asarray(np.where(gamma > LARGE, far, near))


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
        """log α and its gradient."""
        mean, var, d_mean, d_var = self.gp.predict_with_gradient(x)
        std = np.sqrt(var)
        gamma = (mean[:, None] - self.minima) / std[:, None]  # (M, S)
        each = log_reduction(gamma)
        value = log_mean_exp(each)
        log_mills = -0.5 * gamma**2 - LOG_SQRT_2PI - log_ndtr(gamma)
        bracket = 1.0 + gamma**2 + gamma * np.exp(log_mills)
        # ∂/∂γ of the reduction is -½ (φ/Φ)(1 + γ² + γ φ/Φ), here over the mean of the reductions
        slope = -0.5 * bracket * np.exp(log_mills - value[:, None]) / len(self.minima)
        d_std = d_var / (2.0 * std)[:, None]
        grad = slope.sum(axis=1)[:, None] * d_mean - (slope * gamma).sum(axis=1)[:, None] * d_std
        return value, grad / std[:, None]


def max_value_entropy(context: Context) -> MaxValueEntropy:
    """MES. Its own law of f* is Gumbel's; where the settings draw jointly, it takes those draws like Xs."""
    settings = context.settings
    if settings.minima == "joint":
        return MaxValueEntropy(context.objective, sample_minima(context).samples)
    gp, rng = context.objective, context.rng
    grid = low_discrepancy(settings.grid, gp.X.shape[1], rng)
    drawn = minimum.gumbel(*gp.predict(grid), context.eta, settings.n_minima, rng)
    return MaxValueEntropy(gp, np.minimum(drawn.samples, context.eta - BEYOND * gp.hyper.noise))
