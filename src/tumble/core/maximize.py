"""The inner search (App. D): many starts, one batch.

Each iteration evaluates every start that is still moving in one call, so that N^2 work is shared; each start
has its own BFGS matrix, its own step and its own active bounds. Constrained search is a sequence of the same
search on log-barrier functions from feasible starts, so that it never leaves the feasible set.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .gp import Array

ValueAndGrad = Callable[[Array], tuple[Array, Array]]
ARMIJO = 1e-4
FTOL = 1e-3  # a step that gains less of a logarithm than this is not worth another evaluation
THIN = (4, 8, 12)  # after so many evaluations only the better half of the starts that still move goes on
BARRIERS = (0.3, 0.03, 0.003)  # weights of the logarithmic barrier, in turn


@dataclass(frozen=True)
class Maxima:
    """Where the starts ended, best first: points (M, D) and values (M,)."""

    points: Array
    values: Array


def maximize(
    fun: ValueAndGrad, starts: Array, *, max_evaluations: int = 40, gtol: float = 1e-3, ftol: float = FTOL,
    first_step: float = 0.1,
) -> Maxima:  # fmt: skip
    """Local maxima of `fun` in the unit cube from `starts` (M, D), all in one batch.

    A start stops when its projected gradient is below `gtol`, when an accepted step gains less than `ftol`,
    or when backtracking no longer moves it. Values of -inf mark points that are not to be entered.
    """
    x = np.clip(starts, 0.0, 1.0)
    value, grad = fun(x)
    M, D = x.shape
    inverse = np.tile(np.eye(D), (M, 1, 1))
    fresh = np.ones(M, dtype=bool)  # no curvature known yet
    step = np.ones(M)
    live = np.isfinite(value)
    direction = np.zeros_like(x)
    free = _projected(x, grad)
    direction[live] = _direction(free[live], inverse[live], fresh[live], first_step)
    for evaluation in range(max_evaluations):
        live &= np.abs(free).max(axis=1) > gtol
        rows = np.flatnonzero(live)
        if rows.size == 0:
            break
        if evaluation in THIN:
            hope = value[rows] + 0.5 * np.einsum("md,md->m", free[rows], direction[rows])  # a quadratic's top
            rows = rows[np.argsort(-hope, kind="stable")[: (rows.size + 1) // 2]]
            live[:] = False
            live[rows] = True
        trial = np.clip(x[rows] + step[rows, None] * direction[rows], 0.0, 1.0)
        new_value, new_grad = fun(trial)
        moved = trial - x[rows]
        gain = np.einsum("md,md->m", grad[rows], moved)
        good = np.isfinite(new_value) & (new_value >= value[rows] + ARMIJO * gain) & (gain > 0.0)
        step[rows[~good]] *= 0.3
        live[rows[~good & (np.abs(moved).max(axis=1) < 1e-9)]] = False
        accepted = rows[good]
        if accepted.size == 0:
            continue
        live[accepted[new_value[good] - value[accepted] < ftol]] = False
        _update(inverse, fresh, accepted, moved[good], grad[accepted] - new_grad[good])
        x[accepted], value[accepted], grad[accepted] = trial[good], new_value[good], new_grad[good]
        step[accepted] = 1.0
        free[accepted] = _projected(x[accepted], grad[accepted])
        direction[accepted] = _direction(free[accepted], inverse[accepted], fresh[accepted], first_step)
    order = np.argsort(-np.where(np.isfinite(value), value, -np.inf), kind="stable")
    return Maxima(x[order], value[order])


def maximize_above(
    fun: ValueAndGrad, margin: ValueAndGrad, level: float, starts: Array, *, ftol: float = FTOL
) -> Maxima:
    """Local maxima of `fun` where margin(x) > level, from `starts` (M, D) that satisfy it strictly (13)."""
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

        x = maximize(barrier, x, max_evaluations=15, ftol=ftol).points
    value, _ = fun(x)
    order = np.argsort(-value, kind="stable")
    return Maxima(x[order], value[order])


def _projected(x: Array, grad: Array) -> Array:
    """The gradient without the components that point out of the cube."""
    outward = ((x <= 0.0) & (grad < 0.0)) | ((x >= 1.0) & (grad > 0.0))
    return np.where(outward, 0.0, grad)


def _direction(free: Array, inverse: Array, fresh: Array, first_step: float) -> Array:
    """Ascent directions (M, D) from projected gradients: quasi-Newton, or steepest where nothing is known."""
    mask = free != 0.0
    direction = np.where(mask, np.einsum("mij,mj->mi", inverse, free), 0.0)
    uphill = np.einsum("md,md->m", direction, free) > 0.0
    steepest = fresh | ~uphill
    norm = np.maximum(np.linalg.norm(free, axis=1), 1e-300)
    scaled = free * (np.minimum(first_step / norm, 1.0))[:, None]
    direction = np.where(steepest[:, None], scaled, direction)
    longest = np.maximum(np.abs(direction).max(axis=1), 1e-300)
    return np.asarray(direction * np.minimum(1.0, 0.5 / longest)[:, None])


def _update(inverse: Array, fresh: Array, rows: Array, s: Array, y: Array) -> None:
    """BFGS update of the inverse Hessians of -fun in place, where the curvature is positive."""
    sy = np.einsum("md,md->m", s, y)
    yy = np.einsum("md,md->m", y, y)
    use = sy > 1e-10 * np.sqrt(yy * np.einsum("md,md->m", s, s))
    rows, s, y, sy, yy = rows[use], s[use], y[use], sy[use], yy[use]
    if rows.size == 0:
        return
    H = inverse[rows]
    first = fresh[rows]
    H[first] *= (sy / yy)[first][:, None, None]
    fresh[rows] = False
    Hy = np.einsum("mij,mj->mi", H, y)
    factor = (1.0 + np.einsum("mi,mi->m", y, Hy) / sy) / sy
    cross = np.einsum("mi,mj->mij", Hy, s)
    H += factor[:, None, None] * np.einsum("mi,mj->mij", s, s)
    H -= (cross + cross.transpose(0, 2, 1)) / sy[:, None, None]
    inverse[rows] = H
