"""Table 3: in-model draws in three dimensions (App. E), hyperparameters fixed at the truth or learned."""

from __future__ import annotations

from . import methods, plans
from .plans import Options
from .records import Spec

FREE = ("in-model-free",)
CONSTRAINED = ("in-model",)
SEEDS = {"pesc": 10}


def plan(options: Options) -> list[Spec]:
    """20 draws of every cell, 10 of PESC; the paper had 50. Block "default" learns the hyperparameters."""
    free = plans.grid(FREE, methods.FREE, options, SEEDS)
    return free + plans.grid(CONSTRAINED, ("eic", "pesc", "xsf"), options, SEEDS)
