"""The controller of risk (§4.2): how sure of safety a trial must be, from the failures and trials left.

State is frozen and a pure function of the history of billed, finished trials: `replay` rebuilds it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from .settings import Settings

SearchMode = Literal["start", "free", "bold", "careful", "safest"]
LONGEST_SURVEY = 6  # trials that are known: then the process chooses
ROUNDING = 1e-12  # a sum of risks may be above its bound by this much


@dataclass(frozen=True)
class BudgetState:
    """The controller after the last billed trial.

    Parameters
    ----------
    z
        Φ^-1(ρ), where ρ is the P(safe) that is asked of the next trial.
    trials_left
        ΔT.
    failures_left
        ΔB, not below 0.
    end
        ΔT when the last failure was spent; None before that. A failure that is set aside for a trial in
        flight is not spent.
    risk
        Σ (1 - P(safe)) of the suggestions that were made since then.
    in_flight
        The least P(safe) of the next trial, for the sake of the trials in flight (`share`); 0 without any.
    reserve
        While more failures than this are left, no more than ρ_0 is asked for; None where ρ follows (14)
        alone.
    """

    z: float
    trials_left: int
    failures_left: int
    end: int | None = None
    risk: float = 0.0
    in_flight: float = 0.0
    reserve: int | None = None

    @property
    def rho(self) -> float:
        """ρ_t of (14), or what the trials in flight ask for."""
        return max(float(ndtr(self.z)), self.in_flight)


def start(trials: int, failures: int, settings: Settings) -> BudgetState:
    """Before the first trial nothing has happened: z = Φ^-1(ρ_0), or that of `settings.rho_only`."""
    rho = settings.rho_0
    if failures == 1 and settings.rho_only is not None:
        rho = max(rho, min(settings.rho_only, settings.rho_safe))
    end = None if failures else trials
    return BudgetState(float(ndtri(rho)), trials, failures, end, reserve=settings.reserve)


def step(state: BudgetState, failed: bool, settings: Settings) -> BudgetState:
    """After one more billed trial, which failed or did not."""
    return after(state, (failed,), settings)


def after(state: BudgetState, outcomes: Iterable[bool], settings: Settings) -> BudgetState:
    """After more billed trials; `outcomes` says in their order which of them failed."""
    z, trials, left, end = state.z, state.trials_left, state.failures_left, state.end
    z_safe, z_risk = quantile(settings.rho_safe), quantile(settings.rho_risk)
    for failed in outcomes:
        trials -= 1
        if failed and left > 0:
            left -= 1
        if left == 0 and end is None:
            end = trials
        if trials > 0:
            z += control(z, trials, left, failed, z_safe, z_risk)
    return BudgetState(z, trials, left, end, state.risk, state.in_flight, state.reserve)


def control(z: float, trials: int, left: int, failed: bool, z_safe: float, z_risk: float) -> float:
    """u_t of (14), with `left` = ΔB and `trials` = ΔT counted after the last trial.

    z_safe, z_risk: Φ^-1 of `settings.rho_safe` and of `settings.rho_risk`.
    """
    if left == 0:
        return z_safe - z
    if left > trials:
        return z_risk - z
    return (z_safe - z) * failed / left + (z_risk - z) * left / (2.0 * trials)  # (14)


@lru_cache(maxsize=64)
def quantile(p: float) -> float:
    """Φ^-1(p)."""
    return float(ndtri(p))


def replay(trials: int, failures: int, failed: Iterable[bool], settings: Settings) -> BudgetState:
    """The state after the billed outcomes `failed`, in the order of their numbers."""
    return after(start(trials, failures, settings), failed, settings)


def required(state: BudgetState, settings: Settings) -> float:
    """ρ asked of the next trial. While more failures are left than the reserve, it is no more than ρ_0.

    At ΔB = 0 the total risk `settings.delta` is spread evenly over the trials that were left when the last
    failure was spent. If it were spread over the trials left now, the last few would be asked for less and
    less: B was exceeded there. Where a trial took more than its share (mode "safest"), the others get less.
    """
    if state.failures_left > 0:
        plenty = state.reserve is not None and state.failures_left > state.reserve
        return max(min(state.rho, settings.rho_0), state.in_flight) if plenty else state.rho
    if settings.delta is None:
        return settings.rho_safe
    trials = state.trials_left if state.end is None else state.end
    even = settings.delta / max(trials, 1)
    return max(settings.rho_safe, 1.0 - min(even, risk_left(state, settings) / max(state.trials_left, 1)))


def risk_left(state: BudgetState, settings: Settings) -> float:
    """What is left of the total risk `settings.delta`; 1 where nothing limits it."""
    if settings.delta is None or not settings.bound_risk or state.end is None:
        return 1.0
    return max(settings.delta - state.risk, 0.0)


def is_too_risky(p_safe: float, state: BudgetState, settings: Settings) -> bool:
    """Whether a trial would take more risk than is left, after the last failure was spent.

    So the sum of 1 - P(safe) over the trials after the last failure is never above `settings.delta`.
    """
    return bool(1.0 - p_safe > risk_left(state, settings) + ROUNDING)


def share(failures_left: int, p_failures: Sequence[float], settings: Settings) -> float:
    """The least P(safe) of a trial that starts while others are in flight.

    The trials in flight and the next one share the failures that are left. The probability that the next one
    fails and finds no failure left for it is at most 1 - rho_safe:
    (1 - ρ) Pr(N >= ΔB) <= 1 - rho_safe, where N is how many of those in flight fail.

    Parameters
    ----------
    failures_left
        ΔB, at least 1, with nothing set aside.
    p_failures : (W,)
        The probability that each trial in flight fails.
    settings
        `rho_safe`.

    Returns
    -------
    float
        From 0, where the trials in flight leave a failure over, to rho_safe, where they use all of them.
    """
    law = np.ones(1)  # of N, how many fail
    for p in p_failures:
        law = np.convolve(law, [1.0 - p, p])
    none_left = float(law[failures_left:].sum())
    risk = 1.0 - settings.rho_safe
    return 1.0 - risk / none_left if none_left > risk else 0.0


@dataclass(frozen=True)
class Decision:
    """How to look for the next trial.

    Parameters
    ----------
    mode
        "start": nothing is known. "free": nothing limits the search. "bold": (15). "careful": (13).
        "safest": where P(safe) is largest, or, while nothing is safe, where the worst violation is expected
        to fall the most. A bold or careful search ends there too where no point reaches ρ.
    rho
        The P(safe) that is asked of the next trial.
    phi_exponent
        The power of φ in (15).
    """

    mode: SearchMode
    rho: float
    phi_exponent: float = 1.0


def decide(
    state: BudgetState | None, *, told: int, failed: int, crashed: int, safe_known: bool, settings: Settings,
    controlled: bool = True, own_level: float | None = None,
) -> Decision:  # fmt: skip
    """How to look for the next trial: every rule of the budget, in one place. Pure.

    Parameters
    ----------
    state
        The controller, or None where there is neither a budget nor a constraint.
    told, failed, crashed
        How many trials are known, how many of those failed, and how many of those crashed. Trials that were
        not billed count too.
    safe_known
        Whether a safe trial is known.
    settings
        The constants of §4.2, and the switches `safety_first`, `keep_last_failure` and `soften_phi`.
    controlled, own_level
        As in `core.method.Method`.
    """
    if told == 0:
        return Decision("start", 0.0 if state is None else required(state, settings))
    if own_level is not None:
        return Decision("careful", own_level)
    if state is None:
        return Decision("free", 0.0)
    rho = required(state, settings)
    if not controlled:
        bold, exponent = state.failures_left > 0 and state.in_flight <= settings.rho_b, 1.0
    elif settings.keep_last_failure and safe_known and state.failures_left == 1 and crashed > 1:
        # A crash measures no distance to the edge of safety. After two crashes the last failure is kept.
        return Decision("careful", max(rho, settings.rho_safe))
    else:
        bold = is_bold(state, safe_known, settings, failed)
        exponent = phi_exponent(failed, told) if settings.soften_phi else 1.0
    if bold:
        return Decision("bold", rho, exponent)
    return Decision("careful" if safe_known else "safest", rho)


def is_bold(state: BudgetState, safe_known: bool, settings: Settings, failed: int = 0) -> bool:
    """Whether the controller searches by (15) rather than under the probabilistic constraint (13).

    While no trial was safe, `settings.safety_first` keeps half of the failures: the search is bold only while
    fewer trials have failed (`failed`, billed or not) than failures are left.
    """
    if state.failures_left == 0 or state.in_flight > settings.rho_b:
        return False
    if not safe_known:
        return failed < state.failures_left or not settings.safety_first
    return required(state, settings) <= settings.rho_b


def surveys(state: BudgetState | None, known: int, settings: Settings) -> bool:
    """Whether a bold trial looks where nothing was tried (core.search.survey).

    It does while few trials are `known`, told or in flight: up to `settings.survey` times the failures left,
    but no more than that share of half the trials left, and no more than LONGEST_SURVEY.
    """
    if state is None:
        return False
    spare = min(state.failures_left, 0.5 * state.trials_left)
    return known <= min(settings.survey * spare, LONGEST_SURVEY)


def phi_exponent(failed: int, told: int) -> float:
    """The power of φ in (15): 1 after a failure; before, it falls from 1/2 to 1/4 over ten trials.

    Where α is flat, α φ avoids every point that is a little less certain, even if nothing has ever failed.
    """
    return 1.0 if failed else max(0.25, 5.0 / (10.0 + told))


def stop_reason(failed: int, allowed: int | None, safe_seen: bool) -> str:
    """Why a loop should stop although the search could go on; empty where it should not."""
    if allowed is None or failed == 0 or failed < allowed:
        return ""
    if failed > allowed:
        return beyond(failed, allowed)
    return "" if safe_seen else f"{_trials(failed)} failed and no failure is left"


def beyond(failed: int, allowed: int) -> str:
    """Why every door stops where more trials failed than may."""
    others = "trials of your own, or a changed budget or limit,"
    return f"{_trials(failed)} failed where {allowed} may; unless {others} did it, P(safe) is too high here"


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"


def nothing_safe_enough(p_safe: float, left: float, safe_seen: bool) -> str:
    """Why no trial may start where no failure is left, and the safest one would risk too much.

    Parameters
    ----------
    p_safe
        P(safe) of the safest one that was found.
    left
        What is left of the total risk.
    safe_seen
        Whether a safe trial is known.
    """
    seen = "" if safe_seen else "nothing safe was seen, "
    return (
        f"no failure is left, {seen}and no new setting is safe enough: the safest one that was found has "
        f"P(safe) = {100.0 * p_safe:.4g} %, and all trials left may take a risk of {100.0 * left:.3g} %"
    )
