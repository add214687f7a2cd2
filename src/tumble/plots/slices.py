"""Numbers of the model along each parameter, as plain lists.

Everything is read from an `Optimizer`. `sign` is -1 where a study maximises: its values were turned around,
and are turned back here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble import counting
from tumble._threads import own_numerics
from tumble.core.arrays import Array
from tumble.core.crossings import log_intensity
from tumble.core.process.models import Models
from tumble.core.process.slopes import slopes_at
from tumble.optimizer import Optimizer
from tumble.parameters import Categorical, Choice, Fixed, Float, Int, Parameter, Searched

MOST_STEPS = 60  # admissible values of one parameter that a slice shows


@dataclass(frozen=True)
class Slice:
    """The model along one parameter, while the others are held fixed.

    Parameters
    ----------
    name
        The parameter.
    values
        The values it takes, one item for each list below.
    mean, std
        The predicted value of the objective, and its standard deviation; NaN while no value was seen.
    p_safe
        The predicted probability of safety.
    at
        The value at which the parameter is held in the other slices.
    log
        Whether its axis is logarithmic.
    crossings
        The intensity of crossings (8) of the best safe trial's level, divided by its maximum.
    """

    name: str
    values: list[Choice]
    mean: list[float]
    std: list[float]
    p_safe: list[float]
    at: Choice
    log: bool
    crossings: list[float]


def slices_data(
    opt: Optimizer, at: Mapping[str, Choice] | Array | None = None, points: int = 101, sign: float = 1.0
) -> list[Slice]:
    """The model along each parameter.

    Parameters
    ----------
    opt
        The search.
    at
        The setting that the slices pass through; None for the recommendation.
    points
        How many values a continuous parameter takes.
    sign
        -1 where the study maximises.

    Returns
    -------
    list[Slice]
        One for each parameter that is searched; none before any trial was told.

    Raises
    ------
    InputError
        If `at` is no setting of the space.
    """
    if at is None:
        found = opt.recommend()
        if found is None:
            return []
        at = found.x
    centre = opt.space.decode(opt.space.encode(at))
    history, models = opt.models()
    known = history.safe if history.safe.any() else np.ones(len(history.X), dtype=bool)
    level = np.array([models.objective.mean(history.X[known]).min()])
    turned = sign if counting.has_value(opt.trials) else np.nan
    slices = []
    for name, parameter in opt.space.parameters.items():
        if isinstance(parameter, Fixed):
            continue
        values = values_along(parameter, points)
        where = np.array([opt.space.encode({**centre, name: value}) for value in values])
        with own_numerics():
            slices.append(_slice(name, parameter, values, where, models, level, centre[name], turned))
    return slices


def _slice(
    name: str, parameter: Parameter, values: list[Choice], where: Array, models: Models, level: Array,
    at: Choice, sign: float,
) -> Slice:  # fmt: skip
    """The model at the points `where` of the unit cube, where `name` takes the `values`.

    A `sign` of NaN says that no value was seen.
    """
    mean, var = models.objective.predict(where)
    outputs = models.objective.outputs
    intensity = log_intensity(slopes_at(models.objective, where), level)[:, 0]
    return Slice(
        name=name,
        values=values,
        mean=[float(m) for m in sign * outputs.to_user(mean)],
        std=[float(s) for s in np.abs(sign) * outputs.std_to_user(mean, np.sqrt(var))],
        p_safe=[float(p) for p in np.exp(models.feasibility.log_prob(where))],
        at=at,
        log=isinstance(parameter, (Float, Int)) and parameter.log,
        crossings=[float(c) for c in np.exp(intensity - intensity.max())],
    )


def safe_ranges(values: list[Any], p_safe: list[float], level: float) -> list[tuple[Any, Any]]:
    """The stretches of `values` where P(safe) reaches a level.

    Parameters
    ----------
    values
        Values of a parameter, in order.
    p_safe
        P(safe) at each of them.
    level
        The level to reach.

    Returns
    -------
    list
        The first and the last value of each stretch.

    Examples
    --------
    >>> safe_ranges([0, 1, 2, 3], [0.99, 0.2, 0.99, 1.0], 0.9)
    [(0, 0), (2, 3)]
    """
    ranges: list[tuple[Any, Any]] = []
    start = None
    for i, p in enumerate(p_safe):
        if p >= level and start is None:
            start = i
        if start is not None and (p < level or i == len(p_safe) - 1):
            ranges.append((values[start], values[i if p >= level else i - 1]))
            start = None
    return ranges


def values_along(parameter: Searched, points: int) -> list[Choice]:
    """Values across a parameter: evenly spread, and all of them where they are few.

    Parameters
    ----------
    parameter
        One that is searched.
    points
        How many values a continuous one takes.
    """
    if isinstance(parameter, Categorical):
        return list(parameter.choices)
    count = points if isinstance(parameter, Float) and parameter.step is None else MOST_STEPS
    return list(dict.fromkeys(parameter.decode(np.array([u])) for u in np.linspace(0.0, 1.0, count)))
