"""The numbers of every figure of a study: page, report, dashboard and notebook draw the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tumble import plots
from tumble.studies.ledger import Ledger
from tumble.studies.limits import Limit


@dataclass(frozen=True)
class Numbers:
    """The numbers of every figure.

    Parameters
    ----------
    objective
        What the value is called.
    level
        The P(safe) that a recommendation needs.
    progress, budget, forecast, margins, gain, importance, surface, slices, coordinates
        As `tumble.plots` gives them.
    """

    objective: str
    level: float
    progress: plots.Progress
    budget: plots.BudgetPath
    forecast: plots.Forecast
    margins: list[plots.Margins]
    gain: plots.GainPath
    importance: plots.Importance
    surface: plots.Surface | None
    slices: list[plots.Slice]
    coordinates: plots.Coordinates

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, except for what is not finite."""
        return asdict(self)


def numbers(ledger: Ledger) -> Numbers | None:
    """The numbers of a study as it stands; None before anything was told.

    Parameters
    ----------
    ledger
        The study.
    """
    opt, sign = ledger.optimizer(), ledger.config.sign
    if not any(trial.status == "told" for trial in opt.trials):
        return None
    return Numbers(
        objective=ledger.config.objective,
        level=opt.settings.rho_safe,
        progress=plots.progress_data(opt, sign),
        budget=plots.budget_data(opt),
        forecast=plots.forecast_data(opt),
        margins=margins_of(plots.margins_data(opt), ledger.config.limits),
        gain=plots.gain_data(opt),
        importance=plots.importance_data(opt),
        surface=plots.surface_data(opt, sign=sign),
        slices=plots.slices_data(opt, sign=sign),
        coordinates=plots.coordinates_data(opt, sign),
    )


def margins_of(sides: list[plots.Margins], limits: Sequence[Limit]) -> list[plots.Margins]:
    """One for each limit: of two sides, the nearer one."""
    by_name = {side.name: side for side in sides}
    found = []
    for limit in limits:
        own = [by_name[name] for name in limit.constraint_names]
        found.append(own[0] if len(own) == 1 else plots.nearer_side(*own))
    return found
