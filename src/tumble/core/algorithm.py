"""Algorithm 1 (App. C): from the history to the next trial, and to the recommendation. Pure.

`propose` is one pass of the loop, `recommend` its last line. Xs is the case without constraints and budget.
Which acquisition is maximised is a parameter, so that every method of §5 runs through the same lines.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .arrays import Array
from .budget import BudgetState, is_bold, required, wariness
from .history import History
from .process.gp import GP
from .process.models import Warm, fit_models
from .search.candidates import low_discrepancy
from .search.context import Build, Context
from .search.modes import Proposal, Search, Snap
from .settings import Settings

NO_SAFE_START = (
    "this method never leaves what is known to be safe, and no safe trial is known; tell one first "
    "(opt.tell(x, value, constraints); billed=False for old data), pass it to minimize as x0, "
    "or choose method='xsf', which needs none"
)


@dataclass(frozen=True)
class Recommendation:
    """argmin μ subject to φ >= ρ_safe; the safest point where nothing reaches it."""

    x: Array  # (D,)
    mean: float
    std: float
    p_safe: float
    reached: bool


def propose(
    history: History, state: BudgetState | None, build: Build, settings: Settings, rng: np.random.Generator,
    *, warm: Warm | None = None, controlled: bool = True, weighted: bool = True, keeps: float | None = None,
    snap: Snap | None = None,
) -> Proposal:  # fmt: skip
    """The next trial (lines 2-7 of Algorithm 1).

    state: the budget, or None where there is neither budget nor constraint.
    controlled: False for methods that know no budget: they search by (15) until no failure is left.
    weighted: False where the acquisition contains the constraints, so that (15) must not multiply it by φ.
    keeps: P(safe) of each constraint to which the acquisition keeps by itself (-inf elsewhere), whatever the
    budget; such a method needs a safe trial to start from.
    snap: maps points to the nearest admissible settings; the choice is made among those.
    """
    dim = history.X.shape[1]
    if keeps is not None and not history.safe.any():
        raise InputError(NO_SAFE_START)
    if len(history.X) == 0:
        return _first(history, state, settings, rng, dim, snap)
    models = fit_models(history, settings, warm)
    safe_known = bool(history.safe.any())
    last = controlled and safe_known and _last_failure_is_kept(history, state)
    failed = int(history.failed.sum())
    bold = state is None or (
        not last
        and (is_bold(state, safe_known, settings, failed) or (not controlled and state.failures_left > 0))
    )
    context = Context.of(history, models, settings, rng)
    wary = 1.0
    if controlled and state is not None and settings.soften_phi:
        wary = wariness(failed, len(history.X))
    search = Search(context, build(context), snap, wariness=wary)
    if keeps is not None:
        kept = search.kept()
        if kept is None:
            return search.report(search.safest(), "safest", keeps)
        return search.report(kept, "careful", keeps)
    if state is None:
        return search.report(search.bold() if search.limited else search.free(), "free", 0.0)
    rho = max(required(state, settings), settings.rho_safe if last else 0.0)
    if bold:
        return search.report(search.bold() if weighted else search.free(), "bold", rho)  # (15)
    x = search.careful(rho) if safe_known else None  # (13)
    if x is not None:
        return search.report(x, "careful", rho)
    return search.report(search.about_safest(), "safest", rho)


def _last_failure_is_kept(history: History, state: BudgetState | None) -> bool:
    """Crashes do not show how near their edge is: after two of them the last failure is not spent on it."""
    return state is not None and state.failures_left == 1 and int(history.crashed.sum()) > 1


def recommend(
    history: History, settings: Settings, rng: np.random.Generator, *, warm: Warm | None = None,
    snap: Snap | None = None,
) -> Recommendation:  # fmt: skip
    """argmin μ(x) subject to φ(x) >= ρ_safe, the last line of Algorithm 1."""
    models = fit_models(history, settings, warm)
    context = Context.of(history, models, settings, rng)
    search = Search(context, _LowestMean(models.objective), snap, revisit=True, ftol=1e-6)
    x = search.careful(settings.rho_safe) if search.limited else search.free()
    reached = x is not None
    if x is None:
        x = search.safest()
    report = search.report(x, "careful", settings.rho_safe)
    return Recommendation(report.x, report.mean, report.std, report.p_safe, reached)


@dataclass(frozen=True)
class _LowestMean:
    """-μ, as an acquisition: what the recommendation maximises."""

    gp: GP

    def screen(self, x: Array) -> Array:
        return -self.gp.mean(x)

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        mean, d_mean = self.gp.mean_with_gradient(x)
        return -mean, -d_mean


def _first(
    history: History, state: BudgetState | None, settings: Settings, rng: np.random.Generator, dim: int,
    snap: Snap | None,
) -> Proposal:  # fmt: skip
    x = low_discrepancy(64 if len(history.pending) else 1, dim, rng)
    x = snap(x) if snap else x
    if len(history.pending):  # as far as can be from what is in flight
        x = x[[np.abs(x[:, None, :] - history.pending).max(axis=2).min(axis=1).argmax()]]
    G = history.g.shape[1]
    nothing = np.full(G, np.nan)
    p_each = np.full(G, 0.5) if G else np.ones(0)
    return Proposal(
        x[0], "start", required(state, settings) if state else 0.0,
        float(np.prod(p_each)), p_each, np.nan, np.nan, nothing, nothing,
    )  # fmt: skip
