"""Priors of hyperparameters (App. D).

A prior is a density of the value itself where the paper prints it (`Uniform`, `Gamma`, `Normal`) and of its
logarithm for `LogNormal`, whose mode is then its median. A fit moves logarithms, so that derivatives are by
the logarithm of the value.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from ..arrays import Array
from ..deprecation import renamed_fields
from .covariance import Hyper

# A lengthscale lies from 1 / LARGEST_LENGTHSCALE to LARGEST_LENGTHSCALE; variance and noise likewise.
LARGEST_LENGTHSCALE, LARGEST_VARIANCE, LARGEST_NOISE = 1e3, 1e12, 1e6
LARGEST_LOGIT = 7.0  # the logit of the additive share lies from -7 to 7


class LogDensity(NamedTuple):
    """Logarithm of the density of K values up to a constant, its gradient, and what the law knows of them."""

    value: float
    slope: Array  # (K,)
    information: Array  # (K, K) minus the Hessian, without what would be negative on its diagonal


def _apart(value: Array, slope: Array, curvature: Array) -> LogDensity:
    """That of values that know nothing of each other, from the logarithm of each density (K,)."""
    return LogDensity(float(value.sum()), slope, np.diag(np.maximum(-curvature, 0.0)))


@dataclass(frozen=True)
class Uniform:
    """Uniform between two values.

    Parameters
    ----------
    low, high
        The ends, both above 0.
    """

    low: float
    high: float

    def log_density(self, log_value: Array) -> LogDensity:
        """At values given by their logarithms; derivatives are by the logarithm."""
        nothing = np.zeros_like(log_value)
        return _apart(nothing, nothing, nothing)

    @property
    def start(self) -> float:
        """Where a fit without anything better begins: the middle."""
        return 0.5 * (self.low + self.high)

    @property
    def support(self) -> tuple[float, float]:
        """The values that a fit may take: from `low` to `high`."""
        return self.low, self.high


@dataclass(frozen=True)
class Gamma:
    """Gamma law.

    Parameters
    ----------
    shape
        Its concentration.
    rate
        One over its scale; the mean is shape / rate.
    """

    shape: float
    rate: float

    def log_density(self, log_value: Array) -> LogDensity:
        """At values given by their logarithms; derivatives are by the logarithm."""
        value = self.rate * np.exp(log_value)
        return _apart((self.shape - 1.0) * log_value - value, (self.shape - 1.0) - value, -value)

    @property
    def start(self) -> float:
        """Where a fit without anything better begins: the mean."""
        return self.shape / self.rate

    @property
    def support(self) -> tuple[float, float]:
        """The values that a fit may take: from a hundredth to ten times the mean."""
        return 0.01 * self.start, 10.0 * self.start


@dataclass(frozen=True)
class Normal:
    """Normal law, restricted to positive values.

    Parameters
    ----------
    mean, std
        Mean and standard deviation, before the restriction.
    """

    mean: float
    std: float

    def log_density(self, log_value: Array) -> LogDensity:
        """At values given by their logarithms; derivatives are by the logarithm."""
        value = np.exp(log_value)
        z = (value - self.mean) / self.std
        relative = value / self.std
        return _apart(-0.5 * z * z, -z * relative, -relative * (relative + z))

    @property
    def start(self) -> float:
        """Where a fit without anything better begins: the mean."""
        return self.mean

    @property
    def support(self) -> tuple[float, float]:
        """The values that a fit may take: positive ones within six standard deviations of the mean."""
        return max(1e-3 * self.mean, self.mean - 6.0 * self.std), self.mean + 6.0 * self.std


@dataclass(frozen=True)
class LogNormal:
    """Log-normal law; its density is that of the logarithm.

    Parameters
    ----------
    median
        The median.
    sigma
        Standard deviation of the logarithm, beside what is common.
    common
        Standard deviation of a summand that the logarithms of all values share. If most lengthscales are
        long, the others are then expected to be long, too.
    """

    median: float
    sigma: float
    common: float = 0.0

    def log_density(self, log_value: Array) -> LogDensity:
        """At values given by their logarithms; derivatives are by the logarithm."""
        # The logarithms less that of the median, z (K,), have the covariance σ² I + c² 1 1ᵀ. Its inverse is
        # (I - w 1 1ᵀ) / σ²,  w = c² / (σ² + K c²)
        z = log_value - np.log(self.median)
        information = np.eye(len(z))
        information -= self.common**2 / (self.sigma**2 + len(z) * self.common**2)
        information /= self.sigma**2
        slope = -information @ z
        return LogDensity(0.5 * float(z @ slope), slope, information)

    @property
    def start(self) -> float:
        """Where a fit without anything better begins: the median."""
        return self.median

    @property
    def support(self) -> tuple[float, float]:
        """The values that a fit may take: within six standard deviations of the logarithm."""
        reach = float(np.exp(6.0 * np.hypot(self.sigma, self.common)))
        return self.median / reach, self.median * reach


@dataclass(frozen=True)
class ParetoTail:
    """Log-normal law with the upper tail of Pareto's law; its density is that of the logarithm.

    A log-normal law hardly believes in a lengthscale a hundred times its median. A parameter that does
    nothing must then be turned many times before its process believes it. With a tail a few times are enough.

    Parameters
    ----------
    mode
        Where the density of the logarithm is highest.
    sigma
        Standard deviation of the logarithm, below the mode and near it.
    power
        The value is above x with a probability that falls like x^-power in the end.
    """

    mode: float
    sigma: float
    power: float

    def log_density(self, log_value: Array) -> LogDensity:
        """At values given by their logarithms; derivatives are by the logarithm."""
        # z = log value - log mode has the log density -½ z²/σ² up to the knee. From there it falls with the
        # slope -power. The tail knows as much as an exponential law.
        z = log_value - np.log(self.mode)
        near, beyond = np.minimum(z, self.knee) / self.sigma, np.maximum(z - self.knee, 0.0)
        information = np.where(z > self.knee, self.power**2, self.sigma**-2.0)
        value = -0.5 * float(near @ near) - self.power * float(beyond.sum())
        return LogDensity(value, -near / self.sigma, np.diag(information))

    @property
    def knee(self) -> float:
        """Where the tail begins, as a logarithm above that of the mode: there the slope is -power."""
        return self.sigma**2 * self.power

    @property
    def start(self) -> float:
        """Where a fit without anything better begins: the mode."""
        return self.mode

    @property
    def support(self) -> tuple[float, float]:
        """The values that a fit may take: from six σ below the mode, without an end above it."""
        return self.mode * float(np.exp(-6.0 * self.sigma)), max(LARGEST_VARIANCE, 2.0 * self.mode)


Prior = Uniform | Gamma | Normal | LogNormal | ParetoTail


@renamed_fields(mean="mean_std")
@dataclass(frozen=True)
class Priors:
    """Priors of the hyperparameters of one process, in model units.

    Parameters
    ----------
    lengthscale
        Of each lengthscale, in the unit cube.
    variance
        Of the variance of f.
    noise
        Of the noise's standard deviation, or its value where it is known.
    additive
        Mean and standard deviation of the logit of the share of one-dimensional effects; None for no share.
    mean_std
        Standard deviation of a constant mean that is learned; None for a mean of 0. The average of the
        values would be a poor mean, because most trials are made where values are good.

    Examples
    --------
    >>> from tumble.core.settings import Settings
    >>> priors = Priors(LogNormal(0.5, 0.7), LogNormal(1.0, 1.0), noise=0.01)
    >>> Settings(objective=priors).objective.noise
    0.01
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
        largest = [LARGEST_LENGTHSCALE] * dim + [LARGEST_VARIANCE, LARGEST_NOISE]
        spans = [np.clip(support, 1.0 / top, top) for support, top in zip(supports, largest, strict=True)]
        spans[-1] = spans[-1] ** 2
        logs = [(float(np.log(low)), float(np.log(high))) for low, high in spans]
        return logs if self.additive is None else [*logs, (-LARGEST_LOGIT, LARGEST_LOGIT)]

    def log_density(self, theta: Array) -> LogDensity:
        """At θ (P,), as `to_theta` orders it."""
        split = len(theta) - (2 if self.additive is None else 3)
        parts = [
            self.lengthscale.log_density(theta[:split]),
            self.variance.log_density(theta[split : split + 1]),
        ]
        if isinstance(self.noise, float):
            parts.append(LogDensity(0.0, np.zeros(1), np.zeros((1, 1))))
        else:  # θ has the logarithm of the variance, which is twice that of the standard deviation
            value, slope, information = self.noise.log_density(0.5 * theta[split + 1 : split + 2])
            parts.append(LogDensity(value, 0.5 * slope, 0.25 * information))
        if self.additive is not None:
            centre, spread = self.additive
            z = (theta[-1:] - centre) / spread
            parts.append(LogDensity(-0.5 * float(z @ z), -z / spread, np.array([[spread**-2.0]])))
        information = np.zeros((len(theta), len(theta)))
        information[:split, :split] = parts[0].information
        for i, part in enumerate(parts[1:], split):
            information[i, i] = part.information[0, 0]
        value = sum(part.value for part in parts)
        return LogDensity(value, np.concatenate([part.slope for part in parts]), information)
