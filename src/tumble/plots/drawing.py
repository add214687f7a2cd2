"""The figures, drawn with matplotlib from the numbers of `record` and `slices`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.parameters import Choice
from tumble.plots.record import BudgetPath, Forecast, Progress
from tumble.plots.slices import Slice, safe_ranges

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAFE, FAILED, CRASHED, NEUTRAL = "#2a7f62", "#c0392b", "#f39c12", "#34495e"


def draw_progress(ax: Axes, data: Progress, label: str = "value") -> None:
    """The best safe value over trials, safe trials as dots, failed ones as crosses.

    A failed trial without a value is a dotted line.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    label
        What the value is called.
    """
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
    """The failures that are left as steps, and the P(safe) that was asked for on a second axis.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    """
    ax.step(data.number, data.failures_left, where="post", color=FAILED)
    ax.set(xlabel="trial", ylabel="failures left, ΔB")
    ax.set_ylim(bottom=0)
    other = ax.twinx()
    other.plot(data.number, data.rho, color=NEUTRAL)
    other.axhline(data.rho_b, color=NEUTRAL, linestyle=":", linewidth=1)
    other.set(ylabel="P(safe) asked for, ρ", ylim=(0, 1.02))


def draw_forecast(ax: Axes, data: Forecast) -> None:
    """The predicted P(safe) against the share that was safe. A larger dot stands for more trials.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    """
    ax.plot([0, 1], [0, 1], color=NEUTRAL, linestyle=":", linewidth=1)
    ax.scatter(data.predicted, data.happened, s=[20 + 8 * n for n in data.count], c=SAFE, alpha=0.7)
    ax.set(xlabel="P(safe) predicted", ylabel="share that was safe", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))


def draw_slice(ax: Axes, data: Slice, level: float, label: str = "value") -> None:
    """The model along one parameter, two standard deviations wide; what is safe is shaded.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    level
        P(safe) from which on a value is called safe.
    label
        What the value is called.
    """
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
    """As the paper's Figure 1: the model along one parameter, and below it the intensity of crossings.

    Parameters
    ----------
    top, bottom
        Where the two are drawn.
    data
        The numbers.
    level
        P(safe) from which on a value is called safe.
    label
        What the value is called.
    """
    draw_slice(top, data, level, label)
    top.set(xlabel="")
    x: list[Any] = data.values if _is_numeric(data.values) else list(range(len(data.values)))
    bottom.plot(x, data.crossings, color=NEUTRAL)
    bottom.set(xlabel=data.name, ylabel="crossings of the best level (scaled)", ylim=(0, 1.05))


def _is_numeric(values: list[Choice]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
