"""The neighbours as searchers: BoTorch's LogEI/LogCEI and SCBO, and Optuna's GPSampler.

    record = run(problem, "botorch", seed=0, trials=100, failures=10)

All take the same initial points, unbilled, and are stopped when the budget of failures is spent. `SETTINGS`
says how each is set; it is stored with every record. torch, BoTorch and Optuna are imported when asked for.
"""

from __future__ import annotations

from typing import Any

from experiments.runs.loop import run as run_loop
from experiments.runs.searcher import Searcher
from tumble.problems import Problem

SETTINGS: dict[str, dict[str, Any]] = {
    "botorch": {
        "acquisition": "LogExpectedImprovement / LogConstrainedExpectedImprovement",
        "before the first safe trial": "LogProbabilityOfFeasibility",
        "model": "SingleTaskGP, its own priors, inputs in the unit cube, outcomes standardised",
        "fit": "fit_gpytorch_mll at every trial",
        "num_restarts": 10,
        "raw_samples": 512,
        "dtype": "float64",
    },
    "scbo": {
        "generator": "ConstrainedMaxPosteriorSampling (MaxPosteriorSampling without constraints)",
        "model": "SingleTaskGP, its own priors; objective through a Gaussian copula, constraints bilog",
        "length": [0.8, 0.5**7, 1.6],
        "success_tolerance": "max(3, ceil(D / 10))",
        "failure_tolerance": "max(4, D)",
        "candidates": "min(5000, max(2000, 200 D))",
        "perturbation": "min(1, 20 / D)",
        "restart": "length back to 0.8, data kept",
    },
    "optuna": {
        "sampler": "GPSampler",
        "n_startup_trials": 1,
        "deterministic_objective": "where there is no noise",
        "constraints": "trial.set_constraint",
    },
}


def run(problem: Problem, peer: str, seed: int, trials: int, failures: int | None) -> dict[str, Any]:
    """One run of a peer, stopped when the budget is spent; the record is that of `runs.loop.run`."""
    maker = {"botorch": make_botorch, "scbo": make_scbo, "optuna": make_optuna}[peer]
    return run_loop(problem, maker(problem, seed), trials, failures, stop=True)


def make_botorch(problem: Problem, seed: int) -> Searcher:
    """LogEI, or LogCEI under constraints."""
    from .botorch import LogImprovement

    return LogImprovement(problem, seed)


def make_scbo(problem: Problem, seed: int) -> Searcher:
    """SCBO: Thompson sampling in a trust region."""
    from .botorch import ScalableConstrained

    return ScalableConstrained(problem, seed)


def make_optuna(problem: Problem, seed: int) -> Searcher:
    """Optuna's GPSampler."""
    from .optuna import GaussianProcess

    return GaussianProcess(problem, seed)
