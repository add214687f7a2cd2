"""Optuna's distributions and our parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial

from tumble import checks
from tumble.errors import InputError
from tumble.known import Held, read_known
from tumble.parameters import Categorical, Choice, Fixed, Float, Int, Parameter
from tumble.space import Space

# By what part of a step float64 may be coarser than the step: Optuna lets a value miss it by 1e-8.
MOST_BLUR = 1e-7


def to_parameter(distribution: BaseDistribution) -> Parameter:
    """Our parameter for Optuna's distribution."""
    if isinstance(distribution, FloatDistribution):
        return Float(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
    if isinstance(distribution, IntDistribution):
        return Int(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(distribution.choices)
    raise InputError(f"expected a float, int or categorical distribution, but {distribution!r} came")


def to_distribution(parameter: Parameter) -> BaseDistribution:
    """Optuna's distribution for our parameter."""
    if isinstance(parameter, Float):
        return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
    if isinstance(parameter, Int):
        return IntDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
    return CategoricalDistribution((parameter.value,) if isinstance(parameter, Fixed) else parameter.choices)


def to_distributions(space: Space) -> dict[str, BaseDistribution]:
    """Optuna's distributions for our space, by name."""
    return {name: to_distribution(parameter) for name, parameter in space.parameters.items()}


def to_space(distributions: Mapping[str, BaseDistribution]) -> Space:
    """Our space for Optuna's distributions by name."""
    return Space({name: to_parameter(distribution) for name, distribution in distributions.items()})


def limited(space: Mapping[str, BaseDistribution] | None, known: str | Sequence[str]) -> Space | None:
    """Our space with known constraints, which may name parameters of one value, too; None without any.

    Parameters
    ----------
    space
        Every distribution by name; None where they are not known beforehand.
    known
        The constraints as text.
    """
    if not known:
        return None
    if space is None:
        raise InputError(
            "known constraints need the parameters beforehand: give space, for example "
            '{"x": optuna.distributions.FloatDistribution(0.0, 1.0)}'
        )
    searched = to_space(searchable(space))
    fixed = {name: Fixed(_only_value(d)) for name, d in space.items() if d.single()}
    texts = [known] if isinstance(known, str) else checks.items(known, "known")
    rules = [read_known(text, {**searched.parameters, **fixed}) for text in texts]
    return searched.with_known([Held(rule, tuple(fixed.items())) if fixed else rule for rule in rules])


def _only_value(distribution: BaseDistribution) -> Choice:
    """The value of a distribution that has one."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[0]
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    return distribution.low


def searchable(distributions: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """Those with more than one value, and of a kind that our space knows."""
    return {name: d for name, d in distributions.items() if not d.single() and not obstacle(d)}


def common(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The distributions that all of these trials share."""
    if not trials:
        return {}
    shared = dict(trials[-1].distributions)
    for trial in trials[:-1]:
        shared = {n: d for n, d in shared.items() if trial.distributions.get(n) == d}
    return shared


def own_values(
    setting: Mapping[str, Choice], distributions: Mapping[str, BaseDistribution]
) -> dict[str, Choice]:
    """A setting in the values of these distributions.

    A trial may have it from another one that Optuna calls equal, or that has the value, too: with 1.0, True
    or a member of an enumeration where these distributions have 1.
    """
    return {name: d.to_external_repr(d.to_internal_repr(setting[name])) for name, d in distributions.items()}


def check(space: object) -> dict[str, BaseDistribution]:
    """What a user gave as distributions by name; `InputError` where it is something else."""
    remedy = 'write for example {"x": optuna.distributions.FloatDistribution(0.0, 1.0)}'
    if not isinstance(space, Mapping):
        raise InputError(f"space must be a dict of distributions by name, not {space!r}; {remedy}")
    for name, distribution in space.items():
        if not isinstance(distribution, BaseDistribution):
            raise InputError(
                f"space: {name!r} must be a distribution of Optuna, not {distribution!r}; {remedy}"
            )
    return dict(space)


def obstacle(distribution: BaseDistribution) -> str:
    """Why our space can't have a distribution; empty where it can."""
    try:
        to_parameter(distribution)
    except InputError as error:
        return str(error)
    if isinstance(distribution, FloatDistribution) and distribution.step is not None:
        largest = max(abs(distribution.low), abs(distribution.high))
        if np.spacing(largest) > MOST_BLUR * distribution.step:
            return (
                f"the step {distribution.step:g} is too small beside numbers of {largest:g} for Optuna, "
                "which takes hardly any of its multiples; search the number of steps instead, a whole number"
            )
    return ""
