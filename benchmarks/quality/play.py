"""One run of the proving ground: a method against a drawn problem, all T trials, from a spec to a line."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.families import Member, draw
from experiments.runs.records import Spec
from experiments.runs.searcher import NextTrial, Searcher
from tumble.errors import BudgetExhausted, Failure
from tumble.problems import Evaluation

from . import foils

DIGITS = 6  # of a stored number: three more than the margin of a win


def carry_out(spec: Spec) -> dict[str, Any]:
    """The content of a spec's line; the problem is "family:seed"."""
    family, _, seed = spec.problem.partition(":")
    problem = draw(family, int(seed))
    return play(problem, foils.make(spec, problem), spec.trials)


def play(problem: Member, searcher: Searcher, trials: int) -> dict[str, Any]:
    """Tell the initial points, unbilled, then ask and tell all `trials` trials.

    Nobody is stopped when B is spent: both readings come from one run (`scores`). A method that refuses to go
    on by itself ends there.
    """
    for x, outcome in zip(problem.initial, problem.initial_evaluations, strict=True):
        searcher.inform(x, outcome)
    steps: list[dict[str, Any]] = []
    for _ in range(trials):
        begun = time.process_time()
        try:
            trial = searcher.ask()
        except BudgetExhausted:
            break
        seconds = time.process_time() - begun
        outcome_or_crash = _evaluate(problem, trial)
        searcher.tell(trial, outcome_or_crash)
        steps.append(_step(problem, trial, outcome_or_crash, seconds))
    columns = {name: [step[name] for step in steps] for name in _COLUMNS}
    start = [
        _regret(problem, x)
        for x, o in zip(problem.initial, problem.initial_evaluations, strict=True)
        if o.safe
    ]
    known = [r for r in start if r is not None]
    return {
        "dimension": problem.dimension,
        "limits": problem.n_constraints,
        **columns,
        "start": min(known) if known else None,
        "seconds_total": float(sum(step["seconds"] for step in steps)),
    }


_COLUMNS = ("regrets", "failed", "mode", "rho", "p_safe")


def _step(problem: Member, trial: NextTrial, outcome: Evaluation | None, seconds: float) -> dict[str, Any]:
    failed = outcome is None or not outcome.safe
    said = trial.suggestion
    return {
        "regrets": None if failed else _regret(problem, trial.x),
        "failed": failed,
        "mode": None if said is None else said.mode,
        "rho": None if said is None else _short(said.rho),
        "p_safe": None if said is None else _short(said.p_safe),
        "seconds": seconds,
    }


def _evaluate(problem: Member, trial: NextTrial) -> Evaluation | None:
    try:
        return problem.evaluate(trial.x)
    except Failure:
        return None


def _regret(problem: Member, x: Any) -> float | None:
    """True regret at x in units of the spread; None where it is truly not safe."""
    try:
        truth = problem.noise_free.evaluate(x)
    except Failure:
        return None
    if not truth.safe:
        return None
    return _short(max(truth.value - problem.optimum.value, 0.0) / problem.spread)


def _short(value: float | None) -> float | None:
    """A float with few digits; None where it is not known (JSON has no NaN)."""
    return None if value is None or not np.isfinite(value) else float(f"{value:.{DIGITS}g}")
