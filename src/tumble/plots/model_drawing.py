"""Margins, gain, importance, the surface with the edge of safety and every trial, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tumble.plots.drawing import plain
from tumble.plots.gain import GainPath
from tumble.plots.importance import Importance
from tumble.plots.margins import Margins
from tumble.plots.record import Coordinates
from tumble.plots.surface import Surface
from tumble.shown import CRASHED, FAILED, NEUTRAL, SAFE, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_margins(ax: Axes, data: Margins) -> None:
    """The distance from a limit over trials, and what was predicted; below 0 the limit was broken.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    """
    for number, mean, std in zip(data.number, data.predicted, data.std, strict=True):
        if mean is not None and std is not None:
            ax.errorbar(number, mean, 2 * std, color=NEUTRAL, alpha=0.5, capsize=2)
    for number, margin in zip(data.number, data.margin, strict=True):
        if margin is not None:
            broken = margin < 0
            ax.scatter(number, margin, c=FAILED if broken else SAFE, marker="x" if broken else "o", zorder=3)
    ax.axhline(0.0, color=FAILED, linewidth=1)
    ax.set(xlabel="trial", ylabel=f"margin of {plain(data.name)}")


def draw_importance(ax: Axes, data: Importance, label: str = "value") -> None:
    """How much hangs on each parameter, as bars.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    label
        What the value is called.
    """
    rows = np.arange(len(data.name))
    ax.barh(rows - 0.2, data.value, 0.4, color=NEUTRAL, label=f"of {plain(label)}")
    ax.barh(rows + 0.2, data.p_safe, 0.4, color=SAFE, label="of P(safe)")
    ax.set_yticks(rows, [plain(name) for name in data.name])
    ax.invert_yaxis()
    ax.set(xlabel="share of the variance", xlim=(0, 1.02))
    ax.legend(frameon=False)


def draw_surface(ax: Axes, data: Surface) -> None:
    """The predicted value over two parameters, the edge of safety, and the trials.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    """
    if np.isfinite(data.mean).all():  # a value was seen
        ax.contourf(data.x, data.y, data.mean, levels=12, cmap="Blues_r", alpha=0.8)
    p_safe = np.array(data.p_safe)
    for level, style in ((data.level, "-"), (0.5, ":")):
        if p_safe.min() < level < p_safe.max():
            ax.contour(data.x, data.y, p_safe, levels=[level], colors=SAFE, linestyles=style)
    for x, y, failed in zip(data.tried_x, data.tried_y, data.failed, strict=True):
        ax.scatter(x, y, c=FAILED if failed else SAFE, marker="x" if failed else "o", zorder=3)
    ax.scatter(*data.at, c="white", edgecolors="black", marker="D", s=60, zorder=4)
    ax.set(xlabel=plain(data.names[0]), ylabel=plain(data.names[1]))
    if data.log[0]:
        ax.set_xscale("log")
    if data.log[1]:
        ax.set_yscale("log")


def draw_gain(ax: Axes, data: GainPath, label: str = "value") -> None:
    """What the trials left were expected to gain, before each trial, and a bound of it.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    label
        What the value is called.
    """
    ax.plot(data.number, data.expected, color=NEUTRAL, label="expected gain")
    bound = [np.nan if b is None else b for b in data.bound]
    ax.plot(data.number, bound, color=NEUTRAL, linestyle=":", alpha=0.6, label="a bound of it")
    ax.set(xlabel="trial", ylabel=f"gain in {plain(label)}")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)


def draw_coordinates(ax: Axes, data: Coordinates, label: str = "value") -> None:
    """Every trial as a line through its parameters to its value; one without a value ends above the others.

    Parameters
    ----------
    ax
        Where it is drawn.
    data
        The numbers.
    label
        What the value is called.
    """
    known = [v for v in data.value if v is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    axes = range(len(data.names) + 1)
    for j, value in enumerate(data.value):
        end = 1.06 if value is None else (value - low) / (high - low) if high > low else 0.5
        colour = CRASHED if data.crashed[j] else FAILED if data.failed[j] else SAFE
        ax.plot(axes, [*(column[j] for column in data.columns), end], color=colour, alpha=0.7)
    places = ((0.0, 1.0) if high > low else (0.5,)) if known else ()
    ends = list(zip(places, told_apart([low, high]), strict=False))
    for i, ticks in enumerate([*data.ticks, ends]):
        ax.axvline(i, color=NEUTRAL, linewidth=0.8)
        for place, text in ((place, plain(text)) for place, text in ticks):
            ax.annotate(text, (i, place), (3, 0), textcoords="offset points", fontsize="small", va="center")
    ax.set_xticks(list(axes), [plain(name) for name in (*data.names, label)])
    ax.set_yticks([])
    ax.set(ylim=(-0.05, 1.12))
