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
from ...space import Categorical, Float, Int, Parameter, Space


@dataclass(frozen=True)
class AxSpace:
    """A search space of Ax, as far as it varies.

    Parameters
    ----------
    space
        What is searched. An ordered choice is searched by its position.
    choices
        The values of the ordered choices by name.
    fixed
        The values that never vary by name.
    """

    space: Space
    choices: Mapping[str, tuple[Any, ...]]
    fixed: Mapping[str, Any]

    @staticmethod
    def of(search_space: SearchSpace) -> "AxSpace":
        """Read a flat search space without parameter constraints."""
        if search_space.parameter_constraints:
            raise InputError(
                f"tumble takes no constraints among parameters, but {search_space.parameter_constraints} "
                "came: search the box and report the violation as an outcome"
            )
        parameters: dict[str, Parameter] = {}
        choices: dict[str, tuple[Any, ...]] = {}
        fixed: dict[str, Any] = {}
        for name, parameter in search_space.parameters.items():
            if isinstance(parameter, FixedParameter):
                fixed[name] = parameter.value
            elif isinstance(parameter, RangeParameter):
                parameters[name] = _range(parameter)
            elif isinstance(parameter, ChoiceParameter):
                parameters[name] = _choice(parameter)
                if parameter.is_ordered:
                    choices[name] = tuple(parameter.values)
            else:
                raise InputError(
                    f"parameter {name!r}: expected a range, a choice or a fixed value, but "
                    f"{type(parameter).__name__} came"
                )
        return AxSpace(Space(parameters), choices, fixed)

    def values(self, parameters: TParameterization) -> dict[str, object]:
        """Ax's parameters as a setting of `space`."""
        return {
            name: self.choices[name].index(parameters[name]) if name in self.choices else parameters[name]
            for name in self.space.names
        }

    def parameters(self, values: Mapping[str, Any]) -> TParameterization:
        """A setting of `space` as Ax's parameters."""
        ours = {n: self.choices[n][int(v)] if n in self.choices else v for n, v in values.items()}
        return {**ours, **self.fixed}


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
    return Int(0, len(values) - 1) if parameter.is_ordered else Categorical(values)


@dataclass(frozen=True)
class Measured:
    """A value to minimise and constraints (g <= 0 is safe); None where a metric is missing."""

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
        return self.sign * (total - self.bound) if np.isfinite(total) else None


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
