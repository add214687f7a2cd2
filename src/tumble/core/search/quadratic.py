"""A small quadratic programme with linear limits, as a least distance (Lawson and Hanson 1974, ch. 23).

    minimise ½ dᵀ H d + gᵀ d   subject to   A d >= b

With H = L Lᵀ and y = Lᵀ d + L^-1 g it becomes: minimise |y|² subject to A L^-T y >= b + A H^-1 g. Its
multipliers solve a least-squares problem in numbers that are not negative.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from ..arrays import Array

IMPOSSIBLE = 1e-9  # of the residual: below it no d keeps every limit


class Step(NamedTuple):
    """The solution d (D,), and the multiplier of each limit (K,)."""

    d: Array
    multipliers: Array


def smallest(H: Array, g: Array, A: Array, b: Array) -> Step | None:
    """The solution for H (D, D), g (D,), A (K, D) and b (K,).

    None where no d keeps every limit, where H has a direction without curvature, or where rounding keeps the
    multipliers from being found.

    Examples
    --------
    >>> smallest(np.eye(2), np.array([-2.0, -2.0]), np.array([[-1.0, 0.0]]), np.array([-1.0])).d.round(6)
    array([1., 2.])
    """
    from scipy.optimize import nnls  # it takes a tenth of a second to load, and few searches need it

    L, info = dpotrf(H, lower=1, clean=1)
    if info != 0:
        return None
    free = dtrtrs(L, g, lower=1)[0]  # L^-1 g
    if len(b) == 0:
        return Step(np.asarray(dtrtrs(L, -free, lower=1, trans=1)[0]), np.zeros(0))
    rows = dtrtrs(L, A.T, lower=1)[0]  # L^-1 Aᵀ, (D, K)
    target = np.zeros(len(g) + 1)
    target[-1] = 1.0
    bounds = b + free @ rows
    size = max(1.0, float(np.abs(bounds).max(initial=0.0)))
    try:
        u, _ = nnls(np.vstack([rows, bounds / size]), target)
    except RuntimeError:  # too many steps: limits that say nearly the same take turns
        return None
    short = 1.0 - float(bounds @ u) / size
    if short < IMPOSSIBLE:
        return None
    multipliers = u * (size / short)
    return Step(np.asarray(dtrtrs(L, rows @ multipliers - free, lower=1, trans=1)[0]), multipliers)
