"""Numbers of the model over two parameters, with the edge of safety."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tumble import counting
from tumble.errors import InputError
from tumble.optimizer import Optimizer
from tumble.parameters import Float, Int, Parameter
from tumble.plots.importance import Importance, importance_data
from tumble.plots.slices import values_along

Number = float | int


@dataclass(frozen=True)
class Surface:
    """The model over two parameters, while the others are held at the recommendation.

    Parameters
    ----------
    names
        The parameter across, and the one upwards.
    x, y
        Their values.
    mean, p_safe
        The predicted value, NaN while none was seen, and the probability of safety: one row for each of `y`,
        one item for each of `x`.
    level
        The P(safe) at which the edge of safety is drawn.
    at
        Where the recommendation lies.
    log
        Whether each axis is logarithmic.
    number, tried_x, tried_y, failed
        The told trials, wherever their other parameters lie.
    """

    names: tuple[str, str]
    x: list[Number]
    y: list[Number]
    mean: list[list[float]]
    p_safe: list[list[float]]
    level: float
    at: tuple[Number, Number]
    log: tuple[bool, bool]
    number: list[int]
    tried_x: list[Number]
    tried_y: list[Number]
    failed: list[bool]


def surface_data(
    opt: Optimizer, names: tuple[str, str] | None = None, points: int = 33, sign: float = 1.0
) -> Surface | None:
    """The model over two parameters.

    Parameters
    ----------
    opt
        The search.
    names
        The two parameters, which must be numbers; None for the two on which most hangs.
    points
        How many values a continuous parameter takes.
    sign
        -1 where the study maximises.

    Returns
    -------
    Surface or None
        None before any trial was told, and where there are no two parameters that are numbers.
    """
    found = opt.recommend()
    names = names or most_important(opt, importance_data(opt))
    if found is None or names is None:
        return None
    centre = opt.space.decode(opt.space.encode(found.x))
    across, upwards = (_checked(opt.space.parameters[name]) for name in names)
    x, y = values_along(across, points), values_along(upwards, points)
    where = np.array([opt.space.encode({**centre, names[0]: a, names[1]: b}) for b in y for a in x])
    _, models = opt.models()
    turned = sign if counting.has_value(opt.trials) else np.nan
    mean = turned * models.objective.outputs.to_user(models.objective.mean(where))
    p_safe = np.exp(models.feasibility.log_prob(where))
    told = counting.told(opt.trials)
    settings = [opt.space.decode(np.array(trial.u)) for trial in told]
    shape = (len(y), len(x))
    return Surface(
        names=names,
        x=[_number(value) for value in x],
        y=[_number(value) for value in y],
        mean=mean.reshape(shape).tolist(),
        p_safe=p_safe.reshape(shape).tolist(),
        level=opt.settings.rho_safe,
        at=(_number(centre[names[0]]), _number(centre[names[1]])),
        log=(across.log, upwards.log),
        number=[trial.number for trial in told],
        tried_x=[_number(setting[names[0]]) for setting in settings],
        tried_y=[_number(setting[names[1]]) for setting in settings],
        failed=[trial.failed for trial in told],
    )


def most_important(opt: Optimizer, importance: Importance) -> tuple[str, str] | None:
    """The two parameters that are numbers and on which most hangs; None where there are no two.

    Parameters
    ----------
    opt
        The search.
    importance
        What hangs on each parameter.
    """
    weight = dict(zip(importance.name, map(max, importance.value, importance.p_safe), strict=True))
    numbers = [n for n, p in opt.space.parameters.items() if isinstance(p, (Float, Int)) and n in weight]
    chosen = sorted(numbers, key=lambda name: -weight[name])[:2]
    if len(chosen) < 2:
        return None
    first, second = sorted(chosen, key=numbers.index)
    return first, second


def _checked(parameter: Parameter) -> Float | Int:
    if not isinstance(parameter, (Float, Int)):
        raise InputError(f"a surface needs two parameters that are numbers, not {parameter!r}")
    return parameter


def _number(value: object) -> Number:
    assert isinstance(value, (int, float))
    return value
