"""Hyperparameters by maximum a posteriori (App. D), with analytic gradients.

Priors are densities of the value itself where the paper prints them (`Uniform`, `Gamma`, `Normal`) and of
its logarithm for `LogNormal`, whose mode is then its median. The fit moves logarithms.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.blas import dsymv, dsyr
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from scipy.special import expit, logit

from .gp import GP, JITTER, KERNELS, Array, Hyper, Outputs, condition

COLD, WARM = 60, 6  # iterations of a fit; a warm one goes on where the last one stopped


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
class Priors:
    """Priors of one process.

    noise: a prior of the standard deviation, or the value where it is known.
    additive: (mean, std) of the logit of the share of one-dimensional effects; None for no such share.
    mean: standard deviation of a constant mean, learned in model units; None for a mean of 0. Trials crowd
    where values are good, so that their average says nothing of where none was made.
    """

    lengthscale: Prior
    variance: Prior
    noise: Prior | float
    additive: tuple[float, float] | None = None
    mean: float | None = None

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

    def log_density(self, theta: Array) -> tuple[float, Array]:
        """Logarithm of the prior at theta, up to a constant, and its gradient."""
        split = len(theta) - (2 if self.additive is None else 3)
        parts = [
            self.lengthscale.log_density(theta[:split]),
            self.variance.log_density(theta[split : split + 1]),
        ]
        if isinstance(self.noise, float):
            parts.append((np.zeros(1), np.zeros(1)))
        else:
            value, slope = self.noise.log_density(0.5 * theta[split + 1 : split + 2])
            parts.append((value, 0.5 * slope))
        if self.additive is not None:
            z = (theta[-1:] - self.additive[0]) / self.additive[1]
            parts.append((-0.5 * z * z, -z / self.additive[1]))
        return float(sum(v.sum() for v, _ in parts)), np.concatenate([g for _, g in parts])


class _Likelihood:
    """-log p(y | X, θ) - log p(θ), up to constants, and its gradient; distances are worked out once.

    The mean is at its most likely value for every θ, so that the gradient needs nothing more of it.
    """

    def __init__(self, kernel: str, X: Array, y: Array, priors: Priors) -> None:
        self.kernel, self.y, self.priors = kernel, y, priors
        n, self.dim = X.shape
        first, second = np.tril_indices(n, -1)
        self.squares = np.ascontiguousarray(np.square(X[first] - X[second]).T)  # (D, n (n - 1) / 2)
        self.lower = first + n * second  # where the pairs lie in a matrix stored by columns
        self.roots = np.sqrt(self.squares) if priors.additive is not None else self.squares[:0]

    def __call__(self, theta: Array) -> tuple[float, Array]:
        dim, additive = self.dim, self.priors.additive is not None
        inverse = np.exp(-2.0 * theta[:dim])
        variance, noise = np.exp(theta[dim]), np.exp(theta[dim + 1])
        share = float(expit(theta[-1])) if additive else 0.0
        off, h1 = KERNELS[self.kernel](inverse @ self.squares, 1, 1.0)
        excess, bent = self._effects(inverse) if additive else (off, h1)  # without a share neither is used
        if additive:
            excess /= dim
            excess -= off  # of single effects over the joint one
            off += share * excess
        off *= variance
        n = len(self.y)
        K = np.zeros(n * n)
        K[self.lower] = off
        K[:: n + 1] = variance * (1.0 + JITTER) + noise
        chol, info = dpotrf(K.reshape(n, n, order="F"), lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return np.inf, np.zeros_like(theta)
        log_det = np.log(np.diag(chol)).sum()
        inv, _ = dpotri(chol, lower=1, overwrite_c=1)
        weights = dsymv(1.0, inv, self.y, lower=1)
        misfit = 0.5 * self.y @ weights
        if self.priors.mean is not None:
            ones = dsymv(1.0, inv, np.ones(n), lower=1)
            mean = weights.sum() / (ones.sum() + self.priors.mean**-2.0)
            misfit -= 0.5 * mean * weights.sum()
            weights -= mean * ones
        pull = dsyr(-1.0, weights, lower=1, a=inv, overwrite_a=1)  # -2 d log p / dK
        trace = 0.5 * np.trace(pull)
        pull = pull.ravel(order="K")[self.lower]
        h1 *= pull
        along = inverse * (self.squares @ h1)
        grad = np.empty_like(theta)
        if additive:
            along *= 1.0 - share
            along -= (share / dim) * (bent @ pull)
            grad[-1] = variance * share * (1.0 - share) * (pull @ excess)
        grad[:dim] = -variance * along
        grad[dim] = pull @ off + variance * (1.0 + JITTER) * trace
        grad[dim + 1] = noise * trace
        log_prior, d_prior = self.priors.log_density(theta)
        return float(misfit + log_det - log_prior), grad - d_prior

    def _effects(self, inverse: Array) -> tuple[Array, Array]:
        """Σ_j h0(r_j²) (P,) and each -r_j² h1(r_j²) (D, P) of the pairs: as `KERNELS`, the roots known."""
        if self.kernel == "se":
            bent = self.squares * inverse[:, None]
            h0 = -0.5 * bent
            np.exp(h0, out=h0)
            bent *= h0
        else:
            bent = self.roots * -np.sqrt(5.0 * inverse)[:, None]
            h0 = np.exp(bent)
            np.subtract(1.0, bent, out=bent)
            bent *= h0
            third = self.squares * ((5.0 / 3.0) * inverse)[:, None]
            h0 *= third
            h0 += bent
            bent *= third
        return np.add.reduce(h0, axis=0), bent


def negative_log_posterior(
    theta: Array, kernel: str, X: Array, y: Array, priors: Priors
) -> tuple[float, Array]:
    """-log p(y | X, θ) - log p(θ), up to constants, and its gradient by θ (`Priors.to_theta`)."""
    return _Likelihood(kernel, X, y, priors)(theta)


def fit(
    X: Array, y: Array, *, kernel: str, priors: Priors, outputs: Outputs, warm: Hyper | None = None,
    cold: bool = True,
) -> GP:  # fmt: skip
    """The MAP process for X (N, D) and y (N,) in the user's units.

    warm: hyperparameters of an earlier fit; cold: start from the prior's centre as well and keep the better.
    """
    target = outputs.to_model(y)
    objective = _Likelihood(kernel, X, target, priors)
    bounds = priors.bounds(X.shape[1])
    low, high = np.array(bounds).T
    starts = [h for h in (warm, priors.hyper_start(X.shape[1]) if cold or warm is None else None) if h]
    best_value, best = np.inf, priors.to_theta(starts[0])
    for start in starts:
        steps = WARM if len(starts) == 1 and warm is not None else COLD
        result = minimize(
            objective,
            np.clip(priors.to_theta(start), low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": steps, "ftol": 1e-5, "gtol": 1e-4},
        )
        if result.fun < best_value:
            best_value, best = float(result.fun), result.x
    hyper = replace(priors.from_theta(best), learned=len(y))
    return condition(kernel, hyper, X, target, mean_std=priors.mean, outputs=outputs)
