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
    rng: np.random.Generator,
    dimension: int,
    count: int,
    share: float,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    forbidden: Array | None = None,
    allowed: Array | None = None,
    tries: int = 40,
) -> Limits:
    """``count`` limits that leave ``share`` of the cube, with a point that is forbidden or allowed.

    Where no try fulfils the wish for the point, the last one is taken.
    """
    sample = rng.random((SAMPLE, dimension))
    limits = None
    for _ in range(tries):
        chosen = [str(kind) for kind in rng.choice(list(kinds), count)]
        functions = [KINDS[kind](rng, dimension) for kind in chosen]
        raw = _together(functions)
        names = tuple(f"{kind}-{i + 1}" for i, kind in enumerate(chosen))
        limits = Limits(names, raw, levels(raw(sample), share), 10.0 ** rng.uniform(-1.0, 3.0, count))
        if forbidden is not None and np.all(limits(forbidden[None]) <= 0.0):
            continue
        if allowed is None or np.all(limits(allowed[None]) <= 0.0):
            break
    assert limits is not None
    return limits


def _together(functions: Sequence[Function]) -> Function:
    return lambda u: np.stack([function(u) for function in functions], axis=-1)


def levels(values: Array, share: float) -> Array:
    """Levels (G,) for values (n, G), one quantile for all, so that ``share`` of the rows is below each."""
    ranks = np.argsort(np.argsort(values, axis=0), axis=0) / len(values)
    worst = np.sort(ranks.max(axis=1))
    quantile = min(1.0, float(worst[max(1, round(share * len(worst))) - 1]) + 0.5 / len(values))
    result: Array = np.quantile(values, quantile, axis=0)
    return result
