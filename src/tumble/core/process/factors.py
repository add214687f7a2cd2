"""Cholesky factors of many data: a factor is kept between two suggestions.

A covariance depends on where the data lie and on the hyperparameters. Where there are many data, those are
learned anew only when there are a quarter more. Until then a factor only grows. With n0 the largest multiple
of a step up to N:

    L = [[L0, 0], [C, L1]],     C = (L0^-1 K01)ᵀ,     L1 L1ᵀ = K11 - C Cᵀ

L0 is the factor of the first n0 data, and it is kept. A factor is computed in the same way whether L0 was
kept or not, so that what is kept changes no bit of an answer.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf

from ..arrays import Array
from .cholesky import cholesky, solve
from .covariance import Covariance, Hyper
from .kept import Kept
from .kernels import Kernel

FEW = 400  # data, up to which the step is short
SHORT_STEP, STEP = 16, 64  # rows of the two steps
MOST_BYTES = 128 * 2**20  # of the factors that are kept

FACTORS = Kept(MOST_BYTES)


def factor_of(kernel: Kernel, hyper: Hyper, X: Array, nugget: float, factors: Kept = FACTORS) -> Array:
    """(N, N) the lower factor of the covariance of X (N, D) with `nugget` on its diagonal."""
    covariance, n = Covariance(kernel, hyper), len(X)
    step = SHORT_STEP if n <= FEW else STEP
    first = step * (n // step)
    key = kernel, hyper.lengthscales, hyper.variance, hyper.additive, nugget, X[:first].tobytes()
    known = factors.get(key)
    top = _factor(covariance, X[:first], nugget) if known is None else known[0]
    if known is None:
        factors.keep(key, top)
    return _with_rows(top, covariance, X, nugget)


def _with_rows(top: Array, covariance: Covariance, X: Array, nugget: float) -> Array:
    """(N, N) the factor of X (N, D), where `top` is that of the first data."""
    n, first = len(X), len(top)
    whole = np.zeros((n, n), order="F")
    whole[:first, :first] = top
    if n > first:
        K = covariance.between(X[first:], X)  # (N - n0, N)
        across = solve(top, K[:, :first].T)
        block = K[:, first:] - across.T @ across
        block.flat[:: len(block) + 1] += nugget
        whole[first:, :first], whole[first:, first:] = across.T, cholesky(block)
    return whole


def _factor(covariance: Covariance, X: Array, nugget: float) -> Array:
    K = covariance.between(X, X)
    K.flat[:: len(K) + 1] += nugget
    factor, info = dpotrf(K.T, lower=1, clean=1, overwrite_a=1)  # K is symmetric: no copy is made of it
    if info == 0:
        return np.asarray(factor)
    K = covariance.between(X, X)  # the first was overwritten
    K.flat[:: len(K) + 1] += nugget
    return cholesky(K)
