"""Engineering designs of the literature with inequality limits, in their published constants.

Each limit is a load over what is allowed, minus one, without those that only repeat the bounds. What
divides by zero at a bound starts a little above it, and the design's `source` says so. `f_min` and `x_min`
are the best that a global search found; the tests repeat the search and compare with `published`.

Two published optima are not ours. A column of 26.4864 breaks its yield limit by 0.1 %. A gripper of
4.247644 (or 2.5288) needs a linkage that cannot be built, or a force that is looked at in few strokes.
"""

from __future__ import annotations

from ._design import Design
from .bearings import BEARINGS
from .car import CAR_SIDE_IMPACT
from .machines import MACHINES
from .plants import PLANTS
from .structures import STRUCTURES
from .trusses import TRUSSES

__all__ = ["DESIGNS", "Design"]

_ALL = (*TRUSSES, *STRUCTURES, CAR_SIDE_IMPACT, *MACHINES, *BEARINGS, *PLANTS)
DESIGNS: dict[str, Design] = {design.name: design for design in _ALL}
