"""What the front doors hand out: suggestions, trials, results. Frozen, in the user's units."""

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from .core.history import violated
from .core.process.models import Warm

Mode = Literal["start", "free", "bold", "careful", "safest", "confirm", "try"]
Status = Literal["pending", "told", "skipped"]
OnExhausted = Literal["safe", "stop"]
Fitted: TypeAlias = Warm  # the hyperparameters of a fit; the next one may start there


@dataclass(frozen=True)
class Outcome:
    """What a user's function returns: a value (None where there is none) and its constraints, g <= 0 safe."""

    value: float | None
    constraints: Any = None


@dataclass(frozen=True)
class Suggestion:
    """The next trial, and why. `str(suggestion)` says it in one sentence."""

    number: int
    x: Any  # (D,) array, or a dict for a Space
    mode: Mode
    rho: float  # probability of safety that was asked for
    p_safe: float
    mean: float  # predicted value
    std: float
    failures_left: int
    trials_left: int  # after this one
    p_each: dict[str, float] = field(default_factory=dict)  # by constraint; "crash" once there was one
    constraint_means: tuple[float, ...] = ()
    constraint_stds: tuple[float, ...] = ()
    why: str = ""
    u: tuple[float, ...] = ()  # where it lies in the unit cube
    fitted: Fitted | None = field(default=None, repr=False, compare=False)  # the processes behind it

    def __str__(self) -> str:
        return self.why


@dataclass(frozen=True)
class Trial:
    """One trial: where, what came of it, and the suggestion it came from."""

    number: int
    x: Any
    u: tuple[float, ...]  # in the unit cube
    status: Status = "pending"
    value: float | None = None
    constraints: tuple[float | None, ...] = ()
    crashed: bool = False
    reason: str = ""
    billed: bool = True
    suggestion: Suggestion | None = None

    @property
    def pending(self) -> bool:
        """In flight: asked, neither told nor skipped."""
        return self.status == "pending"

    @property
    def failed(self) -> bool:
        """Γ: it crashed, or a measured constraint is above 0."""
        return self.status == "told" and (self.crashed or violated(self.constraints))

    @property
    def safe(self) -> bool:
        """It has a value and all of its constraints, and did not fail: what was not measured is not safe."""
        known = self.value is not None and None not in self.constraints
        return self.status == "told" and known and not self.failed


@dataclass(frozen=True)
class Best:
    """The best safe observation."""

    number: int
    x: Any
    value: float
    constraints: tuple[float | None, ...]


@dataclass(frozen=True)
class Recommended:
    """Where the model is lowest with P(safe) >= rho_safe; the safest point where that is not `reached`."""

    x: Any
    mean: float
    std: float
    p_safe: float
    reached: bool


def explain(s: Suggestion, method: str) -> str:
    """One plain sentence on why this trial, chosen by `method`."""
    left = f"{_count(s.failures_left, 'failure')} left to spend, {_count(s.trials_left, 'trial')} after it"
    value = f"predicted {s.mean:.4g} ± {s.std:.2g}"
    p = f"P(safe) = {_percent(s.p_safe)}" if s.p_safe >= 1e-4 else "P(safe) below 0.01 %"
    if s.mode == "start":
        return f"Trial {s.number}: nothing is known yet, so this is a seeded point of the box."
    if s.mode == "free":
        crossing = "where the process is most likely to cross its own minimum"
        return f"Trial {s.number}: {crossing if method == 'xs' else f'the best by {method}'}; {value}."
    if s.mode == "bold":
        return f"Trial {s.number}: bold search for a better safe area; {p}, {value}, {left}."
    if s.mode == "careful":
        asked = f"where P(safe) must reach {_percent(s.rho)}"
        return f"Trial {s.number}: careful search, {asked}; {p}, {value}, {left}."
    short = f"nothing reaches P(safe) = {_percent(s.rho)}" if s.p_safe < s.rho else "nothing was safe yet"
    return f"Trial {s.number}: {short}, so this is about the safest; {p}, {value}, {left}."


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _percent(p: float) -> str:
    """Enough digits to tell 0.999 from 1."""
    if not 0.99 < p < 1.0:
        return f"{100.0 * p:.3g} %"
    digits = min(8, max(1, int(np.ceil(-np.log10(1.0 - p))) - 1))
    return f"{np.floor(10.0 ** (digits + 2) * p) / 10.0**digits:.{digits}f} %"
