"""Figures of a search: the numbers (`*_data`, plain lists), and their drawing with matplotlib (`draw_*`)."""

from tumble.plots.drawing import (
    draw_budget,
    draw_crossings,
    draw_forecast,
    draw_progress,
    draw_slice,
)
from tumble.plots.gain import GainPath, gain_data
from tumble.plots.importance import Importance, importance_data
from tumble.plots.margins import Margins, margins_data, nearer_side
from tumble.plots.model_drawing import (
    draw_coordinates,
    draw_gain,
    draw_importance,
    draw_margins,
    draw_surface,
)
from tumble.plots.record import (
    BudgetPath,
    Coordinates,
    Forecast,
    Progress,
    budget_data,
    coordinates_data,
    forecast_data,
    progress_data,
)
from tumble.plots.slices import Slice, safe_ranges, slices_data
from tumble.plots.surface import Surface, most_important, surface_data
from tumble.plots.together import overview
from tumble.shown import CRASHED, FAILED, NEUTRAL, SAFE

__all__ = [
    "CRASHED",
    "FAILED",
    "NEUTRAL",
    "SAFE",
    "BudgetPath",
    "Coordinates",
    "Forecast",
    "GainPath",
    "Importance",
    "Margins",
    "Progress",
    "Slice",
    "Surface",
    "budget_data",
    "coordinates_data",
    "draw_budget",
    "draw_coordinates",
    "draw_crossings",
    "draw_forecast",
    "draw_gain",
    "draw_importance",
    "draw_margins",
    "draw_progress",
    "draw_slice",
    "draw_surface",
    "forecast_data",
    "gain_data",
    "importance_data",
    "margins_data",
    "most_important",
    "nearer_side",
    "overview",
    "progress_data",
    "safe_ranges",
    "slices_data",
    "surface_data",
]
