"""Engineering designs of the literature with inequality limits, in their published constants.

Each limit is a load over what is allowed, minus one, without those that only repeat the bounds. What
divides by zero at a bound starts a little above it, and the design's `source` says so. `f_min` and `x_min`
are the best that a global search found; the tests repeat the search and compare with `published`.

The constants are as the literature gives them to our knowledge; they were not copied from the sources.
Fourteen optima agree with the published ones. The gripper's do not: 4.247644 and 2.5288 were not found. Our
search ends at 4.2893, with the force taken over 101 strokes and a limit against linkages that cannot be
built. For the column some report 26.4864, which was not found either.
"""

from __future__ import annotations

from ._design import Design
from .bearings import BEARINGS
from .car import CAR_SHEETS, CAR_SIDE_IMPACT
from .machines import MACHINES
from .plants import PLANTS
from .structures import STRUCTURES
from .trusses import TRUSSES

__all__ = ["DESIGNS", "Design"]

_ALL = (*TRUSSES, *STRUCTURES, CAR_SIDE_IMPACT, *MACHINES, *BEARINGS, *PLANTS, CAR_SHEETS)
DESIGNS: dict[str, Design] = {design.name: design for design in _ALL}
