"""Every figure of a search at once: those of the page, the report and the dashboard, of the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from tumble.optimizer import Optimizer
from tumble.plots.drawing import draw_budget, draw_forecast, draw_progress, draw_slice, plain
from tumble.plots.gain import gain_data
from tumble.plots.importance import importance_data
from tumble.plots.margins import margins_data
from tumble.plots.model_drawing import (
    draw_coordinates,
    draw_gain,
    draw_importance,
    draw_margins,
    draw_surface,
)
from tumble.plots.record import budget_data, coordinates_data, forecast_data, progress_data
from tumble.plots.slices import slices_data
from tumble.plots.surface import surface_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawing: TypeAlias = "Callable[[Axes], None]"
COLUMNS = 3


def overview(opt: Optimizer, sign: float = 1.0, label: str = "value") -> Figure:
    """Every figure of a search on one sheet, in the order of the page and of the report.

    Best safe value, margins of each limit, budget, the surface with the edge of safety, slices, expected
    gain, importance, what was predicted and happened, and every trial through its parameters. A figure that
    has no numbers is left out.

    Parameters
    ----------
    opt
        The search.
    sign
        -1 where the study maximises.
    label
        What the value is called.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with `figure.savefig`.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ImportError("this figure needs Matplotlib: pip install -e '.[plots]' in the clone") from error
    drawings = _drawings(opt, sign, label)
    last, first = divmod(len(drawings), COLUMNS)
    if first == COLUMNS - 1:  # one column is too narrow for all the parameters
        last, first = last + 1, 0
    figure = Figure(figsize=(13, 3.6 * (last + 1)), layout="constrained")
    grid = figure.add_gridspec(last + 1, COLUMNS)
    for k, (title, draw) in enumerate(drawings):
        ax = figure.add_subplot(grid[divmod(k, COLUMNS)])
        ax.set_title(plain(title), fontsize="medium")
        draw(ax)
    wide = figure.add_subplot(grid[last, first:])
    wide.set_title("every trial through its parameters", fontsize="medium")
    draw_coordinates(wide, coordinates_data(opt, sign), label)
    return figure


def _drawings(opt: Optimizer, sign: float, label: str) -> list[tuple[str, Drawing]]:
    """Titles and figures, one column wide each."""
    level = opt.settings.rho_safe
    progress, budget, forecast = progress_data(opt, sign), budget_data(opt), forecast_data(opt)
    importance, surface, gain = importance_data(opt), surface_data(opt, sign=sign), gain_data(opt)
    drawings: list[tuple[str, Drawing]] = [("best safe value", lambda ax: draw_progress(ax, progress, label))]
    for margin in margins_data(opt):
        drawings.append((f"limit of {margin.name}", partial(draw_margins, data=margin)))
    drawings.append(("budget of failures", lambda ax: draw_budget(ax, budget)))
    if surface is not None:
        drawings.append(("the edge of safety", lambda ax: draw_surface(ax, surface)))
    for part in slices_data(opt, sign=sign):
        drawings.append((f"along {part.name}", partial(draw_slice, data=part, level=level, label=label)))
    if gain.is_line:
        drawings.append(("expected gain of what is left", lambda ax: draw_gain(ax, gain, label)))
    drawings.append(("how much hangs on each", lambda ax: draw_importance(ax, importance, label)))
    drawings.append(("predicted, and happened", lambda ax: draw_forecast(ax, forecast)))
    return drawings
