"""An Ax search space as a `Space`, and an Ax optimisation config as a value to minimise with constraints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.parameter import ChoiceParameter, FixedParameter, ParameterType, RangeParameter
from ax.core.search_space import SearchSpace
from ax.core.types import ComparisonOp, TParameterization

from ...errors import InputError
from ...parameters import Array, Categorical, Choice, Fixed, Float, Int, Parameter
from ...space import Space
from ...trial_checks import LARGEST


@dataclass(frozen=True)
class Ordered(Categorical):
    """One of several choices that have an order: it is searched by its position."""

    @property
    def width(self) -> int:
        """How many coordinates of the unit cube it has."""
        return 1

    def encode(self, value: object) -> Array:
        """The coordinates (1,) of a choice."""
        found = [k for k, choice in enumerate(self.choices) if choice == value]
        if not found:
            raise InputError(f"expected one of {list(self.choices)!r}, but {value!r} came")
        return self._positions.encode(found[0])

    def decode(self, u: Array) -> Choice:
        """The choice at the coordinates u (1,)."""
        return self.choices[self._positions.decode(u)]

    def snap(self, u: Array) -> Array:
        """The nearest admissible coordinates of u (M, 1)."""
        return self._positions.snap(u)

    def neighbours(self, u: Array) -> Array:
        """(K, 1) the coordinates one place away from u (1,)."""
        return self._positions.neighbours(u)

    @property
    def _positions(self) -> Int:
        return Int(0, len(self.choices) - 1)


@dataclass(frozen=True)
class AxSpace:
    """A search space of Ax as ours: a setting has the same names and values in both."""

    space: Space

    @staticmethod
    def of(search_space: SearchSpace) -> "AxSpace":
        """Read a flat search space without parameter constraints."""
        if search_space.parameter_constraints:
            raise InputError(
                f"tumble takes no constraints among parameters, but {search_space.parameter_constraints} "
                "came: search the box and report the violation as an outcome"
            )
        parameters: dict[str, Parameter] = {}
        for name, parameter in search_space.parameters.items():
            if isinstance(parameter, FixedParameter):
                parameters[name] = Fixed(parameter.value)
            elif isinstance(parameter, RangeParameter):
                parameters[name] = _range(parameter)
            elif isinstance(parameter, ChoiceParameter):
                parameters[name] = _choice(parameter)
            else:
                raise InputError(
                    f"parameter {name!r}: expected a range, a choice or a fixed value, but "
                    f"{type(parameter).__name__} came"
                )
        return AxSpace(Space(parameters))

    def coordinates(self, parameters: TParameterization) -> tuple[float, ...] | None:
        """Where Ax's parameters lie in the unit cube; None where they lie outside the space."""
        try:
            return tuple(self.space.encode({**self.space.fixed, **parameters}).tolist())
        except InputError:
            return None


def _range(parameter: RangeParameter) -> Parameter:
    if parameter.is_fidelity or parameter.logit_scale or parameter.digits is not None:
        raise InputError(
            f"parameter {parameter.name!r}: tumble knows no fidelities, logit scales and digits; "
            "use a plain or logarithmic range, or step_size"
        )
    if parameter.parameter_type == ParameterType.INT:
        return Int(int(parameter.lower), int(parameter.upper), log=parameter.log_scale)
    return Float(float(parameter.lower), float(parameter.upper), log=parameter.log_scale)


def _choice(parameter: ChoiceParameter) -> Parameter:
    if parameter.is_fidelity or parameter.is_task or parameter.is_hierarchical:
        raise InputError(
            f"parameter {parameter.name!r}: tumble knows no fidelities, tasks and dependent parameters; "
            "use a flat space"
        )
    values: tuple[Any, ...] = tuple(parameter.values)
    return Ordered(values) if parameter.is_ordered else Categorical(values)


@dataclass(frozen=True)
class Measured:
    """A value to minimise and constraints (g <= 0 is safe); None where a metric is missing or too large."""

    value: float | None
    constraints: tuple[float | None, ...]


@dataclass(frozen=True)
class _Sum:
    """sign · (Σ weight · metric - bound)."""

    weights: tuple[tuple[str, float], ...]
    bound: float = 0.0
    sign: float = 1.0

    def at(self, metrics: Mapping[str, float]) -> float | None:
        values = [metrics.get(name, np.nan) for name, _ in self.weights]
        total = sum(w * v for (_, w), v in zip(self.weights, values, strict=True))
        return self.sign * (total - self.bound) + 0.0 if abs(total) <= LARGEST else None  # + 0.0: no -0.0


@dataclass(frozen=True)
class Objectives:
    """One objective, minimised, and named constraints."""

    objective: _Sum
    constraints: tuple[_Sum, ...]
    names: tuple[str, ...]

    @staticmethod
    def of(experiment: Experiment) -> "Objectives":
        """Read the optimisation config."""
        config = experiment.optimization_config
        if config is None:
            raise InputError("the experiment has no objective yet: call client.configure_optimization first")
        if config.objective.is_multi_objective:
            raise InputError(
                f"expected one objective, but {config.objective.expression!r} came: weigh them into one"
            )
        sums, names = [], []
        for constraint in config.outcome_constraints:
            if constraint.relative:
                raise InputError(
                    f"outcome constraint {constraint.expression!r} is relative to a baseline: "
                    "give its absolute bound"
                )
            upper = constraint.op == ComparisonOp.LEQ
            sums.append(_Sum(tuple(constraint.metric_weights), constraint.bound, 1.0 if upper else -1.0))
            names.append(constraint.expression)
        objective = _Sum(tuple(config.objective.metric_weights), sign=-1.0)  # Ax maximises the expression
        return Objectives(objective, tuple(sums), tuple(names))

    def outcome(self, metrics: Mapping[str, float]) -> Measured:
        """Value and constraints from metrics by name."""
        return Measured(self.objective.at(metrics), tuple(c.at(metrics) for c in self.constraints))

    def measured(self, data: Data) -> dict[int, dict[str, float]]:
        """The mean of each metric by name, by the index of the trial."""
        found: dict[int, dict[str, float]] = {}
        for row in data.df.itertuples():
            found.setdefault(int(row.trial_index), {})[str(row.metric_name)] = float(row.mean)
        return found
