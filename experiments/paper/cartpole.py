"""The cart-pole of §5.4: XsF, EIC, PESC and safe-set expansion, ten repetitions, T = 100, B = 15.

Each repetition has its own initial state of the pole, the same for all methods. None is told a safe
controller, but safe-set expansion cannot begin without one: it alone is told a timid linear-quadratic
regulator, unbilled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tumble.problems import Problem
from tumble.problems.cartpole import cartpole, initial_state, lqr_gains, rollout

from ..reporting.page import Assets, Part, Section, Table, Text
from ..runs import loop, plans
from ..runs.methods import LABELS
from ..runs.plans import Options
from ..runs.records import Line, Spec
from ..runs.settings import BUDGETS
from ..runs.statistics import Cell, exhausted_at, paired
from . import fig3
from .tables import BLOCK_TITLES

METHODS = ("eic", "pesc", "safe-set", "xsf")
REPETITIONS = 10
TIMID, BOLD = 10.0, 1e-3  # input weights of the regulators: the safe start, the best beside the results


def plan(options: Options) -> list[Spec]:
    """Ten repetitions of every method; under the paper's settings of XsF alone, unless methods are named."""
    specs = plans.grid(("cartpole",), METHODS, options, REPETITIONS)
    named = options.methods is not None or "default" not in options.blocks
    return [
        replace(spec, task="experiments.paper.cartpole:carry_out")
        for spec in specs
        if named or spec.block == "default" or spec.method == "xsf"
    ]


def carry_out(spec: Spec) -> dict[str, Any]:
    """One run, with the cost J of its best controller and of the regulator from the same initial state."""
    repetition = int(spec.problem.partition(":")[2])
    content = loop.run_spec(spec, _problem(spec, repetition))
    costs = [
        10.0**y
        for y, failed in zip(content["y"], content["failed"], strict=True)
        if y is not None and not failed
    ]
    return {
        **content,
        "cost": min(costs) if costs else None,
        "lqr_cost": rollout(lqr_gains(BOLD), initial_state(repetition)).cost,
    }


def _problem(spec: Spec, repetition: int) -> Problem:
    problem = cartpole(repetition)
    return replace(problem, initial=lqr_gains(TIMID)[None, :]) if spec.method == "safe-set" else problem


def section(lines: Sequence[Line], assets: Assets) -> Section | None:
    """Figure 3 (b) and its table, once for each block that was run."""
    trials, failures = BUDGETS["cartpole"].value
    parts: list[Part] = []
    for block, title in BLOCK_TITLES.items():
        group = fig3.group_of(lines, "cartpole", block, assets.seeds)
        if not group:
            continue
        caption = (
            f"Cart-pole with {title}: the cost of the best controller that stayed on the rail so far, "
            f"geometric mean over the repetitions; band and bars are one standard deviation of its "
            f"logarithm. Until there is one, the worst cost that the run saw counts. A run that is stopped "
            f"keeps its last."
        )
        parts.append(assets.save(fig3.figure({"cartpole": group}), f"fig3-cartpole-{block}", caption))
        name = f"Cart-pole, T = {trials}, B = {failures}, {title}"
        parts.append(Table(name, fig3.header("best safe J"), fig3.page_rows(group)))
        parts.append(Text(_reading(group)))
    if not parts:
        return None
    text = (
        "Four gains of a state-feedback controller; a controller that leaves the rail has failed. Each "
        "repetition starts the pole elsewhere, the same for all methods. None is told a safe controller but "
        "safe-set expansion, which cannot begin without one. The paper prints no numbers here; it says that "
        "XsF finds a better controller than EIC and PESC."
    )
    return Section("Figure 3 (b): a cart-pole", [Text(text), *parts])


def _reading(group: Sequence[Cell]) -> str:
    """The regulator beside the best, and XsF beside the method with the lowest median."""
    by_method = {cell.method: cell for cell in group}
    costs = [line["lqr_cost"] for cell in group for line in cell.lines]
    text = f"The best linear-quadratic regulator from the same starts costs {np.mean(costs):.2g} on average."
    if "xsf" not in by_method or len(group) < 2:
        return text
    ours = by_method["xsf"]
    beaten = sum(line["final"] < line["lqr_cost"] for line in ours.lines)
    text += f" XsF is below it in {beaten} of {len(ours.lines)} repetitions."
    for method, cell in by_method.items():
        if method != "xsf":
            text += f" {paired(ours, cell, 'final').beside(LABELS[method])}."
    return text + _overrun(ours)


def _overrun(ours: Cell) -> str:
    """The run of XsF that made the most failures beyond B, and when it first stood."""
    worst = max(ours.lines, key=lambda line: int(line["beyond"]))
    if not worst["beyond"]:
        return " No run of XsF made more than B failures."
    over = sum(line["beyond"] > 0 for line in ours.lines)
    stood = worst["failed"].index(False) + 1 if False in worst["failed"] else None
    runs = f"{over} of its {len(ours.lines)} runs"
    text = f" {runs} made more than B failures, the worst {worst['n_failures']} of {worst['failures']}: "
    if stood is None:
        return text + "no controller of that run ever stood."
    text += f"the first controller of that run that stood was its trial {stood}"
    if stood <= (exhausted_at(worst) or 0):
        return text + "."
    return text + (
        ', and until then it can only guess. `on_exhausted="stop"` would have ended it when the budget was '
        "spent, as it ends EIC and PESC, with nothing in hand."
    )
