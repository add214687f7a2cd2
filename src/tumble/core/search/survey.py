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

AMONG = 32  # settings all over: the farthest of more of them would nearly always be a corner
BESIDE = 0.02  # of every range: where a trial lies so near, something was tried


def farthest(context: Context, rho: float) -> Array | None:
    """(D,) of some settings with φ >= `rho`, the one farthest from every trial.

    None where there are none, or where each of them lies beside a trial: known constraints may leave little
    room.
    """
    history = context.history
    points = all_over(AMONG, history.X.shape[1], context.rng, context.domain, context.known)
    seen = np.vstack([history.X, history.pending])
    away = np.abs(points[:, None, :] - seen)
    sure = np.exp(context.models.feasibility.log_prob(points)) >= rho
    allowed = sure & (away.max(axis=2) >= BESIDE).all(axis=1)
    if not allowed.any():
        return None
    squares = np.square(away).sum(axis=2).min(axis=1)
    return np.asarray(points[np.where(allowed, squares, -1.0).argmax()])
