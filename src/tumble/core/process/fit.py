"""Hyperparameters by maximum a posteriori (App. D), with analytic gradients.

The fit moves θ (core.process.tangents) by Newton's steps with the average information in place of the
Hessian. The average information is half the sum of the observed and the expected information of θ, without
the terms whose expectation is zero. It has no negative eigenvalue, and each entry of θ costs one product of a
matrix and a vector. A fit that begins where the last one ended needs two or three evaluations; a fit that
begins far away needs ten.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsymm, dsymv, dsyr
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs

from ..arrays import Array
from .covariance import Hyper
from .gp import GP, JITTER, condition
from .kernels import Kernel
from .outputs import Outputs
from .priors import LogDensity, Priors
from .tangents import PairCovariances

EVALUATIONS = 50  # of a fit, at most
ARMIJO = 1e-4  # a step must gain so much of what the gradient promises, or it is shortened
LEAST_GAIN = 0.02  # of the log posterior; the fit ends after a step that gains less,
LEAST_WARM_GAIN = 0.1  # and where it only follows an earlier fit, after one that gains less than this
LONGEST_MOVE = 1.0  # of each of θ in one step
SHORTEST_MOVE = 1e-3  # the fit ends when a step would move each of θ by less
RIDGE = 1e-3  # added to the diagonal of the information, so that it can be inverted
LEAST_RIDGE = 1e-8  # of its largest entry: takes the place of a ridge that is lost in rounding


class Evaluation(NamedTuple):
    """The negative log posterior at θ, its gradient, and the average information with that of the prior."""

    value: float
    grad: Array  # (P,)
    information: Array  # (P, P)


class Value(NamedTuple):
    """The negative log posterior at θ, and what its slopes are made of."""

    value: float
    signal: float  # on the diagonal of K
    noise: float
    chol: Array  # (N, N) the lower Cholesky factor of K
    prior: LogDensity


class Descent(NamedTuple):
    """Where a descent ended."""

    value: float
    theta: Array  # (P,)


class NegativeLogPosterior:
    """-log p(y | X, θ) - log p(θ), up to constants. The mean is at its most likely value for every θ.

    With B = K^-1 and w = B (y - mean):

        value        ½ wᵀ K w + ½ log |K| - log p(θ), and minus the log prior of the mean
        gradient     ½ tr((B - w wᵀ) ∂_i K); the mean is at its optimum, so that it adds nothing
        information  ½ (∂_i K w)ᵀ (B - B 1 1ᵀ B / (1ᵀ B 1 + mean_std^-2)) (∂_j K w)
    """

    def __init__(
        self, kernel: Kernel, X: Array, y: Array, priors: Priors, relative_noise: Array | None = None
    ) -> None:
        self.y, self.priors = y, priors
        self.relative = 1.0 if relative_noise is None else relative_noise  # variances, times that of θ
        self.pairs = PairCovariances(kernel, X, additive=priors.additive is not None)

    def __call__(self, theta: Array) -> Evaluation:
        """Its value at θ (P,), with what a step needs; +inf where K cannot be factorised."""
        return self.slopes(self.at(theta))

    def at(self, theta: Array) -> Value:
        """Its value at θ (P,), and what its slopes are made of; +inf where K cannot be factorised."""
        n, dim = len(self.y), self.pairs.dim
        signal, noise = np.exp(theta[dim]) * (1.0 + JITTER), np.exp(theta[dim + 1])
        tangents, prior = self.pairs.tangents(theta), self.priors.log_density(theta)
        K = np.zeros(n * n)
        K[self.pairs.lower] = tangents[dim]
        K[:: n + 1] = signal + noise * self.relative
        chol, info = dpotrf(K.reshape(n, n, order="F"), lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return Value(np.inf, signal, noise, chol, prior)
        half = dtrtrs(chol, np.column_stack([self.y, np.ones(n)]), lower=1)[0]
        of_y, of_ones = half.T
        mean = self._mean_var(float(of_ones @ of_ones)) * float(of_ones @ of_y)
        misfit = 0.5 * float(of_y @ of_y - mean * (of_ones @ of_y))
        log_det = float(np.log(np.diag(chol)).sum())  # half of it
        value = misfit + log_det - prior.value
        return Value(value if np.isfinite(value) else np.inf, signal, noise, chol, prior)

    def slopes(self, at: Value) -> Evaluation:
        """A value that was worked out with `at`, with its slopes. It must be the latest one."""
        n, dim, prior = len(self.y), self.pairs.dim, at.prior
        if not np.isfinite(at.value):
            return Evaluation(np.inf, np.zeros_like(prior.slope), np.eye(len(prior.slope)))
        tangents, B = self.pairs.latest, dpotri(at.chol, lower=1, overwrite_c=1)[0]
        weights, ones = dsymv(1.0, B, self.y, lower=1), dsymv(1.0, B, np.ones(n), lower=1)
        mean_var = self._mean_var(float(ones.sum()))
        weights -= mean_var * weights.sum() * ones

        moved = np.array([self.pairs.times(tangent, weights) for tangent in tangents])  # (P, n) ∂_i K w
        moved[dim] += at.signal * weights
        moved[dim + 1] += at.noise * self.relative * weights
        through = moved @ ones
        information = 0.5 * (moved @ dsymm(1.0, B, moved.T, lower=1) - mean_var * np.outer(through, through))

        pull = dsyr(-1.0, weights, lower=1, a=B, overwrite_a=1)  # B - w wᵀ, in the place of B
        diagonal = 0.5 * np.diag(pull)
        grad = tangents @ pull.ravel(order="K")[self.pairs.lower]
        grad[dim] += at.signal * diagonal.sum()
        grad[dim + 1] += at.noise * (self.relative * diagonal).sum()
        return Evaluation(at.value, grad - prior.slope, information + prior.information)

    def _mean_var(self, precision: float) -> float:
        """The variance of the mean, given 1ᵀ B 1; 0 where it is not learned."""
        mean_std = self.priors.mean_std
        return 0.0 if mean_std is None else 1.0 / (precision + mean_std**-2.0)


def fit(
    X: Array, y: Array, *, kernel: Kernel, priors: Priors, outputs: Outputs, warm: Hyper | None = None,
    cold: bool = True,
) -> GP:  # fmt: skip
    """The process with the hyperparameters of largest posterior density.

    Parameters
    ----------
    X : (N, D)
        Where it was observed, in the unit cube.
    y : (N,)
        What was observed, in the user's units.
    kernel
        "matern52" or "se".
    priors
        Priors of the hyperparameters.
    outputs
        The model's units.
    warm
        Hyperparameters of an earlier fit, to start from.
    cold
        Start from the prior's centre as well, and keep the better.
    """
    dim = X.shape[1]
    target = outputs.to_model(y)
    relative = relative_noise(y, priors, outputs)
    objective = NegativeLogPosterior(kernel, X, target, priors, relative)
    low, high = np.array(priors.bounds(dim)).T
    starts = [h for h in (warm, priors.hyper_start(dim) if cold or warm is None else None) if h]
    least = LEAST_GAIN if len(starts) > 1 or warm is None else LEAST_WARM_GAIN
    at = [np.clip(priors.to_theta(start), low, high) for start in starts]
    ends = [descend(objective, theta, low, high, least) for theta in at]
    best = min(ends, key=lambda end: end.value)
    hyper = replace(priors.from_theta(best.theta), learned_from=len(y))
    noise_var = None if relative is None else hyper.noise**2 * relative
    return condition(kernel, hyper, X, target, noise_var=noise_var, mean_std=priors.mean_std, outputs=outputs)


def relative_noise(y: Array, priors: Priors, outputs: Outputs) -> Array | None:
    """(N,) each observation's noise variance in model units, over that where the warp is linear.

    A noise that is known is the same all over in the user's units: in model units it has the warp's slope as
    a factor. A noise that is learned is the same all over in model units: then this is None.
    """
    if outputs.warp.is_linear or not isinstance(priors.noise, float):
        return None
    return np.asarray(outputs.warp.slope(y) ** 2)


def descend(
    objective: NegativeLogPosterior, theta: Array, low: Array, high: Array, least: float = LEAST_GAIN
) -> Descent:  # fmt: skip
    """A local minimum of `objective` between `low` and `high` (P,), from `theta` (P,), within `least`."""
    value, grad, information = objective(theta)
    step, promised = _newton(theta, grad, information, low, high)
    for _ in range(EVALUATIONS):
        if promised < least or np.abs(step).max() < SHORTEST_MOVE:
            break
        there = np.clip(theta + step, low, high)
        at = objective.at(there)
        if at.value > value + ARMIJO * min(0.0, float(grad @ (there - theta))):
            step = 0.3 * step
            continue
        gained, theta, value = value - at.value, there, at.value
        if gained < least and promised < 10.0 * least:
            break
        _, grad, information = objective.slopes(at)
        step, promised = _newton(theta, grad, information, low, high)
    return Descent(value, theta)


def _newton(theta: Array, grad: Array, information: Array, low: Array, high: Array) -> tuple[Array, float]:
    """A Newton step (P,) that leaves the bounds alone where θ is at one, and the fall that it promises.

    A part of θ that lies at a bound and would move beyond it is held. The promised fall is that of the
    quadratic model over the whole step, before the step is shortened to LONGEST_MOVE.
    """
    held = np.where(grad > 0.0, theta <= low, theta >= high)
    while True:
        metric = np.where(held | held[:, None], 0.0, information)
        metric.flat[:: len(theta) + 1] += np.where(held, 1.0, RIDGE)
        step = _solved(metric, np.where(held, 0.0, -grad))
        cut = ~held & np.where(step < 0.0, theta <= low, theta >= high)
        if not cut.any():
            shortened = step * (LONGEST_MOVE / max(LONGEST_MOVE, float(np.abs(step).max())))
            return shortened, -0.5 * float(grad @ step)
        held |= cut


def _solved(metric: Array, right: Array) -> Array:
    """metric^-1 right. Where RIDGE is lost in rounding, LEAST_RIDGE of the largest entry takes its place."""
    try:
        return np.asarray(np.linalg.solve(metric, right), dtype=float)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.solve(metric + LEAST_RIDGE * metric.max() * np.eye(len(metric)), right))
