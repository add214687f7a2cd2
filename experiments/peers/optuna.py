"""Optuna's GPSampler and TPESampler as searchers, through `ask` and `tell` of an in-memory study."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from experiments.runs.searcher import NextTrial
from tumble.parameters import Categorical, Float, Int, Parameter
from tumble.problems import Evaluation, Problem

from .coordinates import Coordinates, levels
from .settings import SETTINGS

Array = NDArray[np.float64]


class Study:
    """A study over Optuna's own distributions; constraints by `trial.set_constraint`."""

    def __init__(self, problem: Problem, sampler: optuna.samplers.BaseSampler) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._coordinates = Coordinates(problem)
        self._constraint_names = problem.constraint_names
        self._study = optuna.create_study(sampler=sampler)
        self._distributions = {
            name: _distribution(parameter) for name, parameter in self._coordinates.parameters.items()
        }

    def ask(self) -> NextTrial:
        """The next trial; sampling happens here, for the whole space at once."""
        with warnings.catch_warnings():  # its roulette divides 0 by 0 where the acquisition is flat
            warnings.simplefilter("ignore", RuntimeWarning)
            self._asked = self._study.ask(self._distributions)
        return NextTrial(self._coordinates.point(self._chosen(self._asked.params)))

    def tell(self, trial: NextTrial, outcome: Evaluation | None) -> None:
        """A crash is a FAIL trial, which the samplers ignore."""
        if outcome is None:
            self._study.tell(self._asked, state=optuna.trial.TrialState.FAIL)
            return
        for name, value in zip(self._constraint_names, outcome.constraints.tolist(), strict=True):
            self._asked.set_constraint(name, value)
        self._study.tell(self._asked, outcome.value)

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """An observation of before: enqueued, asked and told at once, and so one of the start-up trials."""
        parameters = self._coordinates.parameters
        values = self._coordinates.values(x)
        written = {
            name: round(number) if isinstance(parameters[name], Categorical) else values[name]
            for name, number in zip(values, x.tolist(), strict=True)
        }
        self._study.enqueue_trial(written)
        self.tell(self.ask(), outcome)

    def _chosen(self, params: Mapping[str, object]) -> dict[str, object]:
        """Values by name: the study knows a choice by its index."""
        return {
            name: parameter.choices[int(str(params[name]))]
            if isinstance(parameter, Categorical)
            else params[name]
            for name, parameter in self._coordinates.parameters.items()
        }


def gaussian_process(problem: Problem, seed: int, peer: str = "optuna") -> Study:
    """GPSampler: LogEI, under constraints LogEI and the logarithm of the probability of feasibility."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.GPSampler(
            seed=seed,
            n_startup_trials=SETTINGS[peer]["n_startup_trials"],
            deterministic_objective=problem.truth is None,
        )
    return Study(problem, sampler)


def eager_gaussian_process(problem: Problem, seed: int) -> Study:
    """GPSampler, which asks its model from the first trial on."""
    return gaussian_process(problem, seed, "optuna-eager")


def parzen(problem: Problem, seed: int) -> Study:
    """TPESampler, multivariate for one objective by its own default."""
    startup = SETTINGS["tpe"]["n_startup_trials"]
    return Study(problem, optuna.samplers.TPESampler(seed=seed, n_startup_trials=startup))


def _distribution(parameter: Parameter) -> BaseDistribution:
    """The parameter's own distribution; its last value is on the grid, as Optuna wants it."""
    if isinstance(parameter, Categorical):
        return CategoricalDistribution(tuple(range(len(parameter.choices))))
    steps = levels(parameter)
    if isinstance(parameter, Int):
        last = parameter.decode(np.array([1.0]))
        return IntDistribution(parameter.low, last, log=parameter.log, step=parameter.step)
    assert isinstance(parameter, Float), "the proving ground has no fixed parameter"
    last_value = parameter.high if steps is None else parameter.decode(np.array([1.0]))
    return FloatDistribution(parameter.low, last_value, log=parameter.log, step=parameter.step)
