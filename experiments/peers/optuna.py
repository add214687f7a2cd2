"""Optuna's GPSampler as a searcher, through `ask` and `tell` of an in-memory study."""

from __future__ import annotations

import warnings

import numpy as np
import optuna
from numpy.typing import NDArray

from experiments.runs.searcher import NextTrial
from tumble.problems import Evaluation, Problem

from .settings import SETTINGS

Array = NDArray[np.float64]


class GaussianProcess:
    """GPSampler with one start-up trial; constraints by `trial.set_constraint`."""

    def __init__(self, problem: Problem, seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._names = problem.parameter_names
        self._constraint_names = problem.constraint_names
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.GPSampler(
                seed=seed,
                n_startup_trials=SETTINGS["optuna"]["n_startup_trials"],
                deterministic_objective=problem.truth is None,
            )
        self._study = optuna.create_study(sampler=sampler)
        self._space: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.FloatDistribution(low, high)
            for name, (low, high) in zip(self._names, problem.bounds.tolist(), strict=True)
        }

    def ask(self) -> NextTrial:
        """The next trial; sampling happens here, for the whole space at once."""
        with warnings.catch_warnings():  # its roulette divides 0 by 0 where the acquisition is flat
            warnings.simplefilter("ignore", RuntimeWarning)
            self._asked = self._study.ask(self._space)
        return NextTrial(np.array([self._asked.params[name] for name in self._names]))

    def tell(self, trial: NextTrial, outcome: Evaluation | None) -> None:
        """A crash is a FAIL trial, which the sampler ignores."""
        if outcome is None:
            self._study.tell(self._asked, state=optuna.trial.TrialState.FAIL)
            return
        for name, value in zip(self._constraint_names, outcome.constraints.tolist(), strict=True):
            self._asked.set_constraint(name, value)
        self._study.tell(self._asked, outcome.value)

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """An observation of before: enqueued, asked and told at once."""
        self._study.enqueue_trial(dict(zip(self._names, x.tolist(), strict=True)))
        self.tell(self.ask(), outcome)
