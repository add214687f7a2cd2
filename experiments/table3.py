"""Table 3: in-model draws in three dimensions (App. E), hyperparameters fixed at the truth or learned."""

from __future__ import annotations

from collections.abc import Sequence

from . import methods, plans, tables
from .page import Assets, Section
from .plans import Options
from .records import Line, Spec

FREE = ("in-model-free",)
CONSTRAINED = ("in-model",)
SEEDS = {"pesc": 10}


def plan(options: Options) -> list[Spec]:
    """20 draws of every cell, 10 of PESC; the paper had 50. Block "default" learns the hyperparameters."""
    free = plans.grid(FREE, methods.FREE, options, SEEDS)
    return free + plans.grid(CONSTRAINED, ("eic", "pesc", "xsf"), options, SEEDS)


def section(lines: Sequence[Line], assets: Assets) -> Section | None:
    """Table 3, in two blocks."""
    mine = [line for line in lines if line["family"] in FREE + CONSTRAINED]
    groups = (
        tables.Group("T = 100", FREE, methods.FREE, "xs"),
        tables.Group("T = 100, B = 15", CONSTRAINED, ("eic", "pesc", "xsf"), "xsf"),
    )
    found = tables.parts(mine, assets.seeds, groups)
    return Section("Table 3: in-model draws in three dimensions", found) if found else None
