"""The lowest mean that is allowed: descents of the mean of f that keep every limit at a given P(safe).

    minimise μ(x)   subject to   c_j(x) = -μ_j(x) - d_j √(σ_j²(x) + noise_j) >= 0  for each limit j

where d_j deviations make each limit as sure as all of them need it. The limits are kept one by one: where
many are active, what is allowed is a thin wedge, and a climb of α φ, which sees their product alone, creeps
along its edges.

A step is the solution of a quadratic programme (core.search.quadratic): the mean and the limits are linear in
it, the curvature of μ - Σ_j λ_j c_j is learned from the steps before, and no coordinate moves farther than
the radius of trust. A step is taken if it lowers the mean plus what it breaks of the limits; then the radius
doubles, else it shrinks. Many descents take their steps together, so that they share the predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..arrays import Array, Flags
from ..feasibility import Feasibility
from ..normal import quantile_from_log, quantile_slope
from ..process.gp import GP, predictor
from ..process.stacked import Prediction
from .quadratic import Step, smallest

STEPS = 15  # of a descent, at most
FIRST_RADIUS, LARGEST_RADIUS = 0.15, 0.6  # of trust, in lengthscales of f and in parts of the cube
SHORTEST = 1e-4  # a descent ends when its radius is smaller
FTOL = 1e-5  # in prior standard deviations of f; it ends after two steps that gain less
LEAST_PRICE, HIGHEST_PRICE = 10.0, 1e4  # of what is broken of a limit; between them, twice its multiplier
FLATTEST = 1e-3  # of the curvature, in prior deviations of f per lengthscale squared
SPARE = 0.02  # of the risk that is allowed: a descent stops short of its limit by as much


class Point(NamedTuple):
    """The mean, what each limit leaves (K,), and their slopes, (D,) and (K, D)."""

    mean: float
    room: Array
    slope: Array
    slopes: Array


@dataclass
class Descent:
    """One descent: where it is, and what it has learned.

    Parameters
    ----------
    x : (D,)
        The coordinates.
    at
        What is known there.
    curvature : (D, D)
        Of the mean, less the limits times their multipliers.
    radius
        Of trust.
    prices : (K,)
        Of what is broken of each limit.
    idle
        How many steps in a row gained next to nothing.
    """

    x: Array
    at: Point
    curvature: Array
    radius: float
    prices: Array
    idle: int = 0

    @property
    def ended(self) -> bool:
        """Whether it goes no further."""
        return self.radius < SHORTEST or self.idle >= 2

    def step(self, reach: Array) -> Step:
        """The next step, at most `radius` times `reach` (D,) long in each coordinate."""
        # minimise slope · d + ½ dᵀ H d + Σ price_j t_j where slopes d + t >= -room, low <= d <= high, t >= 0
        # t_j is what stays broken of a limit that is broken now; the others have none
        low = np.maximum(-self.radius * reach, -self.x)
        high = np.minimum(self.radius * reach, 1.0 - self.x)
        broken = np.flatnonzero(self.at.room < 0.0)
        (K, D), S = self.at.slopes.shape, len(broken)
        H = np.zeros((D + S, D + S))
        H[:D, :D], H[D:, D:] = self.curvature, FLATTEST * np.eye(S)
        A = np.zeros((K + 2 * D + S, D + S))
        A[:K, :D], A[K : K + D, :D], A[K + D : K + 2 * D, :D] = self.at.slopes, np.eye(D), -np.eye(D)
        A[broken, D + np.arange(S)] = 1.0
        A[K + 2 * D :, D:] = np.eye(S)
        found = smallest(
            H, np.append(self.at.slope, self.prices[broken]), A,
            np.concatenate([-self.at.room, low, -high, np.zeros(S)]),
        )  # fmt: skip
        if found is None:
            return Step(np.zeros(D), np.zeros(K))
        return Step(np.clip(found.d[:D], low, high), np.minimum(found.multipliers[:K], HIGHEST_PRICE))

    def go(self, step: Step, there: Point) -> None:
        """Take a step that leads to a point, or trust less."""
        self.prices = np.clip(2.0 * step.multipliers, self.prices, HIGHEST_PRICE)
        at = self.at
        before, after = self._cost(at.mean, at.room), self._cost(there.mean, there.room)
        promised = self._cost(at.mean + float(at.slope @ step.d), at.room + at.slopes @ step.d)
        self._learn(step, there)
        if not after < before - 0.1 * max(before - promised, 0.0):
            self.radius *= 0.3
            return
        self.idle = self.idle + 1 if before - after < FTOL else 0
        self.radius = min(2.0 * self.radius, LARGEST_RADIUS)
        self.x, self.at = np.clip(self.x + step.d, 0.0, 1.0), there

    def _cost(self, mean: float, room: Array) -> float:
        """The mean, and what is broken of the limits at their prices."""
        return mean + float(self.prices @ np.maximum(-room, 0.0))

    def _learn(self, step: Step, there: Point) -> None:
        """Powell's damped BFGS update, from how the slope of μ - Σ λ c changed."""
        s, H = step.d, self.curvature
        y = there.slope - self.at.slope - step.multipliers @ (there.slopes - self.at.slopes)
        Hs = H @ s
        bent, size = float(s @ y), float(s @ Hs)
        if size <= 0.0:
            return
        share = 1.0 if bent >= 0.2 * size else 0.8 * size / (size - bent)
        y = share * y + (1.0 - share) * Hs
        self.curvature = H - np.outer(Hs, Hs) / size + np.outer(y, y) / float(s @ y)


@dataclass(frozen=True)
class Allowed:
    """What is lowest where the limits are kept.

    Parameters
    ----------
    objective
        The process of f.
    feasibility
        The processes that decide on safety.
    moves : (D,)
        The coordinates that move; the others stay where a descent starts.
    """

    objective: GP
    feasibility: Feasibility
    moves: Flags

    def lowest(self, starts: Array, p_safe: Array) -> Array:
        """(M, D) where the mean is lowest with P(safe) >= `p_safe` (M,), downhill from `starts` (M, D)."""
        if not self.moves.any() or len(starts) == 0:
            return starts
        z = self._scores(p_safe)
        deviations = np.array([self.feasibility.deviations(float(each)) for each in z])
        reach = np.minimum(self.objective.hyper.lengthscales, 1.0)[self.moves]
        flat = FLATTEST * np.diag(reach**-2.0)
        descents = [
            Descent(x[self.moves], at, flat, FIRST_RADIUS, np.full(len(at.room), LEAST_PRICE))
            for x, at in zip(starts, self._points(starts, deviations, z), strict=True)
        ]
        for _ in range(STEPS):
            going = [k for k, each in enumerate(descents) if not each.ended]
            if not going:
                break
            steps = [descents[k].step(reach) for k in going]
            trial = starts[going]
            trial[:, self.moves] = [descents[k].x + step.d for k, step in zip(going, steps, strict=True)]
            there = self._points(np.clip(trial, 0.0, 1.0), deviations[going], z[going])
            for k, step, point in zip(going, steps, there, strict=True):
                descents[k].go(step, point)
        ends = starts.copy()
        ends[:, self.moves] = [each.x for each in descents]
        return ends

    def _scores(self, p_safe: Array) -> Array:
        """(M,) the score at which each limit is as sure as all of them need it: a finite one, also for 1."""
        count = len(self.feasibility.constraints) + (self.feasibility.crash is not None)
        each = (p_safe + SPARE * (1.0 - p_safe)) ** (1.0 / count)
        return np.asarray(ndtri(np.minimum(each, np.nextafter(1.0, 0.0))))

    def _points(self, x: Array, deviations: Array, z: Array) -> list[Point]:
        """What is known at x (M, D), with the deviations (M, G) and the scores (M,) that are wanted there."""
        predicted = self._predict(x)
        f, g = predicted.of(0), predicted.of(slice(1, None))
        spread = np.sqrt(g.var + self._noises)  # (G, M)
        room = -(g.mean + deviations.T * spread) / self._units
        slopes = -(g.d_mean + (0.5 * deviations.T / spread)[..., None] * g.d_var) / self._units[..., None]
        crash = self.feasibility.crash
        if crash is not None:
            log_p, d_log_p = crash.log_prob_and_grad(x)
            score = quantile_from_log(log_p)
            room = np.vstack([room, score - z])
            slopes = np.vstack([slopes, (quantile_slope(log_p, score)[:, None] * d_log_p)[None]])
        mean, slope = f.mean / self._unit, f.d_mean[:, self.moves] / self._unit
        slopes = slopes[..., self.moves]
        return [Point(float(mean[k]), room[:, k], slope[k], slopes[:, k]) for k in range(len(x))]

    @cached_property
    def _predict(self) -> Callable[[Array], Prediction]:
        return predictor((self.objective, *self.feasibility.constraints))

    @cached_property
    def _unit(self) -> float:
        """The prior standard deviation of f."""
        return float(np.sqrt(self.objective.hyper.variance))

    @cached_property
    def _units(self) -> Array:
        """(G, 1) those of the limits."""
        return np.sqrt([[gp.hyper.variance] for gp in self.feasibility.constraints]).reshape(-1, 1)

    @cached_property
    def _noises(self) -> Array:
        """(G, 1) the variance of each noise that safety counts."""
        noises = [[self.feasibility.noise(gp)] for gp in self.feasibility.constraints]
        return np.array(noises).reshape(-1, 1)
