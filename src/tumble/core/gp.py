"""Gaussian process of f and its gradient: kernels, posterior, MAP fit (§2.2, App. A.2, App. D).

Notation, for N data X (N, D) and M query points x (M, D), all in the unit cube and in model units
(see `Outputs`):

    s        (M, N, D)   (x - X) / lengthscale², the direction of every derivative
    k        (M, N)      covariances k(x, X);  ∂_j k = h1 s_j;  ∂_l ∂_j k = h2 s_l s_j + h1 δ_lj / ℓ_j²
    B                    (K + noise)^-1, never formed: only triangular solves with its Cholesky factor
    mean, var            (M,)       μ and σ² of f(x)
    grad_mean            (M, D)     ∂_j μ
    cov_f_grad           (M, D)     c_j = Cov(f, ∂_j f) = ½ ∂_j σ²
    var_grad             (M, D)     V_j = Var(∂_j f)

A kernel is a function of the scaled squared distance r², so it is given by three radial functions:
h0 = k, h1 = 2 dk/dr², h2 = 4 d²k/d(r²)². Everything else follows from those.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs
from scipy.spatial.distance import cdist

Array = NDArray[np.float64]
Radial = Callable[[Array], tuple[Array, Array, Array]]

JITTER = 1e-10  # of the signal variance; what float64 needs on top of the noise


def _squared_exponential(r2: Array) -> tuple[Array, Array, Array]:
    h = np.exp(-0.5 * r2)
    return h, -h, h


def _matern52(r2: Array) -> tuple[Array, Array, Array]:
    r = np.sqrt(5.0 * r2)
    e = np.exp(-r)
    return (1.0 + r + r * r / 3.0) * e, (-5.0 / 3.0) * (1.0 + r) * e, (25.0 / 3.0) * e


KERNELS: dict[str, Radial] = {"se": _squared_exponential, "matern52": _matern52}


@dataclass(frozen=True)
class Hyper:
    """Hyperparameters of one process, in model units."""

    lengthscales: tuple[float, ...]
    variance: float
    noise: float  # standard deviation

    def log(self) -> Array:
        """(D + 2,) logarithms of lengthscales, variance and noise variance: what the fit moves."""
        return np.log([*self.lengthscales, self.variance, self.noise**2])

    @staticmethod
    def from_log(theta: Array) -> "Hyper":
        """Inverse of `log`."""
        values = np.exp(theta)
        return Hyper(tuple(values[:-2].tolist()), float(values[-2]), float(np.sqrt(values[-1])))


@dataclass(frozen=True)
class Outputs:
    """Model units: (y - shift) / scale. Constraints are scaled, never shifted, so that 0 stays the limit."""

    shift: float = 0.0
    scale: float = 1.0

    @staticmethod
    def of(y: Array, *, centre: bool) -> "Outputs":
        """Units in which `y` (N,) has unit size, and zero mean where `centre`."""
        largest = float(np.max(np.abs(y), initial=0.0)) or 1.0
        unit = y / largest  # so that squares of 1e200 do not overflow
        shift = float(np.mean(unit)) if centre else 0.0
        scale = float(np.sqrt(np.mean((unit - shift) ** 2)))
        if not scale > 1e-12:  # one point, or a constant
            scale = 1.0 if centre else max(abs(float(unit[0])) if unit.size else 1.0, 1e-12)
        return Outputs(shift * largest, scale * largest)

    def to_model(self, y: Array) -> Array:
        """From the user's units."""
        return (y - self.shift) / self.scale

    def mean(self, mean: Array) -> Array:
        """A mean, in the user's units."""
        return self.shift + self.scale * mean


@dataclass(frozen=True)
class Slopes:
    """Posterior of (f, ∇f) at M points."""

    mean: Array  # (M,)
    var: Array  # (M,)
    grad_mean: Array  # (M, D)
    cov_f_grad: Array  # (M, D)
    var_grad: Array  # (M, D)


@dataclass(frozen=True)
class Curvature:
    """Derivatives by x_l of what `Slopes` holds; [m, l, j]."""

    hess_mean: Array  # (M, D, D)  ∂_l ∂_j μ
    d_cov_f_grad: Array  # (M, D, D)  ∂_l c_j
    d_var_grad: Array  # (M, D, D)  ∂_l V_j


@dataclass(frozen=True)
class GP:
    """A process conditioned on data. `weights` is B (y - prior_mean); `chol` the lower factor of B^-1."""

    kernel: str
    hyper: Hyper
    X: Array  # (N, D)
    chol: Array  # (N, N)
    weights: Array  # (N,)
    prior_mean: float = 0.0
    outputs: Outputs = Outputs()

    def covariance(self, A: Array, B: Array) -> Array:
        """Prior covariances (P, Q) between A (P, D) and B (Q, D)."""
        scales = np.asarray(self.hyper.lengthscales)
        return self.hyper.variance * KERNELS[self.kernel](cdist(A / scales, B / scales, "sqeuclidean"))[0]

    def mean(self, x: Array) -> Array:
        """(M,) posterior mean."""
        return self.prior_mean + self.covariance(x, self.X) @ self.weights

    def predict(self, x: Array) -> tuple[Array, Array]:
        """Posterior mean (M,) and variance (M,)."""
        k = self.covariance(x, self.X)
        half = _solve(self.chol, k.T)
        var = self.hyper.variance - np.einsum("nm,nm->m", half, half)
        return self.prior_mean + k @ self.weights, np.maximum(var, self.floor)

    def predict_joint(self, x: Array) -> tuple[Array, Array]:
        """Posterior mean (M,) and covariance (M, M)."""
        k = self.covariance(x, self.X)
        half = _solve(self.chol, k.T)
        return self.prior_mean + k @ self.weights, self.covariance(x, x) - half.T @ half

    def predict_with_gradient(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """mean (M,), var (M,), ∇mean (M, D), ∇var (M, D)."""
        s, k, dk, _ = self._kernel_rows(x)
        half = _solve(self.chol, k.T)
        var = self.hyper.variance - np.einsum("nm,nm->m", half, half)
        solved = _solve(self.chol, half, transposed=True).T  # (M, N) B k
        both = np.stack([dk * self.weights, -2.0 * dk * solved], axis=1) @ s  # (M, 2, D)
        return self.prior_mean + k @ self.weights, np.maximum(var, self.floor), both[:, 0], both[:, 1]

    def slopes(self, x: Array) -> Slopes:
        """Posterior of (f, ∇f) at x (M, D): one factorisation, no refit (App. A.2)."""
        return self._slopes(x)[0]

    def slopes_and_curvature(self, x: Array) -> tuple[Slopes, Curvature]:
        """`slopes` and their derivatives by x."""
        slopes, s, h1, h2, solved, solved_grad = self._slopes(x)
        inverse = np.asarray(self.hyper.lengthscales) ** -2.0
        diagonal = np.arange(x.shape[1])

        def second(w: Array) -> Array:  # Σ_n w_n ∂_l ∂_j k_n, (M, D, D)
            out = s.transpose(0, 2, 1) @ ((h2 * w)[:, :, None] * s)
            out[:, diagonal, diagonal] += (h1 * w).sum(axis=1)[:, None] * inverse
            return out

        hess_mean = second(np.broadcast_to(self.weights, h1.shape))
        grad_k = h1[:, :, None] * s  # (M, N, D)
        d_cov = -(grad_k.transpose(0, 2, 1) @ solved_grad) - second(solved)
        mixed = s.transpose(0, 2, 1) @ (h2[:, :, None] * s * solved_grad)
        mixed[:, diagonal, diagonal] += np.einsum("mn,mnj->mj", h1, solved_grad) * inverse
        return slopes, Curvature(hess_mean, d_cov, -2.0 * mixed)

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

    def _kernel_rows(self, x: Array) -> tuple[Array, Array, Array, Array]:
        scales = np.asarray(self.hyper.lengthscales)
        r = (x[:, None, :] - self.X) / scales  # (M, N, D)
        h0, h1, h2 = KERNELS[self.kernel](np.einsum("mnd,mnd->mn", r, r))
        v = self.hyper.variance
        return r / scales, v * h0, v * h1, v * h2

    def _slopes(self, x: Array) -> tuple[Slopes, Array, Array, Array, Array, Array]:
        s, k, h1, h2 = self._kernel_rows(x)
        M, N, D = s.shape
        grad_k = h1[:, :, None] * s
        right = np.concatenate([k[:, :, None], grad_k], axis=2).transpose(1, 0, 2).reshape(N, M * (1 + D))
        half = _solve(self.chol, right)
        squares = np.einsum("nq,nq->q", half, half).reshape(M, 1 + D)
        solved = _solve(self.chol, half, transposed=True).reshape(N, M, 1 + D).transpose(1, 0, 2)
        prior = -self.hyper.variance * KERNELS[self.kernel](np.zeros(1))[1][0]
        slopes = Slopes(
            mean=self.prior_mean + k @ self.weights,
            var=np.maximum(self.hyper.variance - squares[:, 0], self.floor),
            grad_mean=np.einsum("mnd,n->md", grad_k, self.weights),
            cov_f_grad=-np.einsum("mnd,mn->md", grad_k, solved[:, :, 0]),
            var_grad=prior / np.asarray(self.hyper.lengthscales) ** 2 - squares[:, 1:],
        )
        return slopes, s, h1, h2, solved[:, :, 0], solved[:, :, 1:]


def condition(
    kernel: str, hyper: Hyper, X: Array, y: Array, *, noise_var: Array | None = None,
    prior_mean: float = 0.0, outputs: Outputs | None = None,
) -> GP:  # fmt: skip
    """The process with these hyperparameters, conditioned on X (N, D) and y (N,) in model units.

    noise_var: (N,) a noise variance for each observation, in place of `hyper.noise`.
    """
    noise = np.full(len(X), hyper.noise**2) if noise_var is None else noise_var
    prior = GP(kernel, hyper, X, np.zeros((0, 0)), np.zeros(0), prior_mean, outputs or Outputs())
    K = prior.covariance(X, X)
    K[np.diag_indices_from(K)] += noise + JITTER * hyper.variance
    chol = cholesky(K)
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


def _solve(chol: Array, right: Array, *, transposed: bool = False) -> Array:
    """chol^-1 right, or chol^-T right."""
    if chol.shape[0] == 0:
        return right
    return np.asarray(dtrtrs(chol, right, lower=1, trans=int(transposed))[0])


def _inverse(chol: Array) -> Array:
    """(chol cholᵀ)^-1, whole."""
    lower, _ = dpotri(chol, lower=1)
    inverse = np.tril(lower)
    return np.asarray(inverse + np.tril(inverse, -1).T)
