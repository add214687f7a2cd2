"""How each peer is set, JSON-ready; it is stored with every run of it."""

from __future__ import annotations

from typing import Any

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
