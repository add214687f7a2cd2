"""Points of the unit cube that keep what is known beforehand: found once, then multiplied by a walk.

What is known is a function `excess` of points (M, D): at most 0 where a point may be run. Its numbers say
nothing else but "less is nearer", which is enough to come inside from afar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Excess: TypeAlias = Callable[[Array], Array]
BATCH = 4096  # points that are drawn at once
BATCHES = 8
ENOUGH = 256  # points inside
HERD = 64  # points that approach together
APPROACH = 300  # steps of the herd, at most
SWEEPS = 12  # steps of a walk from points that are spread already
LONG = 150  # steps of a walk from few points


def find_inside(excess: Excess, dim: int) -> Array:
    """(K, D) points with an excess of at most 0, up to ENOUGH; none where none could be found.

    Points are drawn all over the cube. Where none is inside, the nearest ones approach. Where few are, they
    are multiplied by a walk.
    """
    rng = np.random.default_rng(0)
    found, nearest = np.empty((0, dim)), np.empty((0, dim))
    for _ in range(BATCHES):
        points = rng.random((BATCH, dim))
        missed = excess(points)
        found = np.vstack([found, points[missed <= 0.0]])[:ENOUGH]
        if len(found) == ENOUGH:
            return found
        if len(found) == 0:
            near = np.argsort(missed, kind="stable")[:HERD]
            nearest = _nearest(np.vstack([nearest, points[near]]), excess)
    if len(found) == 0:
        found = approach(excess, nearest, rng)
    return walk(lambda x: excess(x) <= 0.0, found, ENOUGH, rng, LONG) if len(found) else found


def _nearest(points: Array, excess: Excess) -> Array:
    return np.asarray(points[np.argsort(excess(points), kind="stable")[:HERD]])


def approach(excess: Excess, herd: Array, rng: np.random.Generator) -> Array:
    """(K, D) the points inside that a herd (M, D) reaches, by differential evolution on the excess.

    A step is x + F (p - x) + F (a - b), where p is a point of the nearer half, a and b are others, and F is
    uniform on [0.3, 1]; half of its coordinates stay. It is taken where the excess does not rise. The herd
    ends when half of it is inside, or has had half as many steps again as the first one needed.
    """
    missed = excess(herd)
    count, dim = herd.shape
    last = APPROACH
    for step in range(APPROACH):
        inside = np.count_nonzero(missed <= 0.0)
        last = min(last, step + step // 2 + 20) if inside else last
        if 2 * inside >= count or step >= last:
            break
        nearer = np.argsort(missed, kind="stable")[: (count + 1) // 2]
        p = herd[rng.choice(nearer, size=count)]
        a, b = (herd[rng.integers(count, size=count)] for _ in range(2))
        F = rng.uniform(0.3, 1.0, (count, 1))
        moved = herd + F * (p - herd) + F * (a - b)
        moved += 1e-2 * rng.random((count, 1)) ** 6 * rng.standard_normal((count, dim))
        trial = np.clip(np.where(rng.random((count, dim)) < 0.5, moved, herd), 0.0, 1.0)
        tried = excess(trial)
        better = tried <= missed
        herd, missed = np.where(better[:, None], trial, herd), np.where(better, tried, missed)
    return np.asarray(herd[missed <= 0.0])


def walk(
    is_inside: Callable[[Array], NDArray[np.bool_]], inside: Array, count: int, rng: np.random.Generator,
    steps: int = SWEEPS,
) -> Array:  # fmt: skip
    """(count, D) points inside, spread over the same region as `inside` (K, D), K >= 1.

    Each point walks `steps` steps: a step is γ (a - b) plus a little, with other points a and b, and is taken
    where it ends inside. γ is 2.38 / sqrt(2 D) times a factor between 0.01 and 1, or 1.
    """
    dim = inside.shape[1]
    points = inside[rng.integers(len(inside), size=count)] if len(inside) != count else inside.copy()
    for _ in range(steps):
        others = np.vstack([points, inside])
        a, b = (others[rng.integers(len(others), size=count)] for _ in range(2))
        factor = 10.0 ** rng.uniform(-2.0, 0.0, (count, 1)) * 2.38 / np.sqrt(2.0 * dim)
        factor = np.where(rng.random((count, 1)) < 0.1, 1.0, factor)
        little = 10.0 ** rng.uniform(-6.0, -1.0, (count, 1))
        trial = points + factor * (a - b) + little * rng.standard_normal((count, dim))
        trial = np.clip(trial, 0.0, 1.0)
        points = np.where(is_inside(trial)[:, None], trial, points)
    return points
