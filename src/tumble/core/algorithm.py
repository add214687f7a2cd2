"""Algorithm 1 (App. C): from the history to the next trial, and to the recommendation. Pure.

`propose` is one pass of the loop, `recommend` its last line. Xs is the case without constraints and budget.
The method is a parameter, so that every method of §5 runs through the same lines.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from .arrays import Array
from .budget import BudgetState, Decision, decide, surveys
from .gain import Gain, gain, recent_fall
from .history import History
from .method import Method
from .process.crashes import safe_before_any_trial
from .process.gp import GP
from .process.models import Fitted, fit_models, mean_in_doubt
from .search.candidates import all_over
from .search.context import Context
from .search.domain import Domain
from .search.known import Known
from .search.maximize import EXACT, QUICK, ROUGH, STEADY
from .search.modes import Proposal, Search
from .search.stones import next_step
from .search.survey import farthest, turned
from .settings import EARLY, MANY, Settings

ENOUGH = 32  # candidates among which the minimum is drawn, where only what can be gained is asked
RATHER_SAFE = 0.5  # what has this P(safe) now may be allowed later
HOPELESS = 4.0  # standard deviations by which a prediction is worse than the best: it can't gain
SPREAD = 5  # values: the first ones may lie on a plateau, and say that nothing is left to gain
CLOSE = 0.25  # of each range: trials that lie within it say little of values further away
NO_SAFE_START = (
    "this method never leaves what is known to be safe, and no safe trial is known; tell one first "
    "(opt.tell(x, value, constraints); billed=False for old data), pass it to minimize as x0, "
    "or choose method='tumble', which needs none"
)


class NoSafeStart(InputError):
    """The method must start from a safe trial, and none is known."""

    def __init__(self) -> None:
        super().__init__(NO_SAFE_START)


@dataclass(frozen=True)
class Recommendation:
    """argmin μ subject to φ >= ρ_safe; the safest point where nothing reaches it."""

    x: Array  # (D,)
    mean: float
    std: float
    p_safe: float
    reached: bool


def propose(
    history: History, state: BudgetState | None, method: Method, settings: Settings, rng: np.random.Generator,
    *, warm: Fitted | None = None, domain: Domain | None = None, known: Known | None = None,
    trials_left: int | None = None, alarmed: bool = False,
) -> Proposal:  # fmt: skip
    """The next trial (lines 2-7 of Algorithm 1).

    Parameters
    ----------
    history
        What is known.
    state
        The budget, or None where there is neither a budget nor a constraint.
    method
        Which acquisition is maximised, and which rules it follows.
    warm
        The hyperparameters of the last fit.
    domain
        The settings that can be run; None where all of the unit cube can.
    known
        The settings that known constraints allow; None where there are none.
    trials_left
        How many trials are left, this one included: what they can gain is reported. None for no report.
    alarmed
        Whether P(safe) can't be trusted (core.alarm): a search that is not bold then stays near what was
        observed to be safe.

    Raises
    ------
    NoSafeStart
        If the method must start from a safe trial and none is known.
    """
    if method.own_level is not None and not history.safe.any():
        raise NoSafeStart
    told = len(history.X)
    decision = decide(
        state, told=told, failed=int(history.failed.sum()), crashed=int(history.crashed.sum()),
        safe_known=bool(history.safe.any()), settings=settings,
        controlled=method.controlled, own_level=method.own_level,
    )  # fmt: skip
    if decision.mode == "start":
        return _first(history, decision.rho, settings, rng, domain, known)
    may_fail = state is None or state.failures_left > 0
    models = fit_models(history, settings, warm, may_fail=may_fail and method.own_level is None)
    lighter = settings.for_history(told, samples_minima=method.samples_minima)
    if alarmed and decision.mode in ("careful", "safest") and history.safe.any():
        models = models.near_safe(history)
    context = Context.of(history, models, lighter, rng, domain, decision, known, method.samples_minima)
    within = STEADY if told <= MANY else ROUGH
    pace = STEADY if told <= EARLY else QUICK
    search = Search(
        context, method.build(context), phi_exponent=decision.phi_exponent, pace=pace, within=within
    )
    found = _surveyed(search, decision, method, state) or _chosen(search, decision, method, state)
    if trials_left is None:
        return found
    return replace(found, gain=_gain(context, trials_left, may_fail))


def _surveyed(
    search: Search, decision: Decision, method: Method, state: BudgetState | None
) -> Proposal | None:
    """A trial where nothing was tried; None where none is due, or no such setting is sure enough.

    While not one value is known although not every trial failed, there is no gain to follow: it is due.
    Else, while no more trials are known than are left, one is due that turns what was never turned.
    """
    context, history = search.context, search.context.history
    if decision.mode not in ("bold", "careful") or not method.surveys or context.settings.survey == 0.0:
        return None
    known = len(history.X) + len(history.pending)
    blind = not np.isfinite(history.y).any() and not history.failed.all()
    early = history.safe.any() and surveys(state, known, context.settings)
    if decision.mode == "bold" and (blind or early):
        x = farthest(context, decision.rho)
        if x is not None:
            return replace(search.report(x, decision.mode, decision.rho), survey=True)
    if state is None or state.failures_left == 0 or known > state.trials_left:
        return None
    turn = turned(context, search.acquisition.screen, decision.rho)
    if turn is None:
        return None
    return replace(search.report(turn.x, decision.mode, decision.rho), survey=True, turned=turn.parameter)


def _chosen(search: Search, decision: Decision, method: Method, state: BudgetState | None) -> Proposal:
    """A trial where the acquisition is largest; where the mode allows no point, one of the safest."""
    x = _maximum(search, decision, method)
    if x is not None:
        return _refined(search, x, decision, method, state)
    if _looks_for_safety(search, method, state):
        nearer = search.nearer_to_safe()
        if nearer is not None:
            return replace(search.report(nearer, "safest", decision.rho), nearer=True)
    x = search.safest() if method.own_level is not None else search.nearly_safest()
    if not search.is_new(x[None, :]).all():
        # Every setting was tried: the best allowed one is tried again.
        best = _maximum(replace(search, revisit=True), decision, method)
        if best is not None:
            return search.report(best, decision.mode, decision.rho)
    return search.report(x, "safest", decision.rho)


def _looks_for_safety(search: Search, method: Method, state: BudgetState | None) -> bool:
    """Whether nothing is safe yet, and a failure may be spent on coming nearer to it.

    The failures that trials in flight may use are not spent twice.
    """
    context = search.context
    if not context.settings.less_violation or context.history.safe.any():
        return False
    if method.own_level is not None or state is None or state.failures_left == 0:
        return False
    return state.in_flight <= context.settings.rho_b


def _gain(context: Context, trials_left: int, may_fail: bool) -> Gain | None:
    """What the trials left can gain; None where it can't be said.

    It can't where nothing safe is known, where few values say nothing of how far they spread (SPREAD), and
    where f* is no joint sample.

    While a trial `may_fail`, what the careful mode forbids now may be allowed later, and nothing can be said
    before the trials have left each other's surroundings (CLOSE). Once none may, safe trials still widen what
    is allowed: what is rather safe than not counts.
    """
    history, gp = context.history, context.models.objective
    safe, measured = history.safe, history.X[np.isfinite(history.y)]
    if not safe.any() or len(measured) < SPREAD or context.settings.minima != "joint":
        return None
    if may_fail and (measured.max(axis=0) - measured.min(axis=0)).max() < CLOSE:
        return None
    drawn = context.draw_minima(0.0 if may_fail else RATHER_SAFE, ENOUGH)
    values = np.where(safe, history.y, np.inf)
    best, minima = values.min(), gp.outputs.to_user(drawn)
    noise = gp.outputs.std_to_user(gp.outputs.to_model(best), np.asarray(gp.hyper.noise))
    fall = recent_fall(values)
    return gain(float(best), minima, float(noise), trials_left, len(history.X), fall)


def _maximum(search: Search, decision: Decision, method: Method) -> Array | None:
    """Where the acquisition is largest under the rules of the mode; None where they allow no point."""
    if method.own_level is not None:
        return search.within_own_level()
    if decision.mode == "free":
        return search.bold(0.0) if search.limited else search.free()
    if decision.mode == "bold":
        rho = decision.rho if method.controlled else 0.0
        return search.bold(rho) if method.times_phi else search.free()  # (15)
    return search.careful(decision.rho) if decision.mode == "careful" else None  # (13)


def _refined(
    search: Search, x: Array, decision: Decision, method: Method, state: BudgetState | None
) -> Proposal:
    """A trial at x, where the acquisition is largest; where x gains little, a stepping stone.

    Where nothing that is allowed can gain, and no stone helps, x is what the process knows least: it is idle.
    """
    context, rho = search.context, decision.rho
    if not (method.stones and context.settings.stepping_stones and decision.mode == "careful"):
        return search.report(x, decision.mode, rho)
    is_stone = False
    if state is not None and state.trials_left > 1:
        x, is_stone = next_step(search, x, rho)
    mean, var = context.objective.predict(x[None, :])
    is_idle = not is_stone and bool(mean[0] - HOPELESS * np.sqrt(var[0]) > context.eta)
    return replace(search.report(x, decision.mode, rho), stone=is_stone, idle=is_idle)


def recommend(
    history: History, settings: Settings, rng: np.random.Generator, *, warm: Fitted | None = None,
    domain: Domain | None = None, known: Known | None = None,
) -> Recommendation:  # fmt: skip
    """argmin μ(x) subject to φ(x) >= ρ_safe, the last line of Algorithm 1."""
    models = fit_models(history, settings, warm)
    decision = Decision("careful", settings.rho_safe)
    context = Context.of(history, models, settings, rng, domain, decision, known)
    search = Search(context, _LowestMean(models.objective), revisit=True, pace=EXACT, within=EXACT)
    x = search.careful(settings.rho_safe) if search.limited else search.free()
    reached = x is not None
    if x is None:
        x = search.safest()
    report = search.report(x, "careful", settings.rho_safe)
    return Recommendation(report.x, report.mean, report.std, report.p_safe, reached)


def judge(
    history: History, x: Array, settings: Settings, rng: np.random.Generator, *, warm: Fitted | None = None,
    may_fail: bool = False,
) -> Proposal:  # fmt: skip
    """What is known of a point that nobody searched for: its mode and ρ say nothing, NaN is not known."""
    if len(history.X) == 0:
        unknown = np.full(history.g.shape[1], np.nan)
        return Proposal(x, "start", np.nan, np.nan, np.empty(0), np.nan, np.nan, unknown, unknown)
    models = fit_models(history, settings, warm, may_fail=may_fail)
    context = Context.of(history, models, settings, rng)
    return Search(context, _LowestMean(models.objective)).report(x, "start", np.nan)


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
    history: History, rho: float, settings: Settings, rng: np.random.Generator, domain: Domain | None,
    known: Known | None,
) -> Proposal:  # fmt: skip
    """A point of the cube, as far as can be from what is in flight, where nothing is known."""
    x = all_over(64 if len(history.pending) else 1, history.X.shape[1], rng, domain, known)
    if len(history.pending):
        x = x[[np.abs(x[:, None, :] - history.pending).max(axis=2).min(axis=1).argmax()]]
    G = history.g.shape[1]
    unknown = np.full(G, np.nan)
    doubt = settings.doubt_safety and history.crashes_afforded is not None
    crash = [safe_before_any_trial(mean_in_doubt(history))] if doubt else []
    p_each = np.array([0.5] * G + crash)
    return Proposal(x[0], "start", rho, float(np.prod(p_each)), p_each, np.nan, np.nan, unknown, unknown)
