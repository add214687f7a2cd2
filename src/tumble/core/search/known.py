"""Constraints between parameters that are known beforehand: the search looks nowhere else.

They come as a function of points of the unit cube, and as some points that keep them. Nothing is said about
their form, so that climbs treat them as a wall; `polish` follows the wall sideways.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...inside import walk
from ..arrays import Array, Flags
from .maximize import Maxima, ValueAndGrad

FEW = 4  # points that are polished
AROUND = 64  # points that are tried around them, in each round
REACHES = (0.5, 0.2, 0.1, 0.03, 0.01, 0.003, 0.001)  # of the rounds, in lengthscales


@dataclass(frozen=True)
class Known:
    """The settings that keep every known constraint.

    Parameters
    ----------
    allows
        Which points (M, D) keep them.
    inside : (K, D)
        Points that do, spread over all of them.
    """

    allows: Callable[[Array], Flags]
    inside: Array

    def keep(self, points: Array) -> Array:
        """Those of `points` (M, D) that are allowed."""
        return np.asarray(points[self.allows(points)]) if len(points) else points

    def fill(self, points: Array, count: int, rng: np.random.Generator) -> Array:
        """Those of `points` (M, D) that are allowed, with others from a walk inside: at least `count`."""
        kept = self.keep(points)
        missing = count - len(kept)
        return kept if missing <= 0 else np.vstack([kept, walk(self.allows, self.inside, missing, rng)])

    def within(self, fun: ValueAndGrad) -> ValueAndGrad:
        """`fun`, and -inf where a point is not allowed."""

        def walled(x: Array) -> tuple[Array, Array]:
            allowed = self.allows(x)
            if allowed.all():
                return fun(x)
            value, grad = np.full(len(x), -np.inf), np.zeros_like(x)
            if allowed.any():
                value[allowed], grad[allowed] = fun(x[allowed])
            return value, grad

        return walled

    def polish(
        self, found: Maxima, worth: Callable[[Array], Array], scales: Array, moves: Flags,
        rng: np.random.Generator,
    ) -> Maxima:  # fmt: skip
        """`found` with better points beside the best ones, along the wall.

        Each round tries points around the FEW best ones and keeps the best; the rounds come ever closer.
        """
        order = np.argsort(-found.values, kind="stable")[:FEW]
        points, values = found.points[order], found.values[order]
        for reach in REACHES:
            steps = reach * np.minimum(scales, 0.5) * rng.standard_normal((AROUND, points.shape[1]))
            centres = points[rng.integers(len(points), size=AROUND)]
            tried = self.keep(np.clip(centres + np.where(moves, steps, 0.0), 0.0, 1.0))
            if len(tried):
                points, values = np.vstack([points, tried]), np.append(values, worth(tried))
                best = np.argsort(-values, kind="stable")[:FEW]
                points, values = points[best], values[best]
        return Maxima(np.vstack([points, found.points]), np.append(values, found.values))

    def best(self, found: Maxima) -> Array:
        """(D,) the point of the largest value that is allowed when it is looked at alone.

        Functions may round differently for one point and for many. Right at the wall this decides.
        """
        for i in np.argsort(-found.values, kind="stable"):
            if self.allows(found.points[[i]])[0]:
                return np.asarray(found.points[i])
        return np.asarray(self.inside[0])
