"""The settings that can be run, where they are not the whole unit cube: steps, integers, choices."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Flags, Indices
from .maximize import Maxima, ValueAndGrad

FEW = 4  # points whose neighbours are looked at
ROUNDS = 8  # steps to a better neighbour, at most


@dataclass(frozen=True)
class Domain:
    """The admissible part of the unit cube.

    Parameters
    ----------
    snap
        Maps points (M, D) to the nearest admissible ones.
    moves : (D,)
        The coordinates that move freely: every value between 0 and 1 is admissible.
    neighbours
        The admissible points (K, D) that differ from an admissible point (D,) by one step of one parameter,
        or by one choice.
    owners : (D,)
        The number of the parameter that each coordinate belongs to: a choice may have several.
    points : (P, D)
        Every admissible point, where they are few; None where they are not.
    """

    snap: Callable[[Array], Array]
    moves: Flags
    neighbours: Callable[[Array], Array]
    owners: Indices
    points: Array | None = None

    def admissible(self, points: Array) -> Array:
        """(K, D) the different admissible points next to `points` (M, D), in the same order."""
        snapped = self.snap(points)
        _, first = np.unique(snapped, axis=0, return_index=True)
        return np.asarray(snapped[np.sort(first)])

    def never_turned(self, points: Array) -> Flags:
        """(D,) the coordinates of the steps and choices that are the same at all of `points` (M, D)."""
        turned = self.owners[(points != points[0]).any(axis=0)]
        return np.asarray(~self.moves & ~np.isin(self.owners, turned))

    def held(self, fun: ValueAndGrad) -> ValueAndGrad:
        """`fun` with a gradient that moves no coordinate but those that move freely."""

        def along(x: Array) -> tuple[Array, Array]:
            value, grad = fun(x)
            return value, np.where(self.moves, grad, 0.0)

        return along

    def ascend(
        self, climb: Callable[[Array], Maxima], worth: Callable[[Array], Array], starts: Array
    ) -> Maxima:
        """Local maxima of `worth` among admissible points, from admissible `starts` (M, D).

        In turn, the free coordinates climb (`climb`) and the best points step to their best neighbour, until
        no neighbour of the FEW best points is better.
        """
        best = climb(starts)
        points, values = best.points[:FEW], worth(best.points[:FEW])
        for _ in range(ROUNDS):
            found = [np.vstack([x, self.neighbours(x)]) for x in points]
            ends = np.cumsum([len(rows) for rows in found])[:-1]
            gained = np.split(worth(np.vstack(found)), ends)
            steps = [rows[gain.argmax()] for rows, gain in zip(found, gained, strict=True)]
            better = np.array([gain.max() for gain in gained]) > values
            if not better.any():
                break
            climbed = climb(np.array(steps)[better])
            points, values = _best(np.vstack([points, climbed.points]), worth)
        return Maxima(np.vstack([points, best.points[FEW:]]), np.append(values, best.values[FEW:]))


def _best(points: Array, worth: Callable[[Array], Array]) -> tuple[Array, Array]:
    """The FEW best of `points`, and their values."""
    points = np.unique(points, axis=0)
    values = worth(points)
    order = np.argsort(-values, kind="stable")[:FEW]
    return points[order], values[order]
