"""Algorithm 1 (App. C): from the history to the next trial, and to the recommendation. Pure.

`propose` is one pass of the loop, `recommend` its last line. Xs is the case without constraints and budget.
Which acquisition is maximised is a parameter, so that every method of §5 runs through the same lines.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from ..errors import InputError
from . import minimum
from .acquisition import Acquisition, ExcursionSearch
from .budget import BudgetState, is_risky, required, wariness
from .calibration import widening
from .candidates import everywhere, low_discrepancy, surroundings
from .crashes import fit_crashes
from .feasibility import Feasibility
from .fit import Priors, fit
from .gp import GP, Array, Flags, Hyper, Outputs, condition
from .maximize import FTOL, Maxima, ValueAndGrad, maximize, maximize_above
from .settings import Settings

Snap = Callable[[Array], Array]
NO_SAFE_START = (
    "this method never leaves what is known to be safe, and no safe trial is known; tell one first "
    "(opt.tell(x, value, constraints); billed=False for old data), pass it to minimize as x0, "
    "or choose method='xsf', which needs none"
)
SURPRISE = 6.0  # standardised error of a violation that no process of g could have foreseen
SETTLED, GROWTH = 40, 1.03  # beyond so many observations hyperparameters are learned when there are 3 % more
SAME = 1e-6  # two points closer than this are one setting


@dataclass(frozen=True)
class History:
    """All that is known, in the unit cube and the user's units; NaN where nothing was measured."""

    X: Array  # (N, D)
    y: Array  # (N,)
    g: Array  # (N, G)
    crashed: Flags  # (N,)
    pending: Array  # (P, D) in flight
    predicted_mean: Array  # (N, G) what each constraint was predicted to be, NaN where nothing was
    predicted_std: Array  # (N, G)

    @property
    def failed(self) -> Flags:
        """(N,) Γ: a crash, or a measured constraint above 0."""
        return np.asarray(self.crashed | (self.g > 0.0).any(axis=1))

    @property
    def safe(self) -> Flags:
        """(N,) a value and every constraint were observed and nothing failed."""
        return ~self.failed & np.isfinite(self.y) & np.isfinite(self.g).all(axis=1)


@dataclass(frozen=True)
class Models:
    """The processes fitted to a history."""

    objective: GP
    feasibility: Feasibility

    def warm(self) -> "Warm":
        """Where the next fit may start."""
        return Warm(self.objective.hyper, tuple(gp.hyper for gp in self.feasibility.constraints))


@dataclass(frozen=True)
class Warm:
    """Hyperparameters of the last fit."""

    objective: Hyper
    constraints: tuple[Hyper, ...] = ()


@dataclass(frozen=True)
class Context:
    """What an acquisition may be built from."""

    history: History
    models: Models
    objective: GP  # conditioned on what is in flight as well
    means: Array  # (N,) its posterior means at the trials
    eta: float  # incumbent: the smallest posterior mean (or value: settings.incumbent) at a safe trial
    settings: Settings
    rng: np.random.Generator

    def neighbours(self, count: int) -> Array:
        """(count, D) points around the best trials."""
        return surroundings(self.best, self.scales, count, self.rng)

    @property
    def best(self) -> Array:
        """(5, D) the best trials, or as many as there are; safe ones where there are any."""
        X = self.history.X
        known = self.history.safe if self.history.safe.any() else np.ones(len(X), dtype=bool)
        return np.asarray(X[np.flatnonzero(known)[np.argsort(self.means[known])[:5]]])

    @property
    def scales(self) -> Array:
        """(D,) lengthscales of the objective."""
        return np.asarray(self.objective.hyper.lengthscales)

    @cached_property
    def candidates(self) -> Array:
        """(P, D) points all over the cube and around the best trials, the same for the whole suggestion."""
        points = everywhere(self.settings.raw_samples, self.best, self.scales, self.rng)
        points.flags.writeable = False  # so that each process answers once
        return points


Build = Callable[[Context], Acquisition]


@dataclass(frozen=True)
class Proposal:
    """The next trial, and why. Means and standard deviations are in the user's units."""

    x: Array  # (D,)
    mode: str  # "start" | "free" | "risky" | "safe" | "safest"
    rho: float  # the probability of safety that was asked for
    p_safe: float
    p_each: Array  # (G [+ 1],)
    mean: float
    std: float
    g_mean: Array  # (G,)
    g_std: Array  # (G,)
    warm: Warm | None = None
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Recommendation:
    """argmin μ subject to φ >= ρ_safe; the safest point where nothing reaches it."""

    x: Array  # (D,)
    mean: float
    std: float
    p_safe: float
    reached: bool


def fit_models(history: History, settings: Settings, warm: Warm | None) -> Models:
    """One process for f, one for each g, and one for crashes once there was one."""
    known = np.isfinite(history.y)
    objective = _fit(history.X[known], history.y[known], settings, settings.objective, True,
                     warm.objective if warm else None)  # fmt: skip
    constraints, widths = [], []
    unforeseen = history.crashed.copy()
    for j in range(history.g.shape[1]):
        known = np.isfinite(history.g[:, j])
        start = warm.constraints[j] if warm and j < len(warm.constraints) else None
        gp = _fit(history.X[known], history.g[known, j], settings, settings.constraint, False, start)
        constraints.append(gp)
        noise = gp.outputs.scale * gp.hyper.noise  # as it is known now
        spread = np.hypot(history.predicted_std[:, j], noise)
        errors = (history.g[:, j] - history.predicted_mean[:, j]) / spread
        if settings.calibrate:
            unforeseen |= (history.g[:, j] > 0.0) & (errors > SURPRISE)
        widths.append(widening(np.minimum(errors, SURPRISE)) if settings.calibrate else 1.0)
    crash = fit_crashes(history.X, unforeseen, settings.kernel) if unforeseen.any() else None
    return Models(objective, Feasibility(tuple(constraints), crash, tuple(widths), settings.calibrate))


def _fit(X: Array, y: Array, settings: Settings, priors: Priors, centre: bool, warm: Hyper | None) -> GP:
    if X.shape[1] == 1:
        priors = replace(priors, additive=None)  # one effect is the whole
    outputs = Outputs.of(y, centre=centre) if settings.standardize else Outputs()
    if len(y) == 0:
        return condition(settings.kernel, priors.hyper_start(X.shape[1]), X, y)
    learned = 0 if warm is None else warm.learned
    if warm is not None and not _is_due(len(y), learned):
        target = outputs.to_model(y)
        return condition(settings.kernel, warm, X, target, mean_std=priors.mean, outputs=outputs)
    cold = len(y) < 20 or len(y) % 5 == 0 or len(y) > 1.5 * learned
    return fit(X, y, kernel=settings.kernel, priors=priors, outputs=outputs, warm=warm, cold=cold)


def _is_due(n: int, learned: int) -> bool:
    """Whether hyperparameters learned from `learned` observations are to be learned again from n."""
    return n <= SETTLED or int(np.log(n) / np.log(GROWTH)) > int(np.log(max(learned, 1)) / np.log(GROWTH))


def sample_minima(context: Context) -> minimum.Minima:
    """S samples of f* by the law of the settings; of the constrained minimum where there are constraints."""
    constraints = context.models.feasibility.constraints
    points = context.candidates
    return minimum.sample(context.objective, constraints, points, context.eta, context.settings, context.rng)


def excursion_search(context: Context) -> ExcursionSearch:
    """Xs and XsF: log α_X over samples of f*."""
    return ExcursionSearch(context.objective, sample_minima(context).samples, context.settings.standardize)


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
    risky = state is None or (
        not last and (is_risky(state, safe_known, settings) or (not controlled and state.failures_left > 0))
    )
    context = _context(history, models, settings, rng)
    wary = 1.0
    if controlled and state is not None and settings.temper:
        wary = wariness(int(history.failed.sum()), len(history.X))
    search = _Search(context, build(context), snap, wariness=wary)
    if keeps is not None:
        kept = search.kept()
        if kept is None:
            return search.report(search.safest(), "safest", keeps)
        return search.report(kept, "safe", keeps)
    if state is None:
        return search.report(search.risky() if search.limited else search.free(), "free", 0.0)
    rho = max(required(state, settings), settings.rho_safe if last else 0.0)
    if settings.safety_first and not safe_known:
        return search.report(search.safest(), "risky" if state.failures_left > 0 else "safest", rho)
    if risky:
        return search.report(search.risky() if weighted else search.free(), "risky", rho)  # (15)
    x = search.safe(rho) if safe_known else None  # (13)
    if x is not None:
        return search.report(x, "safe", rho)
    return search.report(search.safest(), "safest", rho)


def _last_failure_is_kept(history: History, state: BudgetState | None) -> bool:
    """Crashes do not show how near their edge is: after two of them the last failure is not spent on it."""
    return state is not None and state.failures_left == 1 and int(history.crashed.sum()) > 1


def recommend(
    history: History, settings: Settings, rng: np.random.Generator, *, warm: Warm | None = None,
    snap: Snap | None = None,
) -> Recommendation:  # fmt: skip
    """argmin μ(x) subject to φ(x) >= ρ_safe, the last line of Algorithm 1."""
    models = fit_models(history, settings, warm)
    context = _context(history, models, settings, rng)
    search = _Search(context, _LowestMean(models.objective), snap, revisit=True, ftol=1e-6)
    x = search.safe(settings.rho_safe) if search.limited else search.free()
    reached = x is not None
    if x is None:
        x = search.safest()
    report = search.report(x, "safe", settings.rho_safe)
    return Recommendation(report.x, report.mean, report.std, report.p_safe, reached)


@dataclass(frozen=True)
class _LowestMean:
    """-μ, as an acquisition: what the recommendation maximises."""

    gp: GP

    def screen(self, x: Array) -> Array:
        return -self.gp.mean(x)

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        mean, _, d_mean, _ = self.gp.predict_with_gradient(x)
        return -mean, -d_mean


def _context(history: History, models: Models, settings: Settings, rng: np.random.Generator) -> Context:
    gp, valued = models.objective, np.isfinite(history.y)
    means = np.empty(len(valued))
    means[valued], means[~valued] = gp.fitted(), gp.mean(history.X[~valued])
    values = (means if settings.incumbent == "mean" else gp.outputs.to_model(history.y))[
        history.safe if history.safe.any() else valued
    ]
    eta = float(values.min()) if values.size else gp.prior_mean
    return Context(history, models, gp.with_pending(history.pending), means, eta, settings, rng)


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


@dataclass(frozen=True)
class _Search:
    """The three ways to look for the next trial, over one set of candidates."""

    context: Context
    acquisition: Acquisition
    snap: Snap | None
    revisit: bool = False  # may the answer be a setting that was tried already?
    ftol: float = FTOL
    wariness: float = 1.0  # the power of φ in (15)

    @property
    def limited(self) -> bool:
        feasibility = self.context.models.feasibility
        return bool(feasibility.constraints) or feasibility.crash is not None

    def free(self) -> Array:
        points = self.context.candidates
        starts = self._starts(points, self.acquisition.screen(points))
        best = self._climb(self.acquisition.value_and_grad, starts)
        return self._choose(best, starts, points, lambda x: self.acquisition.value_and_grad(x)[0])

    def kept(self) -> Array | None:
        """argmax α(x) where the acquisition allows it, searched from the safe trials; None where nowhere."""
        points = np.vstack([self._around_safe(), self.context.candidates])
        screened = self.acquisition.screen(points)
        points = points[np.isfinite(screened)]
        if len(points) == 0:
            return None
        starts = self._starts(points, screened[np.isfinite(screened)])
        best = self._climb(self.acquisition.value_and_grad, starts)
        x = self._choose(best, starts, points, lambda x: self.acquisition.value_and_grad(x)[0])
        return x if np.isfinite(self.acquisition.screen(x[None, :])[0]) else None

    def risky(self) -> Array:
        """argmax α(x) φ(x) (15), with a φ that is not widened: a failure is affordable here."""
        feasibility, power = replace(self.context.models.feasibility, widening=()), self.wariness

        def product(x: Array) -> tuple[Array, Array]:
            value, grad = self.acquisition.value_and_grad(x)
            log_p, d_log_p = feasibility.log_prob_and_grad(x)
            return value + power * log_p, grad + power * d_log_p

        points = self.context.candidates
        starts = self._starts(points, self.acquisition.screen(points) + power * feasibility.log_prob(points))
        best = self._climb(product, starts)
        return self._choose(best, starts, points, lambda x: product(x)[0])

    def safe(self, rho: float) -> Array | None:
        """argmax α(x) subject to φ(x) >= ρ (13), or None where no such x was found."""
        feasibility = self.context.models.feasibility
        level = float(ndtri(rho))
        points = np.vstack([self.context.candidates, self._around_safe()])
        margin = feasibility.margin(points) if self.limited else np.full(len(points), np.inf)
        inside = margin > level
        if inside.sum() < self.context.settings.restarts:
            nearest = points[np.argsort(-margin)[: self.context.settings.restarts]]
            climbed = maximize(feasibility.margin_and_grad, nearest, max_evaluations=25)
            points = np.vstack([points[inside], climbed.points[climbed.values > level]])
        else:
            points = points[inside]
        if len(points) == 0:
            return None
        starts = self._starts(points, self.acquisition.screen(points))
        best = maximize_above(
            self.acquisition.value_and_grad, feasibility.margin_and_grad, level, starts,
            scales=self.context.scales, ftol=self.ftol,
        )  # fmt: skip

        def worth(x: Array) -> Array:
            value = self.acquisition.value_and_grad(x)[0]
            return np.where(feasibility.log_prob(x) >= np.log(rho), value, -np.inf)

        x = self._choose(Maxima(best.points, worth(best.points)), starts, points, worth)
        return x if np.isfinite(worth(x[None, :])[0]) else None

    def safest(self) -> Array:
        """argmax φ."""
        feasibility = self.context.models.feasibility
        points = np.vstack([self.context.candidates, self._around_safe()])
        starts = self._starts(points, feasibility.log_prob(points))
        best = self._climb(feasibility.log_prob_and_grad, starts)
        return self._choose(best, starts, points, feasibility.log_prob)

    def report(self, x: Array, mode: str, rho: float) -> Proposal:
        models, at = self.context.models, x[None, :]
        mean, var = models.objective.predict(at)
        outputs = models.objective.outputs
        g = [(gp, *gp.predict(at)) for gp in models.feasibility.constraints]
        return Proposal(
            x=x, mode=mode, rho=rho,
            p_safe=float(np.exp(models.feasibility.log_prob(at)[0])),
            p_each=models.feasibility.each(at)[0],
            mean=float(outputs.mean(mean)[0]), std=float(outputs.scale * np.sqrt(var[0])),
            g_mean=np.array([gp.outputs.mean(m)[0] for gp, m, _ in g]),
            g_std=np.array([gp.outputs.scale * np.sqrt(v[0]) for gp, _, v in g]),
            warm=models.warm(),
        )  # fmt: skip

    def _climb(self, fun: ValueAndGrad, starts: Array) -> Maxima:
        return maximize(fun, starts, scales=self.context.scales, ftol=self.ftol)

    def _around_safe(self) -> Array:
        """Trials that were safe, and their surroundings on the scale of the constraints."""
        history, models = self.context.history, self.context.models
        X = history.X[history.safe]
        if len(X) == 0:
            return history.X[:0]
        scales = [np.asarray(gp.hyper.lengthscales) for gp in models.feasibility.constraints]
        reach = np.min(scales, axis=0) if scales else self.context.scales
        return np.vstack([X, surroundings(X, reach, 256, self.context.rng)])

    def _starts(self, points: Array, screened: Array) -> Array:
        """Half the restarts from the best candidates, half from among the good ones."""
        count = self.context.settings.restarts
        order = np.argsort(-screened, kind="stable")
        best, others = order[: (count + 1) // 2], order[(count + 1) // 2 : 10 * count]
        extra = self.context.rng.choice(others, min(count // 2, len(others)), replace=False)
        return np.asarray(points[np.concatenate([best, extra])])

    def _choose(self, best: Maxima, starts: Array, others: Array, worth: Callable[[Array], Array]) -> Array:
        """The best point found, new where there is a new one, admissible where settings are discrete.

        Snapping may spoil what the search found, so that its starts are looked at again; `others` are fallen
        back to where all of those were tried already.
        """
        if self.snap is not None:
            found = self.snap(np.vstack([best.points, starts]))
            best = Maxima(found, worth(found))
        if self.revisit:
            return np.asarray(best.points[int(np.argmax(best.values))])
        if not self._is_new(best).any():
            found = others[:64] if self.snap is None else np.unique(self.snap(others), axis=0)
            fallback = Maxima(found, worth(found))
            best = fallback if self._is_new(fallback).any() else best
        new = self._is_new(best)
        return np.asarray(best.points[int(np.argmax(np.where(new | ~new.any(), best.values, -np.inf)))])

    def _is_new(self, found: Maxima) -> Flags:
        """(M,) where a point has a value and is no setting that was tried or is in flight."""
        seen = np.vstack([self.context.history.X, self.context.history.pending])
        distance = np.abs(found.points[:, None, :] - seen).max(axis=2)
        return np.asarray(np.isfinite(found.values) & (distance >= SAME).all(axis=1))
