"""Classical functions, shifted and rotated, in two to ten parameters, under random limits.

The seed draws the function, its dimension, where its minimiser lies, the rotation, one to four limits that
leave between 1 and 60 % of the box, the units, the start, T and B. In most draws the limits forbid
the minimiser, so that the best safe point usually lies on a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tumble.space import Float, Space

from .functions import BOWLS, MANY_MINIMA, Classic
from .landscape import Array, Landscape
from .limits import KINDS, Limits, draw_limits, place_beyond, place_inside
from .member import Drawn, draw_budget, poor_start

NAME = "classic"
LARGEST = 10
SHARES = (0.01, 0.6)
DISTANCES = (0.005, 0.2)  # how far beyond the edge a forbidden minimiser lies, in widths of the box
FORBIDDEN = 0.85  # how often the limits forbid the function's own minimiser


@dataclass(frozen=True, eq=False)
class Shape:
    """A function and its limits on the unit cube, before units."""

    name: str
    dimension: int
    objective: Callable[[Array], Array]
    limits: Limits
    minimiser: Array


def draw(seed: int) -> Drawn:
    """The member of this seed."""
    rng = np.random.default_rng([2, seed])
    shape = draw_shape(rng, forbid=bool(rng.random() < FORBIDDEN), share=draw_share(rng, SHARES))
    landscape = in_units(rng, shape)
    trials, failures = draw_budget(rng)
    return Drawn(
        NAME, seed, landscape, shape.limits.names, poor_start(landscape, rng, seed), trials, failures,
        np.zeros(1 + len(shape.limits.names)), f"{shape.name} in {shape.dimension} parameters",
    )  # fmt: skip


def draw_share(rng: np.random.Generator, shares: tuple[float, float]) -> float:
    """A number between two, even in its logarithm."""
    return float(np.exp(rng.uniform(*np.log(shares))))


def draw_shape(
    rng: np.random.Generator,
    *,
    forbid: bool,
    share: float,
    functions: Sequence[Classic] = (*MANY_MINIMA, *BOWLS),
    largest: int = LARGEST,
    fewest_limits: int = 1,
    most_limits: int = 4,
    kinds: Sequence[str] = tuple(KINDS),
) -> Shape:
    """A shifted, rotated function with limits that forbid or allow its minimiser."""
    classic = functions[int(rng.integers(len(functions)))]
    dimension = int(rng.choice([d for d in classic.dimensions if d <= largest]))
    count = int(rng.integers(fewest_limits, most_limits + 1))
    limits = draw_limits(rng, dimension, count, share, kinds)
    distance = draw_share(rng, DISTANCES)
    minimiser = (
        place_beyond(rng, limits, dimension, distance) if forbid else place_inside(rng, limits, dimension)
    )
    turned = draw_rotation(rng, dimension) if rng.random() < 0.7 else np.eye(dimension)
    native, width = classic.minimiser(dimension), (classic.high - classic.low) * rng.uniform(0.6, 1.0)

    def objective(u: Array) -> Array:
        return classic.function(native + width * (u - minimiser) @ turned.T)

    return Shape(classic.name, dimension, objective, limits, minimiser)


def draw_rotation(rng: np.random.Generator, dimension: int) -> Array:
    """A random orthogonal matrix."""
    q, r = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    rotation: Array = q * np.sign(np.diagonal(r))
    return rotation


def draw_box(rng: np.random.Generator, dimension: int) -> Space:
    """A box in units of its own: widths between 0.1 and 100."""
    low = np.round(rng.uniform(-5.0, 5.0, dimension) * 10.0 ** rng.integers(-1, 2, dimension), 3)
    width = np.round(10.0 ** rng.uniform(-1.0, 2.0, dimension), 3)
    return Space(
        {f"x{j + 1}": Float(float(a), float(a + w)) for j, (a, w) in enumerate(zip(low, width, strict=True))}
    )


def in_units(rng: np.random.Generator, shape: Shape) -> Landscape:
    """The shape over a box, with an objective in units of its own."""
    space = draw_box(rng, shape.dimension)
    scale, offset = 10.0 ** rng.uniform(-2.0, 3.0), rng.normal()
    frame = Landscape(space, lambda x: x[:, 0])
    return Landscape(
        space,
        objective=lambda x: scale * (shape.objective(frame.unit(x)) + offset),
        limits=lambda x: shape.limits(frame.unit(x)),
        hints=frame.points(shape.minimiser[None]),
    )
