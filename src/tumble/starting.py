"""May a trial start? What stands against it, as the error that `ask` raises."""

from collections.abc import Sequence

from . import counting
from .errors import BudgetExhausted, BudgetReserved, TrialsExhausted
from .explanation import all_are, count
from .trials import OnExhausted, Trial

NO_TRIAL = (
    'failures=0 with on_exhausted="stop" lets no trial start, because any might fail; '
    'use on_exhausted="safe" to go on where P(safe) is high, or allow at least one failure'
)


def check_may_start(
    trials: Sequence[Trial], max_trials: int, allowed: int, on_exhausted: OnExhausted
) -> None:
    """Return where a trial may start.

    Parameters
    ----------
    trials
        All trials.
    max_trials, allowed
        T and B.
    on_exhausted
        What happens when no failure is left.

    Raises
    ------
    TrialsExhausted
        If every trial is told or in flight.
    BudgetExhausted
        If no failure is left and `on_exhausted` is "stop".
    BudgetReserved
        If trials in flight may use every failure that is left, and `on_exhausted` is "stop".
    """
    if counting.used(trials) >= max_trials:
        flying = sum(t.pending for t in trials)
        raise TrialsExhausted(
            f"{all_are(max_trials, 'trial')} used ({flying} in flight); opt.extend(trials=...) adds more"
        )
    if on_exhausted != "stop":
        return
    failed, flying = counting.failures(trials), counting.in_flight(trials)
    if allowed == 0:
        raise BudgetExhausted(NO_TRIAL)
    if failed >= allowed:
        raise BudgetExhausted(
            f"{failed} of {allowed} failures are spent; on_exhausted='stop' ends here. "
            "opt.best and opt.recommend() hold the result"
        )
    if failed + flying >= allowed:
        raise BudgetReserved(
            f"{allowed - failed} of {allowed} failures left, and {count(flying, 'trial')} in flight may use "
            "every one; tell or skip one of those first"
        )
