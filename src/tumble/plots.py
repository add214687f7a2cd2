"""Figures of a search: numbers first (`*_data`, plain lists), drawing second.

The drawing here is matplotlib's; `tumble.studies.report` draws the same numbers with Plotly.  Everything is
read from an `Optimizer`; `sign` is -1 where its values were turned to maximise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.core import budget
from tumble.core.arrays import Array
from tumble.core.crossings import log_intensity
from tumble.core.process.slopes import slopes_at
from tumble.optimizer import Optimizer
from tumble.parameters import Categorical, Choice, Float, Int, Parameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_STEPS = 60  # admissible values of one parameter that a slice shows
SAFE, FAILED, CRASHED, NEUTRAL = "#2a7f62", "#c0392b", "#f39c12", "#34495e"


@dataclass(frozen=True)
class Progress:
    """Values of the told trials, and the best safe one so far (None before there is one)."""

    number: list[int]
    value: list[float | None]
    failed: list[bool]
    best: list[float | None]


@dataclass(frozen=True)
class BudgetPath:
    """Before each billed trial, by its number: failures left ΔB_t and the P(safe) asked for, ρ_t."""

    number: list[int]
    failures_left: list[int]
    rho: list[float]
    rho_b: float


@dataclass(frozen=True)
class Forecast:
    """Predicted P(safe) in bins, the mean prediction, the share that was safe, and how many there were."""

    low: list[float]
    high: list[float]
    predicted: list[float]
    happened: list[float]
    count: list[int]


@dataclass(frozen=True)
class Coordinates:
    """One column for each parameter, on [0, 1], with a few ticks; values and outcomes beside them."""

    names: list[str]
    columns: list[list[float]]
    ticks: list[list[tuple[float, str]]]
    number: list[int]
    value: list[float | None]
    failed: list[bool]
    crashed: list[bool]


@dataclass(frozen=True)
class Slice:
    """The model along one parameter, the others held at the recommendation."""

    name: str
    values: list[Choice]
    mean: list[float]
    std: list[float]
    p_safe: list[float]
    at: Choice
    log: bool
    crossings: list[float]  # intensity of crossings (8) of the best safe trial's level, scaled to at most 1


def progress_data(opt: Optimizer, sign: float = 1.0) -> Progress:
    """Values over trials, and the best safe one so far."""
    told = [t for t in opt.trials if t.status == "told"]
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
    """The controller's path through the billed trials, and its state now."""
    billed = [t for t in opt.trials if t.status == "told" and t.billed]
    state = budget.start(opt.max_trials, opt.failures_allowed, opt.settings)
    left, rho = [state.failures_left], [budget.required(state, opt.settings)]
    for trial in billed:
        state = budget.step(state, trial.failed, opt.settings)
        left.append(state.failures_left)
        rho.append(budget.required(state, opt.settings))
    numbers = [t.number for t in billed]
    return BudgetPath([*numbers, (numbers[-1] + 1) if numbers else 0], left, rho, opt.settings.rho_b)


def forecast_data(
    opt: Optimizer, edges: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
) -> Forecast:
    """Was 0.9 really 0.9? Predictions of P(safe) against what happened."""
    told = [t for t in opt.trials if t.status == "told" and t.suggestion is not None]
    p = np.array([t.suggestion.p_safe for t in told if t.suggestion is not None])
    safe = np.array([not t.failed for t in told], dtype=float)
    rows = []
    for low, high in pairwise(edges):
        inside = (p >= low) & ((p < high) | ((high == edges[-1]) & (p <= high)))
        if inside.any():
            rows.append((low, high, float(p[inside].mean()), float(safe[inside].mean()), int(inside.sum())))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], [], []]
    return Forecast(*columns)


def coordinates_data(opt: Optimizer, sign: float = 1.0) -> Coordinates:
    """Every told trial as a line through the parameters."""
    told = [t for t in opt.trials if t.status == "told"]
    settings = [opt.space.decode(np.array(t.u)) for t in told]
    columns, ticks = [], []
    for name, parameter in opt.space.parameters.items():
        columns.append([_place(parameter, values[name]) for values in settings])
        ticks.append([(_place(parameter, value), _label(value)) for value in _few(parameter)])
    return Coordinates(
        names=list(opt.space.names),
        columns=columns,
        ticks=ticks,
        number=[t.number for t in told],
        value=[None if t.value is None else sign * t.value for t in told],
        failed=[t.failed for t in told],
        crashed=[t.crashed for t in told],
    )


def slices_data(
    opt: Optimizer, at: Mapping[str, Choice] | Array | None = None, points: int = 101, sign: float = 1.0
) -> list[Slice]:
    """Posterior mean, standard deviation and P(safe) along each parameter; empty before any data.

    at: the setting to cut through; the recommendation where it is left out.
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
    slices = []
    for name, parameter in opt.space.parameters.items():
        values = _along(parameter, points)
        where = np.array([opt.space.encode({**centre, name: value}) for value in values])
        mean, var = models.objective.predict(where)
        outputs = models.objective.outputs
        intensity = log_intensity(slopes_at(models.objective, where), level)[:, 0]
        slices.append(
            Slice(
                name=name,
                values=values,
                mean=[float(m) for m in sign * outputs.mean(mean)],
                std=[float(s) for s in outputs.scale * np.sqrt(var)],
                p_safe=[float(p) for p in np.exp(models.feasibility.log_prob(where))],
                at=centre[name],
                log=isinstance(parameter, (Float, Int)) and parameter.log,
                crossings=[float(c) for c in np.exp(intensity - intensity.max())],
            )
        )
    return slices


def safe_ranges(values: list[Any], p_safe: list[float], level: float) -> list[tuple[Any, Any]]:
    """The stretches of `values` where P(safe) reaches `level`: first and last value of each."""
    ranges: list[tuple[Any, Any]] = []
    start = None
    for i, p in enumerate(p_safe):
        if p >= level and start is None:
            start = i
        if start is not None and (p < level or i == len(p_safe) - 1):
            ranges.append((values[start], values[i if p >= level else i - 1]))
            start = None
    return ranges


def draw_progress(ax: Axes, data: Progress, label: str = "value") -> None:
    """Best safe value over trials; safe trials as dots, failed ones as crosses, or dotted without a value."""
    for failed, colour, marker in ((False, SAFE, "o"), (True, FAILED, "x")):
        shown = [(n, v) for n, v, f in zip(data.number, data.value, data.failed, strict=True) if f == failed]
        known = [(n, v) for n, v in shown if v is not None]
        if known:
            numbers, values = zip(*known, strict=True)
            ax.scatter(numbers, values, c=colour, marker=marker, label="failed" if failed else "safe")
    crashed = [n for n, v, f in zip(data.number, data.value, data.failed, strict=True) if f and v is None]
    for i, number in enumerate(crashed):
        ax.axvline(number, color=FAILED, linestyle=":", linewidth=1.0, label="" if i else "failed, no value")
    best = [np.nan if b is None else b for b in data.best]
    ax.step(data.number, best, where="post", color=NEUTRAL, label="best safe")
    ax.set(xlabel="trial", ylabel=label)
    ax.legend(frameon=False)


def draw_budget(ax: Axes, data: BudgetPath) -> None:
    """Failures left as steps, and the P(safe) asked for on a second axis."""
    ax.step(data.number, data.failures_left, where="post", color=FAILED)
    ax.set(xlabel="trial", ylabel="failures left, ΔB")
    ax.set_ylim(bottom=0)
    other = ax.twinx()
    other.plot(data.number, data.rho, color=NEUTRAL)
    other.axhline(data.rho_b, color=NEUTRAL, linestyle=":", linewidth=1)
    other.set(ylabel="P(safe) asked for, ρ", ylim=(0, 1.02))


def draw_forecast(ax: Axes, data: Forecast) -> None:
    """Predicted P(safe) against the share that was safe; the area of a dot is the number of trials."""
    ax.plot([0, 1], [0, 1], color=NEUTRAL, linestyle=":", linewidth=1)
    ax.scatter(data.predicted, data.happened, s=[20 + 8 * n for n in data.count], c=SAFE, alpha=0.7)
    ax.set(xlabel="P(safe) predicted", ylabel="share that was safe", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))


def draw_slice(ax: Axes, data: Slice, level: float, label: str = "value") -> None:
    """The model along one parameter, with the stretch that is safe at `level` shaded."""
    x: list[Any] = data.values if _is_numeric(data.values) else list(range(len(data.values)))
    mean, std = np.array(data.mean), np.array(data.std)
    ax.plot(x, mean, color=NEUTRAL)
    ax.fill_between(x, mean - 2 * std, mean + 2 * std, color=NEUTRAL, alpha=0.2, linewidth=0)
    for low, high in safe_ranges(x, data.p_safe, level):
        ax.axvspan(low, high, color=SAFE, alpha=0.12, linewidth=0)
    ax.set(xlabel=data.name, ylabel=label)
    if data.log:
        ax.set_xscale("log")
    if x is not data.values:
        ax.set_xticks(x, [str(value) for value in data.values])


def draw_crossings(top: Axes, bottom: Axes, data: Slice, level: float, label: str = "value") -> None:
    """As the paper's Figure 1: the posterior along one parameter, and below it the intensity of crossings."""
    draw_slice(top, data, level, label)
    top.set(xlabel="")
    x: list[Any] = data.values if _is_numeric(data.values) else list(range(len(data.values)))
    bottom.plot(x, data.crossings, color=NEUTRAL)
    bottom.set(xlabel=data.name, ylabel="crossings of the best level (scaled)", ylim=(0, 1.05))


def overview(opt: Optimizer, sign: float = 1.0, label: str = "value") -> Figure:
    """Progress, budget, forecast and the slices on one matplotlib figure."""
    from matplotlib.figure import Figure

    slices = slices_data(opt, sign=sign)
    rows = 1 + -(-len(slices) // 3)
    figure = Figure(figsize=(13, 3.6 * rows), layout="constrained")
    axes = figure.subplots(rows, 3, squeeze=False)
    draw_progress(axes[0, 0], progress_data(opt, sign), label)
    draw_budget(axes[0, 1], budget_data(opt))
    draw_forecast(axes[0, 2], forecast_data(opt))
    for ax, data in zip(axes[1:].flat, slices, strict=False):
        draw_slice(ax, data, opt.settings.rho_safe, label)
    for ax in list(axes[1:].flat)[len(slices) :]:
        ax.set_visible(False)
    return figure


def _along(parameter: Parameter, points: int) -> list[Choice]:
    """Values across a parameter: evenly spread, and all of them where they are few."""
    if isinstance(parameter, Categorical):
        return list(parameter.choices)
    count = points if isinstance(parameter, Float) and parameter.step is None else MOST_STEPS
    return list(dict.fromkeys(parameter.decode(np.array([u])) for u in np.linspace(0.0, 1.0, count)))


def _few(parameter: Parameter) -> list[Choice]:
    if isinstance(parameter, Categorical):
        return list(parameter.choices)
    return list(dict.fromkeys(parameter.decode(np.array([u])) for u in (0.0, 0.25, 0.5, 0.75, 1.0)))


def _place(parameter: Parameter, value: Choice) -> float:
    """Where a value stands on its axis, from 0 to 1."""
    if isinstance(parameter, Categorical):
        return parameter.choices.index(value) / (len(parameter.choices) - 1)
    return float(parameter.encode(value)[0])


def _label(value: Choice) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_numeric(values: list[Choice]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
