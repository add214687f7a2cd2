"""Numbers of the parameters: how much of what the model predicts hangs on each of them.

The total index of Sobol', in Jansen's form, of the model's mean and of P(safe) over the whole space:

    S_i = E[(h(x) - h(x with x_i drawn again))²] / (2 Var h(x)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tumble.core.arrays import Array
from tumble.optimizer import Optimizer
from tumble.parameters import Fixed

DRAWS = 512  # settings, each with one parameter after the other drawn again


@dataclass(frozen=True)
class Importance:
    """One item for each parameter that is searched.

    Parameters
    ----------
    name
        The parameter.
    value
        The share of the variance of the predicted value that goes with it, alone or together with others.
    p_safe
        The same of the predicted probability of safety.
    """

    name: list[str]
    value: list[float]
    p_safe: list[float]


def importance_data(opt: Optimizer) -> Importance:
    """How much hangs on each parameter, by the model; empty before any trial was told.

    Parameters
    ----------
    opt
        The search.
    """
    free = {name: p for name, p in opt.space.parameters.items() if not isinstance(p, Fixed)}
    if not any(trial.status == "told" for trial in opt.trials):
        return Importance([], [], [])
    _, models = opt.models()
    rng = np.random.default_rng(0)
    first, second = (opt.space.snap(rng.random((DRAWS, opt.space.dim))) for _ in range(2))
    value = _indices(lambda u: models.objective.mean(u), first, second, opt)
    p_safe = _indices(lambda u: np.exp(models.feasibility.log_prob(u)), first, second, opt)
    return Importance(list(free), value, p_safe)


def _indices(h: Callable[[Array], Array], first: Array, second: Array, opt: Optimizer) -> list[float]:
    found, at, column = [], h(first), 0
    variance = float(np.var(at))
    for parameter in opt.space.parameters.values():
        if isinstance(parameter, Fixed):
            continue
        columns = slice(column, column + parameter.width)
        column += parameter.width
        mixed = first.copy()
        mixed[:, columns] = second[:, columns]
        change = float(np.mean((at - h(mixed)) ** 2)) / 2.0
        found.append(min(change / variance, 1.0) if variance > 1e-12 else 0.0)
    return found
