"""The figures, drawn with matplotlib from the numbers of `record` and `slices`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.parameters import Choice
from tumble.plots.record import BudgetPath, Forecast, Progress
from tumble.plots.slices import Slice, safe_ranges
from tumble.shown import CRASHED, FAILED, NEUTRAL, SAFE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DECADES = 30.0  # from which ratio of the largest to the smallest on an axis is logarithmic


def draw_progress(ax: Axes, data: Progress, label: str = "value") -> None:
    """The best safe value over trials, safe trials as dots, failed ones as crosses.

    A failed trial without a value is a cross at the upper edge. Where values span decades the axis is
    logarithmic.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    label
        What the value is called.
    """
    trials = list(zip(data.number, data.value, data.failed, strict=True))
    for failed, colour, marker in ((False, SAFE, "o"), (True, FAILED, "x")):
        known = [(n, v) for n, v, f in trials if f == failed and v is not None]
        if known:
            numbers, values = zip(*known, strict=True)
            ax.scatter(numbers, values, s=22, c=colour, marker=marker, linewidths=1.3, zorder=3)
            _name_highest(ax, known, "failed" if failed else "safe", colour)
    crashed = [n for n, v, f in trials if f and v is None]
    ax.plot(crashed, [0.97] * len(crashed), "x", color=CRASHED, transform=ax.get_xaxis_transform())
    if crashed:
        name_point(ax, crashed[-1], 0.97, "crashed", CRASHED, upper_edge=True)
    best = [np.nan if b is None else b for b in data.best]
    ax.step(data.number, best, where="post", color=NEUTRAL, linewidth=1.6)
    if best and np.isfinite(best[-1]):
        name_point(ax, data.number[-1], best[-1], f"best {best[-1]:.4g}", NEUTRAL)
    if spans_decades([v for _, v, _ in trials if v is not None]):
        ax.set_yscale("log")
    ax.set(xlabel="trial", ylabel=plain(label))


def plain(text: str) -> str:
    """A name as it is: matplotlib takes what stands between two $ for mathematics."""
    return text.replace("$", r"\$")


def spans_decades(values: Sequence[float]) -> bool:
    """Whether values are positive and so far apart that an axis should be logarithmic."""
    return len(values) > 0 and min(values) > 0.0 and max(values) >= DECADES * min(values)


def name_point(ax: Axes, x: float, y: float, text: str, colour: str, *, upper_edge: bool = False) -> None:
    """A word beside a point, in its colour, in place of a legend; y counts from 0 to 1 for the upper edge."""
    coordinates = ax.get_xaxis_transform() if upper_edge else "data"
    ax.annotate(
        text, (x, y), xycoords=coordinates, xytext=(6, 0), textcoords="offset points", va="center",
        color=colour, fontsize="small", annotation_clip=False,
    )  # fmt: skip


def _name_highest(ax: Axes, points: Sequence[tuple[int, float]], text: str, colour: str) -> None:
    x, y = max(points, key=lambda point: point[1])
    name_point(ax, x, y, text, colour)


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
    ax.set_xlabel("trial")
    ax.set_ylabel("failures left, ΔB", color=FAILED)
    ax.set_ylim(bottom=0)
    other = ax.twinx()
    other.plot(data.number, data.rho, color=SAFE)
    other.axhline(data.rho_b, color=SAFE, linestyle=":", linewidth=1)
    other.set_ylabel("P(safe) asked for, ρ", color=SAFE)
    other.set_ylim(0, 1.02)


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
    ax.set(xlabel=plain(data.name), ylabel=plain(label))
    if data.log:
        ax.set_xscale("log")
    if x is not data.values:
        ax.set_xticks(x, [plain(str(value)) for value in data.values])


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
    bottom.set(xlabel=plain(data.name), ylabel="crossings of the best level (scaled)", ylim=(0, 1.05))


def _is_numeric(values: list[Choice]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
