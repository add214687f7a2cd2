"""The experiments by name: one module each, imported when asked for.

A module of an experiment has ``plan(options) -> list[Spec]`` and
``section(lines, assets) -> Section | None`` (its part of the report, from the lines alone). It may have a
``run_all`` of its own, called like `pool.run_all`. To add one, write the module and add its name here.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from tumble.errors import InputError

from .runs.plans import Options
from .runs.records import Line, Spec

if TYPE_CHECKING:
    from .reporting.page import Assets, Section

EXPERIMENTS = {
    "fig1": "experiments.paper.fig1",
    "table1": "experiments.paper.table1",
    "fig2": "experiments.paper.fig2",
    "frechet": "experiments.paper.frechet",
    "draws": "experiments.paper.draws",
    "table3": "experiments.paper.table3",
    "compression": "experiments.compression.experiment",
    "cartpole": "experiments.paper.cartpole",
}


class Experiment(Protocol):
    """What the module of an experiment offers."""

    def plan(self, options: Options) -> list[Spec]:
        """The runs it needs."""
        ...

    def section(self, lines: Sequence[Line], assets: Assets) -> Section | None:
        """Its part of the report; None where there are no lines for it."""
        ...


def find(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        raise InputError(
            f"unknown experiment {name!r}; choose one of {', '.join(EXPERIMENTS)}, report or all"
        )
    return cast(Experiment, importlib.import_module(EXPERIMENTS[name]))
