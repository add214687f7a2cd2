"""Cholesky factors, and triangular solves with them."""

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri, dtrtrs

from ..arrays import Array

FEWEST, MOST = 41, 256  # data; with as many, an inverse pays that is used in one suggestion
JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)  # tried in turn, in units of the mean variance


def cholesky(K: Array) -> Array:
    """Lower factor of K (N, N), with as little jitter as it takes; K stays as it is."""
    for jitter in JITTERS:
        factor, info = dpotrf(_with_jitter(K, jitter) if jitter else K, lower=1, clean=1)
        if info == 0:
            return np.asarray(factor)
    raise FloatingPointError(f"covariance of {len(K)} points is not positive definite")  # pragma: no cover


def _with_jitter(K: Array, jitter: float) -> Array:
    return K + jitter * float(np.mean(np.diag(K))) * np.eye(len(K))


def with_row(chol: Array, k: Array, least: float = 0.0) -> Array:
    """Lower factor (N + 1, N + 1), from that of N rows and the row k (N + 1,) that is added to the matrix.

    The matrix needs no jitter. A row changes no bit of those before it.

    least: the square of the new row's last entry is known to be no smaller, but for rounding.
    """
    n = len(chol)
    whole = np.zeros((n + 1, n + 1), order="F")
    row = solve(chol, k[:n])
    whole[:n, :n], whole[n, :n], whole[n, n] = chol, row, np.sqrt(max(k[n] - row @ row, least))
    return whole


def inverse_with_row(inverse: Array, row: Array) -> Array:
    """The inverse (N + 1, N + 1) of a lower factor, from that of N rows and the factor's new row (N + 1,)."""
    # [[L, 0], [r, s]]^-1 = [[L^-1, 0], [-r L^-1 / s, 1 / s]]
    n = len(inverse)
    whole = np.zeros((n + 1, n + 1), order="F")
    whole[:n, :n], whole[n, :n], whole[n, n] = inverse, (row[:n] @ inverse) / -row[n], 1.0 / row[n]
    return whole


def solve(chol: Array, right: Array, *, transposed: bool = False, overwrite: bool = False) -> Array:
    """chol^-1 right, or chol^-T right.

    Parameters
    ----------
    chol : (N, N)
        A lower triangular factor.
    right : (N,) or (N, Q)
        The right-hand side.
    transposed
        Solve with cholᵀ.
    overwrite
        `right` is not needed any more, so that its memory may hold the solution.
    """
    if chol.shape[0] == 0:
        return right
    return np.asarray(dtrtrs(chol, right, lower=1, trans=int(transposed), overwrite_b=int(overwrite))[0])


def inverse(chol: Array) -> Array:
    """chol^-1 (N, N) of a lower factor."""
    return np.asarray(dtrtri(chol, lower=1)[0])


def inverse_if_faster(chol: Array) -> Array | None:
    """chol^-1 (N, N), where products with it are faster than `solve`; else None."""
    return inverse(chol) if FEWEST <= len(chol) <= MOST else None
