"""Table 1: Hartmann 6D and Michalewicz 10D, without and with the sine-product constraint (§5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from . import methods, plans, tables
from .page import Assets, Section
from .plans import Options
from .records import Line, Spec

FREE = ("hartmann6", "michalewicz10")
CONSTRAINED = ("hartmann6-constrained", "michalewicz10-constrained")
SEEDS = {"pesc": 10}


def plan(options: Options) -> list[Spec]:
    """20 seeds of every cell, 10 of PESC; the paper had 50."""
    free = plans.grid(FREE, methods.FREE, options, SEEDS)
    return free + plans.grid(CONSTRAINED, ("eic", "pesc", "xsf"), options, SEEDS)


def section(lines: Sequence[Line], assets: Assets) -> Section | None:
    """Table 1, in two blocks."""
    mine = [line for line in lines if line["family"] in FREE + CONSTRAINED]
    groups = (
        tables.Group("T = 100", FREE, methods.FREE, "xs"),
        tables.Group("T = 100, B = 10", CONSTRAINED, ("eic", "pesc", "xsf"), "xsf"),
    )
    found = tables.parts(mine, assets.seeds, groups)
    return Section("Table 1: Hartmann 6D and Michalewicz 10D", found) if found else None
