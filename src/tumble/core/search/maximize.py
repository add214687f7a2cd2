"""The inner search (App. D): many starts, one batch.

Each iteration evaluates every start that still moves in one call, so that they share the N^2 work. Each start
has its own BFGS matrix, its own step and its own active bounds. The constrained search repeats the search on
log-barrier functions. It starts inside the feasible set, so that it never leaves it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Flags, Indices

ValueAndGrad = Callable[[Array], tuple[Array, Array]]
FIRST_STEP = 0.05  # the longest one, while no curvature is known
ARMIJO = 1e-4
LEAST_SHARE, LARGEST_SHARE = 0.1, 0.6  # of a step that is cut for the second time: what may be left of it
A_PART = 0.3  # what is left after the first cut, and where nothing says where the top is
LEAST_HOPE = 0.05  # a start ends where a second cut promises less than this part of `ftol`
SHORTEST = 1e-9  # of a step, in each of its components
LOG_TEN = np.log(10.0)
LEAST_BENT = 1e-12  # of sᵀy / yᵀy: no inverse curvature is smaller
BARRIERS = (0.3, 0.03, 0.003)  # weights of the logarithmic barrier, in turn
BARRIER_EVALUATIONS = 15  # for each of them


@dataclass(frozen=True)
class Pace:
    """When a start of the search stops.

    Parameters
    ----------
    ftol
        It stops after a step that gains less than this.
    halvings
        After so many evaluations, half of the starts that still move go on.
    race
        From so many evaluations on, a start goes on only while it promises more than the best one ended with.
    by_slopes
        Whether a step that was cut to A_PART, and still rose too little, is cut where the slopes at its ends
        say that the top is (`shortened`); where that is next to nothing higher, the start ends. The first cut
        leaps: it may find a better top than the nearest, and over a cliff slopes say nothing.
    """

    ftol: float
    halvings: tuple[int, ...] = (4,)
    race: int = 6
    by_slopes: bool = False


# From eight starts as good as STEADY. Once a search has settled, slopes spare nearly half of the evaluations.
QUICK = Pace(1e-2, halvings=(1, 2), race=3, by_slopes=True)
STEADY = Pace(1e-3)
ROUGH = Pace(1e-2)
EXACT = Pace(1e-6)


@dataclass(frozen=True)
class Maxima:
    """Where the starts ended, best first: points (M, D) and values (M,)."""

    points: Array
    values: Array


def maximize(
    fun: ValueAndGrad, starts: Array, *, scales: Array | None = None, max_evaluations: int = 40,
    gtol: float = 1e-3, pace: Pace = STEADY, first_gain: float = np.inf,
) -> Maxima:  # fmt: skip
    """Local maxima of `fun` in the unit cube from `starts` (M, D), all in one batch.

    The search moves in units of `scales` (D,), the lengths on which `fun` varies, up to a common factor.
    A start stops when its projected gradient is below `gtol`, when backtracking no longer moves it, or as
    `pace` says: when a step gains or promises too little, or others are ahead. A value of -inf forbids a
    point. While no curvature is known, a step follows the gradient: it is FIRST_STEP long at most, and
    promises `first_gain` at most.

    One step of a start, with the projected gradient p and the inverse Hessian H of -fun:
    x' = clip(x + t H p), accepted where fun(x') >= fun(x) + ARMIJO ∇fun · (x' - x); else t becomes shorter.
    """
    M, D = starts.shape
    unit = np.ones(D) if scales is None else _units(scales)  # gradients and steps are in units of it
    x = _in_the_cube(starts)
    value, grad = fun(x)
    grad, inverse = grad * unit, np.repeat(np.eye(D)[None], M, axis=0)
    fresh, step = np.ones(M, dtype=bool), np.ones((M, 1))  # whether no curvature is known yet; of a move
    free = _projected(x, grad)
    direction = _direction(free, inverse, fresh, first_gain)
    active = np.isfinite(value) & (_largest(free) > gtol)
    ended, top = [], -np.inf  # the starts that have ended, and the best of their values
    for evaluation in range(max_evaluations):
        if evaluation in pace.halvings:
            active = _better_half(active, value + 0.5 * np.vecdot(free, direction))
        elif evaluation >= pace.race:
            active &= fresh | (value + np.vecdot(free, direction) > top + pace.ftol)
        if not _all(active):
            ended.append(Maxima(*_taken(~active, x, value)))
            top = max(top, float(np.fmax.reduce(ended[-1].values)))
            x, value, grad, free, direction, inverse, fresh, step = _taken(
                active, x, value, grad, free, direction, inverse, fresh, step
            )
            if len(x) == 0:
                break
        trial = _in_the_cube(x + step * direction * unit)
        new_value, new_grad = fun(trial)
        new_grad, moved, rise = new_grad * unit, (trial - x) / unit, new_value - value
        slope = np.vecdot(grad, moved)
        good, active = rise >= ARMIJO * np.maximum(slope, 0.0), rise >= pace.ftol
        if _all(good):
            step.fill(1.0)
        else:
            bad = _rows(~good)
            hopeful = _shorten(step, bad, pace, *_taken(~good, slope, np.vecdot(new_grad, moved), rise))
            active[bad] = hopeful & (_largest(moved.take(bad, 0)) >= SHORTEST)
            if len(bad) == len(good):
                continue
            new_value = np.where(good, new_value, value)
            trial[bad], new_grad[bad] = x.take(bad, 0), grad.take(bad, 0)
        x, value, fall, grad = trial, new_value, grad - new_grad, new_grad
        if not np.count_nonzero(active):
            break
        _update(inverse, fresh, moved, fall)
        free = _projected(x, grad)
        direction = _direction(free, inverse, fresh, first_gain)
        active &= _largest(free) > gtol
    return _best_first([*ended, Maxima(x, value)])


class Shortened(NamedTuple):
    """What is left of a step, and how high the top is that it is cut at, as far as is known."""

    share: float
    gain: float


UNKNOWN = Shortened(A_PART, np.inf)


def _shorten(step: Array, bad: Indices, pace: Pace, slope: Array, end_slope: Array, rise: Array) -> Flags:
    """Shorten the steps (M, 1) of the moves `bad`, in place; the next step of all others is a whole one.

    Returns whether each of `bad` may still gain something: see `Pace.by_slopes`. They are few, and numbers
    one by one are faster than arrays.
    """
    parts = step.take(bad)
    moves = zip(*(each.tolist() for each in (parts, slope, end_slope, rise)), strict=True)
    cuts = [shortened(*rest) if pace.by_slopes and part < 1.0 else UNKNOWN for part, *rest in moves]
    share, gain = np.array(cuts).T
    step.fill(1.0)
    step[bad, 0] = parts * share
    return np.asarray(gain >= LEAST_HOPE * pace.ftol)


def shortened(slope: float, end_slope: float, rise: float) -> Shortened:
    """A step that rose too little (by `rise`) is cut at the top of the cubic that has its slopes.

    `slope` and `end_slope` are those along the whole step, at its beginning and at its end. Where these three
    say nothing, because the end was forbidden or the step did not begin uphill, A_PART is left, and the gain
    is infinite.
    """
    # In units of the slope c(t) = t + b t² + a t³, c(1) = r and c'(1) = e: b = 3 r - 2 - e, a = 1 + e - 2 r.
    # With q = √(b² - 3 a) its top lies at 1 / (q - b), which is (q + b) / (-3 a). As r is below 1, a is below
    # 0 where b is above it: each denominator below is above 0, and loses no digits.
    if not slope > 0.0:
        return UNKNOWN
    r, e = rise / slope, end_slope / slope
    b, a = 3.0 * r - 2.0 - e, 1.0 + e - 2.0 * r
    square = b * b - 3.0 * a
    if not math.isfinite(square):
        return UNKNOWN
    q = math.sqrt(max(square, 0.0))
    above, below = (q + b, -3.0 * a) if b > 0.0 else (1.0, q - b)
    top = above / below if below else math.inf
    gain = slope * top * (1.0 + top * (b + top * a))
    if not (math.isfinite(top) and math.isfinite(gain)):
        return UNKNOWN
    return Shortened(min(max(top, LEAST_SHARE), LARGEST_SHARE), gain)


def maximize_above(
    fun: ValueAndGrad, margin: ValueAndGrad, level: float, starts: Array, *,
    scales: Array | None = None, pace: Pace = STEADY,
) -> Maxima:  # fmt: skip
    """Local maxima of `fun` where margin(x) > level (13), from `starts` (M, D) inside that set.

    Each search maximises fun(x) + w log(margin(x) - level), for the falling weights w of BARRIERS.
    """
    x = starts
    for weight in BARRIERS:

        def barrier(points: Array, weight: float = weight) -> tuple[Array, Array]:
            room, d_room = margin(points)
            room = room - level
            inside = room > 0.0
            value = np.full(len(points), -np.inf)
            grad = np.zeros_like(points)
            if inside.any():
                v, g = fun(points[inside])
                value[inside] = v + weight * np.log(room[inside])
                grad[inside] = g + weight * d_room[inside] / room[inside][:, None]
            return value, grad

        x = maximize(barrier, x, scales=scales, max_evaluations=BARRIER_EVALUATIONS, pace=pace).points
    value, _ = fun(x)
    order = np.argsort(-value, kind="stable")
    return Maxima(x[order], value[order])


def _in_the_cube(points: Array) -> Array:
    """(M, D) the points of the unit cube that are nearest to `points`."""
    return np.asarray(np.minimum(np.maximum(points, 0.0), 1.0))


def _better_half(active: Flags, promise: Array) -> Flags:
    """(M,) the better half of the `active` starts, by the value that each may reach (`promise`, (M,))."""
    rows, better = _rows(active), np.zeros(len(active), dtype=bool)
    order = (-promise.take(rows)).argsort(kind="stable")
    better[rows.take(order[: (len(rows) + 1) // 2])] = True
    return better


def _best_first(ended: list[Maxima]) -> Maxima:
    """All of `ended` in one, best first. Points without a finite value come last."""
    points, values = np.concatenate([e.points for e in ended]), np.concatenate([e.values for e in ended])
    order = np.where(np.isfinite(values), -values, np.inf).argsort(kind="stable")
    return Maxima(points[order], values[order])


def _units(scales: Array) -> Array:
    """`scales` (D,) divided by their geometric mean, and held between 1/10 and 10."""
    logs = np.log(scales)
    logs -= np.add.reduce(logs) / len(logs)
    return np.asarray(np.exp(np.minimum(np.maximum(logs, -LOG_TEN), LOG_TEN)))


def _taken(flags: Flags, *arrays: Array) -> list[Array]:
    """The rows of each array (M, ...) whose flag is set."""
    rows = _rows(flags)
    return [each.take(rows, 0) for each in arrays]


def _rows(flags: Flags) -> Indices:
    """Where they are set; for a few flags that takes a seventh of the time of `np.flatnonzero`."""
    return flags.nonzero()[0]


def _all(flags: Flags) -> bool:
    """Whether all of them are set; for a few flags that takes a fifth of the time of `flags.all()`."""
    return len(flags) == np.count_nonzero(flags)


def _largest(rows: Array) -> Array:
    """(M,) the largest component of each row, whatever its sign."""
    return np.asarray(np.maximum.reduce(np.abs(rows), axis=1))


def _projected(x: Array, grad: Array) -> Array:
    """The gradient without the components that point out of the cube."""
    outward = np.where(grad < 0.0, x <= 0.0, x >= 1.0)
    free = grad.copy()
    np.putmask(free, outward, 0.0)
    return free


def _direction(free: Array, inverse: Array, fresh: Flags, first_gain: float) -> Array:
    """Ascent directions (M, D) from projected gradients p (`free`): H p, or p where no curvature is known.

    No component of H p is longer than 1/2. No p is longer than FIRST_STEP, or promises over `first_gain`.
    """
    if _all(fresh):
        return np.asarray(_length_of_first(free, first_gain)[:, None] * free)
    direction = (inverse @ free[:, :, None])[:, :, 0]
    direction *= free != 0.0
    length = 0.5 / np.maximum(_largest(direction), 0.5)
    steepest = fresh | (np.vecdot(direction, free) <= 0.0)
    if np.count_nonzero(steepest):
        direction = np.where(steepest[:, None], free, direction)
        length = np.where(steepest, _length_of_first(free, first_gain), length)
    direction *= length[:, None]
    return np.asarray(direction)


def _length_of_first(free: Array, first_gain: float) -> Array:
    """(M,) what projected gradients are multiplied by, where they are the direction."""
    square = np.vecdot(free, free)
    return np.asarray(1.0 / np.maximum(np.maximum(np.sqrt(square) / FIRST_STEP, square / first_gain), 1.0))


def _update(inverse: Array, fresh: Flags, s: Array, y: Array) -> None:
    """BFGS update of the inverse Hessians H of -fun in place, after steps s where sᵀy > 0.

    With y the fall of the gradient along s, which is 0 where the step was not accepted, and u = s / sᵀy:
    H' = H + w uᵀ + u wᵀ,  w = ½ (sᵀy + yᵀH y) u - H y.  A fresh H is first scaled to (sᵀy / yᵀy) I.
    """
    sy, yy = np.vecdot(s, y), np.vecdot(y, y)
    bent = sy > LEAST_BENT * yy
    H, rows = inverse, None
    if not _all(bent):
        rows = _rows(bent)
        if len(rows) == 0:
            return
        s, y, sy, yy, H = s.take(rows, 0), y.take(rows, 0), sy.take(rows), yy.take(rows), H.take(rows, 0)
    if np.count_nonzero(fresh):
        H *= np.where(fresh if rows is None else fresh.take(rows), sy / yy, 1.0)[:, None, None]
        fresh[slice(None) if rows is None else rows] = False
    Hy = (H @ y[:, :, None])[:, :, 0]
    unit = s / sy[:, None]
    turn = (0.5 * (sy + np.vecdot(y, Hy)))[:, None] * unit
    turn -= Hy
    half = turn[:, :, None] * unit[:, None, :]
    H += half
    H += half.transpose(0, 2, 1)
    if rows is not None:
        inverse[rows] = H
