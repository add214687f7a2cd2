"""What is known when a trial is chosen: the fitted processes, the incumbent, the candidates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import minimum
from ..arrays import Array
from ..history import History
from ..process.gp import GP
from ..process.models import Models
from ..settings import Incumbent, Settings
from .candidates import everywhere, surroundings


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

    @staticmethod
    def of(history: History, models: Models, settings: Settings, rng: np.random.Generator) -> "Context":
        """The context of a history and of the models fitted to it."""
        gp, valued = models.objective, np.isfinite(history.y)
        means = np.empty(len(valued))
        means[valued], means[~valued] = gp.fitted(), gp.mean(history.X[~valued])
        eta = _incumbent(history, gp, means, settings.incumbent)
        return Context(history, models, gp.with_pending(history.pending), means, eta, settings, rng)

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
    def scales(self) -> Array:
        """(D,) lengthscales of the objective."""
        return np.asarray(self.objective.hyper.lengthscales)

    @cached_property
    def candidates(self) -> Array:
        """(P, D) the candidates (core.search.candidates). They are drawn once for each suggestion."""
        points = everywhere(
            self.objective, self.best, self.settings.raw_samples, self.rng, descend=self.settings.descend
        )
        points.flags.writeable = False  # so that a process may keep its answer for them
        return points

    def sample_minima(self) -> minimum.Minima:
        """S samples of f* by the law of the settings; with constraints, of the constrained minimum."""
        constraints = self.models.feasibility.constraints
        return minimum.sample(self.objective, constraints, self.candidates, self.eta, self.settings, self.rng)


def _incumbent(history: History, gp: GP, means: Array, kind: Incumbent) -> float:
    """The smallest posterior mean or value of the safe trials; of all with "all", or where none is safe."""
    known = np.isfinite(history.y) if kind == "all" or not history.safe.any() else history.safe
    values = (means if kind == "mean" else gp.outputs.to_model(history.y))[known]
    return float(values.min()) if values.size else gp.prior_mean
