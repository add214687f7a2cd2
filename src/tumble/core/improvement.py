"""How far below the incumbent a trial may lie, and how likely it lies below a target; log space, gradients.

    log EI = log E[max(target - f, 0)]     Jones et al. 1998
    log PI = log Pr(f < target)            Kushner 1964

Where values are noisy, one trial shows part of a gain only. EI is then multiplied by what is left of it:

    1 - τ/√(σ² + τ²)                       Huang et al. 2006; τ is the noise

It is near 1 where the process knows little and near 0 where a trial would repeat what is known: EI alone
would measure the best setting again and again, because its σ never quite shrinks to 0.

Everything is in model units.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from .arrays import Array
from .normal import cdf_over_density, density_over_cdf, log_density
from .process.gp import GP
from .process.stacked import Prediction

FAR = -50.0  # below it 1 + z Φ/φ is taken from its series, because the sum would lose 5e-13 of it
LARGE = 8.0  # above it h(z) is taken as it is written, because Φ/φ overflows soon


class Improvement(NamedTuple):
    """Of h(z) = φ(z) + z Φ(z), which is EI/σ at z = (η - μ)/σ, elementwise."""

    log_h: Array
    cdf: Array  # Φ/h, the derivative of log h
    density: Array  # φ/h


def improvement(z: Array) -> Improvement:
    """The improvement at z, exact in both tails."""
    # With R = Φ/φ:  log h = log φ + log(1 + z R),  Φ/h = R / (1 + z R),  φ/h = 1 / (1 + z R)
    if np.count_nonzero((z < FAR) | (z > LARGE)):
        log_h = log_improvement(z)
        return Improvement(log_h, np.exp(log_ndtr(z) - log_h), np.exp(log_density(z) - log_h))
    ratio = cdf_over_density(z)
    density = 1.0 / (1.0 + z * ratio)
    return Improvement(log_density(z) - np.log(density), ratio * density, density)


def log_improvement(z: Array) -> Array:
    """log of h(z), elementwise, exact in both tails.

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
    """log EI below the value `target`.

    Parameters
    ----------
    gp
        The process of f.
    target
        The value to improve on.
    noise
        The noise's standard deviation, where it is weighed; 0 for EI alone.
    """

    gp: GP
    target: float
    noise: float = 0.0

    def screen(self, x: Array) -> Array:
        """(M,) the value itself."""
        mean, var = self.gp.predict(x)
        std = np.sqrt(var)
        value = log_improvement((self.target - mean) / std) + np.log(std)
        return value + self._log_left(var)[0] if self.noise else value

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """Log EI and its gradient."""
        return self.of(self.gp.predict_with_gradient(x))

    def of(self, predicted: Prediction) -> tuple[Array, Array]:
        """The same, from what the process predicts."""
        # log EI = log h(z) + log σ,  ∇ log EI = -(Φ/h) ∇μ/σ + (φ/h) ∇σ²/(2 σ²)
        mean, var, d_mean, d_var = predicted
        std = np.sqrt(var)
        log_h, cdf, density = improvement((self.target - mean) / std)
        value, by_var = log_h + np.log(std), 0.5 * density / var
        if self.noise:
            left, slope = self._log_left(var)
            value, by_var = value + left, by_var + slope
        grad = (-cdf / std)[:, None] * d_mean
        grad += by_var[:, None] * d_var
        return value, grad

    def _log_left(self, var: Array) -> tuple[Array, Array]:
        """(M,) log of 1 - τ/√(σ² + τ²), and its derivative by σ²."""
        # With s² = σ² + τ²:  1 - τ/s = σ² / (s (s + τ)), which loses no digits,
        # and the derivative of its log is τ (s + τ) / (2 s² σ²)
        tau = self.noise
        s = np.sqrt(var + tau**2)
        return np.log(var / (s * (s + tau))), tau * (s + tau) / (2.0 * s**2 * var)


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
        """Log PI and its gradient."""
        return self.of(self.gp.predict_with_gradient(x))

    def of(self, predicted: Prediction) -> tuple[Array, Array]:
        """The same, from what the process predicts."""
        # log PI = log Φ(z),  ∇ log PI = -(φ/Φ) (∇μ/σ + z ∇σ²/(2 σ²))
        mean, var, d_mean, d_var = predicted
        std = np.sqrt(var)
        z = (self.target - mean) / std
        value = np.asarray(log_ndtr(z))
        slope = -density_over_cdf(z, value)
        grad = (slope / std)[:, None] * d_mean
        grad += (0.5 * slope * z / var)[:, None] * d_var
        return value, grad
