"""Figure 2: regret, failures left and ρ_t over the iterations on Michalewicz 10D; the runs are Table 1's."""

from __future__ import annotations

from . import methods, plans
from .plans import Options
from .records import Spec
from .table1 import SEEDS


def plan(options: Options) -> list[Spec]:
    """The Michalewicz half of Table 1."""
    free = plans.grid(("michalewicz10",), methods.FREE, options, SEEDS)
    return free + plans.grid(("michalewicz10-constrained",), ("eic", "pesc", "xsf"), options, SEEDS)
