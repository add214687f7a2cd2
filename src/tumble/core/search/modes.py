"""One search for each mode: free, bold (15), careful (13), safest; and within a method's own level. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from ..acquisition import Acquisition
from ..arrays import Array, Flags
from ..budget import SearchMode
from ..expectation import is_noisy
from ..feasibility import Posteriors
from ..gain import Gain
from ..improvement import ExpectedImprovement, ProbabilityOfImprovement
from ..process.models import Fitted
from ..violation import Fall, violations
from .candidates import surroundings
from .context import Context
from .maximize import QUICK, STEADY, Maxima, Pace, ValueAndGrad, maximize, maximize_above
from .product import screen_product, times_phi

PEAK = 1.0  # of log EI, which may have a narrow peak at the best trial: a first step must not leap over it
NEAREST = 3  # trials that come nearest to being safe, around which a first safe one is looked for
SAME = 1e-6  # two points closer than this are one setting


def nearly_as_safe(p_safe: float, odds: float) -> float:
    """The lowest P(safe) of a point that is nearly as safe as one with `p_safe`.

    Its odds of a failure, (1 - P) / P, are `odds` times those at `p_safe`.
    """
    return p_safe / (p_safe + odds * (1.0 - p_safe))


@dataclass(frozen=True)
class Proposal:
    """The next trial, and why: x in the unit cube, means and standard deviations in the user's units."""

    x: Array  # (D,)
    mode: SearchMode
    rho: float  # the probability of safety that was asked for
    p_safe: float
    p_each: Array  # (G [+ 1],)
    mean: float
    std: float
    g_mean: Array  # (G,)
    g_std: Array  # (G,)
    warm: Fitted | None = None
    gain: Gain | None = None  # of the trials left, in the user's units
    stone: bool = False  # whether it teaches of a better setting (core.search.stones)
    survey: bool = False  # whether it looks where nothing was tried (core.search.survey)
    turned: int | None = None  # the number of the parameter that it is to change for the first time
    idle: bool = False  # whether nothing that is allowed can gain: it only teaches
    nearer: bool = False  # whether it may break limits by less, while nothing was safe (core.violation)


class _Safety(NamedTuple):
    """How safe a point is."""

    x: Array  # (D,)
    limits: Posteriors
    scores: Array  # (1, G [+ 1])
    log_prob: float  # log φ


@dataclass(frozen=True)
class Search:
    """The ways to look for the next trial, over one set of candidates."""

    context: Context
    acquisition: Acquisition
    revisit: bool = False  # whether a setting that was tried already may be the answer
    pace: Pace = QUICK  # of a climb that is free to go anywhere
    within: Pace = STEADY  # of one that a P(safe) holds, or that climbs P(safe) itself
    phi_exponent: float = 1.0  # the power of φ in (15)

    @property
    def limited(self) -> bool:
        """Whether anything can fail, as far as is known."""
        return self.context.limited

    def free(self) -> Array:
        """argmax α(x)."""
        points = self.context.candidates
        starts = self._starts(points, self.acquisition.screen(points))
        return self._choose(self._climb(self.acquisition.value_and_grad), starts, points, self._alpha)

    def within_own_level(self) -> Array | None:
        """argmax α(x) for a method that sets α to -inf where it is not safe enough (`Method.own_level`).

        The search starts around the safe trials. None where α is finite nowhere.
        """
        points = np.vstack([self._around_safe(), self.context.candidates])
        screened = self.acquisition.screen(points)
        points = points[np.isfinite(screened)]
        if len(points) == 0:
            return None
        starts = self._starts(points, screened[np.isfinite(screened)])
        x = self._choose(self._climb(self.acquisition.value_and_grad), starts, points, self._alpha)
        return x if np.isfinite(self.acquisition.screen(x[None, :])[0]) else None

    def bold(self, rho: float) -> Array | None:
        """argmax α(x) φ(x)^`phi_exponent` (15). φ is not widened: a failure is affordable here.

        With `settings.keep_rho`, only points with φ(x) >= ρ are allowed; None where no such x was found.
        """
        feasibility, power = self.context.models.feasibility.rough, self.phi_exponent
        product = times_phi(self.acquisition, feasibility, power)

        def screen(x: Array) -> Array:
            return screen_product(self.acquisition.screen(x), feasibility, x, self._among, power)

        points = self.context.candidates
        x = self._choose(self._climb(product), self._starts(points, screen(points)), points,
                         lambda x: product(x)[0])  # fmt: skip
        if rho == 0.0 or not self.context.settings.keep_rho or self._safety(x).log_prob >= np.log(rho):
            return x
        return self._above(rho, product, screen)

    def careful(self, rho: float) -> Array | None:
        """argmax α(x) subject to φ(x) >= ρ (13), or None where no such x was found."""
        return self._above(rho, self.acquisition.value_and_grad, self.acquisition.screen)

    def _above(self, rho: float, fun: ValueAndGrad, screen: Callable[[Array], Array]) -> Array | None:
        """argmax of `fun` subject to φ(x) >= ρ, or None where no such x was found that is worth a trial."""
        points = self.points_above(float(ndtri(rho)))
        if len(points) == 0:
            return None
        feasibility, held = self.context.models.feasibility, self.context.held

        def climb(starts: Array) -> Maxima:
            found = maximize_above(
                held(fun), held(feasibility.margin_and_grad), float(ndtri(rho)), starts,
                scales=self.context.scales, pace=self.within,
            )  # fmt: skip
            return Maxima(found.points, worth(found.points))

        def worth(x: Array) -> Array:
            return np.where(feasibility.log_prob(x) >= np.log(rho), fun(x)[0], -np.inf)

        x = self._choose(climb, self._starts(points, screen(points)), points, worth)
        return x if np.isfinite(worth(x[None, :])[0]) and self._may_be_asked(x) else None

    def _may_be_asked(self, x: Array) -> bool:
        """Whether x (D,) was not tried yet, or trying it again teaches something: results are noisy."""
        context = self.context
        if self.revisit or self.is_new(x[None, :])[0]:
            return True
        return is_noisy(context.history, context.models)

    def points_above(self, level: float) -> Array:
        """(P, D) candidates and surroundings of safe trials whose margin is above `level`.

        Where they are too few, the margin is climbed from the nearest ones.
        """
        feasibility, count = self.context.models.feasibility, self.context.settings.restarts
        points = np.vstack([self.context.candidates, self._around_safe()])
        if not self.limited:
            return points
        inside = feasibility.margin(points, level) > level
        if inside.sum() >= count:
            return np.asarray(points[inside])
        nearest = points[np.argsort(-feasibility.margin(points))[:count]]
        climbed = maximize(self.context.held(feasibility.margin_and_grad), nearest, max_evaluations=25)
        return np.vstack([points[inside], climbed.points[climbed.values > level]])

    def nearly_safest(self) -> Array:
        """argmax α(x) among the points that are nearly as safe as the safest one (`settings.safest_odds`)."""
        x, odds = self.safest(), self.context.settings.safest_odds
        if odds is None:
            return x
        p = float(np.exp(self._safety(x).log_prob))
        rho = nearly_as_safe(p, odds)
        found = self.careful(rho) if 0.0 < rho < 1.0 else None
        return x if found is None else found

    def safest(self) -> Array:
        """argmax φ."""
        feasibility = self.context.models.feasibility
        points = np.vstack([self.context.candidates, self._around_safe()])
        starts = self._starts(points, feasibility.margin(points))  # log φ is flat where φ is near 1
        climb = self._climb(feasibility.margin_and_grad, self.within)
        return self._choose(climb, starts, points, feasibility.margin)

    def nearer_to_safe(self) -> Array | None:
        """Where the worst violation is expected to fall the most (core.violation), while nothing is safe.

        It is looked for among the candidates and around the trials that come nearest to being safe. A climb
        would creep away from these in tiny steps. None where violations say nothing.
        """
        history, feasibility = self.context.history, self.context.models.feasibility
        violated = violations(history, feasibility)
        fall = Fall.of(violated, history.pending, feasibility)
        if fall is None:
            return None
        nearest = history.X[np.argsort(violated, kind="stable")[:NEAREST]]
        points = np.vstack([self.context.candidates, self._around(nearest)])
        points = points[self.is_new(points)]
        if len(points) == 0:
            return None
        worth = fall.log_share
        best = points[np.argsort(-worth(points), kind="stable")[: self.context.settings.restarts]]
        return self._choose(lambda starts: Maxima(starts, worth(starts)), best, points, worth)

    def report(self, x: Array, mode: SearchMode, rho: float) -> Proposal:
        """What is known of x, chosen in `mode` where ρ was asked for."""
        models, at, safety = self.context.models, x[None, :], self._safety(x)
        mean, var = models.objective.predict(at)
        outputs = models.objective.outputs
        g_mean, g_std = models.feasibility.predicted(at, safety.limits)
        return Proposal(
            x=x, mode=mode, rho=rho, p_safe=float(np.exp(safety.log_prob)), p_each=ndtr(safety.scores)[0],
            mean=float(outputs.to_user(mean)[0]), std=float(outputs.std_to_user(mean, np.sqrt(var))[0]),
            g_mean=g_mean[0], g_std=g_std[0],
            warm=models.fitted,
        )  # fmt: skip

    def _climb(self, fun: ValueAndGrad, pace: Pace | None = None) -> Callable[[Array], Maxima]:
        held = self.context.held(fun)
        peaked = isinstance(self.acquisition, ExpectedImprovement | ProbabilityOfImprovement)
        return lambda starts: maximize(
            held, starts, scales=self.context.scales, pace=pace or self.pace,
            first_gain=PEAK if peaked else np.inf,
        )  # fmt: skip

    def _alpha(self, x: Array) -> Array:
        return self.acquisition.value_and_grad(x)[0]

    def _safety(self, x: Array) -> _Safety:
        """How safe x (D,) is. The answer is kept until another x comes."""
        known: _Safety | None = self.__dict__.get("_latest")
        if known is None or known.x is not x:
            feasibility, at = self.context.models.feasibility, x[None, :]
            limits = feasibility.posteriors(at)
            scores = feasibility.scores(at, limits)
            known = _Safety(x, limits, scores, float(feasibility.log_prob(at, scores)[0]))
            self.__dict__["_latest"] = known
        return known

    def _around_safe(self) -> Array:
        """Trials that were safe, and their surroundings."""
        return self._around(self.context.safe_trials)

    def _around(self, X: Array) -> Array:
        """Trials X (N, D), and their surroundings on the scale of the constraints."""
        models = self.context.models
        if len(X) == 0:
            return X
        scales = [np.asarray(gp.hyper.lengthscales) for gp in models.feasibility.constraints]
        reach = np.min(scales, axis=0) if scales else self.context.scales
        points = np.vstack([X, surroundings(X, reach, 256, self.context.rng)])
        points = self.context.keep(points)
        return points if self.context.steps is None else self.context.steps.admissible(points)

    @property
    def _among(self) -> int:
        """How many of the best candidates may be starts."""
        return 10 * self.context.settings.restarts

    def _starts(self, points: Array, screened: Array) -> Array:
        """Three quarters of the restarts from the best candidates, the others from among the good ones."""
        count = self.context.settings.restarts
        first = -(-3 * count // 4)
        order = np.argsort(-screened, kind="stable")
        best, others = order[:first], order[first : self._among]
        extra = self.context.rng.choice(others, min(count - first, len(others)), replace=False)
        return np.asarray(points[np.concatenate([best, extra])])

    def _choose(
        self, climb: Callable[[Array], Maxima], starts: Array, others: Array, worth: Callable[[Array], Array]
    ) -> Array:
        """The best of the points found, one that can be run; a new one where there is one.

        If every one of these points was tried already, the best of `others` is taken. Where all of those were
        tried, too, it is one that did not fail, if there is such a one.
        """
        best = self._polished(self._ascend(climb, starts, worth), worth)
        if self.revisit:
            return self._first_of(best)
        new = np.isfinite(best.values) & self.is_new(best.points)
        if not new.any():
            domain = self.context.domain
            found = others[:64] if domain is None else domain.admissible(others)
            best = Maxima(np.vstack([found, best.points]), np.append(worth(found), best.values))
            finite, history = np.isfinite(best.values), self.context.history
            new = finite & self.is_new(best.points)
            if not new.any():
                new = finite & differ(best.points, history.X[history.failed])
            if not new.any():
                new = np.ones_like(finite)
        return self._first_of(Maxima(best.points, np.where(new, best.values, -np.inf)))

    def _first_of(self, found: Maxima) -> Array:
        """The point of the largest value, one that keeps the known constraints."""
        known = self.context.known
        return np.asarray(found.points[int(np.argmax(found.values))]) if known is None else known.best(found)

    def _polished(self, found: Maxima, worth: Callable[[Array], Array]) -> Maxima:
        """`found`, and better points beside it where known constraints stopped a climb."""
        context = self.context
        if context.known is None:
            return found
        moves = np.ones(found.points.shape[1], dtype=bool) if context.domain is None else context.domain.moves
        return context.known.polish(found, worth, context.scales, moves, context.rng)

    def _ascend(
        self, climb: Callable[[Array], Maxima], starts: Array, worth: Callable[[Array], Array]
    ) -> Maxima:
        """Where the starts ended, among the settings that can be run, with what each is worth."""
        domain = self.context.domain
        if domain is None:
            return climb(starts)
        if self.context.settings.admissible:
            return domain.ascend(climb, worth, starts)
        # Snapping can make a point worse: the starts are snapped and compared, too.
        found = domain.snap(np.vstack([climb(starts).points, starts]))
        return Maxima(found, worth(found))

    def is_new(self, points: Array) -> Flags:
        """(M,) which of `points` (M, D) are neither tried nor in flight."""
        return differ(points, np.vstack([self.context.history.X, self.context.history.pending]))


def differ(points: Array, seen: Array) -> Flags:
    """(M,) which of `points` (M, D) differ from all of `seen` (N, D)."""
    distance = np.abs(points[:, None, :] - seen).max(axis=2)
    return np.asarray((distance >= SAME).all(axis=1))
