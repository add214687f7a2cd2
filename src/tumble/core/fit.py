"""Hyperparameters by maximum a posteriori (App. D), with analytic gradients.

Priors are densities of the value itself where the paper prints them (`Uniform`, `Gamma`, `Normal`) and of
its logarithm for `LogNormal`, whose mode is then its median. The fit moves logarithms.

It takes Newton's steps with the average information in place of the Hessian: half the sum of the observed and
the expected information of θ is, but for what is zero in expectation, ½ (∂_i K w)ᵀ B (∂_j K w) with
w = B (y - mean). That is never indefinite and costs a product of a matrix and a vector for each of θ. A fit
that begins where the last one ended needs two or three evaluations, and one from far away ten.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.blas import dsymm, dsymv, dsyr
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import expit, logit

from .gp import GP, JITTER, Array, Hyper, Outputs, condition
from .kernels import KERNELS
from .maximize import ARMIJO

EVALUATIONS = 50  # of a fit, at most
WORTH = 0.02  # a step that gains less of the log posterior is the last
STRIDE, SHORT = 1.0, 1e-3  # no logarithm moves further in one step; one that moves none as far is the last
RIDGE = 1e-3  # information that is always there


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


class NegativeLogPosterior:
    """-log p(y | X, θ) - log p(θ), up to constants, with what a step needs; distances are worked out once.

    The mean is at its most likely value for every θ, so that the gradient needs nothing more of it.
    """

    def __init__(self, kernel: str, X: Array, y: Array, priors: Priors) -> None:
        self.kernel, self.y, self.priors = kernel, y, priors
        n, self.dim = X.shape
        first, second = np.tril_indices(n, -1)
        self.lower = first + n * second  # where the Q = n (n - 1) / 2 pairs lie in a matrix stored by columns
        columns = np.ascontiguousarray(X.T)
        self.roots = columns.take(first, axis=1)
        self.roots -= columns.take(second, axis=1)
        np.abs(self.roots, out=self.roots)  # (D, Q)
        self.squares = self.roots * self.roots
        self.tangents = np.zeros((self.dim + (2 if priors.additive is None else 3), len(first)))
        self.work = np.empty((2, *self.squares.shape))

    def __call__(self, theta: Array) -> tuple[float, Array, Array]:
        """Its value, its gradient (P,) and the average information of θ (P, P) with that of the prior."""
        n, dim = len(self.y), self.dim
        signal, noise = np.exp(theta[dim]) * (1.0 + JITTER), np.exp(theta[dim + 1])
        tangents = self._tangents(theta)
        K = np.zeros(n * n)
        K[self.lower] = tangents[dim]
        K[:: n + 1] = signal + noise
        chol, info = dpotrf(K.reshape(n, n, order="F"), lower=1, clean=0, overwrite_a=1)
        nowhere = np.inf, np.zeros_like(theta), np.eye(len(theta))
        if info != 0:
            return nowhere
        log_det = np.log(np.diag(chol)).sum()
        inv, _ = dpotri(chol, lower=1, overwrite_c=1)
        weights, ones = dsymv(1.0, inv, self.y, lower=1), dsymv(1.0, inv, np.ones(n), lower=1)
        mean_var = 0.0 if self.priors.mean is None else 1.0 / (ones.sum() + self.priors.mean**-2.0)
        mean = mean_var * weights.sum()
        misfit = 0.5 * (self.y @ weights - mean * weights.sum())
        weights -= mean * ones

        moved = np.array([self._times(pairs, weights) for pairs in tangents])  # (P, n) ∂K w
        moved[dim] += signal * weights
        moved[dim + 1] += noise * weights
        through = moved @ ones
        average = 0.5 * (moved @ dsymm(1.0, inv, moved.T, lower=1) - mean_var * np.outer(through, through))

        pull = dsyr(-1.0, weights, lower=1, a=inv, overwrite_a=1)  # -2 d log p / dK
        trace = 0.5 * np.trace(pull)
        grad = tangents @ pull.ravel(order="K")[self.lower]
        grad[dim] += signal * trace
        grad[dim + 1] += noise * trace
        log_prior, d_prior, bend = self.priors.log_density(theta)
        average.flat[:: len(theta) + 1] += np.maximum(-bend, 0.0)
        value = float(misfit + log_det - log_prior)
        return (value, grad - d_prior, average) if np.isfinite(value) else nowhere

    def _times(self, pairs: Array, vector: Array) -> Array:
        """(n,) the symmetric matrix that has these `pairs` (Q,), and no diagonal, times `vector` (n,)."""
        n = len(vector)
        matrix = np.zeros(n * n)
        matrix[self.lower] = pairs
        return np.asarray(dsymv(1.0, matrix.reshape(n, n, order="F"), vector, lower=1))

    def _tangents(self, theta: Array) -> Array:
        """(P, Q) derivatives by each of θ of the covariance of each pair: by the logarithm of the variance it
        is that covariance, by the noise nothing. Overwritten by the next call.
        """
        dim, additive = self.dim, self.priors.additive is not None
        variance, inverse = np.exp(theta[dim]), np.exp(-2.0 * theta[:dim])
        r2 = np.multiply(self.squares, inverse[:, None], out=self.tangents[:dim])
        off, h1 = KERNELS[self.kernel](np.add.reduce(r2, axis=0), 1, variance)
        bends = np.negative(h1, out=h1)  # ∂_j k = r_j² times this
        if additive:
            share = float(expit(theta[-1]))
            effects, bends = self._effects(r2, inverse)
            effects *= variance / dim
            effects -= off  # what single effects have over the joint one
            off += share * effects
            np.multiply(effects, share * (1.0 - share), out=self.tangents[-1])
            bends *= share * variance / dim
            bends += (1.0 - share) * h1
        r2 *= bends
        self.tangents[dim] = off
        return self.tangents

    def _effects(self, r2: Array, inverse: Array) -> tuple[Array, Array]:
        """Σ_j h0(r_j²) (Q,) and each -h1(r_j²) (D, Q) of the Q pairs: as `KERNELS`, the roots known."""
        h1, falling = self.work
        if self.kernel == "se":
            np.multiply(r2, -0.5, out=h1)
            np.exp(h1, out=h1)
            return np.add.reduce(h1, axis=0), h1
        np.multiply(self.roots, -np.sqrt(5.0 * inverse)[:, None], out=h1)
        np.exp(h1, out=falling)
        np.subtract(1.0, h1, out=h1)
        h1 *= falling
        h0 = np.einsum("jq,jq->q", r2, falling)
        h0 *= 5.0 / 3.0
        h0 += np.add.reduce(h1, axis=0)
        h1 *= 5.0 / 3.0
        return h0, h1


def fit(
    X: Array, y: Array, *, kernel: str, priors: Priors, outputs: Outputs, warm: Hyper | None = None,
    cold: bool = True,
) -> GP:  # fmt: skip
    """The MAP process for X (N, D) and y (N,) in the user's units.

    warm: hyperparameters of an earlier fit; cold: start from the prior's centre as well and keep the better.
    """
    target = outputs.to_model(y)
    objective = NegativeLogPosterior(kernel, X, target, priors)
    low, high = np.array(priors.bounds(X.shape[1])).T
    starts = [h for h in (warm, priors.hyper_start(X.shape[1]) if cold or warm is None else None) if h]
    ends = [_descend(objective, np.clip(priors.to_theta(start), low, high), low, high) for start in starts]
    _, best = min(ends, key=lambda end: end[0])
    hyper = replace(priors.from_theta(best), learned=len(y))
    return condition(kernel, hyper, X, target, mean_std=priors.mean, outputs=outputs)


def _descend(objective: NegativeLogPosterior, theta: Array, low: Array, high: Array) -> tuple[float, Array]:
    """A local minimum of `objective` between `low` and `high` (P,), from `theta`: its value, and where."""
    value, grad, average = objective(theta)
    step, promised = _newton(theta, grad, average, low, high)
    for _ in range(EVALUATIONS):
        if promised < WORTH or np.abs(step).max() < SHORT:
            break
        there = np.clip(theta + step, low, high)
        found, new_grad, new_average = objective(there)
        if found > value + ARMIJO * min(0.0, float(grad @ (there - theta))):
            step = 0.3 * step
            continue
        gained, theta, value = value - found, there, found
        if gained < WORTH and promised < 10.0 * WORTH:
            break
        grad, average = new_grad, new_average
        step, promised = _newton(theta, grad, average, low, high)
    return value, theta


def _newton(theta: Array, grad: Array, average: Array, low: Array, high: Array) -> tuple[Array, float]:
    """A step (P,) downhill that no bound cuts off at once; how far a quadratic would fall on all of it."""
    held = np.where(grad > 0.0, theta <= low, theta >= high)
    while True:
        metric = np.where(held | held[:, None], 0.0, average)
        metric.flat[:: len(theta) + 1] += np.where(held, 1.0, RIDGE)
        step = np.linalg.solve(metric, np.where(held, 0.0, -grad))
        cut = ~held & np.where(step < 0.0, theta <= low, theta >= high)
        if not cut.any():
            return step * (STRIDE / max(STRIDE, float(np.abs(step).max()))), -0.5 * float(grad @ step)
        held |= cut
