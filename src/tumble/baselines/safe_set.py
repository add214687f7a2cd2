"""Safe-set expansion, which aims at no failure at all: SafeOpt's rule (Sui et al. 2015) on our process.

With bounds μ ± β σ, β = 2, of f and of every g:

    S   safe: every upper bound of g is at most 0
    M   may be the minimum: in S, and the lower bound of f is not above the smallest upper bound of f in S
    G   may enlarge S: in S, and seeing the lower bound of every g there would make some other point safe

The next trial is where an interval is widest, in units of its own process, in M or G. The smallest upper
bound in S, and the points that S could gain, are taken over candidates: a low-discrepancy set and the
surroundings of the safe trials. This works in any dimension.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ..core.arrays import Array
from ..core.feasibility import Feasibility
from ..core.process.gp import GP
from ..core.search.candidates import low_discrepancy, surroundings
from ..core.search.context import Context

BETA = 2.0
NEARBY = 512  # candidates around the safe trials
OUTSIDE = 256  # G is judged by so many candidates outside S, the nearest to it

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class SafeSet:
    """Log of the widest interval in M and G, -inf elsewhere."""

    processes: tuple[GP, ...]  # f and every g, conditioned on what is in flight as well: they give the widths
    objective: GP
    feasibility: Feasibility
    least_upper: float  # smallest upper bound of f in S
    outside: Array  # (C, D) points that are not in S

    def screen(self, x: Array) -> Array:
        """(M,) the value itself."""
        widths = [0.5 * np.log(gp.predict(x)[1] / gp.hyper.variance) for gp in self.processes]
        return np.where(self.eligible(x), np.max(widths, axis=0), -np.inf)

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """log(σ/s) of the widest interval, s² its process's prior variance, and the gradient ½ ∇σ²/σ²."""
        value, grad = np.full(len(x), -np.inf), np.zeros_like(x)
        for gp in self.processes:
            _, var, _, d_var = gp.predict_with_gradient(x)
            width = 0.5 * np.log(var / gp.hyper.variance)
            wider = width > value
            value[wider], grad[wider] = width[wider], (0.5 * d_var / var[:, None])[wider]
        return np.where(self.eligible(x), value, -np.inf), grad

    def eligible(self, x: Array) -> Mask:
        """(M,) whether x is in M or G."""
        found = in_safe_set(self.feasibility, x)
        rest = found.copy()
        found[rest] = self.may_be_minimum(x[rest])
        rest &= ~found
        found[rest] = self.may_enlarge(x[rest])
        return found

    def may_be_minimum(self, x: Array) -> Mask:
        """(M,) whether points x of S are in M."""
        mean, var = self.objective.predict(x)
        return np.asarray(mean - BETA * np.sqrt(var) <= self.least_upper)

    def may_enlarge(self, x: Array) -> Mask:
        """(M,) whether points x of S are in G."""
        gains = np.tile(self._survivable, (len(x), 1))
        for frontier, beta in zip(self._frontiers, self.feasibility.deviations(BETA), strict=True):
            gains &= frontier.optimistic_upper(x, beta) <= 0.0
        return np.asarray(gains.any(axis=1))

    @cached_property
    def _frontiers(self) -> list["Frontier"]:
        feasibility = self.feasibility
        return [Frontier.of(gp, self.outside, feasibility.noise(gp)) for gp in feasibility.constraints]

    @cached_property
    def _survivable(self) -> Mask:
        """(C,) which points outside S are safe from crashes."""
        if self.feasibility.crash is None:
            return np.ones(len(self.outside), dtype=bool)
        return np.asarray(self.feasibility.scores(self.outside)[:, -1] >= BETA)


def in_safe_set(feasibility: Feasibility, x: Array) -> Mask:
    """(M,) whether every upper bound at x is at most 0: μ + βσ <= 0, or -μ/σ >= β, with σ as φ has it."""
    return np.asarray((feasibility.scores(x) >= BETA).all(axis=1))


@dataclass(frozen=True)
class Frontier:
    """A constraint at points (C, D) that are not safe yet."""

    gp: GP
    points: Array
    mean: Array  # (C,)
    var: Array  # (C,)
    half: Array  # (N, C) chol^-1 k(X, points)
    noise: float  # variance of a measurement, where φ includes it

    @staticmethod
    def of(gp: GP, points: Array, noise: float) -> "Frontier":
        """`points` as the process sees them."""
        at = gp.at(points)
        return Frontier(gp, points, at.mean, at.var, at.half, noise)

    def optimistic_upper(self, x: Array, beta: float) -> Array:
        """(M, C) upper bounds μ' + β σ' of the points once the lower bound at each x (M, D) was observed.

        With c = Cov(g(x), g(point)), v = Var(g(x)) and w = v + σ_n²: μ' = μ - c β √v / w, σ'² = σ² - c² / w.
        """
        half = solve_triangular(self.gp.chol, self.gp.covariance(self.gp.X, x), lower=True)
        cov = self.gp.covariance(x, self.points) - half.T @ self.half
        var = np.maximum(self.gp.hyper.variance - np.einsum("nm,nm->m", half, half), self.gp.floor)
        observed = (var + self.gp.hyper.noise**2)[:, None]
        mean = self.mean - cov * (beta * np.sqrt(var))[:, None] / observed
        left = np.maximum(self.var - cov**2 / observed, self.gp.floor)
        return np.asarray(mean + beta * np.sqrt(left + self.noise))


def safe_set(context: Context) -> SafeSet:
    """SafeOpt's rule, from the safe trials outwards."""
    history, feasibility, rng = context.history, context.models.feasibility, context.rng
    inside = history.X[history.safe]
    scales = [np.asarray(gp.hyper.lengthscales) for gp in (*feasibility.constraints, context.objective)]
    points = np.vstack([
        inside,
        surroundings(inside, np.min(scales, axis=0), NEARBY, rng),
        low_discrepancy(context.settings.raw_samples, history.X.shape[1], rng),
    ])  # fmt: skip
    safe = in_safe_set(feasibility, points)
    mean, var = context.models.objective.predict(points[safe])
    least_upper = float(np.min(mean + BETA * np.sqrt(var), initial=np.inf))
    outside = points[~safe]
    if len(outside) > OUTSIDE:
        nearest = np.argsort(-feasibility.scores(outside).min(axis=1), kind="stable")[:OUTSIDE]
        outside = outside[nearest]
    in_flight = tuple(gp.with_pending(history.pending) for gp in feasibility.constraints)
    return SafeSet(
        (context.objective, *in_flight), context.models.objective, feasibility, least_upper, outside
    )
