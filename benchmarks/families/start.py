"""No safe start, and tiny safe areas: between 0.2 and 3 % of the box.

Classical functions in two to five parameters. In one draw of two the run begins with nothing, else with an
unsafe point, which is the one of 64 that is nearest to safe by its rank.
"""

from __future__ import annotations

import numpy as np

from .classic import draw_shape, draw_share, in_units
from .landscape import Array, Landscape
from .member import Drawn, draw_budget

NAME = "start"
SHARES = (0.002, 0.03)


def draw(seed: int) -> Drawn:
    """The member of this seed."""
    rng = np.random.default_rng([7, seed])
    shape = draw_shape(
        rng, forbid=bool(rng.random() < 0.5), share=draw_share(rng, SHARES), largest=5, most_limits=3
    )
    landscape = in_units(rng, shape)
    start = _unsafe(landscape, seed) if rng.random() < 0.5 else None
    trials, failures = draw_budget(rng)
    return Drawn(
        NAME, seed, landscape, shape.limits.names, start, trials, failures,
        np.zeros(1 + len(shape.limits.names)),
        f"{shape.name}, {'no start' if start is None else 'an unsafe start'}",
    )  # fmt: skip


def _unsafe(landscape: Landscape, seed: int) -> Array:
    points = landscape.uniform(64, seed)
    points = points[~landscape.safe(points)]
    ranks = np.argsort(np.argsort(landscape.edges(points), axis=0), axis=0).max(axis=1)
    start: Array = points[int(np.argmin(ranks))]
    return start
