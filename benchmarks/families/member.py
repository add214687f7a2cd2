"""A member of a family: a problem with its landscape, and what can be computed about it on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from tumble.errors import Failure
from tumble.problems import Optimum, Problem

from .landscape import Array, Landscape
from .optima import remembered
from .search import best_safe

SAMPLE = 8192  # points by which feasible share and quantiles are estimated
FIRST = 2048  # points among which a start is looked for
ENOUGH = 64  # safe points among them that are enough for quantiles
TRIALS = (30, 60, 100)
FAILURES = (2, 5, 10, 15)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a seed drew. Everything here is noise-free and the same for every run.

    Attributes
    ----------
    family, seed: where it comes from.
    landscape: the functions.
    limit_names: G names of the measured limits.
    start: (D,) where a run begins; None where nothing is known.
    trials, failures: T and B.
    noise: standard deviations (1 + G,) of what is measured: the objective, then the limits.
    note: what was drawn.
    solve: how the optimum is had where it is not searched for by `best_safe`: published, or simulated.
    sample_size: how many points estimate the feasible share and the quantiles.
    """

    family: str
    seed: int
    landscape: Landscape
    limit_names: tuple[str, ...]
    start: Array | None
    trials: int
    failures: int
    noise: Array
    note: str
    solve: Callable[[], Optimum] | None = None
    sample_size: int = SAMPLE

    @cached_property
    def optimum(self) -> Optimum:
        """The best known safe value: by `solve`, or what `best_safe` finds; kept in a file (`optima`)."""
        find = self.solve or partial(best_safe, self.landscape, seed=self.seed)
        return remembered(self.family, self.seed, find)

    @cached_property
    def sample(self) -> Array:
        """Safe points: those of a uniform sample, or a random walk among them where they are too few."""
        points = self.landscape.uniform(self.sample_size, self.seed)
        safe = points[self.landscape.safe(points)]
        if len(safe) >= min(ENOUGH, self.sample_size // 8):
            return safe
        first = self.start if self.start is not None and self.landscape.safe(self.start[None])[0] else None
        first = first if first is not None else self.optimum.x
        assert first is not None
        return np.concatenate([safe, walk(self.landscape, first, self.seed)])

    @cached_property
    def feasible_share(self) -> float:
        """The share of uniform points that are safe, each parameter on its own scale."""
        points = self.landscape.uniform(self.sample_size, self.seed)
        return float(np.mean(self.landscape.safe(points)))

    @cached_property
    def quantiles(self) -> tuple[float, float, float]:
        """The objective's 5, 50 and 95 % quantiles over safe points."""
        low, middle, high = np.quantile(self.landscape.objective(self.sample), [0.05, 0.5, 0.95])
        return float(low), float(middle), float(high)


@dataclass(frozen=True, eq=False)
class Member(Problem):
    """A `Problem` drawn by a seed; its optimum, spread and feasible share are computed when asked for."""

    f_min: float = field(init=False)  # by `__getattr__`: the optimum may take a search
    drawn: Drawn = field(kw_only=True)

    def __getattr__(self, name: str) -> Any:
        """`f_min` is the optimum's value."""
        if name == "f_min":
            return self.drawn.optimum.value
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    @property
    def family(self) -> str:
        """The family it was drawn from."""
        return self.drawn.family

    @property
    def seed(self) -> int:
        """The seed that drew it."""
        return self.drawn.seed

    @property
    def optimum(self) -> Optimum:
        """The best safe value that is known, and how it was found."""
        return self.drawn.optimum

    @property
    def feasible_share(self) -> float:
        """The share of uniform points that are safe."""
        return self.drawn.feasible_share

    @property
    def spread(self) -> float:
        """The way from the optimum to the best twentieth of the safe random points.

        The upper quantiles take no part: where an objective spans decades they say nothing about the end
        of a search. A run wins by more than 0.1 % of this.
        """
        return self.drawn.quantiles[0] - self.optimum.value


def problem_of(drawn: Drawn) -> Member:
    """A fresh problem: its stream of noise begins anew."""
    quiet = _problem(drawn, np.zeros_like(drawn.noise), None)
    return _problem(drawn, drawn.noise, quiet) if drawn.noise.any() else quiet


def _problem(drawn: Drawn, noise: Array, truth: Member | None) -> Member:
    scape = drawn.landscape
    rng = np.random.default_rng([31, drawn.seed])

    def objective(x: Array) -> float:
        if scape.hidden is not None and np.any(scape.hidden(x[None]) > 0.0):
            raise Failure("crashed: a hidden limit")
        return float(scape.objective(x[None])[0] + (noise[0] * rng.standard_normal() if noise[0] else 0.0))

    def constraints(x: Array) -> Array:
        assert scape.limits is not None
        limits: Array = scape.limits(x[None])[0]
        return limits + noise[1:] * rng.standard_normal(limits.shape) if noise[1:].any() else limits

    return Member(
        name=f"{drawn.family}:{drawn.seed}",
        bounds=scape.bounds,
        objective=objective,
        trials=drawn.trials,
        constraints=constraints if drawn.limit_names else None,
        constraint_names=drawn.limit_names,
        failures=drawn.failures,
        initial=np.empty((0, len(scape.bounds))) if drawn.start is None else drawn.start[None],
        parameter_names=scape.space.names,
        truth=truth,
        note=drawn.note,
        space=None if _is_box(scape) else scape.space,
        drawn=drawn,
    )


def _is_box(scape: Landscape) -> bool:
    logs = [getattr(parameter, "log", False) for parameter in scape.space.parameters.values()]
    return scape.space.is_continuous and not any(logs)


def walk(scape: Landscape, start: Array, seed: int, *, chains: int = 16, steps: int = 80) -> Array:
    """Safe points (chains · steps / 2, D) by hit-and-run from a safe start; the first half is thrown away."""
    rng = np.random.default_rng([37, seed])
    here = np.tile(scape.unit(start), (chains, 1))
    seen = []
    for step in range(steps):
        way = rng.standard_normal(here.shape)
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        reach, moved = rng.uniform(-1.5, 1.5, (chains, 1)), np.zeros(chains, dtype=bool)
        for _ in range(30):
            there = here + reach * way
            fine = np.all((there >= 0.0) & (there <= 1.0), axis=1) & scape.safe(
                scape.points(np.clip(there, 0, 1))
            )
            here = np.where((fine & ~moved)[:, None], there, here)
            moved |= fine
            if moved.all():
                break
            reach = reach * rng.random((chains, 1))
        if step >= steps // 2:
            seen.append(here)
    return scape.points(np.concatenate(seen))


def draw_budget(rng: np.random.Generator) -> tuple[int, int]:
    """T and B."""
    return int(rng.choice(TRIALS)), int(rng.choice(FAILURES))


def poor_start(scape: Landscape, rng: np.random.Generator, seed: int, known: Array | None = None) -> Array:
    """A safe point from the worse half of a sample's safe ones, or of a walk from one that is known."""
    points = scape.uniform(FIRST, seed)
    safe = points[scape.safe(points)]
    if known is not None and len(safe) < ENOUGH:
        safe = walk(scape, known, seed)
    assert len(safe), "no safe point in the sample: draw again with a larger feasible share"
    order = np.argsort(scape.objective(safe))[len(safe) // 2 :]
    start: Array = safe[int(rng.choice(order))]
    return start
