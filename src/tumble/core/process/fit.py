"""Hyperparameters by maximum a posteriori (App. D), with analytic gradients.

Priors are densities of the value itself where the paper prints them (`Uniform`, `Gamma`, `Normal`) and of
its logarithm for `LogNormal`, whose mode is then its median. The fit moves logarithms.

It takes Newton's steps with the average information in place of the Hessian: half the sum of the observed and
the expected information of θ is, but for what is zero in expectation, ½ (∂_i K w)ᵀ B (∂_j K w) with
w = B (y - mean). That is never indefinite and costs a product of a matrix and a vector for each of θ. A fit
that begins where the last one ended needs two or three evaluations, and one from far away ten.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg.blas import dsymm, dsymv, dsyr
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import expit

from ..arrays import Array
from ..search.maximize import ARMIJO
from .covariance import Hyper
from .gp import GP, JITTER, condition
from .kernels import KERNELS, Kernel
from .outputs import Outputs
from .priors import Priors

EVALUATIONS = 50  # of a fit, at most
WORTH = 0.02  # a step that gains less of the log posterior is the last
STRIDE, SHORT = 1.0, 1e-3  # no logarithm moves further in one step; one that moves none as far is the last
RIDGE = 1e-3  # information that is always there


class NegativeLogPosterior:
    """-log p(y | X, θ) - log p(θ), up to constants, with what a step needs; distances are worked out once.

    The mean is at its most likely value for every θ, so that the gradient needs nothing more of it.
    """

    def __init__(self, kernel: Kernel, X: Array, y: Array, priors: Priors) -> None:
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
        mean_var = 0.0 if self.priors.mean_std is None else 1.0 / (ones.sum() + self.priors.mean_std**-2.0)
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
    X: Array, y: Array, *, kernel: Kernel, priors: Priors, outputs: Outputs, warm: Hyper | None = None,
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
    hyper = replace(priors.from_theta(best), learned_from=len(y))
    return condition(kernel, hyper, X, target, mean_std=priors.mean_std, outputs=outputs)


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
