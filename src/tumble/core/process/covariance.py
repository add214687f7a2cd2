"""The prior covariance of a process, and its derivatives by a query point.

A share `additive` of the variance may lie in a sum of one-dimensional effects, one a coordinate, with the
same lengthscales:

    k(x, y) = variance [ (1 - additive) h0(Σ_j r_j²) + additive/D Σ_j h0(r_j²) ],   r_j = (x_j - y_j) / ℓ_j

where h0 is a radial kernel of unit variance (core.process.kernels).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ..arrays import Array
from .kernels import ADD_EFFECTS, KERNELS, Kernel

BLOCK = 40000  # covariances computed at once; so many fit into the processor's cache


@dataclass(frozen=True)
class Hyper:
    """Hyperparameters of one process, in model units.

    Parameters
    ----------
    lengthscales : (D,)
        One a coordinate of the unit cube.
    variance
        Of f before any data.
    noise
        Standard deviation of an observation's noise.
    additive
        Share of the variance in one-dimensional effects.
    learned_from
        Number of observations that they were learned from; 0 where they were not learned.
    """

    lengthscales: tuple[float, ...]
    variance: float
    noise: float
    additive: float = 0.0
    learned_from: int = 0


class KernelRows(NamedTuple):
    """Covariances of M query points with N data, and what their derivatives are made of.

        ∂_j k = h1_j s_j,      ∂_l ∂_j k = h2 s_l s_j + δ_lj (h1_j + h2_j r_j²) / ℓ_j²

    with h2 of the joint kernel, h2_j of the j-th effect, and h1_j the sum of both kernels' h1. Without an
    additive share there are no effects.
    """

    s: Array  # (M, D, N) (x - X) / ℓ²
    inverse: Array  # (D,) ℓ^-2
    k: Array  # (M, 1 + D, N) k and ∂_j k
    r2: Array  # (M, D + 1, N) r_j² of each effect and their sum, or (M, 1, N) without effects
    h1: Array  # (M, D, N), or (M, 1, N) without effects
    h2: Array | None  # as r2; None where second derivatives were not asked for


@dataclass(frozen=True)
class Covariance:
    """The prior covariance of a process with this kernel and these hyperparameters."""

    kernel: Kernel
    hyper: Hyper

    def between(self, A: Array, B: Array) -> Array:
        """(P, Q) k(a, b) for A (P, D) and B (Q, D)."""
        k = np.empty((len(A), len(B)))
        if k.size == 0:
            return k
        A, B = A * self.per_length, B * self.per_length
        h = self.hyper
        blocks = -(-k.size // BLOCK)
        step = -(-len(A) // blocks)  # equal blocks: a small one costs nearly as much as a large one
        memory = np.empty((3, step, len(B)))
        for start in range(0, len(A), step):
            rows, block = A[start : start + step], k[start : start + step]
            r2, *others = memory[:, : len(rows)]
            cdist(rows, B, "sqeuclidean", out=r2)
            KERNELS[self.kernel](r2, 0, (1.0 - h.additive) * h.variance, (*others, block))
            if h.additive:
                variance = h.additive * h.variance / A.shape[1]
                ADD_EFFECTS[self.kernel](block, rows, B, variance, memory[:2, : len(rows)])
        return k

    def among(self, A: Array) -> Array:
        """(P, P) k(a, b) for A (P, D): faster than `between` where they are few."""
        a = self.scaled(A)
        r2 = np.empty((len(a) + 1, len(A), len(A)))
        np.subtract(a[:, :, None], a[:, None, :], out=r2[:-1])
        r2[:-1] *= r2[:-1]
        np.add.reduce(r2[:-1], axis=0, out=r2[-1])
        of_each = r2 if self.hyper.additive else r2[-1:]
        k = KERNELS[self.kernel](of_each, 0, self._variances[:, :, None])[0]
        return np.asarray(np.add.reduce(k, axis=0))

    def row(self, a: Array, B: Array) -> Array:
        """(Q,) k(a, b) for one point a (D,) and B (Q, D): faster than `between` there."""
        h, kernel = self.hyper, KERNELS[self.kernel]
        r2 = (B - a).T
        r2 *= self.per_length[:, None]
        r2 *= r2
        k = kernel(np.add.reduce(r2, axis=0), 0, (1.0 - h.additive) * h.variance)[0]
        if h.additive:
            k += np.add.reduce(kernel(r2, 0, h.additive * h.variance / len(a))[0], axis=0)
        return k

    def rows(self, x: Array, scaled: Array, order: int = 1) -> KernelRows:
        """Covariances of x (M, D) with `scaled` data (D, N), and derivatives by x up to `order` (1 or 2)."""
        h, D = self.hyper, x.shape[1]
        per_length = self.per_length
        s = (x * per_length)[:, :, None] - scaled
        r2 = np.empty((len(x), D + 1, scaled.shape[1]))
        np.multiply(s, s, out=r2[:, :D])
        np.add.reduce(r2[:, :D], axis=1, out=r2[:, D])
        s *= per_length[:, None]
        if not h.additive:
            r2 = r2[:, D:]
        by_order = KERNELS[self.kernel](r2, order, self._variances)
        k = np.empty((len(x), D + 1, scaled.shape[1]))
        np.add.reduce(by_order[0], axis=1, out=k[:, 0])
        h1 = by_order[1][:, :D] + by_order[1][:, D:] if h.additive else by_order[1]
        np.multiply(h1, s, out=k[:, 1:])
        return KernelRows(s, per_length * per_length, k, r2, h1, by_order[2] if order > 1 else None)

    def scaled(self, X: Array) -> Array:
        """(D, N) data X (N, D) in units of the lengthscales, as `rows` wants them."""
        return np.ascontiguousarray((X * self.per_length).T)

    @cached_property
    def per_length(self) -> Array:
        """(D,) one over the lengthscales."""
        return np.asarray(1.0 / np.asarray(self.hyper.lengthscales))

    @cached_property
    def of_slopes(self) -> Array:
        """(D,) variances of ∂_j f before any data: -h1(0) / ℓ_j², for the joint kernel and one effect."""
        h, D = self.hyper, len(self.hyper.lengthscales)
        curvature = -KERNELS[self.kernel](np.zeros(1), 1, 1.0)[1][0] * (1.0 - h.additive + h.additive / D)
        return np.asarray(h.variance * curvature / np.square(h.lengthscales))

    @cached_property
    def _variances(self) -> Array:
        """(D + 1, 1) of each effect and of the joint kernel; (1, 1) where there are no effects."""
        h, D = self.hyper, len(self.hyper.lengthscales)
        effects = [h.additive * h.variance / D] * D if h.additive else []
        return np.array([*effects, (1.0 - h.additive) * h.variance])[:, None]
