"""Gaussian process of f and its gradient: kernels, posterior, MAP fit (§2.2, App. A.2, App. D).

Notation, for N data X (N, D) and M query points x (M, D), all in the unit cube and in model units
(see `Outputs`):

    s        (M, D, N)   (x - X) / lengthscale², the direction of every derivative
    k        (M, N)      covariances k(x, X);  ∂_j k = h1 s_j;  ∂_l ∂_j k = h2 s_l s_j + h1 δ_lj / ℓ_j²
                         (and for the additive share the same with its own h of r_j², where l = j)
    B                    (K + noise)^-1, never formed: only triangular solves with its Cholesky factor
    mean, var            (M,)       μ and σ² of f(x)
    grad_mean            (M, D)     ∂_j μ
    cov_f_grad           (M, D)     c_j = Cov(f, ∂_j f) = ½ ∂_j σ²
    var_grad             (M, D)     V_j = Var(∂_j f)

Kernels are functions h of r² (core.kernels). A share `additive` of the variance may lie in a sum of
one-dimensional effects, one a coordinate, with the same lengthscales:

    k = variance [ (1 - additive) h0(Σ_j r_j²) + additive/D Σ_j h0(r_j²) ]
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs
from scipy.spatial.distance import cdist

from ..arrays import Array, Indices
from .kernels import EFFECTS, KERNELS
from .outputs import Outputs

BLOCK = 40000  # covariances worked out at once: what the caches hold
FEW = 8  # points for which products of exponentials do not pay
JITTER = 1e-10  # of the signal variance; what float64 needs on top of the noise


@dataclass(frozen=True)
class Hyper:
    """Hyperparameters of one process, in model units."""

    lengthscales: tuple[float, ...]
    variance: float
    noise: float  # standard deviation
    additive: float = 0.0  # share of the variance in one-dimensional effects
    learned: int = 0  # observations from which they were learned; 0 where they were not


class Slopes(NamedTuple):
    """Posterior of (f, ∇f) at M points."""

    mean: Array  # (M,)
    var: Array  # (M,)
    grad_mean: Array  # (M, D)
    cov_f_grad: Array  # (M, D)
    var_grad: Array  # (M, D)


@dataclass(frozen=True)
class Marginals:
    """Posterior of f at M points, and what its covariances are made of."""

    x: Array  # (M, D)
    mean: Array  # (M,)
    var: Array  # (M,)
    half: Array  # (N, M)  chol^-1 k


@dataclass(frozen=True)
class GP:
    """A process conditioned on data. `weights` is B (y - prior_mean); `chol` the lower factor of B^-1."""

    kernel: str
    hyper: Hyper
    X: Array  # (N, D)
    chol: Array  # (N, N)
    weights: Array  # (N,)
    prior_mean: float = 0.0
    outputs: Outputs = field(default=Outputs())

    def covariance(self, A: Array, B: Array) -> Array:
        """Prior covariances (P, Q) between A (P, D) and B (Q, D)."""
        k = np.empty((len(A), len(B)))
        if k.size == 0:
            return k
        A, B = A * self._per_length, B * self._per_length
        h = self.hyper
        blocks = -(-k.size // BLOCK)
        step = -(-len(A) // blocks)  # as many rows in each: a block costs something however small it is
        work = np.empty((3, step, len(B)))
        for start in range(0, len(A), step):
            rows, block = A[start : start + step], k[start : start + step]
            r2, *others = work[:, : len(rows)]
            cdist(rows, B, "sqeuclidean", out=r2)
            KERNELS[self.kernel](r2, 0, (1.0 - h.additive) * h.variance, (*others, block))
            if h.additive:
                variance = h.additive * h.variance / A.shape[1]
                EFFECTS[self.kernel](block, rows, B, variance, work[:2, : len(rows)])
        return k

    def covariance_and_grad(self, A: Array, B: Array) -> tuple[Array, Array]:
        """`covariance` (P, Q) and its derivatives by A (P, Q, D)."""
        k = replace(self, X=B)._rows(A).k
        return k[:, 0], k[:, 1:].transpose(0, 2, 1)

    def mean(self, x: Array) -> Array:
        """(M,) posterior mean."""
        return self.prior_mean + self.covariance(x, self.X) @ self.weights

    def fitted(self) -> Array:
        """(N,) posterior mean at the data, without a kernel: L Lᵀ less the noise is the prior covariance."""
        noise = self.hyper.noise**2 + JITTER * self.hyper.variance
        return np.asarray(self.prior_mean + self.chol @ (self.weights @ self.chol) - noise * self.weights)

    def at(self, x: Array) -> Marginals:
        """The posterior at each of x (M, D); kept for the next question about it where x may not change."""
        known: Marginals | None = self.__dict__.get("_latest")
        if known is not None and known.x is x:
            return known
        k = self.covariance(x, self.X) if len(x) > FEW else self._rows(x).k[:, 0]
        half = _solve(self.chol, k.T)
        var = self.hyper.variance - np.einsum("nm,nm->m", half, half)
        found = Marginals(x, self.prior_mean + k @ self.weights, np.maximum(var, self.floor), half)
        if not x.flags.writeable:
            for part in (found.mean, found.var, found.half):
                part.flags.writeable = False
            self.__dict__["_latest"] = found
        return found

    def predict(self, x: Array) -> tuple[Array, Array]:
        """Posterior mean (M,) and variance (M,)."""
        at = self.at(x)
        return at.mean, at.var

    def predict_joint(self, x: Array, rows: Indices | slice = slice(None)) -> tuple[Array, Array]:
        """Posterior mean (M,) and covariance (M, M), or those of some rows of x."""
        at = self.at(x)
        half, x = at.half[:, rows], x[rows]
        return at.mean[rows], self.covariance(x, x) - half.T @ half

    def mean_with_gradient(self, x: Array) -> tuple[Array, Array]:
        """mean (M,) and ∇mean (M, D)."""
        means = self._rows(x).k @ self.weights
        return self.prior_mean + means[:, 0], means[:, 1:]

    def predict_with_gradient(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """mean (M,), var (M,), ∇mean (M, D), ∇var (M, D)."""
        k = self._rows(x).k
        half = _solve(self.chol, k[:, 0].T)
        var = self.hyper.variance - np.einsum("nm,nm->m", half, half)
        solved = _solve(self.chol, half, transposed=True, overwrite=True).T  # (M, N) B k
        means = k @ self.weights
        d_var = -2.0 * (k[:, 1:] @ solved[:, :, None])[:, :, 0]
        return self.prior_mean + means[:, 0], np.maximum(var, self.floor), means[:, 1:], d_var

    def slopes(self, x: Array) -> Slopes:
        """Posterior of (f, ∇f) at x (M, D): one factorisation, no refit (App. A.2)."""
        return self._slopes(self._rows(x))[0]

    def slopes_and_curvature(self, x: Array) -> tuple[Slopes, "Curvature"]:
        """`slopes` and their derivatives by x."""
        rows = self._rows(x, 2)
        slopes, solved = self._slopes(rows)
        return slopes, Curvature(rows, self.weights, solved)

    def with_pending(self, pending: Array) -> "GP":
        """The process that also saw its own mean at `pending` (P, D): only the uncertainty shrinks there."""
        if len(pending) == 0:
            return self
        X = np.vstack([self.X, pending])
        cross = _solve(self.chol, self.covariance(self.X, pending))  # (N, P)
        nugget = self.hyper.noise**2 + JITTER * self.hyper.variance
        block = self.covariance(pending, pending) + nugget * np.eye(len(pending)) - cross.T @ cross
        chol = np.zeros((len(X), len(X)))
        n = len(self.X)
        chol[:n, :n], chol[n:, :n], chol[n:, n:] = self.chol, cross.T, cholesky(block)
        return GP(self.kernel, self.hyper, X, chol, np.append(self.weights, np.zeros(len(pending))),
                  self.prior_mean, self.outputs)  # fmt: skip

    @property
    def floor(self) -> float:
        """Smallest variance that is told from rounding."""
        return JITTER * self.hyper.variance

    def leave_one_out(self) -> tuple[Array, Array]:
        """Errors (N,) and standard deviations (N,) of predicting each observation from the others."""
        inverse = _inverse(self.chol)
        precision = np.diag(inverse)
        return self.weights / precision, np.sqrt(1.0 / precision)

    def _rows(self, x: Array, order: int = 1) -> "_Rows":
        h, D = self.hyper, x.shape[1]
        per = self._per_length
        s = (x * per)[:, :, None] - self._scaled
        r2 = np.empty((len(x), D + 1, len(self.X)))
        np.multiply(s, s, out=r2[:, :D])
        np.add.reduce(r2[:, :D], axis=1, out=r2[:, D])
        s *= per[:, None]
        if not h.additive:
            r2 = r2[:, D:]
        bends = KERNELS[self.kernel](r2, order, self._variances)
        k = np.empty((len(x), D + 1, len(self.X)))
        np.add.reduce(bends[0], axis=1, out=k[:, 0])
        h1 = bends[1][:, :D] + bends[1][:, D:] if h.additive else bends[1]
        np.multiply(h1, s, out=k[:, 1:])
        return _Rows(s, per * per, k, r2, h1, bends[2] if order > 1 else None)

    def _slopes(self, rows: "_Rows") -> tuple[Slopes, Array]:
        k, h = rows.k, self.hyper
        M, both, N = k.shape
        half = _solve(self.chol, k.reshape(M * both, N).T)
        squares = np.einsum("nq,nq->q", half, half).reshape(M, both)
        solved = _solve(self.chol, half, transposed=True, overwrite=True).T.reshape(M, both, N)
        means = k @ self.weights
        slopes = Slopes(
            mean=self.prior_mean + means[:, 0],
            var=np.maximum(h.variance - squares[:, 0], self.floor),
            grad_mean=means[:, 1:],
            cov_f_grad=-(k[:, 1:] @ solved[:, 0, :, None])[:, :, 0],
            var_grad=self._prior_slopes - squares[:, 1:],
        )
        return slopes, solved

    @cached_property
    def _per_length(self) -> Array:
        """(D,) one over the lengthscales."""
        return np.asarray(1.0 / np.asarray(self.hyper.lengthscales))

    @cached_property
    def _scaled(self) -> Array:
        """(D, N) the data in units of the lengthscales."""
        return np.ascontiguousarray((self.X * self._per_length).T)

    @cached_property
    def _variances(self) -> Array:
        """(D + 1, 1) of each one-dimensional effect and of the joint one; (1, 1) where there is only that."""
        h, D = self.hyper, self.X.shape[1]
        effects = [h.additive * h.variance / D] * D if h.additive else []
        return np.array([*effects, (1.0 - h.additive) * h.variance])[:, None]

    @cached_property
    def _prior_slopes(self) -> Array:
        """(D,) variances of ∂_j f before any data."""
        h, D = self.hyper, self.X.shape[1]
        bend = -KERNELS[self.kernel](np.zeros(1), 1, 1.0)[1][0] * (1.0 - h.additive + h.additive / D)
        return np.asarray(h.variance * bend / np.square(h.lengthscales))


class _Rows(NamedTuple):
    """Kernel between query points and data, with what its derivatives are made of."""

    s: Array  # (M, D, N)
    inverse: Array  # (D,) lengthscale^-2
    k: Array  # (M, 1 + D, N) k and ∂_j k
    r2: Array  # (M, D + 1, N) r_j² of each effect and their sum; (M, 1, N) where there is no additive share
    h1: Array  # (M, D, N), or (M, 1, N)
    h2: Array | None  # as r2, where it was asked for


class Curvature(NamedTuple):
    """Derivatives by x_l of what `Slopes` holds: (D, D) a point, of which only products are formed."""

    rows: _Rows
    weights: Array  # (N,)
    solved: Array  # (M, 1 + D, N)  B k and B ∂_j k

    def along(self, mean: Array, cov: Array, var: Array) -> Array:
        """Σ_j mean_j ∂_l ∂_j μ + cov_j ∂_l c_j + var_j ∂_l V_j, (M, D); each factor (M, D)."""
        rows, solved_grad, h2 = self.rows, self.solved[:, 1:], self.rows.h2
        assert h2 is not None
        w = (-2.0 * var)[:, :, None] * solved_grad  # what each ∂_l ∂_j k_n is multiplied by
        w += mean[:, :, None] * self.weights
        w -= cov[:, :, None] * self.solved[:, :1]
        across = np.einsum("mdn,mdn->mn", rows.s, w)
        across *= h2[:, -1]
        bent = rows.h1
        if rows.r2.shape[1] > 1:
            bent = rows.r2[:, :-1] * h2[:, :-1]
            bent += rows.h1
        w *= bent
        answer = np.add.reduce(w, axis=2)
        answer *= rows.inverse
        answer += (rows.s @ across[:, :, None])[:, :, 0]
        answer -= (rows.k[:, 1:] @ (cov[:, None, :] @ solved_grad).transpose(0, 2, 1))[:, :, 0]
        return np.asarray(answer)


def condition(
    kernel: str, hyper: Hyper, X: Array, y: Array, *, noise_var: Array | None = None,
    prior_mean: float = 0.0, mean_std: float | None = None, outputs: Outputs | None = None,
) -> GP:  # fmt: skip
    """The process with these hyperparameters, conditioned on X (N, D) and y (N,) in model units.

    noise_var: (N,) a noise variance for each observation, in place of `hyper.noise`.
    mean_std: learn a constant mean, N(prior_mean, mean_std²) beforehand, and put it at its most likely value.
    """
    noise = np.full(len(X), hyper.noise**2) if noise_var is None else noise_var
    prior = GP(kernel, hyper, X, np.zeros((0, 0)), np.zeros(0), prior_mean, outputs or Outputs())
    K = prior.covariance(X, X)
    K.flat[:: len(K) + 1] += noise + JITTER * hyper.variance
    chol = cholesky(K)
    if mean_std is not None and len(y):
        ones = _solve(chol, np.ones(len(y)))
        prior_mean += float(ones @ _solve(chol, y - prior_mean)) / float(ones @ ones + mean_std**-2.0)
    weights = _solve(chol, _solve(chol, y - prior_mean), transposed=True)
    return GP(kernel, hyper, X, chol, weights, prior_mean, prior.outputs)


def cholesky(K: Array) -> Array:
    """Lower factor of K, with as little jitter as it takes; K may be left modified."""
    scale = float(np.mean(np.diag(K))) if len(K) else 1.0
    for jitter in (0.0, 1e-10, 1e-8, 1e-6, 1e-4):
        factor, info = dpotrf(K + jitter * scale * np.eye(len(K)) if jitter else K, lower=1, clean=1)
        if info == 0:
            return np.asarray(factor)
    raise FloatingPointError(f"covariance of {len(K)} points is not positive definite")  # pragma: no cover


def _solve(chol: Array, right: Array, *, transposed: bool = False, overwrite: bool = False) -> Array:
    """chol^-1 right, or chol^-T right; overwrite: `right` is not needed any more."""
    if chol.shape[0] == 0:
        return right
    return np.asarray(dtrtrs(chol, right, lower=1, trans=int(transposed), overwrite_b=int(overwrite))[0])


def _inverse(chol: Array) -> Array:
    """(chol cholᵀ)^-1, whole."""
    lower, _ = dpotri(chol, lower=1)
    inverse = np.tril(lower)
    return np.asarray(inverse + np.tril(inverse, -1).T)
