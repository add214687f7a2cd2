"""Kernels, as functions of r², the squared distance in lengthscales, and sums of their effects.

A radial kernel is given by three functions of r², from which every derivative of the process follows:

    h0 = k,     h1 = 2 dk/dr²,     h2 = 4 d²k/d(r²)²

An effect is the same kernel of one coordinate alone. A caller may pass arrays to write into, because a large
new array takes longer to allocate than to fill.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np

from ..arrays import Array

Kernel = Literal["se", "matern52"]
Memory = Sequence[Array | None]  # for h1, h2 and h0; None for a new array

NEW_ARRAYS: Memory = (None, None, None)
SQRT5 = np.sqrt(5.0)
FAR = 30.0  # √5 times the distance in lengthscales, from which on sums of such products lose digits
SMALL = 10000  # covariances that are worth a call of their own
WIDE = 300.0  # the same, from which on a product of two exponentials may overflow


class Radial(Protocol):
    """A radial kernel as a function of r²."""

    def __call__(
        self, r2: Array, order: int, variance: float | Array, memory: Memory = NEW_ARRAYS
    ) -> list[Array]:
        """h0, h1, h2 up to `order`, with k(0) = `variance`."""


def _squared_exponential(
    r2: Array, order: int, variance: float | Array, memory: Memory = NEW_ARRAYS
) -> list[Array]:
    # h0 = v exp(-r²/2),  h1 = -h0,  h2 = h0
    h = np.multiply(r2, -0.5, out=memory[2])
    np.exp(h, out=h)
    h *= variance
    return [h, -h, h][: order + 1] if order else [h]


def _matern52(r2: Array, order: int, variance: float | Array, memory: Memory = NEW_ARRAYS) -> list[Array]:
    # With s = √5 r:  h0 = v (1 + s + s²/3) exp(-s),  h1 = -5/3 v (1 + s) exp(-s),  h2 = 25/3 v exp(-s)
    h1 = np.multiply(r2, 5.0, out=memory[0])
    np.sqrt(h1, out=h1)  # s
    h2 = np.negative(h1, out=memory[1])
    np.exp(h2, out=h2)
    h2 *= variance  # v exp(-s)
    h1 += 1.0
    h1 *= h2  # v (1 + s) exp(-s)
    h0 = np.multiply(r2, 5.0 / 3.0, out=memory[2])
    h0 *= h2
    h0 += h1
    if order >= 1:
        h1 *= -5.0 / 3.0
    if order >= 2:
        h2 *= 25.0 / 3.0
    return [h0, h1, h2][: order + 1]


def _add_squared_exponential_effects(k: Array, A: Array, B: Array, variance: float, memory: Array) -> None:
    # k_pq += v Σ_j exp(-(a_pj - b_qj)²/2)
    for a, b in zip(A.T, B.T, strict=True):
        r2 = np.subtract.outer(a, b, out=memory[0])
        r2 *= r2
        k += _squared_exponential(r2, 0, variance, (None, None, memory[1]))[0]


def _add_matern52_effects(k: Array, A: Array, B: Array, variance: float, memory: Array) -> None:
    # k_pq += v Σ_j m(√5 |a_pj - b_qj|),  m(s) = (1 + s + s²/3) exp(-s).
    # m(a - b) is a sum of three products left_i(a) right_i(b), so that no exponential of a pair is needed.
    # The absolute value is not needed either: m(|a - b|) is the smaller of m(a - b) and m(b - a).
    # Where a coordinate is long, the products lose digits, and the exponentials are taken by themselves.
    centre = 0.5 * (np.maximum.reduce(B, axis=0) + np.minimum.reduce(B, axis=0))
    a, b = SQRT5 * (A - centre).T, SQRT5 * (B - centre).T  # (D, P), (D, Q)
    longest = [np.maximum.reduce(np.abs(each), axis=1) for each in (a, b)]
    is_far = np.maximum(*longest) > FAR
    if np.count_nonzero(is_far):
        for p, q in zip(a[is_far], b[is_far], strict=True):
            k += _matern52_between(p, q, variance, *memory)
        a, b = a[~is_far], b[~is_far]
    left, right = _left(a, variance), _right(b)
    count = max(1, SMALL // k.size)  # coordinates at once: a call costs as much as so many covariances
    for start in range(0, len(a), count):
        some = slice(start, start + count)
        both = np.matmul(left[:, some], right[:, some], out=memory[:, None] if count == 1 else None)
        forward, backward = both  # m(a - b) and m(b - a) of each coordinate
        for effect in np.minimum(forward, backward, out=forward):
            k += effect


def _matern52_between(a: Array, b: Array, variance: float, s: Array, decay: Array) -> Array:
    """v m(|a_p - b_q|) (P, Q), written to `s`; `decay` (P, Q) is overwritten."""
    # m(s) = ((s + 3/2)² + 3/4)/3 exp(-s); exp(-|a - b|) is the smaller of exp(-a) exp(b) and exp(a) exp(-b)
    if max(np.abs(a).max(), np.abs(b).max()) < WIDE:
        np.multiply.outer(np.exp(-a), variance / 3.0 * np.exp(b), out=decay)
        np.multiply.outer(np.exp(a), variance / 3.0 * np.exp(-b), out=s)
        np.minimum(decay, s, out=decay)
        np.abs(np.subtract.outer(a, b, out=s), out=s)
    else:
        np.abs(np.subtract.outer(a, b, out=s), out=s)
        np.exp(np.negative(s, out=decay), out=decay)
        decay *= variance / 3.0
    s += 1.5
    s *= s
    s += 0.75
    s *= decay
    return s


def _left(a: Array, variance: float) -> Array:
    """(2, D, P, 3) the factors v/3 exp(-a) (a² + 3a + 3, -2a - 3, 1) of a (D, P), and those of -a."""
    a = np.array((a, -a))
    e = np.exp(-a)
    e *= variance / 3.0
    left = np.empty((*a.shape, 3))
    np.multiply((a + 3.0) * a + 3.0, e, out=left[..., 0])
    np.multiply(-2.0 * a - 3.0, e, out=left[..., 1])
    left[..., 2] = e
    return left


def _right(b: Array) -> Array:
    """(2, D, 3, Q) the factors exp(b) (1, b, b²) of b (D, Q), and those of -b."""
    b = np.array((b, -b))
    right = np.empty((*b.shape[:2], 3, b.shape[2]))
    np.exp(b, out=right[:, :, 0])
    np.multiply(right[:, :, 0], b, out=right[:, :, 1])
    np.multiply(right[:, :, 1], b, out=right[:, :, 2])
    return right


KERNELS: dict[Kernel, Radial] = {"se": _squared_exponential, "matern52": _matern52}
# k (P, Q), A (P, D), B (Q, D), k(0) of one effect, memory (2, P, Q): adds Σ_j h0((a_j - b_j)²) to k
ADD_EFFECTS: dict[Kernel, Callable[[Array, Array, Array, float, Array], None]] = {
    "se": _add_squared_exponential_effects,
    "matern52": _add_matern52_effects,
}
