"""BoTorch's LogEI/LogCEI and SCBO as searchers, on the unit cube, with models fitted at every trial."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.analytic import (
    LogConstrainedExpectedImprovement,
    LogExpectedImprovement,
    LogProbabilityOfFeasibility,
)
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.generation.sampling import ConstrainedMaxPosteriorSampling, MaxPosteriorSampling
from botorch.models import ModelListGP, SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from experiments.runs.searcher import NextTrial
from tumble.problems import Evaluation, Problem

from .settings import SETTINGS

Array = NDArray[np.float64]


class _OnUnitCube:
    """What both share: the data on the unit cube, fitted models, seeded randomness."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._low, self._width = problem.bounds[:, 0], np.diff(problem.bounds, axis=1)[:, 0]
        self._dimension, self._n_constraints = problem.dimension, problem.n_constraints
        self._seed = seed
        self._x: list[Array] = []
        self._y: list[float] = []
        self._g: list[Array] = []

    def ask(self) -> NextTrial:
        """The next trial; torch is seeded by seed and number of observations."""
        with _quiet(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(1_000_003 * self._seed + len(self._x))
            unit = self._suggest().detach().numpy().reshape(-1)
        return NextTrial(self._low + self._width * np.clip(unit, 0.0, 1.0))

    def tell(self, trial: NextTrial, outcome: Evaluation | None) -> None:
        """A crash measures nothing and is left out, as BoTorch has no place for it."""
        if outcome is not None:
            self.inform(trial.x, outcome)

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """Add an observation."""
        self._x.append((x - self._low) / self._width)
        self._y.append(outcome.value)
        self._g.append(outcome.constraints)

    def _suggest(self) -> torch.Tensor:
        raise NotImplementedError

    @property
    def _inputs(self) -> torch.Tensor:
        return torch.from_numpy(np.array(self._x))

    @property
    def _safe(self) -> NDArray[np.bool_]:
        safe: NDArray[np.bool_] = np.all(
            np.reshape(self._g, (len(self._x), self._n_constraints)) <= 0.0, axis=1
        )
        return safe

    def _fitted(self, outcomes: Array) -> SingleTaskGP:
        model = SingleTaskGP(self._inputs, torch.from_numpy(outcomes[:, None]))
        try:
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        except ModelFittingError:
            model.eval()  # with the hyperparameters the fit began with, which are those of the priors
        return model


class LogImprovement(_OnUnitCube):
    """LogEI, or LogCEI under constraints, over standardised outcomes."""

    def _suggest(self) -> torch.Tensor:
        settings = SETTINGS["botorch"]
        point, _ = optimize_acqf(
            self._acquisition(),
            bounds=_unit_bounds(self._dimension),
            q=1,
            num_restarts=settings["num_restarts"],
            raw_samples=settings["raw_samples"],
        )
        return point

    def _acquisition(self) -> AcquisitionFunction:
        y, safe = np.array(self._y), self._safe
        objective = self._fitted(y)
        if not self._n_constraints:
            return LogExpectedImprovement(objective, best_f=float(y.min()), maximize=False)
        models = [self._fitted(column) for column in np.array(self._g).T]
        if not safe.any():
            return LogProbabilityOfFeasibility(ModelListGP(*models), constraints=self._limits(0))
        return LogConstrainedExpectedImprovement(
            ModelListGP(objective, *models),
            best_f=float(y[safe].min()),
            objective_index=0,
            constraints=self._limits(1),
            maximize=False,
        )

    def _limits(self, first: int) -> dict[int, tuple[float | None, float | None]]:
        return dict.fromkeys(range(first, first + self._n_constraints), (None, 0.0))


class ScalableConstrained(_OnUnitCube):
    """SCBO (Eriksson and Poloczek 2021): Thompson sampling inside a trust region around the best point."""

    def __init__(self, problem: Problem, seed: int) -> None:
        super().__init__(problem, seed)
        self._start, self._smallest, self._largest = SETTINGS["scbo"]["length"]
        self._length = self._start
        self._successes = self._failures = 0
        self._success_tolerance = max(3, math.ceil(self._dimension / 10))
        self._failure_tolerance = max(4, self._dimension)

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """Add an observation and resize the trust region by whether it was better."""
        before = self._merit() if self._x else None
        super().inform(x, outcome)
        if before is None:
            return
        better = self._merit() < before
        self._successes = self._successes + 1 if better else 0
        self._failures = 0 if better else self._failures + 1
        if self._successes == self._success_tolerance:
            self._length, self._successes = min(2.0 * self._length, self._largest), 0
        elif self._failures == self._failure_tolerance:
            self._length, self._failures = self._length / 2.0, 0
        if self._length < self._smallest:
            self._length = self._start

    def _merit(self) -> tuple[float, float]:
        """Total violation of the best point, then its value: smaller is better."""
        return min(self._merits())

    def _merits(self) -> list[tuple[float, float]]:
        return [(float(np.clip(g, 0.0, None).sum()), y) for g, y in zip(self._g, self._y, strict=True)]

    def _suggest(self) -> torch.Tensor:
        candidates = self._candidates()
        n = len(self._y)
        copula = ndtri((rankdata(self._y) - 0.5) / n)
        objective = self._fitted(-copula)
        sampler = MaxPosteriorSampling(objective, replacement=False)
        if self._n_constraints:
            g = np.array(self._g)
            models = [self._fitted(column) for column in (np.sign(g) * np.log1p(np.abs(g))).T]
            sampler = ConstrainedMaxPosteriorSampling(
                objective, constraint_model=ModelListGP(*models), replacement=False
            )
        with torch.no_grad():
            point: torch.Tensor = sampler(candidates, num_samples=1)
        return point

    def _candidates(self) -> torch.Tensor:
        """Sobol points of the trust region's box; each coordinate is moved with probability min(1, 20/D)."""
        d = self._dimension
        merits = self._merits()
        centre = self._inputs[min(range(len(merits)), key=merits.__getitem__)]
        low, high = (centre - self._length / 2).clamp(0, 1), (centre + self._length / 2).clamp(0, 1)
        n = min(5000, max(2000, 200 * d))
        points = low + (high - low) * draw_sobol_samples(_unit_bounds(d), n=n, q=1).squeeze(1)
        moved = torch.rand(n, d) <= min(1.0, 20.0 / d)
        none = ~moved.any(dim=1)
        moved[none, torch.randint(0, d, (int(none.sum()),))] = True
        return torch.where(moved, points, centre)


def _unit_bounds(dimension: int) -> torch.Tensor:
    return torch.tensor([[0.0] * dimension, [1.0] * dimension], dtype=torch.float64)


@contextmanager
def _quiet() -> Iterator[None]:
    """BoTorch warns of single observations and of failed line searches: both are expected here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
