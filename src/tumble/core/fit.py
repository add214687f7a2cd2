"""Hyperparameters by maximum a posteriori (App. D), with analytic gradients.

Priors are densities of the value itself where the paper prints them (`Uniform`, `Gamma`, `Normal`) and of
its logarithm for `LogNormal`, whose mode is then its median. The fit moves logarithms.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from .gp import GP, JITTER, KERNELS, Array, Hyper, Outputs, condition


@dataclass(frozen=True)
class Uniform:
    """Uniform on [low, high]."""

    low: float
    high: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """Logarithm of the density, up to a constant, and its derivative by the logarithm of the value."""
        return np.zeros_like(log_value), np.zeros_like(log_value)

    @property
    def start(self) -> float:
        """Where a fit without anything better begins."""
        return 0.5 * (self.low + self.high)

    @property
    def support(self) -> tuple[float, float]:
        """Where the fit may look."""
        return self.low, self.high


@dataclass(frozen=True)
class Gamma:
    """Gamma with concentration `shape` and `rate`."""

    shape: float
    rate: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """As for `Uniform`."""
        value = self.rate * np.exp(log_value)
        return (self.shape - 1.0) * log_value - value, (self.shape - 1.0) - value

    @property
    def start(self) -> float:
        """The mean."""
        return self.shape / self.rate

    @property
    def support(self) -> tuple[float, float]:
        """From a hundredth to ten times the mean."""
        return 0.01 * self.start, 10.0 * self.start


@dataclass(frozen=True)
class Normal:
    """Normal, restricted to positive values."""

    mean: float
    std: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """As for `Uniform`."""
        value = np.exp(log_value)
        z = (value - self.mean) / self.std
        return -0.5 * z * z, -z * value / self.std

    @property
    def start(self) -> float:
        """The mean."""
        return self.mean

    @property
    def support(self) -> tuple[float, float]:
        """Positive values within six standard deviations."""
        return max(1e-3 * self.mean, self.mean - 6.0 * self.std), self.mean + 6.0 * self.std


@dataclass(frozen=True)
class LogNormal:
    """Log-normal by its median and the standard deviation of the logarithm."""

    median: float
    sigma: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """As for `Uniform`, but the density is that of the logarithm."""
        z = (log_value - np.log(self.median)) / self.sigma
        return -0.5 * z * z, -z / self.sigma

    @property
    def start(self) -> float:
        """The median."""
        return self.median

    @property
    def support(self) -> tuple[float, float]:
        """Within six standard deviations of the logarithm."""
        return self.median * float(np.exp(-6 * self.sigma)), self.median * float(np.exp(6 * self.sigma))


Prior = Uniform | Gamma | Normal | LogNormal


@dataclass(frozen=True)
class ModelPriors:
    """Priors of one process; `noise` is a prior of the standard deviation, or the value where it is known."""

    lengthscale: Prior
    variance: Prior
    noise: Prior | float

    def hyper_start(self, dim: int) -> Hyper:
        """Hyperparameters where a cold fit begins."""
        noise = self.noise if isinstance(self.noise, float) else self.noise.start
        return Hyper((self.lengthscale.start,) * dim, self.variance.start, noise)

    def log_bounds(self, dim: int) -> list[tuple[float, float]]:
        """Bounds of the logarithms, in the order of `Hyper.log`; a known noise has equal bounds."""
        noise = (self.noise, self.noise) if isinstance(self.noise, float) else self.noise.support
        spans = [self.lengthscale.support] * dim + [self.variance.support, (noise[0] ** 2, noise[1] ** 2)]
        return [(float(np.log(low)), float(np.log(high))) for low, high in spans]

    def log_density(self, theta: Array) -> tuple[float, Array]:
        """Logarithm of the prior at `Hyper.log` and its gradient."""
        value, grad = self.lengthscale.log_density(theta[:-2])
        variance, d_variance = self.variance.log_density(theta[-2:-1])
        noise, d_noise = np.zeros(1), np.zeros(1)
        if not isinstance(self.noise, float):
            noise, d_noise = self.noise.log_density(0.5 * theta[-1:])
        total = float(value.sum() + variance.sum() + noise.sum())
        return total, np.concatenate([grad, d_variance, 0.5 * d_noise])


def negative_log_posterior(
    theta: Array, kernel: str, X: Array, y: Array, priors: ModelPriors
) -> tuple[float, Array]:
    """-log p(y | X, θ) - log p(θ), up to constants, and its gradient by θ = `Hyper.log`."""
    inverse_scales = np.exp(-theta[:-2])
    variance, noise = np.exp(theta[-2]), np.exp(theta[-1])
    Z = (X - 0.5) * inverse_scales
    h0, h1, _ = KERNELS[kernel](cdist(Z, Z, "sqeuclidean"))
    K = variance * h0
    K[np.diag_indices_from(K)] += noise + JITTER * variance
    chol, info = dpotrf(K, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        return np.inf, np.zeros_like(theta)
    inverse, _ = dpotri(chol, lower=1)
    inverse = np.tril(inverse)
    inverse += np.tril(inverse, -1).T
    weights = inverse @ y
    outer = 0.5 * (np.outer(weights, weights) - inverse)  # d log p / dK
    Q = outer * h1
    by_scale = 2.0 * ((Z * Z).T @ Q.sum(axis=1) - np.einsum("nd,nd->d", Z, Q @ Z))  # Σ Q_ab (z_a - z_b)²
    grad = np.empty_like(theta)
    grad[:-2] = -variance * by_scale
    grad[-2] = variance * (np.einsum("ab,ab->", outer, h0) + JITTER * np.trace(outer))
    grad[-1] = noise * np.trace(outer)
    log_likelihood = -0.5 * y @ weights - np.log(np.diag(chol)).sum()
    log_prior, d_prior = priors.log_density(theta)
    return float(-log_likelihood - log_prior), -grad - d_prior


def fit(
    X: Array, y: Array, *, kernel: str, priors: ModelPriors, outputs: Outputs, warm: Hyper | None = None,
    cold: bool = True, max_iterations: int = 60,
) -> GP:  # fmt: skip
    """The MAP process for X (N, D) and y (N,) in the user's units.

    warm: hyperparameters of an earlier fit; cold: start from the prior's centre as well and keep the better.
    """
    target = outputs.to_model(y)
    bounds = priors.log_bounds(X.shape[1])
    low, high = np.array(bounds).T
    starts = [h.log() for h in (warm, priors.hyper_start(X.shape[1]) if cold or warm is None else None) if h]
    best_value, best = np.inf, starts[0]
    for start in starts:
        result = minimize(
            negative_log_posterior,
            np.clip(start, low, high),
            args=(kernel, X, target, priors),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": max_iterations, "ftol": 1e-7, "gtol": 1e-4},
        )
        if result.fun < best_value:
            best_value, best = float(result.fun), result.x
    return condition(kernel, Hyper.from_log(best), X, target, outputs=outputs)
