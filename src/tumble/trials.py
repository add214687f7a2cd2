"""What the front doors hand out: suggestions, trials, results. Frozen, in the user's units.

A setting `x` is an array (D,) where the search has bounds, and a dict by name where it has a `Space`.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from . import notebook
from .core.history import violated
from .core.process.models import Fitted

Mode = Literal["start", "free", "bold", "careful", "safest", "confirm", "try"]
Status = Literal["pending", "told", "skipped", "voided"]
ChangeKind = Literal["voided", "amended"]
OnExhausted = Literal["safe", "stop"]


@dataclass(frozen=True)
class Outcome:
    """What a function returns to `tumble.minimize`.

    Parameters
    ----------
    value
        The value to be minimised; None if a violated constraint left none to measure.
    constraints
        The constraints, a list or a dict by name; g <= 0 is safe.

    Examples
    --------
    >>> Outcome(3.5, {"torque": -0.2})
    Outcome(value=3.5, constraints={'torque': -0.2})
    """

    value: float | None
    constraints: Any = None


@dataclass(frozen=True)
class Suggestion:
    """The next trial, and why it was chosen. `str(suggestion)` says it in one sentence.

    Parameters
    ----------
    number
        The trial's number.
    x
        The setting to run. An array is read-only, because the record has the same one: copy it to change it.
    mode
        How it was searched for: "start" (nothing is known yet), "free" (no constraint and no budget), "bold"
        (failures are left to spend), "careful" (P(safe) must reach `rho`), "safest" (nothing reaches it,
        or nothing was safe yet), "confirm" (the recommendation once more) or "try" (a setting of the user's
        own).
    rho
        The probability of safety that was asked for; NaN where none was ("confirm", "try").
    p_safe
        The probability of safety that is predicted.
    mean, std
        The value that is predicted, and its standard deviation; NaN before a value was seen. Where outputs
        are compressed (`Settings.warp`), these are the median, and half the way from its 16 % to its 84 %
        quantile.
    failures_left
        Failures that are left.
    trials_left
        Trials that are left after this one.
    p_each
        P(safe) by constraint, and under "crash" where a trial crashed, or where nothing else can fail.
    constraint_means, constraint_stds
        What each constraint is predicted to be.
    why
        The sentence.
    held_by
        The numbers of the trials in flight that may well fail, and use failures that are left.
    expected_gain
        How far the trials left, this one included, are expected to lower the best safe value; None where
        nothing can be said: before five values and something safe are known, and with "paper".
    gain_bound
        How far they lower it at most, with a probability of 90 %.
    budget
        T and B, for which the gain was worked out; None where they are not known, or where a trial was voided
        or amended since: the gain does not count then.
    alarm
        Why P(safe) can't be trusted, as a sentence, where the alarm rings (`Optimizer.alarm`); else None.
    stone
        Whether it is a stepping stone: it teaches whether a better setting is safe.
    idle
        Whether nothing that is allowed can gain, so that it only teaches what is known least.
    survey
        Whether it looks where nothing was tried yet, while failures are plenty, or turns a number with
        few steps, or a choice, that no trial has turned.
    turned
        The name of what it turns for the first time, where it is made for that; else None. A suggestion that
        was saved has it in its sentence alone.
    nearer
        Whether nothing was safe yet, and it is where the worst violation is expected to fall the most.
    u
        Where it lies in the unit cube.
    fitted
        The hyperparameters of the processes that predict all this; None before the first trial was told.
    """

    number: int
    x: Any
    mode: Mode
    rho: float
    p_safe: float
    mean: float
    std: float
    failures_left: int
    trials_left: int
    p_each: dict[str, float] = field(default_factory=dict)
    constraint_means: tuple[float, ...] = ()
    constraint_stds: tuple[float, ...] = ()
    why: str = ""
    held_by: tuple[int, ...] = ()
    expected_gain: float | None = None
    gain_bound: float | None = None
    budget: tuple[int, int] | None = None
    alarm: str | None = None
    stone: bool = False
    idle: bool = False
    survey: bool = False
    turned: str | None = field(default=None, compare=False)
    nearer: bool = False
    u: tuple[float, ...] = ()
    fitted: Fitted | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.why

    def __repr__(self) -> str:
        """In one line."""
        where = notebook.in_line(self.x)
        predicted = f"p_safe={self.p_safe:.6g}, mean={self.mean:.6g}, std={self.std:.3g}"
        return f"<Suggestion {self.number}: {where}; mode={self.mode!r}, rho={self.rho:.6g}, {predicted}>"

    def _repr_html_(self) -> str:
        """Why, the setting, and a figure of P(safe), for a notebook."""
        p_each = self.p_each if len(self.p_each) > 1 else {}
        is_known = self.mean == self.mean  # before a value was seen, P(safe) is nothing but the prior's
        shown = [("P(safe)", self.p_safe), *p_each.items()] if is_known else []
        return notebook.suggestion(self.why, self.x, shown, self.rho)


@dataclass(frozen=True)
class Change:
    """What a told trial was before it was voided or amended.

    Parameters
    ----------
    number
        The trial's number.
    kind
        "voided" or "amended".
    at
        When, in UTC: 2026-01-31T12:00:00+00:00.
    reason
        Why it was changed.
    value, constraints, crashed, failure
        What the trial had until then: its value, its constraints, whether it crashed, and why.
    """

    number: int
    kind: ChangeKind
    at: str
    reason: str
    value: float | None
    constraints: tuple[float | None, ...]
    crashed: bool
    failure: str


@dataclass(frozen=True)
class Trial:
    """One trial: where it lies, what came of it, and the suggestion that it came from.

    Parameters
    ----------
    number
        Its number. Numbers rise.
    x
        The setting.
    u
        The same in the unit cube.
    status
        "pending" (in flight), "told", "skipped", or "voided": told, and taken out again.
    value
        The value to be minimised; None where there is none.
    constraints
        g of each constraint, None where it was not measured; g <= 0 is safe.
    crashed
        Whether the trial was told as failed: it has no value.
    reason
        Why it failed.
    billed
        Whether it counts as a trial, and as a failure if it failed. Old data do not.
    suggestion
        What was predicted of it; None for a setting of the user's own.
    changes
        What it was before each change, the first one first; empty where nothing was amended or voided.

    Examples
    --------
    >>> Trial(0, None, (0.5,), "told", value=1.0, constraints=(0.3,)).failed
    True
    """

    number: int
    x: Any
    u: tuple[float, ...]
    status: Status = "pending"
    value: float | None = None
    constraints: tuple[float | None, ...] = ()
    crashed: bool = False
    reason: str = ""
    billed: bool = True
    suggestion: Suggestion | None = None
    changes: tuple[Change, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether it is in flight: asked for, and neither told nor skipped."""
        return self.status == "pending"

    @property
    def is_forbidden(self) -> bool:
        """Whether it was asked for, and is never to be tried (`Optimizer.skip`)."""
        return self.crashed and not self.billed and self.status == "told" and self.suggestion is not None

    @property
    def amended(self) -> bool:
        """Whether other results were told first."""
        return any(change.kind == "amended" for change in self.changes)

    @cached_property
    def failed(self) -> bool:
        """Γ: whether it crashed, or a measured constraint is above 0."""
        return self.status == "told" and (self.crashed or violated(self.constraints))

    @cached_property
    def safe(self) -> bool:
        """Whether it has a value and all of its constraints, and did not fail."""
        known = self.value is not None and None not in self.constraints
        return self.status == "told" and known and not self.failed


@dataclass(frozen=True)
class Best:
    """The best safe trial.

    Parameters
    ----------
    number
        Its number.
    x
        The setting.
    value
        The value that was observed.
    constraints
        The constraints that were observed.
    """

    number: int
    x: Any
    value: float
    constraints: tuple[float | None, ...]


@dataclass(frozen=True)
class Expected:
    """The safe trial whose value is expected to be the lowest. Under noise it need not be the luckiest one.

    Parameters
    ----------
    number
        Its number.
    x
        The setting.
    mean, std
        The value without noise that the model expects there, and its standard deviation.
    p_safe
        The probability that another trial there is safe.
    """

    number: int
    x: Any
    mean: float
    std: float
    p_safe: float


@dataclass(frozen=True)
class Recommended:
    """Where the model is lowest among the settings that are safe with probability `rho_safe`.

    Parameters
    ----------
    x
        The setting; it need not have been tried.
    mean, std
        The value that is predicted there, and its standard deviation; NaN before a value was seen.
    p_safe
        The probability of safety that is predicted there.
    reached
        False where no setting reaches `rho_safe`: then this is the safest one.
    """

    x: Any
    mean: float
    std: float
    p_safe: float
    reached: bool
