"""Gaussian process of f and its gradient: kernels, posterior, MAP fit (§2.2, App. A.2, App. D).

Notation, for N data X (N, D) and M query points x (M, D), all in the unit cube and in model units
(see `Outputs`):

    s        (M, N, D)   (x - X) / lengthscale², the direction of every derivative
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
JITTER = 1e-10  # of the signal variance; what float64 needs on top of the noise


def _squared_exponential(r2: Array, order: int) -> list[Array]:
    h = np.exp(-0.5 * r2)
    return [h, -h, h][: order + 1]


def _matern52(r2: Array, order: int) -> list[Array]:
    r = np.sqrt(5.0 * r2)
    e = np.exp(-r)
    rising = (1.0 + r) * e
    parts = [rising + (5.0 / 3.0) * r2 * e]
    if order >= 1:
        parts.append((-5.0 / 3.0) * rising)
    if order >= 2:
        parts.append((25.0 / 3.0) * e)
    return parts


def _squared_exponential_effect(a: Array, b: Array) -> Array:
    return np.asarray(np.exp(-0.5 * np.subtract.outer(a, b) ** 2))


def _matern52_effect(a: Array, b: Array) -> Array:
    """In one dimension exp(-|a - b|) is a product of exponentials of a and b alone."""
    a, b = SQRT5 * a, SQRT5 * b
    r = np.abs(np.subtract.outer(a, b))
    e = np.minimum(np.multiply.outer(np.exp(a), np.exp(-b)), np.multiply.outer(np.exp(-a), np.exp(b)))
    return np.asarray((1.0 + r * (1.0 + r / 3.0)) * e)


KERNELS: dict[str, Radial] = {"se": _squared_exponential, "matern52": _matern52}
EFFECTS: dict[str, Callable[[Array, Array], Array]] = {  # h0 of (a - b)², (P, Q) for a (P,) and b (Q,)
    "se": _squared_exponential_effect,
    "matern52": _matern52_effect,
}


@dataclass(frozen=True)
class Hyper:
    """Hyperparameters of one process, in model units."""

    lengthscales: tuple[float, ...]
    variance: float
    noise: float  # standard deviation
    additive: float = 0.0  # share of the variance in one-dimensional effects


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
        scales, radial, h = np.asarray(self.hyper.lengthscales), KERNELS[self.kernel], self.hyper
        A, B = A / scales, B / scales
        k = radial(cdist(A, B, "sqeuclidean"), 0)[0]
        if h.additive:
            effects = sum(EFFECTS[self.kernel](a, b) for a, b in zip(A.T, B.T, strict=True))
            k += h.additive * (effects / len(scales) - k)
        return np.asarray(h.variance * k)

    def covariance_and_grad(self, A: Array, B: Array) -> tuple[Array, Array]:
        """`covariance` (P, Q) and its derivatives by A (P, Q, D)."""
        rows = replace(self, X=B)._rows(A)
        return rows.k, rows.grad()

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
        rows = self._rows(x)
        half = _solve(self.chol, rows.k.T)
        var = self.hyper.variance - np.einsum("nm,nm->m", half, half)
        solved = _solve(self.chol, half, transposed=True)  # (N, M) B k
        grad_k = rows.grad()
        d_mean = np.einsum("mnd,n->md", grad_k, self.weights)
        d_var = -2.0 * np.einsum("mnd,nm->md", grad_k, solved)
        return self.prior_mean + rows.k @ self.weights, np.maximum(var, self.floor), d_mean, d_var

    def slopes(self, x: Array) -> Slopes:
        """Posterior of (f, ∇f) at x (M, D): one factorisation, no refit (App. A.2)."""
        return self._slopes(self._rows(x))[0]

    def slopes_and_curvature(self, x: Array) -> tuple[Slopes, Curvature]:
        """`slopes` and their derivatives by x."""
        rows = self._rows(x, 2)
        slopes, grad_k, solved, solved_grad = self._slopes(rows)
        contract = rows.contraction()
        d_cov = -(grad_k.transpose(0, 2, 1) @ solved_grad) - contract(solved[:, :, None])
        hess_mean = contract(np.broadcast_to(self.weights, rows.k.shape)[:, :, None])
        return slopes, Curvature(hess_mean, d_cov, -2.0 * contract(solved_grad))

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
        r = (x[:, None, :] - self.X) / scales  # (M, N, D)
        squares = r * r
        own = (1.0 - h.additive) * h.variance
        k, *joint = (own * part for part in radial(squares.sum(axis=2), order))
        if not h.additive:
            return _Rows(r / scales, scales**-2.0, k, joint)
        share = h.additive * h.variance / len(scales)
        a0, *effects = (share * part for part in radial(squares, order))
        return _Rows(r / scales, scales**-2.0, k + a0.sum(axis=2), joint, effects)

    def _slopes(self, rows: "_Rows") -> tuple[Slopes, Array, Array, Array]:
        M, N, D = rows.s.shape
        grad_k = rows.grad()
        right = np.concatenate([rows.k[:, :, None], grad_k], axis=2).transpose(1, 0, 2)
        half = _solve(self.chol, right.reshape(N, M * (1 + D)))
        squares = np.einsum("nq,nq->q", half, half).reshape(M, 1 + D)
        solved = _solve(self.chol, half, transposed=True).reshape(N, M, 1 + D).transpose(1, 0, 2)
        h = self.hyper
        bend = -KERNELS[self.kernel](np.zeros(1), 1)[1][0] * (1.0 - h.additive + h.additive / D)
        slopes = Slopes(
            mean=self.prior_mean + rows.k @ self.weights,
            var=np.maximum(h.variance - squares[:, 0], self.floor),
            grad_mean=np.einsum("mnd,n->md", grad_k, self.weights),
            cov_f_grad=-np.einsum("mnd,mn->md", grad_k, solved[:, :, 0]),
            var_grad=h.variance * bend * rows.inverse - squares[:, 1:],
        )
        return slopes, grad_k, solved[:, :, 0], solved[:, :, 1:]


@dataclass(frozen=True)
class _Rows:
    """Kernel between query points and data, with what its derivatives are made of."""

    s: Array  # (M, N, D)
    inverse: Array  # (D,) lengthscale^-2
    k: Array  # (M, N)
    joint: list[Array]  # h1 and h2, (M, N)
    effects: list[Array] | None = None  # the same of the additive share, (M, N, D)

    def grad(self) -> Array:
        """∂_j k, (M, N, D)."""
        h1 = self.joint[0][:, :, None]
        return (h1 if self.effects is None else h1 + self.effects[0]) * self.s

    def contraction(self) -> Callable[[Array], Array]:
        """w (M, N, D) or (M, N, 1) -> Σ_n w_nj ∂_l ∂_j k_n, (M, D, D)."""
        h1, h2 = self.joint
        across = h2[:, :, None] * self.s
        along = h1[:, :, None] * self.inverse
        if self.effects is not None:
            a1, a2 = self.effects
            along = along + a1 * self.inverse + a2 * self.s * self.s
        transposed, diagonal = self.s.transpose(0, 2, 1), np.arange(self.s.shape[2])

        def contract(w: Array) -> Array:
            out = np.asarray(transposed @ (across * w))
            out[:, diagonal, diagonal] += (w * along).sum(axis=1)
            return out

        return contract


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
