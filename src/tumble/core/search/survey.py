"""The survey: while failures are plenty, the first trials look where nothing was tried.

EI begins beside the first safe trial. What it finds there makes it sure of itself, and it may polish a poor
basin while most of the settings were never looked at. So the first bold trials go far away from all others
(`core.budget.surveys`). They keep to the P(safe) that is asked for. While nothing safe is known there is no
basin to settle in, and no survey: failures are spent on finding a safe setting first.
"""

import numpy as np

from ..arrays import Array
from .candidates import all_over
from .context import Context
from .modes import differ

AMONG = 32  # settings all over: the farthest of more of them would nearly always be a corner


def farthest(context: Context, rho: float) -> Array | None:
    """(D,) of some new settings with φ >= `rho`, the one farthest from every trial; None without any."""
    history = context.history
    points = all_over(AMONG, history.X.shape[1], context.rng, context.domain, context.known)
    seen = np.vstack([history.X, history.pending])
    sure = context.models.feasibility.log_prob(points) >= np.log(rho)
    points = points[sure & differ(points, seen)]
    if len(points) == 0:
        return None
    squares = np.square(points[:, None, :] - seen).sum(axis=2)
    return np.asarray(points[squares.min(axis=1).argmax()])
