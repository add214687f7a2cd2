"""Cart-pole: a simulator with falls. Needs MuJoCo (the extra ``experiments``).

The plant and its four gains are those of `tumble.problems.cartpole`. The seed draws the state in which a
trial begins, the plant's damping, the rail's length, T and B. A run begins with nothing. A rollout takes tens
of milliseconds, so the optimum is the best of a short search and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
from scipy.optimize import minimize

from tumble.problems import Optimum
from tumble.problems.cartpole import BOUNDS, PARAMETER_NAMES, RAIL, initial_state, rollout
from tumble.space import Float, Space

from .landscape import Array, Landscape
from .member import Drawn, draw_budget

NAME = "cartpole"
SAMPLE = 128
EVALUATIONS = 80


def is_installed() -> bool:
    """Whether the simulator can run here."""
    return find_spec("mujoco") is not None and find_spec("gymnasium") is not None


def draw(seed: int) -> Drawn:
    """The member of this seed."""
    rng = np.random.default_rng([8, seed])
    damping, rail = float(rng.uniform(1.0, 2.0)), float(RAIL * rng.uniform(0.6, 1.0))
    run = _remembered(seed, damping)
    bounds = zip(PARAMETER_NAMES, BOUNDS.tolist(), strict=True)
    landscape = Landscape(
        Space({name: Float(low, high) for name, (low, high) in bounds}),
        objective=lambda x: np.array([np.log10(run(tuple(row))[0]) for row in x.tolist()]),
        limits=lambda x: np.array([[run(tuple(row))[1] / rail - 1.0] for row in x.tolist()]),
    )
    trials, failures = draw_budget(rng)
    return Drawn(
        NAME, seed, landscape, ("displacement",), None, trials, failures, np.zeros(2),
        f"cart-pole, damping {damping:.2f}, rail {rail:.2f} m",
        solve=lambda: _best_of_descents(landscape, seed), sample_size=SAMPLE,
    )  # fmt: skip


def _remembered(seed: int, damping: float) -> Callable[[tuple[float, ...]], tuple[float, float]]:
    """Cost and displacement of a controller; each rollout is made once."""
    start = initial_state(seed)

    @lru_cache(maxsize=100_000)
    def run(gains: tuple[float, ...]) -> tuple[float, float]:
        outcome = rollout(gains, start, damping=damping)
        return outcome.cost, outcome.displacement

    return run


def _best_of_descents(landscape: Landscape, seed: int) -> Optimum:
    """The best of a sample and of Nelder-Mead from its two best safe points."""
    points = landscape.uniform(SAMPLE, seed)
    safe = points[landscape.safe(points)]
    starts = safe[np.argsort(landscape.objective(safe))[:2]]

    def penalised(u: Array) -> float:
        x = landscape.points(np.clip(u, 0.0, 1.0))[None]
        return float(landscape.objective(x)[0]) if landscape.safe(x)[0] else 10.0

    best = starts[0]
    for start in starts:
        ended = minimize(
            penalised, landscape.unit(start), method="Nelder-Mead", options={"maxfev": EVALUATIONS}
        )
        end = landscape.points(np.clip(ended.x, 0.0, 1.0))
        if penalised(landscape.unit(end)) < penalised(landscape.unit(best)):
            best = end
    how = f"the best of {SAMPLE} points and {EVALUATIONS} rollouts of Nelder-Mead from the two best"
    return Optimum(float(landscape.objective(best[None])[0]), best, how)
