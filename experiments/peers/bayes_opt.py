"""The package `bayesian-optimization` as a searcher: `suggest` and `register`."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from bayes_opt import BayesianOptimization
from bayes_opt.exception import NoValidPointRegisteredError
from bayes_opt.parameter import BayesParameter, CategoricalParameter
from numpy.typing import NDArray
from scipy.optimize import NonlinearConstraint

from experiments.runs.searcher import NextTrial
from tumble.parameters import Categorical, Fixed, Float, Int, Parameter
from tumble.problems import Evaluation, Problem

from .coordinates import Coordinates, levels

Array = NDArray[np.float64]


class MostUsed:
    """EI times the probability of every limit (without limits its own default, an upper confidence bound).

    It maximises, so that the sign of the objective is turned.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        self._coordinates = Coordinates(problem)
        self._n_constraints = problem.n_constraints
        with _quiet():
            self._optimizer = BayesianOptimization(
                f=None,
                pbounds=_typed(self._coordinates.parameters),
                constraint=_limits(self._n_constraints),
                random_state=seed,
                verbose=0,
                allow_duplicate_points=True,
            )

    def ask(self) -> NextTrial:
        """What it suggests; a random sample where it cannot, as its messages ask for.

        It cannot before the first safe trial, and where differential evolution, which searches mixed spaces,
        does not converge.
        """
        with _quiet():
            try:
                suggested: Mapping[str, Any] = self._optimizer.suggest()
            except (NoValidPointRegisteredError, RuntimeError):
                suggested = self._optimizer.random_sample(1)[0]
        values = {
            name: parameter.choices[int(suggested[name])]
            if isinstance(parameter, Categorical)
            else suggested[name]
            for name, parameter in self._coordinates.parameters.items()
        }
        return NextTrial(self._coordinates.point(values))

    def tell(self, trial: NextTrial, outcome: Evaluation | None) -> None:
        """A crash measures nothing and is left out: `register` wants a target and every constraint."""
        if outcome is not None:
            self.inform(trial.x, outcome)

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """Register an observation."""
        parameters = self._coordinates.parameters
        params = {
            name: str(round(number)) if isinstance(parameters[name], Categorical) else value
            for (name, value), number in zip(self._coordinates.values(x).items(), x.tolist(), strict=True)
        }
        limits: Any = outcome.constraints if self._n_constraints > 1 else None
        if self._n_constraints == 1:
            limits = float(outcome.constraints[0])
        with _quiet():
            self._optimizer.register(params, -outcome.value, constraint_value=limits)


class ScaledParameter(BayesParameter):
    """A number on [0, 1], rounded to what is admissible inside the kernel and when it is suggested."""

    def __init__(self, name: str, parameter: Float | Int) -> None:
        super().__init__(name, np.array([0.0, 1.0]))
        self._parameter = parameter
        self._levels = levels(parameter)

    @property
    def is_continuous(self) -> bool:
        """Whether every coordinate in [0, 1] is admissible."""
        return self._levels is None

    @property
    def dim(self) -> int:
        """One coordinate."""
        return 1

    def random_sample(self, n_samples: int, random_state: Any) -> Array:
        """Uniform coordinates, on the levels where there are any."""
        if self._levels is None:
            return np.asarray(random_state.uniform(0.0, 1.0, n_samples))
        return np.asarray(random_state.choice(self._levels, n_samples))

    def to_float(self, value: object) -> float:
        """The coordinate of a value."""
        return float(self._parameter.encode(value)[0])

    def to_param(self, value: float | NDArray[Any]) -> float:
        """The admissible value nearest to a coordinate."""
        return self._parameter.decode(np.ravel(value))

    def kernel_transform(self, value: NDArray[Any]) -> Array:
        """The nearest admissible coordinates."""
        return self._parameter.snap(np.atleast_2d(value))


def _typed(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    return {
        name: CategoricalParameter(name, tuple(str(k) for k in range(len(parameter.choices))))
        if isinstance(parameter, Categorical)
        else ScaledParameter(name, parameter)
        for name, parameter in parameters.items()
        if not isinstance(parameter, Fixed)
    }


def _limits(n_constraints: int) -> NonlinearConstraint | None:
    """All constraints as one array with no lower bound; measured values are registered, so none is called."""
    if not n_constraints:
        return None
    return NonlinearConstraint(_never_called, np.full(n_constraints, -np.inf), np.zeros(n_constraints))


def _never_called(x: Array) -> Array:
    raise AssertionError("constraints are measured with the objective and registered")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """It prints duplicates, and warns of typed parameters and of fits at the edge of their bounds."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
