"""Numbers of the trials: progress, budget, forecasts and coordinates, as plain lists.

Everything is read from an `Optimizer`. `sign` is -1 where a study maximises: its values were turned around,
and are turned back here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tumble import counting
from tumble.core import budget
from tumble.optimizer import Optimizer
from tumble.parameters import Categorical, Choice, Fixed, Searched
from tumble.shown import told_apart
from tumble.trials import Trial

EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)  # of the bins of P(safe)


@dataclass(frozen=True)
class Progress:
    """The trials that were told, one item each.

    Parameters
    ----------
    number
        Its number.
    value
        Its value; None where there is none.
    failed
        Whether it failed.
    best
        The best safe value so far; None before there is one.
    """

    number: list[int]
    value: list[float | None]
    failed: list[bool]
    best: list[float | None]


@dataclass(frozen=True)
class BudgetPath:
    """The controller's path, one item before each billed trial, and one for now.

    Parameters
    ----------
    number
        The number of the trial.
    failures_left
        ΔB, the failures that were left.
    rho
        ρ, the P(safe) that was asked for: by the suggestion where there was one, else by the controller.
    rho_b
        Up to this ρ the search is bold.
    """

    number: list[int]
    failures_left: list[int]
    rho: list[float]
    rho_b: float


@dataclass(frozen=True)
class Forecast:
    """Predicted P(safe) against what happened, one item for each bin that holds a trial.

    Parameters
    ----------
    low, high
        The edges of the bin.
    predicted
        The mean of the predictions in it.
    happened
        The share of its trials that was safe.
    count
        How many trials it holds.
    """

    low: list[float]
    high: list[float]
    predicted: list[float]
    happened: list[float]
    count: list[int]


@dataclass(frozen=True)
class Coordinates:
    """The told trials as lines through their parameters.

    Parameters
    ----------
    names
        The parameters.
    columns
        For each parameter, where each trial lies on its axis, from 0 to 1.
    ticks
        For each parameter, a few places on its axis with their labels.
    number, value, failed, crashed
        Of each trial.
    """

    names: list[str]
    columns: list[list[float]]
    ticks: list[list[tuple[float, str]]]
    number: list[int]
    value: list[float | None]
    failed: list[bool]
    crashed: list[bool]


def progress_data(opt: Optimizer, sign: float = 1.0) -> Progress:
    """Values over trials, and the best safe one so far.

    Parameters
    ----------
    opt
        The search.
    sign
        -1 where the study maximises.

    Examples
    --------
    >>> opt = Optimizer([(0.0, 1.0)], seed=0)
    >>> for x in (0.2, 0.1, 0.4):
    ...     trial = opt.tell([x], x)
    >>> progress_data(opt).best
    [0.2, 0.1, 0.1]
    """
    told = counting.told(opt.trials)
    best: list[float | None] = []
    lowest: float | None = None
    for trial in told:
        if trial.safe and trial.value is not None:
            lowest = trial.value if lowest is None else min(lowest, trial.value)
        best.append(None if lowest is None else sign * lowest)
    return Progress(
        number=[t.number for t in told],
        value=[None if t.value is None else sign * t.value for t in told],
        failed=[t.failed for t in told],
        best=best,
    )


def budget_data(opt: Optimizer) -> BudgetPath:
    """The controller's path through the billed trials, and its state now.

    Parameters
    ----------
    opt
        The search.
    """
    billed = [t for t in counting.told(opt.trials) if t.billed]
    state = budget.start(opt.max_trials, opt.failures_allowed, opt.settings)
    left, rho = [state.failures_left], [budget.required(state, opt.settings)]
    for trial in billed:
        rho[-1] = _asked(trial, rho[-1])
        state = budget.step(state, trial.failed, opt.settings)
        left.append(state.failures_left)
        rho.append(budget.required(state, opt.settings))
    numbers = [t.number for t in billed]
    return BudgetPath([*numbers, (numbers[-1] + 1) if numbers else 0], left, rho, opt.settings.rho_b)


def forecast_data(opt: Optimizer, edges: tuple[float, ...] = EDGES) -> Forecast:
    """Was 0.9 really 0.9? Predictions of P(safe) against what happened.

    Parameters
    ----------
    opt
        The search.
    edges
        The edges of the bins, rising.
    """
    pairs = [(t.suggestion.p_safe, t.failed) for t in counting.told(opt.trials) if t.suggestion is not None]
    p = np.array([p_safe for p_safe, _ in pairs], dtype=float)
    safe = np.array([not failed for _, failed in pairs], dtype=float)
    rows = []
    for low, high in pairwise(edges):
        inside = (p >= low) & ((p < high) | ((high == edges[-1]) & (p <= high)))
        if inside.any():
            rows.append((low, high, float(p[inside].mean()), float(safe[inside].mean()), int(inside.sum())))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], [], []]
    return Forecast(*columns)


def coordinates_data(opt: Optimizer, sign: float = 1.0) -> Coordinates:
    """Every told trial as a line through the parameters.

    Parameters
    ----------
    opt
        The search.
    sign
        -1 where the study maximises.
    """
    told = counting.told(opt.trials)
    settings = [opt.space.decode(np.array(t.u)) for t in told]
    columns, ticks = [], []
    searched = {name: p for name, p in opt.space.parameters.items() if not isinstance(p, Fixed)}
    for name, parameter in searched.items():
        columns.append([_place(parameter, values[name]) for values in settings])
        few = _few(parameter)
        ticks.append([(_place(parameter, v), text) for v, text in zip(few, _labels(few), strict=True)])
    return Coordinates(
        names=list(searched),
        columns=columns,
        ticks=ticks,
        number=[t.number for t in told],
        value=[None if t.value is None else sign * t.value for t in told],
        failed=[t.failed for t in told],
        crashed=[t.crashed for t in told],
    )


def _asked(trial: Trial, controller: float) -> float:
    """The ρ of a trial's suggestion; the controller's where it has none, as a start or an own setting."""
    asked = None if trial.suggestion is None else trial.suggestion.rho
    return controller if asked is None or not np.isfinite(asked) else asked


def _few(parameter: Searched) -> list[Choice]:
    """Values that are written beside an axis."""
    if isinstance(parameter, Categorical):
        return list(parameter.choices)
    return list(dict.fromkeys(parameter.decode(np.array([u])) for u in (0.0, 0.25, 0.5, 0.75, 1.0)))


def _place(parameter: Searched, value: Choice) -> float:
    """Where a value stands on its axis, from 0 to 1."""
    if isinstance(parameter, Categorical):
        return parameter.choices.index(value) / (len(parameter.choices) - 1)
    return float(parameter.encode(value)[0])


def _labels(values: list[Choice]) -> list[str]:
    numbers = [value for value in values if isinstance(value, float)]
    return told_apart(numbers) if len(numbers) == len(values) else [str(value) for value in values]
