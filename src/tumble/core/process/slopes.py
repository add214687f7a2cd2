"""The posterior of (f, ∇f), and its derivatives by the query point (App. A.2).

With k = k(x, X) and B = (K + noise)^-1, at each query point:

    ∂_j μ = ∂_j k B (y - prior_mean)
    c_j = Cov(f, ∂_j f) = -∂_j k B k = ½ ∂_j σ²,     V_j = Var(∂_j f) = v_j - ∂_j k B ∂_j k

v_j is the variance of ∂_j f before any data.
"""

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .cholesky import solve
from .covariance import KernelRows
from .gp import GP


class Slopes(NamedTuple):
    """Posterior of (f, ∇f) at M points."""

    mean: Array  # (M,) μ
    var: Array  # (M,) σ²
    grad_mean: Array  # (M, D) ∂_j μ
    cov_f_grad: Array  # (M, D) c_j
    var_grad: Array  # (M, D) V_j


class Curvature(NamedTuple):
    """What is needed for the derivatives of `Slopes` by x.

    They are (D, D) at each point. `along` gives products with them; the matrices are never formed.
    """

    rows: KernelRows
    weights: Array  # (N,) B (y - prior_mean)
    solved: Array  # (M, 1 + D, N)  B k and B ∂_j k

    def along(self, mean: Array, cov: Array, var: Array) -> Array:
        """Σ_j mean_j ∂_l ∂_j μ + cov_j ∂_l c_j + var_j ∂_l V_j, (M, D); each factor is (M, D)."""
        # ∂_l c_j = -∂_l ∂_j k B k - ∂_j k B ∂_l k  and  ∂_l V_j = -2 ∂_l ∂_j k B ∂_j k, so that all of it is
        # Σ_jn w_jn ∂_l ∂_j k_n - Σ_j cov_j ∂_j k B ∂_l k,  w_j = mean_j B y - cov_j B k - 2 var_j B ∂_j k
        rows, solved_grad, h2 = self.rows, self.solved[:, 1:], self.rows.h2
        assert h2 is not None
        w = (-2.0 * var)[:, :, None] * solved_grad
        w += mean[:, :, None] * self.weights
        w -= cov[:, :, None] * self.solved[:, :1]
        across = np.einsum("mdn,mdn->mn", rows.s, w)  # for h2 s_l s_j, the part of ∂_l ∂_j k off the diagonal
        across *= h2[:, -1]
        diagonal = rows.h1
        if rows.r2.shape[1] > 1:
            diagonal = rows.r2[:, :-1] * h2[:, :-1]
            diagonal += rows.h1
        w *= diagonal
        answer = np.add.reduce(w, axis=2)
        answer *= rows.inverse
        answer += (rows.s @ across[:, :, None])[:, :, 0]
        answer -= (rows.k[:, 1:] @ (cov[:, None, :] @ solved_grad).transpose(0, 2, 1))[:, :, 0]
        return np.asarray(answer)


def slopes_at(gp: GP, x: Array) -> Slopes:
    """Posterior of (f, ∇f) at x (M, D): one factorisation, no refit."""
    return _slopes(gp, gp.rows(x))[0]


def slopes_and_curvature(gp: GP, x: Array) -> tuple[Slopes, Curvature]:
    """`slopes_at` x (M, D), and its derivatives by x."""
    rows = gp.rows(x, 2)
    slopes, solved = _slopes(gp, rows)
    return slopes, Curvature(rows, gp.weights, solved)


def curvature_of_mean(gp: GP, x: Array) -> tuple[Array, Array]:
    """∇μ (M, D) at x (M, D), and its derivatives ∂_l ∂_j μ (M, D, D)."""
    # ∂_l ∂_j μ = Σ_n w_n [h2 s_l s_j + δ_lj (h1_j + h2_j r_j²) / ℓ_j²]_n,  w = B (y - prior_mean)
    rows, weights = gp.rows(x, 2), gp.weights
    assert rows.h2 is not None
    curvature = (rows.s * (rows.h2[:, -1] * weights)[:, None]) @ rows.s.transpose(0, 2, 1)
    diagonal = rows.h1
    if rows.r2.shape[1] > 1:
        diagonal = rows.r2[:, :-1] * rows.h2[:, :-1]
        diagonal += rows.h1
    each = np.arange(x.shape[1])
    curvature[:, each, each] += (diagonal @ weights) * rows.inverse
    return rows.k[:, 1:] @ weights, curvature


def _slopes(gp: GP, rows: KernelRows) -> tuple[Slopes, Array]:
    """The slopes, and B k and B ∂_j k (M, 1 + D, N)."""
    k = rows.k
    M, both, N = k.shape
    half = solve(gp.chol, k.reshape(M * both, N).T)
    squares = np.einsum("nq,nq->q", half, half).reshape(M, both)
    solved = solve(gp.chol, half, transposed=True, overwrite=True).T.reshape(M, both, N)
    means = k @ gp.weights
    slopes = Slopes(
        mean=gp.prior_mean + means[:, 0],
        var=np.maximum(gp.hyper.variance - squares[:, 0], gp.floor),
        grad_mean=means[:, 1:],
        cov_f_grad=-(k[:, 1:] @ solved[:, 0, :, None])[:, :, 0],
        var_grad=gp.prior.of_slopes - squares[:, 1:],
    )
    return slopes, solved
