"""The survey: while failures are plenty, the first trials look where nothing was tried.

EI begins beside the first safe trial. What it finds there makes it sure of itself, and it may polish a poor
basin while most of the settings were never looked at. So the first bold trials go far away from all others
(`core.budget.surveys`). They keep to the P(safe) that is asked for. While nothing safe is known there is no
basin to settle in, and no survey: failures are spent on finding a safe setting first.

They do not go all the way: the farthest of many settings are corners, and few corners are safe. They start at
the best safe trial and go REACH of the way to a setting anywhere. A step or a choice can't go a part of the
way; it changes as drawn.

Where many limits must be kept, hardly a setting far away is sure enough. A choice, or a number with few
steps, may then stay as it was at the start: the processes can't know what it does, and EI keeps to what they
know. So each of them is turned once, if a safe trial with one step of it is sure enough (`turned`).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .candidates import all_over
from .context import Context

AMONG = 32  # settings all over: the farthest of more of them would nearly always be a corner
REACH = 0.6  # of the way from the best safe trial to a setting all over
COARSE = 0.05  # of its range: a finer step of a number shows too little
BASES = 32  # safe trials from which a step is made
BESIDE = 0.02  # of every range: where a trial lies so near, something was tried


def farthest(context: Context, rho: float) -> Array | None:
    """(D,) of some settings with φ >= `rho`, the one farthest from every trial.

    None where there are none, or where each of them lies beside a trial: known constraints may leave little
    room.
    """
    points = _part_of_the_way(context)
    if len(points) == 0:
        return None
    away = np.abs(points[:, None, :] - _seen(context))
    sure = np.exp(context.models.feasibility.log_prob(points)) >= rho
    allowed = sure & (away.max(axis=2) >= BESIDE).all(axis=1)
    if not allowed.any():
        return None
    squares = np.square(away).sum(axis=2).min(axis=1)
    return np.asarray(points[np.where(allowed, squares, -1.0).argmax()])


def _part_of_the_way(context: Context) -> Array:
    """(M, D) settings REACH of the way from the best safe trial to some all over; all the way without one."""
    points = all_over(AMONG, len(context.scales), context.rng, context.domain, context.known)
    if not context.history.safe.any():
        return points
    base, domain = context.best[0], context.domain
    nearer = base + REACH * (points - base)
    return context.keep(nearer if domain is None else np.where(domain.moves, nearer, points))


class Turn(NamedTuple):
    """A setting (D,), and the number of the one parameter in which it differs from a safe trial."""

    x: Array
    parameter: int


def turned(context: Context, worth: Callable[[Array], Array], rho: float) -> Turn | None:
    """A safe trial in which one parameter is changed that is the same in every trial.

    It is a choice, or a number that moves by a COARSE step.

    Of those with φ >= `rho` it is the one where `worth` (M, D) -> (M,), a logarithm, plus log φ is largest.
    None where everything was turned, or no such setting is sure enough.
    """
    domain, safe = context.domain, context.safe_trials
    if domain is None or len(safe) == 0:
        return None
    seen = _seen(context)
    same = domain.never_turned(seen)
    if not same.any():
        return None
    bases = safe if len(safe) <= BASES else safe[context.rng.choice(len(safe), BASES, replace=False)]
    steps = context.keep(np.vstack([domain.neighbours(x) for x in bases]))
    change = np.where(same, np.abs(steps - seen[0]), 0.0)  # of what is the same everywhere, also at the base
    steps, change = steps[change.max(axis=1) >= COARSE], change[change.max(axis=1) >= COARSE]
    log_phi = context.models.feasibility.log_prob(steps)
    sure = np.exp(log_phi) >= rho
    if not sure.any():
        return None
    best = int(np.where(sure, worth(steps) + log_phi, -np.inf).argmax())
    return Turn(steps[best], int(domain.owners[change[best].argmax()]))


def _seen(context: Context) -> Array:
    """(N, D) every trial, those in flight included."""
    return np.vstack([context.history.X, context.history.pending])
