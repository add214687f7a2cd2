"""What is known when a trial is chosen: the fitted processes, the incumbent, the candidates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from .. import minimum
from ..arrays import Array
from ..budget import Decision
from ..history import History
from ..process.gp import GP
from ..process.growth import begun_with
from ..process.models import Models
from ..settings import EARLY, Incumbent, Settings
from .candidates import (
    DOWNHILL,
    QUICKLY_DOWNHILL,
    around,
    downhill,
    everywhere,
    settled,
    step_downhill,
    surroundings,
)
from .descents import Allowed
from .domain import Domain
from .known import Known
from .maximize import ValueAndGrad

FREE = Decision("free", 0.0)
LEVELS = (0.5, 0.9, 0.99)  # of φ: the mean is followed downhill as far as each allows
MANY_LIMITS = 2  # from so many on, every method follows it: a climb of α φ may creep where they meet
BESIDE = 0.02  # lengthscales from the best trial on, where it starts: at a trial itself σ has no slope
OTHERS = 2  # candidates from where it is followed, too
MOST_NEIGHBOURS = 8  # settings beside the best trial, among steps and choices, from where it is followed
MOST_SAFE = 200  # safe trials that are looked at


@dataclass(frozen=True)
class Context:
    """What is known when a trial is chosen. Acquisitions are built from it."""

    history: History
    models: Models
    objective: GP  # conditioned on what is in flight as well
    means: Array  # (N,) its posterior means at the trials
    eta: float  # η, the incumbent of `settings.incumbent`
    settings: Settings
    rng: np.random.Generator
    domain: Domain | None = None  # the settings that can be run; None for the whole unit cube
    decision: Decision = FREE
    known: Known | None = None  # constraints between parameters; None where there are none
    for_minima: bool = True  # whether f* is sampled: then the lowest means that P(safe) allows are candidates

    @staticmethod
    def of(
        history: History, models: Models, settings: Settings, rng: np.random.Generator,
        domain: Domain | None = None, decision: Decision = FREE, known: Known | None = None,
        for_minima: bool = True,
    ) -> "Context":  # fmt: skip
        """The context of a history, of the models fitted to it, and of what was decided."""
        gp, valued = models.objective, np.isfinite(history.y)
        means = np.empty(len(valued))
        means[valued], means[~valued] = gp.fitted(), gp.mean(history.X[~valued])
        eta = _incumbent(history, gp, means, settings.incumbent)
        pending = gp.with_pending(history.pending)
        return Context(
            history, models, pending, means, eta, settings, rng, domain, decision, known, for_minima
        )

    @property
    def safe_eta(self) -> float:
        """η over the safe trials, from which an improvement is measured even if η is over all of them."""
        if self.settings.incumbent != "all":
            return self.eta
        return _incumbent(self.history, self.models.objective, self.means, "observed")

    def neighbours(self, count: int) -> Array:
        """(count, D) points around the best trials."""
        return surroundings(self.best, self.scales, count, self.rng)

    @property
    def best(self) -> Array:
        """(5, D) the trials of lowest mean, or as many as there are; safe ones if there are any."""
        X = self.history.X
        known = self.history.safe if self.history.safe.any() else np.ones(len(X), dtype=bool)
        return np.asarray(X[np.flatnonzero(known)[np.argsort(self.means[known])[:5]]])

    @property
    def safe_trials(self) -> Array:
        """(S, D) the trials that were safe; of very many, the MOST_SAFE of lowest mean."""
        rows = np.flatnonzero(self.history.safe)
        if len(rows) > MOST_SAFE:
            rows = np.sort(rows[np.argsort(self.means[rows], kind="stable")[:MOST_SAFE]])
        return np.asarray(self.history.X[rows])

    @property
    def scales(self) -> Array:
        """(D,) lengthscales of the objective."""
        return np.asarray(self.objective.hyper.lengthscales)

    @property
    def steps(self) -> Domain | None:
        """The domain, where the search looks at admissible settings only."""
        return self.domain if self.settings.admissible else None

    @cached_property
    def candidates(self) -> Array:
        """(P, D) the candidates (core.search.candidates). They are drawn once for each suggestion."""
        points = self._answered() if self._is_settled else _read_only(self._spread_out())
        if not (self.settings.descend_safely and self.limited and self._has_wedges):
            return points
        lowest = self._lowest_from(points)
        both = _read_only(np.vstack([points, lowest]))
        for gp in (self.objective, *self.models.feasibility.constraints):
            gp.keep_joined(points, lowest, both)
        return both

    @property
    def limited(self) -> bool:
        """Whether anything can fail, as far as is known."""
        feasibility = self.models.feasibility
        return bool(feasibility.constraints) or feasibility.crash is not None

    def held(self, fun: ValueAndGrad) -> ValueAndGrad:
        """`fun` with a gradient along the coordinates that move freely, and -inf where it is not allowed."""
        along = fun if self.steps is None else self.steps.held(fun)
        return along if self.known is None else self.known.within(along)

    def keep(self, points: Array) -> Array:
        """Those of `points` (M, D) that keep the known constraints."""
        return points if self.known is None else self.known.keep(points)

    @property
    def _is_settled(self) -> bool:
        """Whether the candidates all over the cube stay the same until hyperparameters are learned again."""
        free = self.steps is None and self.known is None
        return free and self.objective.growth is not None and len(self.history.X) > EARLY

    def _answered(self) -> Array:
        """(P, D) candidates all over the cube that were asked about before, and new ones near the best.

        The answers of all processes are kept for them.
        """
        settings, gp = self.settings, self.objective
        seed = begun_with(len(gp.X), gp.hyper)
        best = self.best
        near = around(gp, best, settings.raw_samples // 4, self.rng)
        if settings.descend:
            near = np.vstack([near, self._lowest_near(best)])
        again = settled(settings.raw_samples, near.shape[1], seed)
        points = _read_only(np.vstack([again, near]))
        for each in (gp, *self.models.feasibility.constraints):
            each.keep_joined(again, near, points, again=True)
        return points

    def _lowest_near(self, best: Array) -> Array:
        """(C, D) where the mean is lowest beside `best` (C, D): nearly so, where f* is not sampled."""
        if self.for_minima:
            return downhill(self.objective, best, pace=QUICKLY_DOWNHILL)
        return step_downhill(self.objective, best)

    def _spread_out(self) -> Array:
        """Candidates all over the admissible settings, around the best trials, and downhill from them."""
        steps = self.steps
        if steps is not None and steps.points is not None:
            return steps.points.copy()
        points = everywhere(
            self.objective, self.best, self.settings.raw_samples, self.rng,
            descend=self.settings.descend, held=self.held,
            pace=DOWNHILL if len(self.history.X) <= EARLY else QUICKLY_DOWNHILL,
        )  # fmt: skip
        if self.known is not None:
            points = self.known.fill(points, self.settings.raw_samples, self.rng)
        if steps is None:
            return points
        around = [steps.neighbours(x) for x in self.best]
        return steps.admissible(self.keep(np.vstack([points, *around])))

    @property
    def _levels(self) -> list[float]:
        """The P(safe) of the descents from the best trial: all that f* needs, or a low and a high one."""
        rho = self.decision.rho
        if self.for_minima:
            return [*LEVELS, *([rho] if 0.0 < rho < 1.0 else [])]
        return [LEVELS[0], rho if self.decision.mode == "careful" else LEVELS[1]]

    def admissible(self, points: Array) -> Array:
        """The points (M, D) of the cube, or those next to them that can be run."""
        points = np.clip(points, 0.0, 1.0)
        return points if self.steps is None else self.steps.snap(points)

    @property
    def _has_wedges(self) -> bool:
        """Whether the lowest means that P(safe) allows are wanted: for f*, or because many limits meet."""
        return self.for_minima or len(self.models.feasibility.constraints) >= MANY_LIMITS

    def _lowest_from(self, points: Array) -> Array:
        """(M, D) where the mean is lowest under φ >= each of `_levels`, downhill from the best trial.

        Other basins are looked for from some of `points` (P, D), and from the neighbours of the best trial
        among steps and choices.
        """
        steps, levels = self.steps, self._levels
        beside = self.beside_best(len(levels))
        others = points[self.rng.choice(len(points), min(OTHERS, len(points)), replace=False)]
        if steps is not None:
            others = np.vstack([others, steps.neighbours(self.best[0])[:MOST_NEIGHBOURS]])
        rho = self.decision.rho if self.decision.mode == "careful" else levels[0]
        p_safe = np.append(levels, np.full(len(others), rho))
        return self.lowest_allowed(np.vstack([beside, others]), p_safe)

    def beside_best(self, count: int) -> Array:
        """(count, D) starts of a descent next to the best trial."""
        best = self.best[0]
        shift = BESIDE * np.minimum(self.scales, 1.0) * self.rng.standard_normal((count, len(best)))
        return self.admissible(best + shift)

    def lowest_allowed(self, starts: Array, p_safe: Array) -> Array:
        """(M, D) where the mean is lowest with φ >= `p_safe` (M,), downhill from `starts` (M, D)."""
        moves = np.ones(starts.shape[1], dtype=bool) if self.steps is None else self.steps.moves
        return self.keep(Allowed(self.objective, self.models.feasibility, moves).lowest(starts, p_safe))

    @cached_property
    def minima(self) -> minimum.Minima:
        """The samples of f*. They are drawn once for each suggestion."""
        return self.sample_minima(self.decision.rho if self.decision.mode == "careful" else 0.0)

    def sample_minima(self, rho: float = 0.0) -> minimum.Minima:
        """S samples of f* by the law of the settings; with constraints, of the constrained minimum.

        With a P(safe) `rho` above 0 it is the minimum over the candidates that reach it.
        """
        points, constraints = self._allowed(rho)
        grid = None if self.known is None else self.candidates
        return minimum.sample(self.objective, constraints, points, self.eta, self.settings, self.rng, grid)

    def draw_minima(self, rho: float, among: int) -> Array:
        """(S,) the same by joint draws at the likeliest `among` candidates, and not held below η.

        They are +inf where nothing is safe.
        """
        points, constraints = self._allowed(rho)
        rows = minimum.likeliest(self.objective, constraints, points, self.eta, among)
        size = self.settings.n_minima
        return minimum.joint(self.objective, points, size, self.rng, constraints, rows).samples

    def _allowed(self, rho: float) -> tuple[Array, tuple[GP, ...]]:
        """The candidates that reach a P(safe) of `rho`, and the constraints to be kept there."""
        constraints, points = self.models.feasibility.constraints, self.candidates
        if rho > 0.0 and self.settings.allowed_minima and self.limited:
            level = float(ndtri(rho))
            inside = self.models.feasibility.margin(points, level) >= level
            if inside.any():
                return points[inside], ()
        return points, constraints


def _read_only(points: Array) -> Array:
    """The same array: a process may keep its answer for it."""
    points.flags.writeable = False
    return points


def _incumbent(history: History, gp: GP, means: Array, kind: Incumbent) -> float:
    """The smallest posterior mean or value of the safe trials; of all with "all", or where none is safe."""
    known = np.isfinite(history.y) if kind == "all" or not history.safe.any() else history.safe
    values = (means if kind == "mean" else gp.outputs.to_model(history.y))[known]
    return float(values.min()) if values.size else gp.prior_mean
