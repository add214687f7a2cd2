"""How far below the incumbent a trial may lie, and how likely it lies below a target; log space, gradients.

    log EI = log E[max(target - f, 0)]     Jones et al. 1998
    log PI = log Pr(f < target)            Kushner 1964

Everything is in model units.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from .arrays import Array
from .normal import cdf_over_density, density_over_cdf, log_density
from .process.gp import GP

FAR = -50.0  # below it 1 + z Φ/φ is taken from its series, because the sum would lose 5e-13 of it


def log_improvement(z: Array) -> Array:
    """log of h(z) = φ(z) + z Φ(z), elementwise: EI/σ at z = (η - μ)/σ, exact in both tails.

    Below -1 it is log φ + log(1 + z Φ/φ). Below FAR the last term is log(w (1 - 3 w + 15 w² - …)), w = z^-2.
    """
    out = np.empty_like(z)
    near, far = z > -1.0, z < FAR
    out[near] = np.log(np.exp(log_density(z[near])) + z[near] * ndtr(z[near]))
    t = z[~near & ~far]
    out[~near & ~far] = log_density(t) + np.log1p(t * cdf_over_density(t))
    w = z[far] ** -2.0
    series = np.log1p(-w * (3.0 - w * (15.0 - w * (105.0 - w * 945.0))))
    out[far] = log_density(z[far]) + np.log(w) + series
    return out


@dataclass(frozen=True)
class ExpectedImprovement:
    """log EI below the value `target`."""

    gp: GP
    target: float

    def screen(self, x: Array) -> Array:
        """(M,) the value itself."""
        mean, var = self.gp.predict(x)
        std = np.sqrt(var)
        return log_improvement((self.target - mean) / std) + np.log(std)

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """Log EI = log h(z) + log σ, and its gradient (Φ/h) ∇z + ∇σ/σ."""
        z, std, d_z, d_std = standardised(self.gp, x, self.target)
        log_h = log_improvement(z)
        slope = np.exp(log_ndtr(z) - log_h)  # h' = Φ
        return log_h + np.log(std), slope[:, None] * d_z + d_std / std[:, None]


@dataclass(frozen=True)
class ProbabilityOfImprovement:
    """log Pr(f < target)."""

    gp: GP
    target: float

    def screen(self, x: Array) -> Array:
        """(M,) the value itself."""
        mean, var = self.gp.predict(x)
        return np.asarray(log_ndtr((self.target - mean) / np.sqrt(var)))

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """Log PI = log Φ(z), and its gradient (φ/Φ) ∇z."""
        z, _, d_z, _ = standardised(self.gp, x, self.target)
        value = np.asarray(log_ndtr(z))
        return value, density_over_cdf(z, value)[:, None] * d_z


def standardised(gp: GP, x: Array, target: float) -> tuple[Array, Array, Array, Array]:
    """z = (target - μ)/σ (M,), σ (M,), ∇z (M, D), ∇σ (M, D)."""
    mean, var, d_mean, d_var = gp.predict_with_gradient(x)
    std = np.sqrt(var)
    d_std = d_var / (2.0 * std)[:, None]
    z = (target - mean) / std
    return z, std, -(d_mean + z[:, None] * d_std) / std[:, None], d_std


def share_learned(std: Array, noise: float) -> Array:
    """(M,) the share of EI that a noisy measurement can realise: 1 - τ / sqrt(σ² + τ²), Huang et al. 2006.

    Where the noise τ is large beside σ, another measurement says next to nothing of f.
    """
    return np.asarray(1.0 - noise / np.sqrt(std**2 + noise**2))
