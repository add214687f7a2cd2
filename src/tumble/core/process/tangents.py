"""Covariances of all pairs of data, and their derivatives by the hyperparameters that a fit moves.

θ holds the logarithms of the D lengthscales and of the variance, that of the noise variance, and the logit
of the additive share a where there is one. For a pair at distances r_j (core.process.covariance):

    ∂k/∂log ℓ_j = -r_j² v [(1 - a) h1(r²) + a/D h1(r_j²)],     ∂k/∂log v = k
    ∂k/∂logit a = a (1 - a) v [Σ_j h0(r_j²)/D - h0(r²)],       ∂k/∂log noise = 0 off the diagonal
"""

from functools import lru_cache

import numpy as np
from scipy.linalg.blas import dsymm, dsymv
from scipy.special import expit

from ..arrays import Array, Indices
from .kernels import KERNELS, Kernel


@lru_cache(maxsize=4)
def _pairs_of(n: int) -> tuple[Indices, Indices]:
    """The first and the second of each pair of n data."""
    first, second = np.tril_indices(n, -1)
    return first, second


class PairCovariances:
    """The Q = N (N - 1) / 2 pairs of N data, or those of N data with M points (`across`)."""

    def __init__(self, kernel: Kernel, X: Array, *, additive: bool) -> None:
        self._first, self._second = _pairs_of(len(X))
        self.lower = self._first + len(X) * self._second  # where they lie in a matrix stored by columns
        columns = np.ascontiguousarray(X.T)
        distances = columns.take(self._first, axis=1)
        distances -= columns.take(self._second, axis=1)
        self._keep(kernel, distances, additive)
        self._matrix = np.zeros(len(X) ** 2)  # only what is `lower` is ever written

    @staticmethod
    def across(kernel: Kernel, points: Array, X: Array, *, additive: bool) -> "PairCovariances":
        """The Q = M N pairs of points (M, D) with data X (N, D), point by point."""
        pairs = PairCovariances.__new__(PairCovariances)
        pairs._keep(kernel, (points.T[:, :, None] - X.T[:, None, :]).reshape(X.shape[1], -1), additive)
        return pairs

    def _keep(self, kernel: Kernel, distances: Array, additive: bool) -> None:
        """Distances (D, Q) are worked out once."""
        self.kernel, self.additive, self.dim = kernel, additive, len(distances)
        self._distances = np.abs(distances, out=distances)
        self._squares = distances * distances
        self._tangents = np.zeros((self.dim + (3 if additive else 2), distances.shape[1]))
        self._memory = np.empty((2, *self._squares.shape))

    def tangents(self, theta: Array) -> Array:
        """(P, Q) derivatives of each pair's covariance by each of θ; row D is the covariance itself.

        The next call overwrites them.
        """
        dim = self.dim
        variance, inverse = np.exp(theta[dim]), np.exp(-2.0 * theta[:dim])
        r2 = np.multiply(self._squares, inverse[:, None], out=self._tangents[:dim])
        k, h1 = KERNELS[self.kernel](np.add.reduce(r2, axis=0), 1, variance)
        factors = np.negative(h1, out=h1)  # ∂k/∂log ℓ_j is r_j² times this
        if self.additive:
            share = float(expit(theta[-1]))
            effects, factors = self._effects(r2, inverse)
            effects *= variance / dim
            effects -= k  # Σ_j h0(r_j²)/D - h0(r²), times v
            k += share * effects
            np.multiply(effects, share * (1.0 - share), out=self._tangents[-1])
            factors *= share * variance / dim
            factors += (1.0 - share) * h1
        r2 *= factors
        self._tangents[dim] = k
        return self._tangents

    @property
    def latest(self) -> Array:
        """(P, Q) the latest `tangents`."""
        return self._tangents

    def times(self, pairs: Array, right: Array) -> Array:
        """The symmetric matrix with these `pairs` (Q,), and no diagonal, times `right` (N,) or (N, M)."""
        n = len(right)
        self._matrix[self.lower] = pairs
        product = dsymv if right.ndim == 1 else dsymm
        return np.asarray(product(1.0, self._matrix.reshape(n, n, order="F"), right, lower=1))

    def _effects(self, r2: Array, inverse: Array) -> tuple[Array, Array]:
        """Σ_j h0(r_j²) (Q,) and each -h1(r_j²) (D, Q), of unit variance.

        The distances r_j are at hand, so that no root is taken, as `KERNELS` would.
        """
        # With s_j = √5 r_j:  h0 = (1 + s_j + s_j²/3) exp(-s_j),  -h1 = 5/3 (1 + s_j) exp(-s_j)
        h1, e = self._memory
        if self.kernel == "se":
            np.multiply(r2, -0.5, out=h1)
            np.exp(h1, out=h1)
            return np.add.reduce(h1, axis=0), h1
        np.multiply(self._distances, -np.sqrt(5.0 * inverse)[:, None], out=h1)  # -s_j
        np.exp(h1, out=e)
        np.subtract(1.0, h1, out=h1)
        h1 *= e
        h0 = np.einsum("jq,jq->q", r2, e)
        h0 *= 5.0 / 3.0
        h0 += np.add.reduce(h1, axis=0)
        h1 *= 5.0 / 3.0
        return h0, h1
