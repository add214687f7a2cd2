"""Xs and XsF as BoTorch acquisition functions (extra `botorch`).

    model = excursion_model(X, Y, bounds)                       # or a model of your own
    minima = sample_minima(model, bounds)                       # f*, by the law of `Settings`
    acqf = LogExcursionSearch(model, minima)                    # Xs
    acqf = FailureAwareExcursionSearch(models, state, minima)   # XsF: a ModelListGP of f, g_1 … g_G
    candidate = optimize_excursion(acqf, bounds)                # or optimize_acqf itself, see the guide

Both are maximised, take `b x 1 x d` and are logarithms. The model is of f, which is *minimised*, and a
constraint is met where g <= 0, unless `constraints` says otherwise. The models are read when the acquisition
is built. `tumble.integrations.botorch.process` has the formulas of `tumble.core` in torch.
"""

from ...core.budget import BudgetState
from . import inputs as inputs  # registers the input constructors
from .acquisitions import FailureAwareExcursionSearch, LogExcursionSearch
from .models import UnsupportedModel, excursion_model
from .search import Candidate, budget_state, optimize_excursion, sample_minima, starts
from .study import NothingSafeEnough

__all__ = [
    "BudgetState",
    "Candidate",
    "FailureAwareExcursionSearch",
    "LogExcursionSearch",
    "NothingSafeEnough",
    "UnsupportedModel",
    "budget_state",
    "excursion_model",
    "optimize_excursion",
    "sample_minima",
    "starts",
]
