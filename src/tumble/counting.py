"""What a list of trials comes to: counts, the best one, the controller's state, and the table of data.

Each function takes the trials in the order of their numbers and changes nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from .core import budget
from .core.alarm import Alarm, alarm
from .core.arrays import Array
from .core.calibration import Reliability, reliability
from .core.gain import LATEST, Gain
from .core.history import History
from .core.settings import Settings
from .trials import Best, Trial


def told(trials: Sequence[Trial]) -> list[Trial]:
    """The trials that were told, old data included."""
    return [t for t in trials if t.status == "told"]


def pending(trials: Sequence[Trial]) -> list[Trial]:
    """The trials in flight: asked for, and neither told nor skipped."""
    return [t for t in trials if t.status == "pending"]


def has_value(trials: Sequence[Trial]) -> bool:
    """Whether a trial with a value was told: before that, values of the model are in nobody's units."""
    return any(t.value is not None and t.status == "told" for t in trials)


def failures(trials: Sequence[Trial]) -> int:
    """How many billed trials failed."""
    return len([t for t in trials if t.billed and t.failed])


def used(trials: Sequence[Trial]) -> int:
    """How many billed trials were told or are in flight; skipped and voided ones are given back."""
    return len([t for t in trials if t.billed and t.status in ("told", "pending")])


def in_flight(trials: Sequence[Trial]) -> int:
    """How many billed trials were asked for, and neither told nor skipped."""
    return sum(t.billed for t in pending(trials))


def next_number(trials: Sequence[Trial]) -> int:
    """One more than the last number. Numbers rise; where a study left a trial out there is a gap."""
    return trials[-1].number + 1 if trials else 0


def best(trials: Sequence[Trial]) -> Best | None:
    """The safe trial with the lowest value, the first one where several have it. Its setting is a copy."""
    values = [(t.value, k) for k, t in enumerate(trials) if t.safe and t.value is not None]
    if not values:
        return None
    value, k = min(values)
    return Best(trials[k].number, own(trials[k].x), value, trials[k].constraints)


def own(x: Any) -> Any:
    """A setting that its reader may change: a dict is copied; an array of the record can't be written to."""
    return dict(x) if isinstance(x, dict) else x


def safe_range(trials: Sequence[Trial]) -> float:
    """From the lowest to the largest value of a safe trial; 0 where there are none."""
    values = [t.value for t in trials if t.safe and t.value is not None]
    return max(values) - min(values) if values else 0.0


def latest_gain(trials: Sequence[Trial], max_trials: int, allowed: int) -> Gain | None:
    """What the trials left can gain: the latest expectation, and the largest of the LATEST bounds.

    Parameters
    ----------
    trials
        All trials. What was worked out for fewer trials or failures, or before a correction, does not count.
    max_trials, allowed
        T and B.
    """
    said = [
        Gain(s.expected_gain, s.gain_bound)
        for t in trials
        if (s := t.suggestion) is not None and s.expected_gain is not None and s.gain_bound is not None
        if is_for(s.budget, max_trials, allowed)
    ][-LATEST:]
    return Gain(said[-1].expected, max(each.bound for each in said)) if said else None


def is_for(budget: Sequence[int] | None, max_trials: int, allowed: int) -> bool:
    """Whether a gain that was worked out for this `budget`, T and B, still counts: for no larger ones."""
    return budget is not None and budget[0] >= max_trials and budget[1] >= allowed


def without_gain(trials: Sequence[Trial], since: int) -> list[Trial]:
    """The trials after a correction: what was said of the gain before trial `since` no longer counts."""
    return [
        replace(t, suggestion=replace(t.suggestion, budget=None))
        if t.number < since and t.suggestion is not None
        else t
        for t in trials
    ]


def reliability_of(trials: Sequence[Trial], level: float) -> Reliability:
    """Of the suggestions that claimed P(safe) >= level, how many turned out safe.

    What is not billed says nothing: a setting that is never to be tried was not tried.
    """
    outcomes = [
        (t.suggestion.p_safe, t.failed) for t in told(trials) if t.suggestion is not None and t.billed
    ]
    p_safe = np.array([p for p, _ in outcomes], dtype=float)
    return reliability(p_safe, np.array([failed for _, failed in outcomes], dtype=bool), level)


def alarm_of(trials: Sequence[Trial]) -> Alarm:
    """What betting against the P(safe) of the suggestions came to, own settings and vetoes left out."""
    outcomes = [
        (made.p_safe, t.failed)
        for t in told(trials)
        if (made := t.suggestion) is not None and t.billed and made.mode not in ("start", "try")
    ]
    p_safe = np.array([p for p, _ in outcomes], dtype=float)
    return alarm(p_safe, np.array([failed for _, failed in outcomes], dtype=bool))


def controller(
    trials: Sequence[Trial], max_trials: int, allowed: int, settings: Settings, reserved: int = 0
) -> budget.BudgetState:
    """The controller's state after the billed trials, with those in flight taken into account.

    Parameters
    ----------
    trials
        All trials.
    max_trials, allowed
        T and B.
    settings
        The constants of the controller. With `share_failures`, trials in flight leave room for each other
        (`core.budget.share`). Otherwise one whole failure is set aside for each trial in flight whose P(safe)
        was below `rho_safe`.
    reserved
        Trials in flight which are not among `trials`. Each is counted as one that fails.
    """
    outcomes = [t.failed for t in told(trials) if t.billed]
    state = budget.replay(max_trials, allowed, outcomes, settings)
    state = replace(state, risk=risk_since_spent(trials, allowed))
    if not settings.share_failures:
        held = len(holders(trials, settings.rho_safe)) + reserved
        return replace(state, failures_left=max(state.failures_left - held, 0))
    if state.failures_left == 0:
        return state
    p_failures = [*(_p_failure(t) for t in pending(trials) if t.billed), *[1.0] * reserved]
    return replace(state, in_flight=budget.share(state.failures_left, p_failures, settings))


def risk_since_spent(trials: Sequence[Trial], allowed: int) -> float:
    """Σ (1 - P(safe)) over the billed suggestions that were made when no failure was left.

    Parameters
    ----------
    trials
        All trials. Those that are voided or skipped do not count.
    allowed
        B.
    """
    risk, spent = 0.0, 0
    for t in trials:
        made = t.suggestion
        if spent >= allowed and made is not None and _is_at_the_end(t):
            risk += 1.0 - made.p_safe
        spent += t.billed and t.failed
    return risk


def _is_at_the_end(trial: Trial) -> bool:
    """Whether a billed suggestion was made with no failure left, and says how safe it is."""
    made = trial.suggestion
    if made is None or made.mode in ("try", "confirm", "start") or not trial.billed:  # nothing was promised
        return False
    return trial.status in ("told", "pending") and made.failures_left == 0 and made.p_safe >= 0.0


def holders(trials: Sequence[Trial], level: float) -> list[Trial]:
    """The billed trials in flight that may well fail: P(safe) lies below `level`, or is not known."""
    return [t for t in pending(trials) if t.billed and not 1.0 - _p_failure(t) >= level]


def _p_failure(trial: Trial) -> float:
    """The probability that a trial in flight fails: 1 for a setting that nobody predicted."""
    if trial.suggestion is None:
        return 1.0
    p_safe = trial.suggestion.p_safe
    return 0.5 if np.isnan(p_safe) else 1.0 - p_safe  # NaN: nothing was known yet


def history(
    trials: Sequence[Trial],
    dim: int,
    count: int,
    noise: Sequence[float] | None = None,
    failures: int | None = None,
) -> History:
    """The trials as arrays: `dim` coordinates, `count` constraints, NaN where nothing was measured.

    A trial that did not fail and has no value was stopped early, because it promised little: its value is
    taken to be the median of the others. Otherwise nothing would be known there, and the search would stay.

    noise: standard deviations of what is measured, the objective first, NaN where not known.
    failures: how many may fail; None for any number.
    """
    known = told(trials)
    suggestions = [t.suggestion for t in known]
    y = np.array([t.value for t in known], dtype=float)  # None becomes NaN
    stopped = np.array([t.value is None and not t.failed for t in known], dtype=bool)
    if stopped.any() and np.isfinite(y).any():
        y[stopped] = np.median(y[np.isfinite(y)])
    return History(
        X=_points(known, dim),
        y=y,
        g=_table([t.constraints for t in known], count),
        crashed=np.array([t.crashed for t in known], dtype=bool),
        pending=_points(pending(trials), dim),
        predicted_mean=_table([s.constraint_means if s else () for s in suggestions], count),
        predicted_std=_table([s.constraint_stds if s else () for s in suggestions], count),
        noise=None if noise is None else np.array(noise, dtype=float),
        crashes_afforded=failures if count == 0 else None,
        guessed=stopped if stopped.any() else None,
    )


def _points(trials: list[Trial], dim: int) -> Array:
    """(N, dim) where the trials lie in the unit cube."""
    coordinates = chain.from_iterable([t.u for t in trials])
    return np.fromiter(coordinates, float, len(trials) * dim).reshape(len(trials), dim)


def _table(rows: list[Sequence[float | None]], width: int) -> Array:
    """Rows of one width; a short row is filled up with NaN."""
    if width == 0:
        return np.zeros((len(rows), 0))
    full = [row if len(row) == width else (*row, *[None] * (width - len(row))) for row in rows]
    table = np.array(list(chain.from_iterable(full)), dtype=float)  # None becomes NaN
    return table.reshape(len(rows), width)
