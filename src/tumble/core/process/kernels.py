"""Kernels as functions of r², the squared distance in lengthscales; sums of their one-dimensional effects.

A radial kernel is given by three functions of r²: h0 = k, h1 = 2 dk/dr², h2 = 4 d²k/d(r²)². Every derivative
of the process follows from those.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ..arrays import Array

Work = Sequence[Array | None]  # memory for h1, h2 and h0: a large array is dearer to ask for than to fill

ANYWHERE: Work = (None, None, None)
SQRT5 = np.sqrt(5.0)
FAR = 15.0  # beyond so many √5 lengthscales products of exponentials lose digits


def _squared_exponential(
    r2: Array, order: int, variance: float | Array, work: Work = ANYWHERE
) -> list[Array]:
    h = np.multiply(r2, -0.5, out=work[2])
    np.exp(h, out=h)
    h *= variance
    return [h, -h, h][: order + 1] if order else [h]


def _matern52(r2: Array, order: int, variance: float | Array, work: Work = ANYWHERE) -> list[Array]:
    rising = np.multiply(r2, 5.0, out=work[0])
    np.sqrt(rising, out=rising)
    e = np.negative(rising, out=work[1])
    np.exp(e, out=e)
    e *= variance
    rising += 1.0
    rising *= e
    h0 = np.multiply(r2, 5.0 / 3.0, out=work[2])
    h0 *= e
    h0 += rising
    if order >= 1:
        rising *= -5.0 / 3.0
    if order >= 2:
        e *= 25.0 / 3.0
    return [h0, rising, e][: order + 1]


def _squared_exponential_effects(k: Array, A: Array, B: Array, variance: float, work: Array) -> None:
    for a, b in zip(A.T, B.T, strict=True):
        r2 = np.subtract.outer(a, b, out=work[0])
        r2 *= r2
        k += _squared_exponential(r2, 0, variance, (None, None, work[1]))[0]


def _matern52_effects(k: Array, A: Array, B: Array, variance: float, work: Array) -> None:
    """In one dimension (1 + r + r²/3) exp(-r) with r = a - b is a product of rank three, without a root or an
    exponential of a pair; so is the one with r = b - a, and the smaller of the two is the kernel.
    """
    centre = 0.5 * (B.max(axis=0) + B.min(axis=0))
    a, b = SQRT5 * (A - centre).T, SQRT5 * (B - centre).T  # (D, P), (D, Q)
    if max(np.abs(a).max(), np.abs(b).max()) > FAR:
        for p, q in zip(a, b, strict=True):
            k += _matern52((p[:, None] - q) ** 2 / 5.0, 0, variance)[0]
        return
    falling, rising = work
    for left, other_left, right, other_right in zip(*_left(a, variance), *_right(b), strict=True):
        np.matmul(left, right, out=falling)
        np.matmul(other_left, other_right, out=rising)
        k += np.minimum(falling, rising, out=falling)


def _left(a: Array, variance: float) -> Array:
    """(2, D, P, 3) what of (1 + r + r²/3) exp(-r), r = a - b, is a function of a; and the same for -a."""
    a = np.stack([a, -a])
    e = np.exp(-a)
    e *= variance / 3.0
    left = np.empty((*a.shape, 3))
    np.multiply((a + 3.0) * a + 3.0, e, out=left[..., 0])
    np.multiply(-2.0 * a - 3.0, e, out=left[..., 1])
    left[..., 2] = e
    return left


def _right(b: Array) -> Array:
    """(2, D, 3, Q) and what is one of b; and the same for -b."""
    b = np.stack([b, -b])
    right = np.empty((*b.shape[:2], 3, b.shape[2]))
    np.exp(b, out=right[:, :, 0])
    np.multiply(right[:, :, 0], b, out=right[:, :, 1])
    np.multiply(right[:, :, 1], b, out=right[:, :, 2])
    return right


class Radial(Protocol):
    """A radial kernel as a function of r²."""

    def __call__(self, r2: Array, order: int, variance: float | Array, work: Work = ANYWHERE) -> list[Array]:
        """h0, h1, h2 up to `order`, with k(0) = `variance`."""


KERNELS: dict[str, Radial] = {"se": _squared_exponential, "matern52": _matern52}
# k (P, Q), A (P, D), B (Q, D), k(0), memory (2, P, Q): adds Σ_j h0((a_j - b_j)²) to k
EFFECTS: dict[str, Callable[[Array, Array, Array, float, Array], None]] = {
    "se": _squared_exponential_effects,
    "matern52": _matern52_effects,
}
