"""From an acquisition to the next trial: samples of f*, starts, and `optimize_acqf` around them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from botorch.optim import optimize_acqf
from torch import Tensor

from ... import checks
from ...core.arrays import Array
from ...core.budget import (
    BudgetState,
    SearchMode,
    beyond,
    is_too_risky,
    nothing_safe_enough,
    replay,
    risk_left,
)
from ...core.search.maximize import ValueAndGrad, maximize_above
from ...core.search.modes import nearly_as_safe
from ...core.settings import Settings
from ...errors import BudgetExhausted, InputError, TrialsExhausted
from ...methods import resolve_settings
from ...shown import all_are
from .acquisitions import SLACK, ExcursionAcquisition, FailureAwareExcursionSearch, LogExcursionSearch
from .study import NothingSafeEnough, Ranges, Study, draw_minima

Options = dict[str, bool | float | int | str]


@dataclass(frozen=True)
class Candidate:
    """The next trial.

    Parameters
    ----------
    x
        (1, D) where to evaluate.
    value
        The acquisition there.
    mode
        "free" for Xs; "bold", "careful" or "safest" for XsF.
    p_safe, rho
        P(safe) there, and the P(safe) that was asked for.
    """

    x: Tensor
    value: float
    mode: SearchMode
    p_safe: float
    rho: float


def budget_state(
    trials: int, failures: int, failed: Iterable[bool] = (), settings: str | Settings | None = None,
    risk: float = 0.0,
) -> BudgetState:  # fmt: skip
    """The controller (14) after some trials.

    Parameters
    ----------
    trials, failures
        T and B.
    failed
        Whether each billed trial failed, in their order.
    settings
        The constants of the controller; `reserve`, which is for choices, is left out.
    risk
        The sum of 1 - `Candidate.p_safe` over the candidates since the last failure was spent.

    Returns
    -------
    BudgetState
        What is left, and the P(safe) that is asked of the next trial.

    Raises
    ------
    InputError
        If T and B are no budget, `failed` says something else than true or false, or `risk` is below 0.
    TrialsExhausted
        If no trial is left.
    BudgetExhausted
        If more trials failed than may.

    Examples
    --------
    >>> state = budget_state(20, 4, [False, True])
    >>> state.trials_left, state.failures_left
    (18, 3)
    """
    checks.budget(trials, checks.whole(failures, "failures", 0))
    if not np.iterable(failed):
        checks.refuse("failed", "a list of true and false, one for each trial", failed)
    outcomes = [_outcome(one) for one in failed]
    risk = checks.at_least(risk, "risk", 0.0)
    if len(outcomes) >= trials:
        raise TrialsExhausted(f"{all_are(trials, 'trial')} used; allow more trials to go on")
    if sum(outcomes) > failures:
        raise BudgetExhausted(f"{beyond(sum(outcomes), failures)}; allow more failures to go on")
    constants = _constants(settings).for_space(continuous=True, choices=False)
    return replace(replay(trials, failures, outcomes, constants), risk=risk)


def _outcome(one: object) -> bool:
    """Whether a trial failed; the value of a constraint does not say that."""
    values = (one.cpu() if isinstance(one, Tensor) else np.asarray(one)).reshape(-1).tolist()
    if len(values) != 1 or values[0] not in (0, 1):
        checks.refuse(
            "failed", "true or false for each trial", one, "compare a constraint with its limit first: g > 0"
        )
    return bool(values[0])


def sample_minima(
    model: Any, bounds: Tensor, *, objective_index: int = 0, constraints: Ranges | None = None,
    maximize: bool = False, settings: str | Settings | None = None, seed: int | None = None,
) -> Tensor:  # fmt: skip
    """Samples of f*, the smallest f where the constraints hold.

    Parameters
    ----------
    model
        A model of f, or a `ModelListGP` as for `FailureAwareExcursionSearch`.
    bounds
        (2, D) lowest and highest inputs.
    objective_index
        As for `FailureAwareExcursionSearch`.
    constraints
        As for `FailureAwareExcursionSearch`.
    maximize
        Whether the largest f is meant.
    settings
        The law of f* (`minima`) and the number of samples S (`n_minima`).
    seed
        Of the samples.

    Returns
    -------
    Tensor
        (S,) in the model's own outputs.
    """
    study = Study.of(model, objective_index, constraints)
    return draw_minima(study, bounds, _constants(settings), seed, maximize=maximize)


def _constants(settings: str | Settings | None) -> Settings:
    """Settings by name, or as they are; None for the default."""
    return resolve_settings("default" if settings is None else settings)


def starts(
    acq_function: ExcursionAcquisition, bounds: Tensor, q: int = 1, num_restarts: int = 10,
    raw_samples: int = 512, options: Mapping[str, Any] | None = None, **_: Any,
) -> Tensor:  # fmt: skip
    """Good starts for `optimize_acqf`, which takes this function as its `ic_generator`.

    Parameters
    ----------
    acq_function
        Xs or XsF.
    bounds
        (2, D) lowest and highest inputs.
    q
        1: one point at a time.
    num_restarts
        How many starts.
    raw_samples
        How many candidates they are chosen from.
    options
        "seed" of the points.

    Returns
    -------
    Tensor
        (num_restarts, 1, D); in mode "careful" each of them has φ >= ρ.

    Raises
    ------
    NothingSafeEnough
        If no point with φ >= ρ was found in mode "careful".
    """
    if q != 1:
        raise InputError(
            f"excursion search takes one point at a time (q = 1), not q = {q}: use sequential=True"
        )
    checks.whole(num_restarts, "num_restarts", 1)
    rng = np.random.default_rng((options or {}).get("seed"))
    snapshot = acq_function.study.snapshot(
        bounds, Settings(), rng, maximize=acq_function.upwards, pending=acq_function.X_pending
    )
    level = acq_function.level + 2.0 * SLACK if acq_function.mode == "careful" else None
    bounds = _in_floats(bounds)
    unit = torch.as_tensor(snapshot.candidates(raw_samples, level), dtype=bounds.dtype, device=bounds.device)
    x = bounds[0] + (bounds[1] - bounds[0]) * unit
    with torch.no_grad():
        order = torch.argsort(acq_function(x[:, None, :]), descending=True)
    half = (num_restarts + 1) // 2
    rest = rng.permutation(np.arange(half, min(len(x), 10 * num_restarts)))[: num_restarts - half]
    return x[order[np.concatenate([np.arange(min(half, len(x))), rest])]][:, None, :]


def _in_floats(bounds: Tensor) -> Tensor:
    """(2, D) bounds that may be whole numbers."""
    return bounds.double() if isinstance(bounds, Tensor) and not bounds.is_floating_point() else bounds


def optimize_excursion(
    acqf: LogExcursionSearch | FailureAwareExcursionSearch, bounds: Tensor, *, num_restarts: int = 10,
    raw_samples: int = 512, seed: int | None = None, options: Options | None = None,
) -> Candidate:  # fmt: skip
    """The next trial: where the acquisition is largest under the rules of its mode.

    In mode "careful" a barrier keeps every step of the search where φ >= ρ; SLSQP may end outside. If no
    point reaches ρ, the mode becomes "safest": the search finds the largest φ, and then the largest α among
    the points that are nearly as safe. In other modes this is `optimize_acqf`.

    Parameters
    ----------
    acqf
        Xs or XsF.
    bounds
        (2, D) lowest and highest inputs.
    num_restarts
        How many local searches.
    raw_samples
        How many candidates their starts are chosen from.
    seed
        Of the candidates.
    options
        For `optimize_acqf`.

    Returns
    -------
    Candidate
        One point, with its mode, its P(safe) and the P(safe) that was asked for.

    Raises
    ------
    BudgetExhausted
        If no failure is left, and every point would take more risk than is left of `settings.delta`.
    """
    bounds = _in_floats(bounds)

    def climb(acqf: ExcursionAcquisition) -> Tensor:
        first = starts(acqf, bounds, 1, num_restarts, raw_samples, {"seed": seed})
        if isinstance(acqf, FailureAwareExcursionSearch) and acqf.mode == "careful":
            return _best(acqf, _climb_inside(acqf, bounds, first))
        found, _ = optimize_acqf(
            acqf, bounds=bounds, q=1, num_restarts=len(first), batch_initial_conditions=first,
            options=options or {}, return_best_only=False,
        )  # fmt: skip
        return _best(acqf, found)

    if not isinstance(acqf, FailureAwareExcursionSearch):
        return _candidate(acqf, climb(acqf))
    if acqf.mode != "safest":
        try:
            return _candidate(acqf, climb(acqf))
        except NothingSafeEnough:
            acqf = acqf.safest()
    x, odds = climb(acqf), acqf.settings.safest_odds
    rho = 0.0 if odds is None else nearly_as_safe(_p_safe(acqf, x), odds)
    if 0.0 < rho < 1.0:
        with suppress(NothingSafeEnough):  # then x is the only point that is as safe
            x = climb(acqf.careful(rho))
    found = _candidate(acqf, x)
    if is_too_risky(found.p_safe, acqf.budget_state, acqf.settings):
        left = risk_left(acqf.budget_state, acqf.settings)
        why = nothing_safe_enough(found.p_safe, left, acqf.safe_known)
        raise BudgetExhausted(f"{why}; allow more failures to go on")
    return found


@torch.no_grad()
def _best(acqf: ExcursionAcquisition, found: Tensor) -> Tensor:
    """(1, D) the best of `found` (M, 1, D)."""
    return found[int(acqf(found).argmax())]


@torch.no_grad()
def _p_safe(acqf: FailureAwareExcursionSearch, x: Tensor) -> float:
    return float(acqf.log_p_safe(x).exp())


@torch.no_grad()
def _candidate(acqf: LogExcursionSearch | FailureAwareExcursionSearch, x: Tensor) -> Candidate:
    """What is known of x (1, D)."""
    value = float(acqf(x[None]))
    if isinstance(acqf, FailureAwareExcursionSearch):
        return Candidate(x, value, acqf.mode, _p_safe(acqf, x), acqf.rho)
    return Candidate(x, value, acqf.mode, 1.0, 0.0)


def _climb_inside(acqf: FailureAwareExcursionSearch, bounds: Tensor, first: Tensor) -> Tensor:
    """(M, 1, D) local maxima of (13) from feasible starts (M, 1, D)."""
    low, span = bounds[0], bounds[1] - bounds[0]

    def in_unit_cube(fun: Callable[[Tensor], Tensor]) -> ValueAndGrad:
        def value_and_grad(u: Array) -> tuple[Array, Array]:
            x = (low + span * torch.as_tensor(u).to(bounds)).requires_grad_()
            value = fun(x)
            (grad,) = torch.autograd.grad(value.sum(), x)
            return value.detach().double().cpu().numpy(), (grad * span).double().cpu().numpy()

        return value_and_grad

    begin = ((first.squeeze(-2) - low) / span).double().cpu().numpy()
    ends = maximize_above(in_unit_cube(acqf.log_alpha), in_unit_cube(acqf.margin), 0.0, begin)
    return (low + span * torch.as_tensor(ends.points).to(bounds))[:, None, :]
