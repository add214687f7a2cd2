"""Random limits on the unit cube: planes, balls, holes, bands, stripes, islands, set to a feasible share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .landscape import Array, Function

SAMPLE = 4096  # points by which the levels are set


@dataclass(frozen=True, eq=False)
class Limits:
    """G limits scale_j · (r_j(u) − t_j) over the unit cube, by their names."""

    names: tuple[str, ...]
    raw: Callable[[Array], Array]
    levels: Array
    scales: Array

    def __call__(self, unit: Array) -> Array:
        """The limits (n, G) at points (n, D)."""
        return self.scales * (self.raw(unit) - self.levels)


def _direction(rng: np.random.Generator, dimension: int) -> Array:
    way = rng.standard_normal(dimension)
    result: Array = way / np.linalg.norm(way)
    return result


def _plane(rng: np.random.Generator, dimension: int) -> Function:
    way = _direction(rng, dimension)
    return lambda u: u @ way


def _ball(rng: np.random.Generator, dimension: int) -> Function:
    centre = rng.uniform(0.1, 0.9, dimension)
    return lambda u: np.linalg.norm(u - centre, axis=-1)


def _hole(rng: np.random.Generator, dimension: int) -> Function:
    centre = rng.uniform(0.1, 0.9, dimension)
    return lambda u: -np.linalg.norm(u - centre, axis=-1)


def _band(rng: np.random.Generator, dimension: int) -> Function:
    way, centre = _direction(rng, dimension), rng.uniform(0.2, 0.8, dimension)
    return lambda u: np.abs((u - centre) @ way)


def _stripes(rng: np.random.Generator, dimension: int) -> Function:
    way, phase = (
        2.0 * np.pi * rng.uniform(1.0, 2.5) * _direction(rng, dimension),
        rng.uniform(0.0, 2.0 * np.pi),
    )
    return lambda u: np.sin(u @ way + phase)


def _islands(rng: np.random.Generator, dimension: int) -> Function:
    centres = rng.uniform(0.05, 0.95, (int(rng.integers(2, 5)), dimension))
    return lambda u: np.linalg.norm(u[..., None, :] - centres, axis=-1).min(axis=-1)


KINDS: dict[str, Callable[[np.random.Generator, int], Function]] = {
    "plane": _plane,
    "ball": _ball,
    "hole": _hole,
    "band": _band,
    "stripes": _stripes,
    "islands": _islands,
}


def draw_limits(
    rng: np.random.Generator, dimension: int, count: int, share: float, kinds: Sequence[str] = tuple(KINDS)
) -> Limits:
    """``count`` limits that leave ``share`` of the cube."""
    chosen = [str(kind) for kind in rng.choice(list(kinds), count)]
    raw = _together([KINDS[kind](rng, dimension) for kind in chosen])
    names = tuple(f"{kind}-{i + 1}" for i, kind in enumerate(chosen))
    sample = rng.random((SAMPLE, dimension))
    return Limits(names, raw, levels(raw(sample), share), 10.0 ** rng.uniform(-1.0, 3.0, count))


def place_beyond(rng: np.random.Generator, limits: Limits, dimension: int, distance: float) -> Array:
    """A forbidden point at about ``distance`` from a safe one on the edge of the limits."""
    sample = rng.uniform(0.05, 0.95, (SAMPLE, dimension))
    safe = np.all(limits(sample) <= 0.0, axis=1)
    inside, outside = sample[safe], sample[~safe]
    if not len(inside):
        inside = sample[[int(np.argmin(limits(sample).max(axis=1)))]]
    point: Array = outside[0]
    for _ in range(50):
        a, b = inside[int(rng.integers(len(inside)))], outside[int(rng.integers(len(outside)))]
        point = np.clip(_edge(limits, a, b) + distance * (b - a) / np.linalg.norm(b - a), 0.02, 0.98)
        if np.any(limits(point[None]) > 0.0):
            break
    return point


def place_inside(rng: np.random.Generator, limits: Limits, dimension: int) -> Array:
    """A safe point of the cube, or the nearest to safe where the sample has none."""
    sample = rng.uniform(0.05, 0.95, (SAMPLE, dimension))
    point: Array = sample[int(np.argmin(np.maximum(limits(sample), 0.0).sum(axis=1)))]
    return point


def _edge(limits: Limits, inside: Array, outside: Array) -> Array:
    """The last safe point before the edge on the way from a safe point to a forbidden one."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2.0
        if np.all(limits((inside + middle * (outside - inside))[None]) <= 0.0):
            low = middle
        else:
            high = middle
    return inside + low * (outside - inside)


def _together(functions: Sequence[Function]) -> Function:
    return lambda u: np.stack([function(u) for function in functions], axis=-1)


def levels(values: Array, share: float) -> Array:
    """Levels (G,) for values (n, G), one quantile for all, so that ``share`` of the rows is below each."""
    ranks = np.argsort(np.argsort(values, axis=0), axis=0) / len(values)
    worst = np.sort(ranks.max(axis=1))
    quantile = min(1.0, float(worst[max(1, round(share * len(worst))) - 1]) + 0.5 / len(values))
    result: Array = np.quantile(values, quantile, axis=0)
    return result
