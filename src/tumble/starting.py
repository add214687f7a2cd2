"""May a trial start? What stands against it, as the error that `ask` raises."""

from collections.abc import Sequence

import numpy as np

from . import counting
from .core import budget
from .core.arrays import Array
from .core.search.modes import Proposal, differ
from .core.settings import Settings
from .errors import BudgetExhausted, BudgetReserved, TrialsExhausted
from .shown import all_are, count
from .trials import OnExhausted, Trial

NO_TRIAL = (
    'failures=0 with on_exhausted="stop" lets no trial start, because any might fail; '
    'use on_exhausted="safe" to go on where P(safe) is high, or allow at least one failure'
)
TO_GO_ON = (
    "to go on, allow more failures, tell a setting that is known to be safe, or void or amend a trial that "
    "was told wrongly"
)


def check_may_start(
    trials: Sequence[Trial], max_trials: int, allowed: int | None, on_exhausted: OnExhausted
) -> None:
    """Return where a trial may start.

    Parameters
    ----------
    trials
        All trials.
    max_trials, allowed
        T and B; None where failures are not limited.
    on_exhausted
        What happens when no failure is left.

    Raises
    ------
    TrialsExhausted
        If every trial is told or in flight.
    BudgetExhausted
        If more trials failed than may, or if no failure is left and `on_exhausted` is "stop".
    BudgetReserved
        If trials in flight may use every failure that is left, and `on_exhausted` is "stop".
    """
    if counting.used(trials) >= max_trials:
        flying = len(counting.pending(trials))
        raise TrialsExhausted(
            f"{all_are(max_trials, 'trial')} used ({flying} in flight); opt.extend(trials=...) adds more"
        )
    if allowed is None:
        return
    failed = counting.failures(trials)
    if failed > allowed:
        raise BudgetExhausted(
            f"{budget.beyond(failed, allowed)}. To go on, opt.extend(failures=...) allows more, and "
            "opt.void and opt.amend correct what was told wrongly"
        )
    if on_exhausted != "stop":
        return
    if allowed == 0:
        raise BudgetExhausted(NO_TRIAL)
    if failed == allowed:
        raise BudgetExhausted(
            f"{failed} of {allowed} failures are spent; on_exhausted='stop' ends here. "
            "opt.best and opt.recommend() hold the result"
        )
    flying = counting.in_flight(trials)
    if failed + flying >= allowed:
        raise BudgetReserved(
            f"{allowed - failed} of {allowed} failures left, and {count(flying, 'trial')} in flight may use "
            "every one; tell or skip one of those first"
        )


def check_risk(
    proposal: Proposal, state: budget.BudgetState, settings: Settings, trials: Sequence[Trial]
) -> None:
    """Refuse a trial that would take more risk than is left once every failure is spent.

    Parameters
    ----------
    proposal
        The trial.
    state
        The budget.
    settings
        `delta` and `bound_risk`.
    trials
        All trials.

    Raises
    ------
    BudgetExhausted
        If its risk is larger than what is left of `settings.delta`.
    """
    if proposal.mode == "start" or not budget.is_too_risky(proposal.p_safe, state, settings):
        return
    left, safe_seen = budget.risk_left(state, settings), any(t.safe for t in trials)
    raise BudgetExhausted(f"{budget.nothing_safe_enough(proposal.p_safe, left, safe_seen)}; {TO_GO_ON}")


def check_not_forbidden(x: Array, trials: Sequence[Trial]) -> None:
    """Refuse a setting that was skipped with never=True. The search finds one only where no other is left.

    Parameters
    ----------
    x : (D,)
        The setting, in the unit cube.
    trials
        All trials.

    Raises
    ------
    TrialsExhausted
        If it is one of those.
    """
    forbidden = [t.u for t in trials if t.is_forbidden]
    if forbidden and not differ(x[None, :], np.array(forbidden)).all():
        raise TrialsExhausted(
            "every setting that may be tried was tried, and the rest was skipped with never=True; "
            "opt.best and opt.recommend() hold the result"
        )
