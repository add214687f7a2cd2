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

A radial kernel is a function of the scaled squared distance r², so it is given by three functions:
h0 = k, h1 = 2 dk/dr², h2 = 4 d²k/d(r²)². Everything else follows from those. A share `additive` of the
variance may lie in a sum of one-dimensional effects, one a coordinate, with the same lengthscales:

    k = variance [ (1 - additive) h0(Σ_j r_j²) + additive/D Σ_j h0(r_j²) ]
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs
from scipy.spatial.distance import cdist

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Radial = Callable[[Array, int], list[Array]]  # r², highest order wanted -> h0, h1, h2

SQRT5 = np.sqrt(5.0)
BLOCK = 8192  # covariances worked out at once: what the caches hold
JITTER = 1e-10  # of the signal variance; what float64 needs on top of the noise


def _squared_exponential(r2: Array, order: int) -> list[Array]:
    h = np.exp(-0.5 * r2)
    return [h, -h, h][: order + 1]


def _matern52(r2: Array, order: int) -> list[Array]:
    rising = np.sqrt(5.0 * r2)
    e = np.exp(-rising)
    rising += 1.0
    rising *= e
    h0 = (5.0 / 3.0) * r2
    h0 *= e
    h0 += rising
    if order >= 1:
        rising *= -5.0 / 3.0
    if order >= 2:
        e *= 25.0 / 3.0
    return [h0, rising, e][: order + 1]


def _squared_exponential_effects(A: Array, B: Array) -> Array:
    return np.asarray(sum(np.exp(-0.5 * np.subtract.outer(a, b) ** 2) for a, b in zip(A.T, B.T, strict=True)))


def _matern52_effects(A: Array, B: Array) -> Array:
    """In one dimension exp(-|a - b|) is a product of exponentials of a and b alone."""
    total = np.zeros((len(A), len(B)))
    r, e, other = np.empty_like(total), np.empty_like(total), np.empty_like(total)
    for a, b in zip(np.array(SQRT5 * A.T, order="C"), np.array(SQRT5 * B.T, order="C"), strict=True):
        np.abs(np.subtract.outer(a, b, out=r), out=r)
        if max(a.max(initial=0.0), b.max(initial=0.0)) < 300.0:
            np.multiply.outer(np.exp(a), np.exp(-b), out=e)
            np.minimum(e, np.multiply.outer(np.exp(-a), np.exp(b), out=other), out=e)
        else:  # where those would overflow
            np.exp(np.negative(r, out=e), out=e)
        np.multiply(r, 1.0 / 3.0, out=other)  # h0 = (1 + r (1 + r/3)) e
        other += 1.0
        other *= r
        other += 1.0
        other *= e
        total += other
    return total


KERNELS: dict[str, Radial] = {"se": _squared_exponential, "matern52": _matern52}
EFFECTS: dict[str, Callable[[Array, Array], Array]] = {  # Σ_j h0((a_j - b_j)²), (P, Q), of A (P, D), B (Q, D)
    "se": _squared_exponential_effects,
    "matern52": _matern52_effects,
}


@dataclass(frozen=True)
class Hyper:
    """Hyperparameters of one process, in model units."""

    lengthscales: tuple[float, ...]
    variance: float
    noise: float  # standard deviation
    additive: float = 0.0  # share of the variance in one-dimensional effects
    learned: int = 0  # observations from which they were learned; 0 where they were not


@dataclass(frozen=True)
class Outputs:
    """Model units: (y - shift) / scale. Constraints are scaled, never shifted, so that 0 stays the limit."""

    shift: float = 0.0
    scale: float = 1.0

    @staticmethod
    def of(y: Array, *, centre: bool) -> "Outputs":
        """Units in which `y` (N,) has unit size, and zero mean where `centre`."""
        if y.size == 0:
            return Outputs()
        largest = float(np.max(np.abs(y))) or 1.0
        unit = y / largest  # so that squares of 1e200 do not overflow
        shift = float(np.mean(unit)) if centre else 0.0
        scale = float(np.sqrt(np.mean((unit - shift) ** 2)))
        if not scale > 1e-12:  # one point, or a constant
            scale = 1.0
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
        A, B = A / scales, B / scales
        k = np.empty((len(A), len(B)))
        step = max(1, BLOCK // max(1, len(B)))
        for start in range(0, len(A), step):
            k[start : start + step] = self._block(A[start : start + step], B)
        return k

    def _block(self, A: Array, B: Array) -> Array:
        h = self.hyper
        k = KERNELS[self.kernel](cdist(A, B, "sqeuclidean"), 0)[0]
        if h.additive:
            k *= 1.0 - h.additive
            k += (h.additive / A.shape[1]) * EFFECTS[self.kernel](A, B)
        k *= h.variance
        return k

    def covariance_and_grad(self, A: Array, B: Array) -> tuple[Array, Array]:
        """`covariance` (P, Q) and its derivatives by A (P, Q, D)."""
        rows = replace(self, X=B)._rows(A)
        return rows.k, rows.grad().transpose(0, 2, 1)

    def mean(self, x: Array) -> Array:
        """(M,) posterior mean."""
        return self.prior_mean + self.covariance(x, self.X) @ self.weights

    def fitted(self) -> Array:
        """(N,) posterior mean at the data, without a kernel: L Lᵀ less the noise is the prior covariance."""
        noise = self.hyper.noise**2 + JITTER * self.hyper.variance
        return np.asarray(self.prior_mean + self.chol @ (self.weights @ self.chol) - noise * self.weights)

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
        rows = self._rows(x)
        half = _solve(self.chol, rows.k.T)
        var = self.hyper.variance - np.einsum("nm,nm->m", half, half)
        solved = _solve(self.chol, half, transposed=True).T  # (M, N) B k
        grad_k = rows.grad()
        d_mean = grad_k @ self.weights
        d_var = -2.0 * (grad_k @ solved[:, :, None])[:, :, 0]
        return self.prior_mean + rows.k @ self.weights, np.maximum(var, self.floor), d_mean, d_var

    def slopes(self, x: Array) -> Slopes:
        """Posterior of (f, ∇f) at x (M, D): one factorisation, no refit (App. A.2)."""
        return self._slopes(self._rows(x))[0]

    def slopes_and_curvature(self, x: Array) -> tuple[Slopes, Curvature]:
        """`slopes` and their derivatives by x."""
        rows = self._rows(x, 2)
        slopes, grad_k, solved, solved_grad = self._slopes(rows)
        bent = rows.contract(self.weights[None, None, :], solved[:, None, :], solved_grad)
        d_cov = -(grad_k @ solved_grad.transpose(0, 2, 1)) - bent[1]
        return slopes, Curvature(bent[0], d_cov, -2.0 * bent[2])

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
        h, radial = self.hyper, KERNELS[self.kernel]
        scales = np.asarray(h.lengthscales)
        r = (x / scales)[:, :, None] - (self.X / scales).T  # (M, D, N)
        squares = r * r
        own = (1.0 - h.additive) * h.variance
        k, *joint = (own * part for part in radial(squares.sum(axis=1), order))
        s = r / scales[:, None]
        if not h.additive:
            return _Rows(s, scales**-2.0, k, joint)
        share = h.additive * h.variance / len(scales)
        a0, *effects = (share * part for part in radial(squares, order))
        return _Rows(s, scales**-2.0, k + a0.sum(axis=1), joint, effects)

    def _slopes(self, rows: "_Rows") -> tuple[Slopes, Array, Array, Array]:
        M, D, N = rows.s.shape
        grad_k = rows.grad()
        right = np.concatenate([rows.k[:, None, :], grad_k], axis=1).reshape(M * (1 + D), N)
        half = _solve(self.chol, right.T, overwrite=True)
        squares = np.einsum("nq,nq->q", half, half).reshape(M, 1 + D)
        solved = _solve(self.chol, half, transposed=True, overwrite=True).T.reshape(M, 1 + D, N)
        h = self.hyper
        bend = -KERNELS[self.kernel](np.zeros(1), 1)[1][0] * (1.0 - h.additive + h.additive / D)
        slopes = Slopes(
            mean=self.prior_mean + rows.k @ self.weights,
            var=np.maximum(h.variance - squares[:, 0], self.floor),
            grad_mean=grad_k @ self.weights,
            cov_f_grad=-(grad_k @ solved[:, 0, :, None])[:, :, 0],
            var_grad=h.variance * bend * rows.inverse - squares[:, 1:],
        )
        return slopes, grad_k, solved[:, 0], solved[:, 1:]


@dataclass(frozen=True)
class _Rows:
    """Kernel between query points and data, with what its derivatives are made of."""

    s: Array  # (M, D, N)
    inverse: Array  # (D,) lengthscale^-2
    k: Array  # (M, N)
    joint: list[Array]  # h1 and h2, (M, N)
    effects: list[Array] | None = None  # the same of the additive share, (M, D, N)

    def grad(self) -> Array:
        """∂_j k, (M, D, N)."""
        h1 = self.joint[0][:, None, :]
        return (h1 if self.effects is None else h1 + self.effects[0]) * self.s

    def contract(self, *weights: Array) -> list[Array]:
        """Σ_n w_jn ∂_l ∂_j k_n, (M, D, D), for each w (M, D, N) or with ones for M and D."""
        h1, h2 = self.joint
        across = h2[:, None, :] * self.s
        along = h1[:, None, :] * self.inverse[:, None]
        if self.effects is not None:
            a1, a2 = self.effects
            along = along + a1 * self.inverse[:, None] + a2 * self.s * self.s
        D = self.s.shape[1]
        parts = []
        for w in weights:
            part = self.s @ (across * w).transpose(0, 2, 1)
            part.reshape(len(part), D * D)[:, :: D + 1] += (along * w).sum(axis=2)  # the diagonal
            parts.append(part)
        return parts


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
    K[np.diag_indices_from(K)] += noise + JITTER * hyper.variance
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
