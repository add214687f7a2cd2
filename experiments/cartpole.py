"""The cart-pole of §5.4: XsF, EIC, PESC and safe-set expansion, ten repetitions, T = 100, B = 15.

Each repetition has its own initial state of the pole, the same for all methods. None is told a safe
controller, but safe-set expansion cannot begin without one: it alone is told a timid linear-quadratic
regulator, unbilled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tumble.problems import Problem
from tumble.problems.cartpole import cartpole, initial_state, lqr_gains, rollout

from . import loop, methods
from .plans import Options
from .records import Spec
from .settings import BUDGETS

METHODS = ("eic", "pesc", "safe-set", "xsf")
REPETITIONS = 10
TIMID, BOLD = (
    10.0,
    1e-3,
)  # input weights of the regulators: the safe start, and the best one beside the results


def plan(options: Options) -> list[Spec]:
    """Ten repetitions of every method under each block of settings."""
    trials, failures = BUDGETS["cartpole"].value
    return [
        Spec(
            problem=f"cartpole:{seed}",
            method=method,
            seed=seed,
            trials=options.trials or trials,
            failures=min(failures, options.trials or trials),
            on_exhausted="safe" if method == "xsf" else "stop",
            block=block,
            settings=methods.settings_of(method, block, "cartpole"),
            task="experiments.cartpole:carry_out",
        )
        for seed in options.seed_range(REPETITIONS)
        for method in options.chosen(METHODS)
        for block in options.blocks
    ]


def carry_out(spec: Spec) -> dict[str, Any]:
    """One run, with the cost J of its best controller and of the regulator from the same initial state."""
    repetition = int(spec.problem.partition(":")[2])
    problem = _problem(spec, repetition)
    searcher = methods.make(spec, problem)
    content = loop.run(problem, searcher, spec.trials, spec.failures, stop=spec.on_exhausted == "stop")
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
