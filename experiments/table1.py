"""Table 1: Hartmann 6D and Michalewicz 10D, without and with the sine-product constraint (§5.2)."""

from __future__ import annotations

from . import methods, plans
from .plans import Options
from .records import Spec

FREE = ("hartmann6", "michalewicz10")
CONSTRAINED = ("hartmann6-constrained", "michalewicz10-constrained")
SEEDS = {"pesc": 10}


def plan(options: Options) -> list[Spec]:
    """20 seeds of every cell, 10 of PESC; the paper had 50."""
    free = plans.grid(FREE, methods.FREE, options, SEEDS)
    return free + plans.grid(CONSTRAINED, ("eic", "pesc", "xsf"), options, SEEDS)
