"""Bayesian optimisation that may fall, but only so many times.

`minimize` runs a Python function; `Optimizer` asks and tells, one trial at a time; `TumbleSampler` puts the
same search behind Optuna. A trial returns an `Outcome` (a value and constraints, safe where g <= 0) or fails
(`Failure`), and `Settings` holds every constant of the method. The mathematics lives in `tumble.core`.
"""

from typing import TYPE_CHECKING, Any

from ._minimize import minimize
from .core.settings import Settings
from .errors import (
    BudgetExhausted,
    BudgetReserved,
    Failure,
    InputError,
    TrialsExhausted,
    TumbleError,
)
from .optimizer import Optimizer
from .trials import Best, Outcome, Recommended, Suggestion, Trial

if TYPE_CHECKING:
    from .integrations.optuna import TumbleSampler

__version__ = "0.1.0"

__all__ = [
    "Best",
    "BudgetExhausted",
    "BudgetReserved",
    "Failure",
    "InputError",
    "Optimizer",
    "Outcome",
    "Recommended",
    "Settings",
    "Suggestion",
    "Trial",
    "TrialsExhausted",
    "TumbleError",
    "TumbleSampler",
    "minimize",
]


def __getattr__(name: str) -> Any:
    """`TumbleSampler` is loaded on first use: it needs Optuna."""
    if name == "TumbleSampler":
        from .integrations.optuna import TumbleSampler

        return TumbleSampler
    raise AttributeError(f"module 'tumble' has no attribute {name!r}")
