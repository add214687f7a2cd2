"""Noise in the objective and in the limits, with the best safe point on a limit.

Bowls without a second minimum, whose minimiser a limit forbids: the best safe point then lies on a limit.
The seed draws the bowl in two to six parameters, one to three limits that leave 5 to 60 %, the noise of 1, 2,
5 or 10 % of each output's robust spread, the start, T and B. `Problem.noise_free` is the truth behind it.
"""

from __future__ import annotations

import numpy as np

from .classic import draw_shape, draw_share, in_units
from .functions import BOWLS
from .member import Drawn, draw_budget, poor_start
from .process import robust_spreads

NAME = "noise"
SHARES = (0.05, 0.6)
NOISES = (0.01, 0.02, 0.05, 0.1)


def draw(seed: int) -> Drawn:
    """The member of this seed."""
    rng = np.random.default_rng([6, seed])
    shape = draw_shape(
        rng, forbid=True, share=draw_share(rng, SHARES), functions=BOWLS, largest=6, most_limits=3
    )
    landscape, level = in_units(rng, shape), float(rng.choice(NOISES))
    trials, failures = draw_budget(rng)
    return Drawn(
        NAME, seed, landscape, shape.limits.names, poor_start(landscape, rng, seed), trials, failures,
        level * robust_spreads(landscape, seed), f"{shape.name}, noise {level:.0%}",
    )  # fmt: skip
