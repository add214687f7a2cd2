"""Priors of hyperparameters (App. D).

Priors are densities of the value itself where the paper prints them (`Uniform`, `Gamma`, `Normal`) and of
its logarithm for `LogNormal`, whose mode is then its median.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from ..arrays import Array
from ..deprecation import renamed_fields
from .covariance import Hyper


@dataclass(frozen=True)
class Uniform:
    """Uniform on [low, high]."""

    low: float
    high: float

    def log_density(self, log_value: Array) -> tuple[Array, Array, Array]:
        """Logarithm of the density, up to a constant, and its derivatives by the logarithm of the value."""
        return np.zeros_like(log_value), np.zeros_like(log_value), np.zeros_like(log_value)

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

    def log_density(self, log_value: Array) -> tuple[Array, Array, Array]:
        """As for `Uniform`."""
        value = self.rate * np.exp(log_value)
        return (self.shape - 1.0) * log_value - value, (self.shape - 1.0) - value, -value

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

    def log_density(self, log_value: Array) -> tuple[Array, Array, Array]:
        """As for `Uniform`."""
        value = np.exp(log_value)
        z = (value - self.mean) / self.std
        relative = value / self.std
        return -0.5 * z * z, -z * relative, -relative * (relative + z)

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

    def log_density(self, log_value: Array) -> tuple[Array, Array, Array]:
        """As for `Uniform`, but the density is that of the logarithm."""
        z = (log_value - np.log(self.median)) / self.sigma
        return -0.5 * z * z, -z / self.sigma, np.full_like(z, -(self.sigma**-2.0))

    @property
    def start(self) -> float:
        """The median."""
        return self.median

    @property
    def support(self) -> tuple[float, float]:
        """Within six standard deviations of the logarithm."""
        return self.median * float(np.exp(-6 * self.sigma)), self.median * float(np.exp(6 * self.sigma))


Prior = Uniform | Gamma | Normal | LogNormal


@renamed_fields(mean="mean_std")
@dataclass(frozen=True)
class Priors:
    """Priors of one process.

    noise: a prior of the standard deviation, or the value where it is known.
    additive: (mean, std) of the logit of the share of one-dimensional effects; None for no such share.
    mean_std: standard deviation of a constant mean, learned in model units; None for a mean of 0. Trials
    crowd where values are good, so that their average says nothing of where none was made.
    """

    lengthscale: Prior
    variance: Prior
    noise: Prior | float
    additive: tuple[float, float] | None = None
    mean_std: float | None = None

    def hyper_start(self, dim: int) -> Hyper:
        """Hyperparameters where a cold fit begins."""
        noise = self.noise if isinstance(self.noise, float) else self.noise.start
        share = 0.0 if self.additive is None else float(expit(self.additive[0]))
        return Hyper((self.lengthscale.start,) * dim, self.variance.start, noise, share)

    def to_theta(self, hyper: Hyper) -> Array:
        """What the fit moves: logarithms of lengthscales, variance and noise variance, logit of the share."""
        theta = np.append(np.log([*hyper.lengthscales, hyper.variance]), 2.0 * np.log(hyper.noise))
        return theta if self.additive is None else np.append(theta, logit(hyper.additive))

    def from_theta(self, theta: Array) -> Hyper:
        """Inverse of `to_theta`."""
        share = 0.0 if self.additive is None else float(expit(theta[-1]))
        values = np.exp(theta if self.additive is None else theta[:-1])
        return Hyper(tuple(values[:-2].tolist()), float(values[-2]), float(np.sqrt(values[-1])), share)

    def bounds(self, dim: int) -> list[tuple[float, float]]:
        """Bounds of theta; a known noise has equal ones."""
        noise = (self.noise, self.noise) if isinstance(self.noise, float) else self.noise.support
        supports = [self.lengthscale.support] * dim + [self.variance.support, noise]
        largest = [1e3] * dim + [1e12, 1e6]
        spans = [np.clip(support, 1.0 / top, top) for support, top in zip(supports, largest, strict=True)]
        spans[-1] = spans[-1] ** 2
        logs = [(float(np.log(low)), float(np.log(high))) for low, high in spans]
        return logs if self.additive is None else [*logs, (-7.0, 7.0)]

    def log_density(self, theta: Array) -> tuple[float, Array, Array]:
        """Logarithm of the prior at theta, up to a constant, its gradient, the diagonal of its Hessian."""
        split = len(theta) - (2 if self.additive is None else 3)
        parts = [
            self.lengthscale.log_density(theta[:split]),
            self.variance.log_density(theta[split : split + 1]),
        ]
        if isinstance(self.noise, float):
            parts.append((np.zeros(1), np.zeros(1), np.zeros(1)))
        else:
            value, slope, bend = self.noise.log_density(0.5 * theta[split + 1 : split + 2])
            parts.append((value, 0.5 * slope, 0.25 * bend))
        if self.additive is not None:
            centre, spread = self.additive
            z = (theta[-1:] - centre) / spread
            parts.append((-0.5 * z * z, -z / spread, np.array([-(spread**-2.0)])))
        values, slopes, bends = zip(*parts, strict=True)
        return float(sum(v.sum() for v in values)), np.concatenate(slopes), np.concatenate(bends)
