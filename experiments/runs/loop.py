"""One run: a method on a problem, trial by trial, under T and B, and the record of it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tumble.errors import BudgetExhausted, Failure
from tumble.problems import Evaluation, Problem, get
from tumble.serialize import rounded

from . import methods
from .records import Spec
from .searcher import NextTrial, Searcher

Array = NDArray[np.float64]


def carry_out(spec: Spec) -> dict[str, Any]:
    """Run a spec of the ordinary kind and return the content of its line."""
    return run_spec(spec, get(spec.problem))


def run_spec(spec: Spec, problem: Problem) -> dict[str, Any]:
    """Run the method of a spec on a problem, under the budgets of the spec."""
    searcher = methods.make(spec, problem)
    return run(problem, searcher, spec.trials, spec.failures, stop=spec.on_exhausted == "stop")


def run(
    problem: Problem, searcher: Searcher, trials: int, failures: int | None, *, stop: bool = True
) -> dict[str, Any]:
    """Tell the initial points, unbilled, then run up to ``trials`` trials.

    With ``stop`` the run ends when ``failures`` are spent. Without, it goes on, and failures beyond the
    budget are counted; like `tumble.minimize` it ends all the same if nothing safe was seen by then.

    The result holds the trajectory (x, y, g, failed, mode, rho, p_safe, seconds a suggestion), the regret
    after each trial, and the summary: regret, omega, n_failures, stopped.
    """
    for x, outcome in zip(problem.initial, problem.initial_evaluations, strict=True):
        searcher.inform(x, outcome)
    steps: list[dict[str, Any]] = []
    spent, stopped = 0, "trials"
    safe_seen = any(outcome.safe for outcome in problem.initial_evaluations)
    for _ in range(trials):
        if failures is not None and spent >= failures and (stop or (spent and not safe_seen)):
            stopped = "budget"
            break
        begun = time.perf_counter()
        try:
            trial = searcher.ask()
        except BudgetExhausted:
            stopped = "budget"
            break
        seconds = time.perf_counter() - begun
        outcome_or_crash = _evaluate(problem, trial.x)
        searcher.tell(trial, outcome_or_crash)
        failed = outcome_or_crash is None or not outcome_or_crash.safe
        spent += failed
        safe_seen |= not failed
        steps.append(_step(problem, trial, outcome_or_crash, seconds))
    return _trajectory(problem, steps, trials, failures, stopped)


def _evaluate(problem: Problem, x: Array) -> Evaluation | None:
    try:
        return problem.evaluate(x)
    except Failure:
        return None


def _step(problem: Problem, trial: NextTrial, outcome: Evaluation | None, seconds: float) -> dict[str, Any]:
    why = trial.suggestion
    truth = outcome if problem.truth is None or outcome is None else problem.truth.evaluate(trial.x)
    return {
        "x": [rounded(v, 8) for v in trial.x],
        "y": None if outcome is None else rounded(outcome.value, 12),
        "true": None if truth is None else truth.value,
        "g": None if outcome is None else [rounded(v, 10) for v in outcome.constraints],
        "failed": outcome is None or not outcome.safe,
        "mode": None if why is None else why.mode,
        "rho": None if why is None else rounded(why.rho, 8),
        "p_safe": None if why is None else rounded(why.p_safe, 8),
        "seconds": rounded(seconds, 4),
    }


def _trajectory(
    problem: Problem, steps: list[dict[str, Any]], trials: int, failures: int | None, stopped: str
) -> dict[str, Any]:
    initial = problem.initial_evaluations
    values = [o.value for o in initial] + [np.nan if s["true"] is None else s["true"] for s in steps]
    safe = [o.safe for o in initial] + [not s["failed"] for s in steps]
    regret = problem.regret(values, safe)
    n_failures = sum(s["failed"] for s in steps)
    columns = {name: [s[name] for s in steps] for name in _COLUMNS}
    return {
        "dimension": problem.dimension,
        "n_initial": len(initial),
        "f_min": problem.f_min,
        **columns,
        "regret_curve": [rounded(r, 10) for r in regret[len(initial) :]],
        "regret": float(regret[-1]) if len(regret) else None,
        "safe_found": bool(np.any(safe)),
        "omega": 100.0 * (len(steps) - n_failures) / trials,
        "n_trials": len(steps),
        "n_failures": n_failures,
        "beyond": max(0, n_failures - failures) if failures is not None else 0,
        "stopped": stopped,
        "seconds_total": float(sum(columns["seconds"])),
    }


_COLUMNS = ("x", "y", "g", "failed", "mode", "rho", "p_safe", "seconds")
