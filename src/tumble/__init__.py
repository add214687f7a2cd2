"""Bayesian optimisation that may fall, but only so many times.

`minimize` runs a Python function; `Optimizer` asks and tells, one trial at a time; `TumbleSampler` puts the
same search behind Optuna. A trial returns an `Outcome` (a value and constraints, safe where g <= 0) or fails
(`Failure`), and `Settings` holds every constant of the method. The mathematics lives in `tumble.core`.

Each name is loaded when it is first used: NumPy and SciPy with the first search, Optuna with `TumbleSampler`.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .errors import BudgetExhausted, BudgetReserved, Failure, InputError, TrialsExhausted, TumbleError

if TYPE_CHECKING:
    from ._minimize import Result, minimize
    from .core.settings import Settings
    from .integrations.optuna.sampler import TumbleSampler
    from .optimizer import Optimizer
    from .trials import Best, Outcome, Recommended, Suggestion, Trial

__version__ = "0.2.0.dev0"

__all__ = [
    "Best",
    "BudgetExhausted",
    "BudgetReserved",
    "Failure",
    "InputError",
    "Optimizer",
    "Outcome",
    "Recommended",
    "Result",
    "Settings",
    "Suggestion",
    "Trial",
    "TrialsExhausted",
    "TumbleError",
    "TumbleSampler",
    "minimize",
]

_HOMES = {
    "Best": ".trials",
    "Optimizer": ".optimizer",
    "Outcome": ".trials",
    "Recommended": ".trials",
    "Result": "._minimize",
    "Settings": ".core.settings",
    "Suggestion": ".trials",
    "Trial": ".trials",
    "TumbleSampler": ".integrations.optuna",
    "minimize": "._minimize",
}
_ROOMS = ("baselines", "core", "methods", "optimizer", "parameters", "plots", "problems", "space", "trials")


def __getattr__(name: str) -> Any:
    """Load a public name, or a room of the package, on first use."""
    if name in _HOMES:
        return globals().setdefault(name, getattr(import_module(_HOMES[name], __name__), name))
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'tumble' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What there is, loaded or not; without Optuna there is no sampler."""
    absent = set() if find_spec("optuna") else {"TumbleSampler"}
    return sorted({*globals(), *__all__, *_ROOMS} - absent)
