"""Cholesky factors, and triangular solves with them."""

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri, dtrtrs

from ..arrays import Array

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


def cholesky_by_rows(K: Array, first: int) -> Array:
    """Lower factor of K (N, N): of its first rows at once, and then row by row.

    So more rows change no bit of those before them. K needs no jitter.
    """
    factor = np.zeros_like(K, order="F")
    factor[:first, :first] = cholesky(K[:first, :first])
    for i in range(first, len(K)):
        row = solve(factor[:i, :i], K[i, :i])
        factor[i, :i], factor[i, i] = row, np.sqrt(K[i, i] - row @ row)
    return factor


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
