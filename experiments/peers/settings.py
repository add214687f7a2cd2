"""How each peer is set, and which page of its documentation says so; stored with every line."""

from __future__ import annotations

from typing import Any

# Every searcher begins with the problem's initial points, unbilled and the same for all; nobody draws a
# design of its own beyond what its documentation sets by default.
SETTINGS: dict[str, dict[str, Any]] = {
    "botorch": {
        "documentation": "BoTorch: Acquisition Functions (LogEI in place of EI), Models, Optimization",
        "acquisition": "LogExpectedImprovement / LogConstrainedExpectedImprovement",
        "before the first safe trial": "LogProbabilityOfFeasibility",
        "model": "SingleTaskGP, its own priors, inputs in the unit cube, outcomes standardised",
        "fit": "fit_gpytorch_mll at every trial",
        "num_restarts": 10,
        "raw_samples": 512,
        "dtype": "float64",
        "mixed spaces": "MixedSingleTaskGP; optimize_acqf_mixed up to ten combinations, else alternating",
        "crash": "left out",
    },
    "qlognei": {
        "documentation": "BoTorch: Closed-loop batch, constrained BO in BoTorch with qLogEI and qLogNEI",
        "acquisition": "qLogNoisyExpectedImprovement with outcome constraints, q = 1",
        "model": "SingleTaskGP in a ModelListGP, its own priors, noise learned, inputs in the unit cube",
        "fit": "fit_gpytorch_mll at every trial",
        "mc_samples": 256,
        "num_restarts": 10,
        "raw_samples": 512,
        "options": {"maxiter": 200},  # its batch_limit spares memory alone: twice the time, the same point
        "dtype": "float64",
        "mixed spaces": "MixedSingleTaskGP; optimize_acqf_mixed up to ten combinations, else alternating",
        "crash": "left out",
    },
    "scbo": {
        "documentation": "BoTorch: Scalable Constrained Bayesian Optimization (SCBO), and its paper",
        "generator": "ConstrainedMaxPosteriorSampling (MaxPosteriorSampling without constraints)",
        "model": "SingleTaskGP, its own priors; objective through a Gaussian copula, constraints bilog",
        "length": [0.8, 0.5**7, 1.6],
        "success_tolerance": "max(3, ceil(D / 10))",
        "failure_tolerance": "max(4, D)",
        "candidates": "min(5000, max(2000, 200 D))",
        "perturbation": "min(1, 20 / D)",
        "restart": "length back to 0.8, data kept",
        "mixed spaces": "the relaxed cube, one-hot; candidates rounded before they are judged",
        "crash": "left out",
    },
    "optuna": {
        "documentation": "Optuna: optuna.samplers.GPSampler",
        "sampler": "GPSampler",
        "n_startup_trials": 10,
        "deterministic_objective": "where there is no noise",
        "constraints": "trial.set_constraint",
        "initial points": "told as trials, so that they count among the start-up trials",
        "mixed spaces": "its own distributions",
        "crash": "FAIL, which the sampler ignores",
    },
    "optuna-eager": {
        "documentation": "Optuna: optuna.samplers.GPSampler; no start-up at random beyond the initial points",
        "sampler": "GPSampler",
        "n_startup_trials": 1,
        "deterministic_objective": "where there is no noise",
        "constraints": "trial.set_constraint",
        "mixed spaces": "its own distributions",
        "crash": "FAIL, which the sampler ignores",
    },
    "tpe": {
        "documentation": "Optuna: optuna.samplers.TPESampler",
        "sampler": "TPESampler, multivariate by its own default for one objective",
        "n_startup_trials": 10,
        "constraints": "trial.set_constraint",
        "initial points": "told as trials, so that they count among the start-up trials",
        "mixed spaces": "its own distributions",
        "crash": "FAIL, which the sampler ignores",
    },
    "bayesian-optimization": {
        "documentation": "its pages Constrained Optimization and Optimizing over non-float Parameters",
        "acquisition": "ExpectedImprovement(xi=0.01); without constraints UpperConfidenceBound(kappa=2.576)",
        "constraints": "NonlinearConstraint, all in one array, measured values registered",
        "model": "its own: GaussianProcessRegressor, isotropic Matern 5/2, alpha 1e-6, normalize_y",
        "inputs": "scaled to [0, 1], in the logarithm where the parameter is logarithmic",
        "allow_duplicate_points": True,
        "before the first safe trial": "random_sample, as its message asks for",
        "mixed spaces": "categoricals its own; integers and grids rounded in the kernel, as its integers are",
        "crash": "left out",
    },
    "random": {
        "draws": "uniform over the space, in the logarithm where a parameter is logarithmic",
        "crash": "nothing is learned from any trial",
    },
}
