"""Which warp suits the outputs: the one with which the process predicts best where it matters.

Each candidate is linear up to a knee, a multiple of a quantile of the distances from the best value, or from
the limit. It is judged by what the process predicts for each observation from all the others, as a density in
the user's units, so that candidates can be compared:

    log p(y_i | others) = log N(w(y_i); μ_-i, σ_-i²) + log w'(y_i)

summed over all observations; the third of them that lies nearest to the best, or to the limit, counts twice.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import log_ndtr

from ..arrays import Array, Indices
from ..normal import LOG_SQRT_2PI
from .covariance import Hyper
from .fit import relative_noise
from .gp import GP, condition
from .kernels import Kernel
from .outputs import Outputs, Warp
from .priors import Priors
from .refit import FEW, SETTLED, is_due, refit

FEWEST = 5  # observations; with fewer there is no warp
GROWTH, LATE_GROWTH = 1.25, 1.5  # it is chosen again with so many times as many data, up to 40 and later,
JUMP = 1.5  # or when those since then have changed the spread of the outputs by this factor
NEAREST = 3  # one observation in this many counts as near the best, or near the limit
# Knees, in medians of the distances. A shorter one makes the process of an objective too sure of itself.
OBJECTIVE_KNEES = (3.0,)
LIMIT_KNEES = (3.0, 1.0)
WIDEST = 1.5  # a knee lies below the largest distance by this factor at least
NOISES = 4.0  # a knee is at least so many times the noise that is known
GAIN = 3.0  # in log score; a change must gain more
SIGN_LOSS = 0.3  # in log score of the signs of a constraint; a warp must not lose more
SMALLEST = 1e-300  # of a knee
MANY = 400  # with more observations, hyperparameters are learned from some of them,
ENOUGH = 256  # so many


@dataclass(frozen=True)
class Measured:
    """The observations of one output.

    Parameters
    ----------
    X : (N, D)
        Where it was observed, in the unit cube.
    y : (N,)
        What was observed, in the user's units.
    best
        The value that others are compared with: the best one for an objective, 0 for a constraint.
    limit
        Whether it is a constraint.
    noise
        The noise's standard deviation, where it is known.
    whole : (N,)
        The observations that these are some of (`some`); None where these are all. They give the units.
    """

    X: Array
    y: Array
    best: float
    limit: bool
    noise: float | None = None
    whole: Array | None = None

    @property
    def distances(self) -> Array:
        """How far each observation lies from `best`; on the bad side alone for an objective."""
        away = self.y - self.best
        return np.abs(away) if self.limit else away[away > 0.0]

    @property
    def nearest(self) -> Indices:
        """The observations that matter most: the nearest to `best`."""
        count = max(FEWEST - 1, len(self.y) // NEAREST)
        return np.argsort(np.abs(self.y - self.best), kind="stable")[:count]

    def outputs(self, warp: Warp, *, standardize: bool = True) -> Outputs:
        """Model units under a warp."""
        y = self.y if self.whole is None else self.whole
        return units_of(y.tobytes(), not self.limit, warp) if standardize else Outputs(warp=warp)

    def some(self, count: int) -> "Measured":
        """`count` of the observations: a third nearest to `best`, the others spread over the cube."""
        order = np.argsort(np.abs(self.y - self.best), kind="stable")
        rows = np.sort(spread_out(self.X, order[: count // 3], count))
        return replace(self, X=self.X[rows], y=self.y[rows], whole=self.y)


@lru_cache(maxsize=64)
def units_of(y: bytes, centre: bool, warp: Warp) -> Outputs:
    """`Outputs.of` for the bytes of observations. The latest answers are kept."""
    return Outputs.of(np.frombuffer(y), centre=centre, warp=warp)


def refit_warped(
    data: Measured, *, kernel: Kernel, priors: Priors, last: Hyper | None, warp: Warp, always: bool = False,
    standardize: bool = True, choose: bool = True,
) -> GP:  # fmt: skip
    """The process of the data; its warp is chosen again where that is due.

    Parameters
    ----------
    data
        What was observed.
    kernel, priors, last, always
        As for `refit`.
    warp
        The warp of the last fit.
    standardize
        Whether outputs are scaled to unit size.
    choose
        Whether a warp is chosen at all; if False there is none.
    """
    n = len(data.y)
    is_chosen = choose and is_choice_due(data, warp)
    is_learned = last is None or always or is_chosen or is_due(n, last.learned_from, data.X.shape[1])
    partly = n > MANY and is_learned
    taught = data.some(ENOUGH) if partly else data  # what hyperparameters are learned from

    def fitted(by: Warp, start: Hyper | None, anew: bool = False) -> GP:
        units = taught.outputs(by, standardize=standardize)
        return refit(
            taught.X, taught.y, kernel=kernel, priors=priors, outputs=units, last=start, always=always,
            anew=anew, noise=data.noise, count=n if partly else None,
        )  # fmt: skip

    if not choose:
        found = fitted(Warp(), last)
    elif not is_chosen:
        found = fitted(warp, last)
    else:
        current = fitted(replace(warp, chosen_from=n), last, anew=True)
        start = current.hyper if n >= FEW else None
        others = [fitted(by, start, anew=True) for by in candidates(data) if by.knee != warp.knee]
        found = best_of(taught, current, others)
    return conditioned_on(data, found, priors) if partly else found


def conditioned_on(data: Measured, gp: GP, priors: Priors) -> GP:
    """A process that learned its hyperparameters and its units from some of the data, conditioned on all."""
    known = priors if data.noise is None else replace(priors, noise=gp.hyper.noise)
    relative = relative_noise(data.y, known, gp.outputs)
    return condition(
        gp.kernel, gp.hyper, data.X, gp.outputs.to_model(data.y), mean_std=priors.mean_std,
        noise_var=None if relative is None else gp.hyper.noise**2 * relative, outputs=gp.outputs,
    )  # fmt: skip


def spread_out(X: Array, rows: Indices, count: int) -> Indices:
    """`count` rows of X (N, D): `rows`, and then, one by one, that farthest from all that are chosen."""
    chosen = list(rows)
    nearest = cdist(X, X[rows], "sqeuclidean").min(axis=1)
    while len(chosen) < count:
        farthest = int(np.argmax(nearest))
        chosen.append(farthest)
        np.minimum(nearest, np.square(X - X[farthest]).sum(axis=1), out=nearest)
    return np.array(chosen)


def is_choice_due(data: Measured, warp: Warp) -> bool:
    """Whether there is enough new to choose a warp again."""
    n, before = len(data.y), warp.chosen_from
    if n < FEWEST or n <= before:
        return False
    if before == 0 or n >= (GROWTH if n <= SETTLED else LATE_GROWTH) * before:
        return True
    then = units_of(data.y[:before].tobytes(), not data.limit, warp)
    ratio = data.outputs(warp).scale / then.scale
    return max(ratio, 1.0 / ratio) > JUMP


def candidates(data: Measured) -> tuple[Warp, ...]:
    """Warps that may suit the data; the first one is linear."""
    linear = Warp(data.best, both=data.limit, chosen_from=len(data.y))
    away = data.distances
    if away.size == 0:
        return (linear,)
    rules = LIMIT_KNEES if data.limit else OBJECTIVE_KNEES
    knees = (factor * float(np.median(away)) for factor in rules)
    least, most = NOISES * (data.noise or 0.0), float(away.max()) / WIDEST
    allowed = (knee for knee in knees if max(least, SMALLEST) < knee < most)
    return (linear, *(replace(linear, knee=knee) for knee in allowed))


def score(data: Measured, gp: GP) -> float:
    """How well the process predicts each observation from the others; those that matter most count twice."""
    # log N(w(y_i); μ_-i, σ_-i²) + log w'(y_i)
    error, var = gp.leave_one_out()
    jacobian = gp.outputs.warp.slope(data.y) / gp.outputs.scale
    each = np.log(jacobian) - 0.5 * error**2 / var - 0.5 * np.log(var) - LOG_SQRT_2PI
    return float(each.sum() + each[data.nearest].sum())


def sign_score(data: Measured, gp: GP) -> float:
    """How well it predicts from the others whether each observation of a constraint is safe; 0 for f."""
    # log Φ(± μ_-i / σ_-i)
    if not data.limit:
        return 0.0
    error, var = gp.leave_one_out()
    mean = gp.outputs.to_model(data.y) - error
    return float(log_ndtr(np.where(data.y > 0.0, mean, -mean) / np.sqrt(var)).sum())


def best_of(data: Measured, current: GP, others: list[GP]) -> GP:
    """The process that predicts best; `current` unless another gains more than GAIN.

    A warp under which signs are predicted worse than without one is refused: beyond a cliff, a process may
    predict sizes well and the edge badly.
    """
    fits = [current, *others]
    least = max(sign_score(data, gp) for gp in fits if gp.outputs.warp.is_linear) - SIGN_LOSS
    scores = [
        score(data, gp) if gp.outputs.warp.is_linear or sign_score(data, gp) >= least else -np.inf
        for gp in fits
    ]
    best = int(np.argmax(scores))
    return fits[best] if scores[best] > scores[0] + GAIN else current
