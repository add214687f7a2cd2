"""The style of the paper's figures: told apart by line and marker, so that they print in grey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..runs.methods import LABELS
from ..runs.records import Line
from ..runs.statistics import Cell, sample_std

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

STYLES: dict[str, dict[str, Any]] = {
    "xs": {"color": "#000000", "linestyle": "-", "linewidth": 2.2},
    "xsf": {"color": "#000000", "linestyle": "-", "linewidth": 2.2},
    "ei": {"color": "#0b5394", "linestyle": "--", "marker": "o"},
    "eic": {"color": "#0b5394", "linestyle": "--", "marker": "o"},
    "mes": {"color": "#b45f06", "linestyle": "-.", "marker": "s"},
    "pesc": {"color": "#b45f06", "linestyle": "-.", "marker": "s"},
    "pi": {"color": "#777777", "linestyle": ":", "marker": "^"},
    "ucb": {"color": "#38761d", "linestyle": (0, (5, 1, 1, 1)), "marker": "D"},
    "safe-set": {"color": "#777777", "linestyle": ":", "marker": "^"},
}
COMMON = {"linewidth": 1.3, "markersize": 4.5, "markerfacecolor": "white"}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, without any global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def regret_curves(cell: Cell, trials: int) -> Array:
    """Regret after each trial, (runs, T); a run that stopped keeps its last value."""
    return np.array([_extended(line["regret_curve"], trials, line["regret"]) for line in cell.lines])


def failures_left(cell: Cell, trials: int) -> Array:
    """ΔB_t after each trial, (runs, T)."""
    rows = []
    for line in cell.lines:
        left = line["failures"] - np.cumsum(line["failed"])
        rows.append(_extended(np.maximum(left, 0), trials, line["failures"]))
    return np.array(rows, dtype=np.float64)


def rho(line: Line, trials: int) -> Array:
    """ρ_t at each trial, (T,), NaN where the run had ended."""
    values = np.full(trials, np.nan)
    known = [np.nan if r is None else r for r in line["rho"]]
    values[: len(known)] = known
    return values


def _extended(curve: Sequence[float] | Array, trials: int, empty: float) -> Array:
    values = np.asarray(curve, dtype=np.float64)
    last = values[-1] if len(values) else empty
    return np.concatenate([values, np.full(trials - len(values), last)])


def draw(axes: Axes, method: str, curves: Array, *, band: bool, low: float = -np.inf) -> None:
    """The mean over runs; its standard deviation as a band, or as bars at a few places."""
    style = {**COMMON, **STYLES[method]}
    known = np.ma.masked_invalid(curves)
    mean, std = np.ma.filled(known.mean(axis=0), np.nan), sample_std(curves)
    steps = np.arange(1, curves.shape[1] + 1)
    every = max(1, len(steps) // 8)
    offset = list(STYLES).index(method) % every
    axes.plot(steps, mean, label=LABELS[method], markevery=(offset, every), **style)
    if band:
        below = np.maximum(mean - std, low)
        axes.fill_between(steps, below, mean + std, color=style["color"], alpha=0.15, linewidth=0)
    else:
        places = steps[offset::every] - 1
        axes.errorbar(
            steps[places],
            mean[places],
            np.stack([np.minimum(std, mean - low), std])[:, places],
            fmt="none",
            ecolor=style["color"],
            elinewidth=0.8,
            capsize=2,
        )


def finish(axes: Axes, ylabel: str, xlabel: str = "", title: str = "") -> None:
    """Labels, a light grid, no box."""
    axes.set_ylabel(ylabel)
    axes.set_xlabel(xlabel)
    axes.set_title(title, fontsize=10, loc="left")
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
