"""The engineering designs of `tumble.problems`, as published and with tightened limits.

Seed k is the design k mod n of n designs in `tumble.problems.designs`. The first n seeds are the published
forms. Later ones tighten each limit by up to 10 % of what is allowed (less where that leaves no
design) and draw the start, T and B.
"""

from __future__ import annotations

import numpy as np

from tumble.problems import Optimum
from tumble.problems.designs import DESIGNS, Design

from .landscape import Landscape
from .member import Drawn, draw_budget, poor_start

NAME = "design"
LATER = ("car-sheets",)  # no seed draws these: they came after the first results, which stay as they are
DRAWN = [design for design in DESIGNS.values() if design.name not in LATER]


def draw(seed: int) -> Drawn:
    """The member of this seed."""
    variant, which = divmod(seed, len(DRAWN))
    design = DRAWN[which]
    return _tightened(design, seed) if variant else _published(design, seed)


def _published(design: Design, seed: int) -> Drawn:
    landscape = Landscape(design.space, design.objective, design.limits, hints=np.array([design.x_min]))
    how = f"published as {design.published:g}, and searched for again"
    known = Optimum(design.f_min, np.array(design.x_min), how)
    return Drawn(
        NAME, seed, landscape, design.limit_names, np.array(design.start), design.trials, design.failures,
        np.zeros(1 + len(design.limit_names)), f"{design.name} as published", solve=lambda: known,
    )  # fmt: skip


def _tightened(design: Design, seed: int) -> Drawn:
    rng = np.random.default_rng([3, seed])
    tighter = rng.uniform(0.0, design.slack, len(design.limit_names))
    landscape = Landscape(
        design.space,
        design.objective,
        lambda x: design.limits(x) + tighter,
        hints=np.array([design.x_min, design.start]),
    )
    start = poor_start(landscape, rng, seed, np.array(design.start))
    trials, failures = draw_budget(rng)
    return Drawn(
        NAME, seed, landscape, design.limit_names, start, trials, failures,
        np.zeros(1 + len(design.limit_names)), f"{design.name}, tightened by up to {tighter.max():.1%}",
    )  # fmt: skip
