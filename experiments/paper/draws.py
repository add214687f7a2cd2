"""The in-model draws' own minima: how low a regret against the paper's bound of -4 can be at all (App. E)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reporting.page import Assets, Section
from ..runs.plans import Options
from ..runs.records import Line, Spec
from ..runs.statistics import newest

TASK = "experiments.paper.draws:compute"
STARTS = 4


def plan(options: Options) -> list[Spec]:
    """One line: the draws of Table 3's seeds."""
    seeds = options.seed_range(20)
    settings = {"first": seeds.start, "draws": len(seeds), "starts": STARTS}
    first = f"in-model:{seeds.start}"
    return [Spec(first, "xs", options.seed_base, 1, settings=settings, block="figure", task=TASK)]


def compute(spec: Spec) -> dict[str, Any]:
    """Each draw's minimum: over the 8000 points it was drawn at, then downhill from the lowest of them.

    With the constraint, the smallest value at a point that is safe (no descent: an upper bound).
    """
    from scipy.optimize import minimize

    from tumble import problems
    from tumble.problems.inmodel import points

    grid = points()
    free, safe = [], []
    for seed in range(spec.settings["first"], spec.settings["first"] + spec.settings["draws"]):
        problem = problems.get(f"in-model:{seed}")
        assert problem.constraints is not None
        box = [(float(low), float(high)) for low, high in problem.bounds]
        values = np.array([problem.objective(x) for x in grid])
        order = np.argsort(values)
        lowest = grid[order[: spec.settings["starts"]]]
        ends = [minimize(problem.objective, x, bounds=box, method="L-BFGS-B") for x in lowest]
        free.append(min(float(end.fun) for end in ends) - problem.f_min)
        safest = next(i for i in order if problem.constraints(grid[i])[0] <= 0.0)
        safe.append(float(values[safest]) - problem.f_min)
    return {"free": free, "constrained": safe}


def section(lines: Sequence[Line], assets: Assets) -> Section | None:
    """Nothing of its own: what the page says of Table 3 quotes this line."""
    return None


def smallest(lines: Sequence[Line], family: str) -> NDArray[np.float64] | None:
    """Regret of the draws' own minima, (draws,), from the newest line; None where there is no line."""
    line = newest(lines, TASK)
    return None if line is None else np.array(line["free" if family.endswith("free") else "constrained"])
