"""The best known safe point of a landscape: samples, differential evolution, and SQP from many starts.

The search sees the noise-free functions. Limits that span decades are bent by asinh, which keeps their zeros.
Discrete parameters move by steps between two descents of the continuous ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, differential_evolution, minimize

from tumble.parameters import Categorical
from tumble.problems import Optimum

from .landscape import Array, Landscape

SAMPLE = 8192
STARTS = 16
GENERATIONS = 150
MOVES = 512  # of several discrete parameters at once
MARGINS = (1e-9, 1e-6)  # how far inside of the bent limits SQP aims: rounding must not make its end unsafe
HOW = f"the best of {SAMPLE} points, {GENERATIONS} generations of differential evolution, SQP from {STARTS}+"


def best_safe(landscape: Landscape, *, seed: int = 0, sample: int = SAMPLE, starts: int = STARTS) -> Optimum:
    """The best safe point that the search finds; it always finds one where the sample or a hint is safe."""
    search = _Search(landscape, seed, sample)
    for u in search.promising(starts):
        search.descend(u)
    search.evolve(seed)
    search.descend(search.best_unit)
    return Optimum(search.best_value, search.best_point, HOW)


class _Search:
    """What is known so far: the best safe point, and the scales of the objective and the limits."""

    def __init__(self, landscape: Landscape, seed: int, sample: int) -> None:
        self.landscape = landscape
        unit = np.random.default_rng([23, seed]).random((sample, len(landscape.bounds)))
        hints = landscape.unit(landscape.hints) if landscape.hints.size else np.empty((0, unit.shape[1]))
        self.unit = np.concatenate([hints, unit])
        self.points = landscape.points(self.unit)
        self.values, edges = landscape.objective(self.points), landscape.edges(self.points)
        self.limit_scales = np.median(np.abs(edges), axis=0) + 1e-300
        self.excess = np.maximum(np.arcsinh(edges / self.limit_scales), 0.0).sum(axis=1)
        low, high = np.quantile(self.values, [0.05, 0.5])
        self.scale = max(float(high - low), 1e-12)
        self.best_value, self.best_unit = np.inf, self.unit[int(np.argmin(self.excess))]
        self.best_point = landscape.points(self.best_unit)
        self.offer(self.unit)

    def offer(self, unit: Array) -> None:
        """Keep the best safe one of points (n, D) of the unit cube."""
        points = self.landscape.points(unit)
        values = np.where(self.landscape.safe(points), self.landscape.objective(points), np.inf)
        i = int(np.argmin(values))
        if values[i] < self.best_value:
            self.best_value, self.best_unit, self.best_point = float(values[i]), unit[i], points[i]

    def promising(self, n: int) -> Array:
        """Where to start: hints, the best safe points, and low points that are nearly safe."""
        order = np.argsort(np.where(self.excess > 0.0, np.inf, self.values))[: n // 2]
        ranks = np.argsort(np.argsort(self.values)) + 2.0 * np.argsort(np.argsort(self.excess))
        nearly = np.argsort(np.where(self.excess > 0.0, ranks, np.inf))[: n - n // 2]
        hints = np.arange(len(self.landscape.hints))
        chosen = np.unique(np.concatenate([hints, order, nearly, self._best_of_each_choice()]))
        starts: Array = self.unit[chosen]
        return starts

    def _best_of_each_choice(self) -> NDArray[np.int64]:
        """The two best safe points of every combination of choices."""
        parameters = self.landscape.space.parameters.values()
        places = [j for j, p in enumerate(parameters) if isinstance(p, Categorical)]
        if not places:
            return np.empty(0, dtype=np.int64)
        _, groups = np.unique(self.points[:, places], axis=0, return_inverse=True)
        values = np.where(self.excess > 0.0, np.inf, self.values)
        best = [np.flatnonzero(groups == k) for k in range(int(groups.max()) + 1)]
        return np.concatenate([rows[np.argsort(values[rows])[:2]] for rows in best])

    def bent(self, unit: Array) -> Array:
        """The limits (n, G) at points of the unit cube, bent by asinh."""
        return np.arcsinh(self.landscape.edges(self.landscape.points(unit)) / self.limit_scales)

    def descend(self, start: Array) -> None:
        """SQP over the continuous parameters; then single steps of the discrete ones, while they help."""
        free = np.flatnonzero(~self.landscape.discrete)
        while True:
            before = self.best_value
            ends = [start] if not free.size else [self._sqp(start, free, margin) for margin in MARGINS]
            self.offer(np.array(ends))
            if free.size == len(start):
                return
            moved = self._stepped(ends[0])
            self.offer(moved)
            if not self.best_value < before:
                return
            start = self.best_unit

    def _sqp(self, start: Array, free: Any, margin: float) -> Array:
        def whole(v: Array) -> Array:
            u = np.tile(start, (len(v), 1))
            u[:, free] = v
            return u

        def value(u: Array) -> Array:
            return np.arcsinh((self.landscape.objective(self.landscape.points(u)) - self.origin) / self.scale)

        def inside(u: Array) -> Array:
            return -self.bent(u) - margin

        ended: Any = minimize(  # type: ignore[call-overload]
            lambda v: float(value(whole(v[None]))[0]),
            start[free],
            jac=lambda v: _slopes(lambda w: value(whole(w))[:, None], v)[0],
            method="SLSQP",
            bounds=Bounds(0.0, 1.0),
            constraints={
                "type": "ineq",
                "fun": lambda v: inside(whole(v[None]))[0],
                "jac": lambda v: _slopes(lambda w: inside(whole(w)), v),
            },
            options={"maxiter": 100, "ftol": 1e-13},
        )
        end: Array = whole(np.clip(np.nan_to_num(ended.x, nan=0.5), 0.0, 1.0)[None])[0]
        return end

    @property
    def origin(self) -> float:
        """Where the objective's bend is centred: the best value so far."""
        return self.best_value if np.isfinite(self.best_value) else float(np.median(self.values))

    def _stepped(self, u: Array) -> Array:
        """Points around u in its discrete parameters: one over its whole range, or several by a few steps."""
        places = np.flatnonzero(self.landscape.discrete)
        single = [
            np.where(np.arange(len(u)) == j, level, u) for j in places for level in np.linspace(0.0, 1.0, 65)
        ]
        rng = np.random.default_rng(43)
        far = 2.0 ** rng.uniform(-1.0, 4.0, (MOVES, 1)) * rng.standard_normal((MOVES, len(places)))
        steps = np.rint(far) * (rng.random(far.shape) < 0.6)
        here = np.tile(self.landscape.points(u), (MOVES, 1))
        here[:, places] += steps * self.landscape.steps
        several = self.landscape.unit(np.clip(here, *self.landscape.bounds.T))
        return np.concatenate([np.array(single), several])

    def evolve(self, seed: int) -> None:
        """Penalised differential evolution over the unit cube."""
        d = len(self.landscape.bounds)
        worst = float(self.values.max()) + self.scale

        def penalised(columns: Array) -> Any:
            unit = columns.T
            excess = np.maximum(self.bent(unit), 0.0).sum(axis=1)
            values = self.landscape.objective(self.landscape.points(unit))
            return np.where(excess > 0.0, worst + self.scale * excess, values)

        ended: Any = differential_evolution(
            penalised, Bounds(np.zeros(d), np.ones(d)), vectorized=True, updating="deferred", polish=False,
            popsize=max(4, 60 // d), maxiter=GENERATIONS, tol=1e-10, rng=np.random.default_rng([29, seed]),
        )  # fmt: skip
        self.offer(ended.x[None])
        self.descend(ended.x)


def _slopes(function: Callable[[Array], Array], v: Array, step: float = 1e-6) -> Array:
    """The derivatives (m, k) of a function (n, k) -> (n, m) at v (k,): differences inside of [0, 1]."""
    k = len(v)
    up, down = np.minimum(v + step, 1.0), np.maximum(v - step, 0.0)
    ends = np.where(np.eye(k, dtype=bool), up, v), np.where(np.eye(k, dtype=bool), down, v)
    values = function(np.concatenate(ends))
    result: Array = ((values[:k] - values[k:]) / (up - down)[:, None]).T
    return result
