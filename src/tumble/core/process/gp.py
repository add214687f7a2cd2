"""A Gaussian process conditioned on data (§2.2): its posterior at any point, with gradients.

Notation, for N data X (N, D) and M query points x (M, D), all in the unit cube and in model units
(see `Outputs`):

    k        (M, N)   covariances k(x, X) (core.process.covariance)
    B        (N, N)   (K + noise)^-1, never formed: only the Cholesky factor of B^-1 is, and its inverse
    mean     (M,)     μ = prior_mean + k B (y - prior_mean)
    var      (M,)     σ² = variance - k B kᵀ

The posterior of ∇f is in core.process.slopes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..arrays import Array, Indices
from .cholesky import FEWEST, MOST, cholesky, inverse_if_faster, solve
from .covariance import Covariance, Hyper, KernelRows
from .factors import factor_of
from .growth import Growth
from .kernels import Kernel
from .outputs import Outputs
from .stacked import Prediction, StackedMatern, StackedPosterior

FEW = 8  # up to this many points, `rows` is faster than `covariance`
AMONG = 32  # up to this many points, their covariances with each other are worked out in a faster way
JITTER = 1e-10  # of the signal variance; what float64 needs on top of the noise


@dataclass(frozen=True)
class Marginals:
    """Posterior of f at each of M points, and what its covariances are made of."""

    x: Array  # (M, D)
    mean: Array  # (M,)
    var: Array  # (M,)
    half: Array  # (N, M)  chol^-1 kᵀ


@dataclass(frozen=True)
class GP:
    """A process conditioned on data; `condition` makes one.

    Parameters
    ----------
    kernel
        "matern52" or "se".
    hyper
        The hyperparameters.
    X : (N, D)
        Where it was observed, in the unit cube.
    chol : (N, N)
        Lower Cholesky factor of K + noise.
    weights : (N,)
        B (y - prior_mean).
    prior_mean
        The constant mean before any data, in model units.
    outputs
        The units of y.
    noise_var : (N,)
        The noise variance of each observation, where they differ; None where all have `hyper.noise`.
    growth
        What is kept of the data, where they grow one by one; else None.
    """

    kernel: Kernel
    hyper: Hyper
    X: Array
    chol: Array
    weights: Array
    prior_mean: float = 0.0
    outputs: Outputs = field(default=Outputs())
    noise_var: Array | None = None
    growth: Growth | None = None

    @cached_property
    def prior(self) -> Covariance:
        """The covariance before any data."""
        return Covariance(self.kernel, self.hyper)

    @cached_property
    def inverse(self) -> Array | None:
        """(N, N) chol^-1, where products with it are faster than solves; else None."""
        return inverse_if_faster(self.chol) if self.growth is None else self.growth.inverse

    @property
    def floor(self) -> float:
        """The smallest variance that differs from rounding."""
        return JITTER * self.hyper.variance

    def covariance(self, A: Array, B: Array) -> Array:
        """Prior covariances (P, Q) between A (P, D) and B (Q, D)."""
        return self.prior.between(A, B)

    def covariance_and_grad(self, A: Array, B: Array) -> tuple[Array, Array]:
        """`covariance` (P, Q) of A and B, and its derivatives by A (P, Q, D)."""
        k = self.prior.rows(A, self.prior.scaled(B)).k
        return k[:, 0], k[:, 1:].transpose(0, 2, 1)

    def rows(self, x: Array, order: int = 1) -> KernelRows:
        """Covariances of x (M, D) with the data, and their derivatives up to `order`."""
        return self.prior.rows(x, self._scaled, order)

    def mean(self, x: Array) -> Array:
        """(M,) the posterior mean at x (M, D)."""
        return self.prior_mean + self.covariance(x, self.X) @ self.weights

    def fitted(self) -> Array:
        """(N,) the posterior mean at the data, without a kernel: L Lᵀ less the noise is the covariance."""
        noise = (self.hyper.noise**2 if self.noise_var is None else self.noise_var) + self.floor
        return np.asarray(self.prior_mean + self.chol @ (self.weights @ self.chol) - noise * self.weights)

    def leave_one_out(self) -> tuple[Array, Array]:
        """What the process predicts for each observation from all the others.

        Returns
        -------
        error, var : (N,)
            The observation less its prediction, and the prediction's variance, noise included.
        """
        # y_i - μ_-i = (B (y - prior_mean))_i / B_ii,   σ_-i² = 1 / B_ii
        half = solve(self.chol, np.eye(len(self.X)))
        var = 1.0 / np.einsum("kn,kn->n", half, half)
        return self.weights * var, var

    def at(self, x: Array) -> Marginals:
        """The posterior at each of x (M, D).

        If x is a read-only array, the answer is kept until another such array comes.
        """
        known: Marginals | None = self.__dict__.get("_latest")
        if known is not None and known.x is x:
            return known
        if len(x) == 1:
            k = self.prior.row(x[0], self.X)[None]
        else:
            k = self.covariance(x, self.X) if len(x) > FEW else self.rows(x).k[:, 0]
        found = self._marginals(x, k, solve(self.chol, k.T) if self.inverse is None else self.inverse @ k.T)
        if not x.flags.writeable:
            self._keep(found)
        return found

    def at_again(self, x: Array) -> Marginals:
        """`at` for points that are asked about again when there are more data."""
        if self.growth is None:
            return self.at(x)
        k, half = self.growth.asked(x)
        return self._marginals(x, k.T, half)

    def _marginals(self, x: Array, k: Array, half: Array) -> Marginals:
        """The posterior at x (M, D), from the covariances k (M, N) and from chol^-1 kᵀ (N, M)."""
        var = self.hyper.variance - np.einsum("nm,nm->m", half, half)
        return Marginals(x, self.prior_mean + k @ self.weights, np.maximum(var, self.floor), half)

    def keep_joined(self, first: Array, rest: Array, x: Array, *, again: bool = False) -> None:
        """Keep the answer of `at` for x (M, D), a read-only array of `first` and `rest`, one above the other.

        What is kept of `first` is not computed again.

        again: whether `first` is asked about again when there are more data.
        """
        known, more = self.at_again(first) if again else self.at(first), self.at(rest)
        parts = (np.append(known.mean, more.mean), np.append(known.var, more.var),
                 np.hstack([known.half, more.half]))  # fmt: skip
        self._keep(Marginals(x, *parts))

    def _keep(self, found: Marginals) -> None:
        for part in (found.mean, found.var, found.half):
            part.flags.writeable = False
        self.__dict__["_latest"] = found

    def predict(self, x: Array) -> tuple[Array, Array]:
        """The posterior at each of M points.

        Parameters
        ----------
        x : (M, D)
            Points of the unit cube.

        Returns
        -------
        mean, var : (M,)
            Posterior mean and variance of f, in model units.

        Examples
        --------
        >>> gp = condition("se", Hyper((0.3,), 1.0, 1e-3), np.array([[0.5]]), np.array([2.0]))
        >>> mean, var = gp.predict(np.array([[0.5]]))
        >>> round(float(mean[0]), 4)
        2.0
        """
        at = self.at(x)
        return at.mean, at.var

    def predict_joint(self, x: Array, rows: Indices | slice = slice(None)) -> tuple[Array, Array]:
        """Posterior mean (M,) and covariance (M, M) at x (M, D), or those of some rows of x."""
        at = self.at(x)
        half, x = at.half[:, rows], x[rows]
        cov = self.prior.among(x) if len(x) <= AMONG else self.covariance(x, x)
        return at.mean[rows], cov - half.T @ half

    def shared_variance(self, x: Array, goals: Array, noise: float = 0.0) -> Array:
        """(M, K) the share of the variance at `goals` (K, D) that an observation at x (M, D) explains.

        noise: the variance of the noise that counts at the goals.
        """
        at, there = self.at(x), self.at(goals)
        cov = self.covariance(x, goals) - at.half.T @ there.half
        return np.asarray(cov**2 / ((at.var + self.hyper.noise**2)[:, None] * (there.var + noise)))

    def mean_with_gradient(self, x: Array) -> tuple[Array, Array]:
        """The posterior mean (M,) at x (M, D), and its gradient (M, D)."""
        if self._alone is not None:
            mean, d_mean = self._alone.means_with_gradient(x)
            return mean[0], d_mean[0]
        means = self.rows(x).k @ self.weights
        return self.prior_mean + means[:, 0], means[:, 1:]

    def predict_with_gradient(self, x: Array) -> Prediction:
        """Posterior mean and variance at x (M, D), with their gradients by x."""
        return self.predict_by_rows(x) if self._alone is None else self._alone.predict_with_gradient(x).of(0)

    def predict_by_rows(self, x: Array) -> Prediction:
        """`predict_with_gradient` for any kernel; core.process.stacked is faster where it can be had."""
        # ∇μ = ∇k B (y - prior_mean),  ∇σ² = -2 ∇k B kᵀ
        k = self.rows(x).k
        half = solve(self.chol, k[:, 0].T)
        var = self.hyper.variance - np.einsum("nm,nm->m", half, half)
        solved = solve(self.chol, half, transposed=True, overwrite=True).T  # (M, N) B k
        means = k @ self.weights
        d_var = -2.0 * (k[:, 1:] @ solved[:, :, None])[:, :, 0]
        return Prediction(self.prior_mean + means[:, 0], np.maximum(var, self.floor), means[:, 1:], d_var)

    def with_pending(self, pending: Array) -> "GP":
        """The process that also saw its own mean at `pending` (P, D): only the uncertainty shrinks there."""
        # The factor of [[B^-1, C], [Cᵀ, D]] is [[L, 0], [(L^-1 C)ᵀ, chol(D - Cᵀ B C)]]
        if len(pending) == 0:
            return self
        n = len(self.X)
        X = np.vstack([self.X, pending])
        cross = solve(self.chol, self.covariance(self.X, pending))  # (N, P)
        nugget = self.hyper.noise**2 + JITTER * self.hyper.variance
        block = self.covariance(pending, pending) + nugget * np.eye(len(pending)) - cross.T @ cross
        chol = np.zeros((len(X), len(X)), order="F")
        chol[:n, :n], chol[n:, :n], chol[n:, n:] = self.chol, cross.T, cholesky(block)
        weights = np.append(self.weights, np.zeros(len(pending)))
        noise_var = self.noise_var
        if noise_var is not None:
            noise_var = np.append(noise_var, np.full(len(pending), self.hyper.noise**2))
        return GP(self.kernel, self.hyper, X, chol, weights, self.prior_mean, self.outputs, noise_var)

    @cached_property
    def _alone(self) -> StackedPosterior | None:
        """The fast form of a posterior with a Matérn kernel; None with another."""
        return stack((self,))

    @cached_property
    def _scaled(self) -> Array:
        """(D, N) the data in units of the lengthscales."""
        return self.prior.scaled(self.X)


def stack(gps: tuple[GP, ...]) -> StackedPosterior | None:
    """The processes at once; None where there are none, or they do not share data and a Matérn kernel."""
    if not gps or any(gp.kernel != "matern52" or not np.array_equal(gp.X, gps[0].X) for gp in gps):
        return None
    prior = StackedMatern(tuple(gp.hyper for gp in gps), gps[0].X)
    inverses = [gp.inverse for gp in gps if gp.inverse is not None]
    means, variances, floors = np.array([(gp.prior_mean, gp.hyper.variance, gp.floor) for gp in gps]).T
    return StackedPosterior(
        prior, tuple(gp.chol for gp in gps), np.array([gp.weights for gp in gps]),
        means[:, None], variances[:, None], floors[:, None], np.array(inverses) if inverses else None,
    )  # fmt: skip


def predictor(gps: tuple[GP, ...]) -> Callable[[Array], Prediction]:
    """What all of the processes predict at x (M, D), with gradients; at once where they share their data."""
    together = stack(gps)
    if together is not None:
        return together.predict_with_gradient

    def one_by_one(x: Array) -> Prediction:
        each = [gp.predict_with_gradient(x) for gp in gps]
        return Prediction(*(np.stack(parts) for parts in zip(*each, strict=True)))

    return one_by_one


def condition(
    kernel: Kernel, hyper: Hyper, X: Array, y: Array, *, noise_var: Array | None = None,
    prior_mean: float = 0.0, mean_std: float | None = None, outputs: Outputs | None = None,
) -> GP:  # fmt: skip
    """The process with these hyperparameters, conditioned on data.

    Parameters
    ----------
    kernel
        "matern52" or "se".
    hyper
        The hyperparameters, in model units.
    X : (N, D)
        Where it was observed, in the unit cube.
    y : (N,)
        What was observed, in model units.
    noise_var : (N,)
        A noise variance for each observation, in place of `hyper.noise`.
    prior_mean
        The constant mean before any data.
    mean_std
        Where it is given, the mean is learned: its prior is N(prior_mean, mean_std²), and it takes its most
        likely value.
    outputs
        The units of y, which the process carries along.
    """
    nugget, growth = hyper.noise**2 + JITTER * hyper.variance, None
    if FEWEST <= len(X) <= MOST and noise_var is None:
        growth = Growth(Covariance(kernel, hyper), X, nugget)
        chol = growth.chol
    elif len(X) > MOST and noise_var is None:
        chol = factor_of(kernel, hyper, X, nugget)
    else:
        noise = np.full(len(X), hyper.noise**2) if noise_var is None else noise_var
        K = Covariance(kernel, hyper).between(X, X)
        K.flat[:: len(K) + 1] += noise + JITTER * hyper.variance
        chol = cholesky(K)
    if mean_std is not None and len(y):
        # prior_mean + 1ᵀ B (y - prior_mean) / (1ᵀ B 1 + mean_std^-2)
        ones = solve(chol, np.ones(len(y)))
        prior_mean += float(ones @ solve(chol, y - prior_mean)) / float(ones @ ones + mean_std**-2.0)
    weights = solve(chol, solve(chol, y - prior_mean), transposed=True)
    return GP(kernel, hyper, X, chol, weights, prior_mean, outputs or Outputs(), noise_var, growth)
