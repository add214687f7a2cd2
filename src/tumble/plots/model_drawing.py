"""Margins, importance and the surface with the edge of safety, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tumble.plots.drawing import FAILED, NEUTRAL, SAFE
from tumble.plots.importance import Importance
from tumble.plots.margins import Margins
from tumble.plots.surface import Surface

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
    ax.set(xlabel="trial", ylabel=f"margin of {data.name}")


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
    ax.barh(rows - 0.2, data.value, 0.4, color=NEUTRAL, label=f"of {label}")
    ax.barh(rows + 0.2, data.p_safe, 0.4, color=SAFE, label="of P(safe)")
    ax.set_yticks(rows, data.name)
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
    ax.contourf(data.x, data.y, data.mean, levels=12, cmap="Blues_r", alpha=0.8)
    p_safe = np.array(data.p_safe)
    for level, style in ((data.level, "-"), (0.5, ":")):
        if p_safe.min() < level < p_safe.max():
            ax.contour(data.x, data.y, p_safe, levels=[level], colors=SAFE, linestyles=style)
    for x, y, failed in zip(data.tried_x, data.tried_y, data.failed, strict=True):
        ax.scatter(x, y, c=FAILED if failed else SAFE, marker="x" if failed else "o", zorder=3)
    ax.scatter(*data.at, c="white", edgecolors="black", marker="D", s=60, zorder=4)
    ax.set(xlabel=data.names[0], ylabel=data.names[1])
    if data.log[0]:
        ax.set_xscale("log")
    if data.log[1]:
        ax.set_yscale("log")
