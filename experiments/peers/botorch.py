"""BoTorch's LogEI/LogCEI and qLogNEI as searchers, with models fitted at every trial."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from botorch.acquisition import AcquisitionFunction, qLogNoisyExpectedImprovement
from botorch.acquisition.analytic import (
    LogConstrainedExpectedImprovement,
    LogExpectedImprovement,
    LogProbabilityOfFeasibility,
)
from botorch.acquisition.objective import GenericMCObjective
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, ModelListGP, SingleTaskGP
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.typing import NDArray

from experiments.runs.searcher import NextTrial
from tumble.problems import Evaluation, Problem

from .columns import Columns
from .coordinates import Coordinates
from .settings import SETTINGS

Array = NDArray[np.float64]


class Observed:
    """What BoTorch's searchers share: the observations, fitted models, seeded randomness.

    A subclass says how a point is written (`_encode`, `_decode`) and what to suggest (`_suggest`).
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        self.coordinates = Coordinates(problem)
        self.n_constraints = problem.n_constraints
        self._seed = seed
        self._crashes = 0
        self.points: list[Array] = []
        self.values: list[float] = []
        self._g: list[Array] = []

    def ask(self) -> NextTrial:
        """The next trial; torch is seeded by seed and number of trials. Without observations it is random."""
        number = 1_000_003 * self._seed + len(self.points) + self._crashes
        if not self.points:
            return NextTrial(self.coordinates.draw(np.random.default_rng(number)))
        with _quiet(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(number)
            unit = self._suggest().detach().numpy().reshape(-1)
        return NextTrial(self._decode(unit))

    def tell(self, trial: NextTrial, outcome: Evaluation | None) -> None:
        """A crash measures nothing and is left out, as BoTorch has no place for it."""
        if outcome is None:
            self._crashes += 1
        else:
            self.inform(trial.x, outcome)

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """Add an observation."""
        self.points.append(self._encode(x))
        self.values.append(outcome.value)
        self._g.append(outcome.constraints)

    def _encode(self, x: Array) -> Array:
        raise NotImplementedError

    def _decode(self, unit: Array) -> Array:
        raise NotImplementedError

    def _suggest(self) -> torch.Tensor:
        raise NotImplementedError

    @property
    def inputs(self) -> torch.Tensor:
        """The points as written for the models, (n, D)."""
        return torch.from_numpy(np.array(self.points))

    @property
    def limits(self) -> Array:
        """The constraints of every observation, (n, G)."""
        return np.reshape(self._g, (len(self.points), self.n_constraints))

    @property
    def _safe(self) -> NDArray[np.bool_]:
        safe: NDArray[np.bool_] = np.all(self.limits <= 0.0, axis=1)
        return safe

    def _model(self, outcomes: torch.Tensor) -> SingleTaskGP:
        return SingleTaskGP(self.inputs, outcomes)

    def fitted(self, outcomes: Array) -> SingleTaskGP:
        """A model of outcomes (n,), fitted; with its priors' hyperparameters where the fit fails."""
        model = self._model(torch.from_numpy(outcomes[:, None]))
        try:
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        except ModelFittingError:
            model.eval()  # with the hyperparameters the fit began with, which are those of the priors
        return model


class Improvement(Observed):
    """An acquisition over one column a parameter, maximised as BoTorch's documentation says."""

    peer: str

    def __init__(self, problem: Problem, seed: int) -> None:
        super().__init__(problem, seed)
        self._columns = Columns(self.coordinates)

    def _encode(self, x: Array) -> Array:
        return self._columns.encode(x)

    def _decode(self, unit: Array) -> Array:
        return self._columns.decode(unit)

    def _model(self, outcomes: torch.Tensor) -> SingleTaskGP:
        categorical = list(self._columns.categorical)
        if categorical:
            return MixedSingleTaskGP(self.inputs, outcomes, cat_dims=categorical)
        return super()._model(outcomes)

    def _suggest(self) -> torch.Tensor:
        return self._columns.maximise(self._acquisition(), SETTINGS[self.peer])

    def _acquisition(self) -> AcquisitionFunction:
        raise NotImplementedError


class LogImprovement(Improvement):
    """LogEI, or LogCEI under constraints, over standardised outcomes."""

    peer = "botorch"

    def _acquisition(self) -> AcquisitionFunction:
        y, safe = np.array(self.values), self._safe
        objective = self.fitted(y)
        if not self.n_constraints:
            return LogExpectedImprovement(objective, best_f=float(y.min()), maximize=False)
        models = [self.fitted(column) for column in self.limits.T]
        if not safe.any():
            return LogProbabilityOfFeasibility(ModelListGP(*models), constraints=self._intervals(0))
        return LogConstrainedExpectedImprovement(
            ModelListGP(objective, *models),
            best_f=float(y[safe].min()),
            objective_index=0,
            constraints=self._intervals(1),
            maximize=False,
        )

    def _intervals(self, first: int) -> dict[int, tuple[float | None, float | None]]:
        return dict.fromkeys(range(first, first + self.n_constraints), (None, 0.0))


class NoisyImprovement(Improvement):
    """qLogNEI with q = 1: the incumbent is not the best value seen but what the model says of all points."""

    peer = "qlognei"

    def _acquisition(self) -> AcquisitionFunction:
        models = [self.fitted(np.array(self.values)), *map(self.fitted, self.limits.T)]
        return qLogNoisyExpectedImprovement(
            ModelListGP(*models),
            X_baseline=self.inputs,
            sampler=SobolQMCNormalSampler(torch.Size([SETTINGS[self.peer]["mc_samples"]])),
            objective=GenericMCObjective(_negated),
            constraints=[_outcome(k + 1) for k in range(self.n_constraints)] or None,
        )


def _negated(samples: torch.Tensor, X: torch.Tensor | None = None) -> torch.Tensor:
    """BoTorch maximises."""
    return -samples[..., 0]


def _outcome(index: int) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda samples: samples[..., index]


@contextmanager
def _quiet() -> Iterator[None]:
    """BoTorch warns of single observations and of failed line searches: both are expected here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
