"""Figure 2: regret, failures left and ρ_t over the iterations on Michalewicz 10D; the runs are Table 1's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..reporting import figures
from ..reporting.page import Assets, Part, Section
from ..runs import methods, plans
from ..runs.plans import Options
from ..runs.records import Line, Spec
from ..runs.statistics import Cell, by_method, cells
from .tables import BLOCK_TITLES, CONSTRAINED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FREE, LIMITED = "michalewicz10", "michalewicz10-constrained"


def plan(options: Options) -> list[Spec]:
    """The Michalewicz half of Table 1."""
    free = plans.grid((FREE,), methods.FREE, options)
    return free + plans.grid((LIMITED,), CONSTRAINED, options)


def section(lines: Sequence[Line], assets: Assets) -> Section | None:
    """The figure, once for each block."""
    found = cells(lines, assets.seeds)
    parts: list[Part] = []
    for block, title in BLOCK_TITLES.items():
        free = by_method(found, FREE, methods.FREE, block)
        limited = by_method(found, LIMITED, CONSTRAINED, block)
        if free and limited:
            caption = (
                f"Michalewicz 10D with {title}: mean over the seeds; band and bars are one standard "
                "deviation. (a) without constraint; (b) with the constraint and B = 10: regret, failures "
                "left, and XsF's ρ_t (dashed: ρ_b). A run that is stopped keeps its last regret."
            )
            parts.append(assets.save(figure(free, limited), f"fig2-{block}", caption))
    return Section("Figure 2: Michalewicz 10D over the iterations", parts) if parts else None


def figure(free: dict[str, Cell], limited: dict[str, Cell]) -> Figure:
    """(a) on the left; (b), three panels one above the other, on the right."""
    drawing = figures.new_figure(9.0, 6.6)
    grid = drawing.add_gridspec(3, 2, height_ratios=(2.0, 1.0, 1.0))
    left, right = drawing.add_subplot(grid[:, 0]), drawing.add_subplot(grid[0, 1])
    budget, rho = drawing.add_subplot(grid[1, 1], sharex=right), drawing.add_subplot(grid[2, 1], sharex=right)
    for axes, group, title in ((left, free, "(a) unconstrained"), (right, limited, "(b) constrained")):
        for method, cell in group.items():
            curves = figures.regret_curves(cell, _trials(cell))
            figures.draw(axes, method, curves, band=method in ("xs", "xsf"), low=0.0)
        figures.finish(axes, "simple regret $r_t$ (in units of $|f_{min}|$)", title=title)
        axes.legend(frameon=False, fontsize=9)
    left.set_xlabel("iteration $t$")
    for method, cell in limited.items():
        figures.draw(
            budget, method, figures.failures_left(cell, _trials(cell)), band=method == "xsf", low=0.0
        )
    figures.finish(budget, "failures left $\\Delta B_t$")
    if "xsf" in limited:
        cell = limited["xsf"]
        rows = np.array([figures.rho(line, _trials(cell)) for line in cell.lines])
        figures.draw(rho, "xsf", rows, band=True, low=0.0)
        rho.axhline(0.5, color="#555555", linestyle="--", linewidth=0.9)
    figures.finish(rho, "$\\rho_t$", xlabel="iteration $t$")
    rho.set_ylim(0.0, 1.02)
    return drawing


def _trials(cell: Cell) -> int:
    return int(cell.lines[0]["trials"])
