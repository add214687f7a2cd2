"""Stepping stones: a trial that gains little itself, but lets a better setting be tried.

In the careful mode a promising setting may not be sure enough: the goal, whose φ is below ρ. A trial that is
allowed, the stone, teaches what the limits do at the goal. Of a limit with the score s there, P(safe) = Φ(s),
it leaves the share 1 - r² of the variance,

    r² = cov(stone, goal)² / (var(stone) var(goal))

and its score there becomes (s - r ε) / √(1 - r²), where ε is standard normal. So it reaches z with the
probability

    Φ((s - z √(1 - r²)) / r)

A stone is worth EI at its goal times this probability of each limit. A safe trial that was expected to be
safe teaches little about crashes: P(no crash) at the goal, c, stays what it is. The limits share what ρ
leaves beside it, each as large a part as it has in their risk at the goal now:

    Φ(z_j) = (ρ / c)^w_j,   w_j = log Φ(s_j) / Σ_i log Φ(s_i)

A gain over a stone takes two trials. So a stone must be worth more than twice the EI of the best trial that
is allowed. Where that EI is next to nothing any stone would be: one that hardly ever lets its goal be tried
is none.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from ..arrays import Array
from ..feasibility import Feasibility
from ..normal import NEARLY_CERTAIN
from .context import Context
from .modes import Search
from .product import screen_product

LEVELS = (0.1, 0.3, 0.5, 0.7)  # of φ: where the mean is lowest under each is a goal
GOALS = 12  # candidates that are goals: the largest EI φ
WAY = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)  # parts of the way from the best trial to a goal
TRIALS = 2  # that a gain over a stone takes
LEAST_SHARE = 1e-12  # of variance
LEAST_REACHED = np.log(1e-4)  # a stone that is less likely to let its goal be tried teaches nothing


class Step(NamedTuple):
    """The next trial (D,), and whether it is a stepping stone."""

    x: Array
    is_stone: bool


def next_step(search: Search, x: Array, rho: float) -> Step:
    """x (D,), the best of what is allowed; a goal that is allowed and better; or a stone that is worth more.

    The acquisition of `search` must be EI.
    """
    if not _may_help(search.context):
        return Step(x, False)
    feasibility, gain = search.context.models.feasibility, search.acquisition.screen
    goals = _goals(search)
    log_phi, log_ei, direct = feasibility.log_prob(goals), gain(goals), gain(x[None, :])[0]
    allowed = log_phi >= np.log(rho)
    better = goals[allowed & (log_ei > direct) & search.is_new(goals)]
    if len(better):
        values = gain(better)
        x, direct = better[values.argmax()], values.max()
    aims = ~allowed & np.isfinite(log_phi)
    goals, log_ei = goals[aims], log_ei[aims]
    stones = _stones(search, goals, rho)
    if len(goals) == 0 or len(stones) == 0:
        return Step(x, False)
    reached = log_reached(feasibility, stones, goals, rho)
    worth = np.where(reached >= LEAST_REACHED, log_ei + reached, -np.inf)
    best = int(worth.max(axis=1).argmax())
    is_worth_it = bool(worth[best].max() > direct + np.log(TRIALS))
    return Step(stones[best] if is_worth_it else x, is_worth_it)


def log_reached(feasibility: Feasibility, stones: Array, goals: Array, rho: float) -> Array:
    """(M, K) the log probability that a trial at each of `stones` (M, D) lets each of `goals` reach ρ.

    φ at the goals (K, D) is below ρ now; -inf where it is so because of crashes alone.
    """
    limits = len(feasibility.constraints)
    scores = feasibility.scores(goals)  # (K, G [+ 1])
    log_p = np.minimum(log_ndtr(scores), NEARLY_CERTAIN)
    to_share = np.log(rho) - log_p[:, limits:].sum(axis=1)
    scores, log_p = scores[:, :limits], log_p[:, :limits]
    parts = log_p / log_p.sum(axis=1, keepdims=True)
    needed = ndtri_exp(np.minimum(to_share[:, None] * parts, NEARLY_CERTAIN))
    total = np.where(to_share < 0.0, 0.0, -np.inf) + np.zeros((len(stones), 1))
    for j, share in enumerate(feasibility.shared_variances(stones, goals)):
        share = np.clip(share, LEAST_SHARE, 1.0)
        total += log_ndtr((scores[:, j] - needed[:, j] * np.sqrt(1.0 - share)) / np.sqrt(share))
    return total


def _may_help(context: Context) -> bool:
    """Whether there are limits to learn of and a best trial, and nothing in flight may teach the same.

    What a stone teaches is about settings that can be run: the search must move among them.
    """
    among = context.domain is None or context.settings.admissible
    known = context.history.safe.any() and len(context.history.pending) == 0
    return bool(among and known and context.models.feasibility.constraints)


def _goals(search: Search) -> Array:
    """(K, D) settings that promise much, if they are safe."""
    context, points = search.context, search.context.candidates
    promise = screen_product(search.acquisition.screen(points), context.models.feasibility, points, GOALS)
    likely = points[np.argsort(-promise, kind="stable")[:GOALS]]
    if not context.settings.descend_safely:
        return likely
    return np.vstack([likely, context.lowest_allowed(context.beside_best(len(LEVELS)), np.array(LEVELS))])


def _stones(search: Search, goals: Array, rho: float) -> Array:
    """(M, D) new settings that are allowed: around the safe trials, and on the way to each of `goals`."""
    context, level = search.context, float(ndtri(rho))
    best = context.best[0]
    way = (best + np.array(WAY)[:, None, None] * (goals - best)).reshape(-1, len(best))
    way = context.keep(context.admissible(way))
    sure = way[context.models.feasibility.margin(way, level) > level]
    points = np.vstack([search.points_above(level), sure])
    return np.asarray(points[search.is_new(points)])
