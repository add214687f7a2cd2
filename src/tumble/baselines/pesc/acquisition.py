"""Predictive entropy search with constraints (Hernández-Lobato et al. 2016), whole.

    α(x) = Σ_t H[y_t(x) | D] - E_x* H[y_t(x) | D, x*],     t = f, c_1..c_G

x* comes from posterior draws (`paths`). Given x*, expectation propagation turns the posterior into another
Gaussian process (`conditioned`). At x the factor h is applied once more. The entropies are those of normals,
with the variance v_t given the data alone, and v_t' given x* as well:

    α(x) = ½ Σ_t log(v_t + σ_t²) - E_x* log(v_t' + σ_t²),     σ_t² the noise

No point is better than x*. The factor h says so, and the authors put it at the trials and at x only, which is
little while trials are few. Here h also stands at rivals, the minimisers of further draws.
The gain contains the constraints, so φ does not multiply it. The probability of no crash does, because a
crash measures nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.arrays import Array
from ...core.feasibility import Feasibility
from ...core.process.gp import GP
from ...core.search.candidates import low_discrepancy
from ...core.search.context import Context
from .conditioned import GivenMinimisers, Moments, MomentSlopes, condition_on_minimisers
from .paths import Paths, draw_paths, minimisers, rough_minimisers
from .propagation import Exclusion, exclusion

RIVALS = 64  # posterior draws whose minimisers carry a factor h, as the trials do
SOFT = 1e-9  # nats: below it log α is rounded off, because the approximate gain may be negative


@dataclass(frozen=True)
class PredictiveEntropy:
    """log of the information that a trial at x brings about where the constrained minimum is."""

    objective: GivenMinimisers
    constraints: tuple[GivenMinimisers, ...]
    survival: Feasibility  # of crashes alone

    def gain(self, x: Array) -> Array:
        """(M,) α in nats."""
        return self._gain(self.objective.moments(x), [c.moments(x) for c in self.constraints])

    def screen(self, x: Array) -> Array:
        """(M,) the value itself."""
        return _soft_log(self.gain(x)) + self.survival.log_prob(x)

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """The softened logarithm of α, with the probability of no crash, and its gradient."""
        f, d_f = self.objective.moments_and_slopes(x)
        pairs = [c.moments_and_slopes(x) for c in self.constraints]
        alpha = self._gain(f, [c for c, _ in pairs])
        d_alpha = self._gain_slope(f, d_f, pairs)
        log_p, d_log_p = self.survival.log_prob_and_grad(x)
        grad = d_alpha / np.sqrt(alpha**2 + SOFT**2)[:, None]
        return _soft_log(alpha) + log_p, grad + d_log_p

    def _gain(self, f: Moments, cs: Sequence[Moments]) -> Array:
        parts = self._last_factor(f, cs)
        noise = self.objective.gp.hyper.noise**2
        total = np.log(f.plain_var + noise) - np.log(parts.var + noise).mean(axis=1)
        for process, c, var in zip(self.constraints, cs, parts.var_c, strict=True):
            noise = process.gp.hyper.noise**2
            total += np.log(c.plain_var + noise) - np.log(var + noise).mean(axis=1)
        return np.asarray(0.5 * total)

    def _last_factor(self, f: Moments, cs: Sequence[Moments]) -> "_LastFactor":
        """h applied at x itself, with s = Var(f(x) - f(x*)) and e = Var f(x) - Cov(f(x), f(x*)).

        The variance of f(x) becomes v - K e²/s, and that of c_k becomes v_k (1 - K_k). K and K_k are the
        shares that h removes (`Exclusion.bend`, `bend_c`).
        """
        floor = self.objective.gp.floor
        s = np.maximum(f.var + self.objective.star_var - 2.0 * f.cov_star, floor)
        shape = (len(cs), *f.mean.shape)
        mean_c = np.array([c.mean for c in cs]).reshape(shape)
        var_c = np.array([c.var for c in cs]).reshape(shape)
        h = exclusion(f.mean - self.objective.star_mean, s, mean_c, var_c)
        apart = f.var - f.cov_star
        var = np.maximum(f.var - h.bend * apart**2 / s, floor)
        return _LastFactor(h, s, apart, var, var_c * (1.0 - h.bend_c))

    def _gain_slope(
        self, f: Moments, d_f: MomentSlopes, pairs: Sequence[tuple[Moments, MomentSlopes]]
    ) -> Array:
        """(M, D) ∂α/∂x: the chain rule through `_last_factor` and `exclusion`. Letters as in `propagation`.

        K = G (G + a):       dK = (2 G + a) dG + G da,      dG = G (dlog P / Z - (a + G) da)
        K_k = t_k (t_k - a_k): dK_k = (2 t_k - a_k) dt_k - t_k da_k,  dt_k = r_k (dq - q (a_k + r_k) da_k)
        v' = v - K e²/s:     dv' = dv - (e dK + 2 K de - K e ds/s) e/s
        """
        at = self._last_factor(f, [c for c, _ in pairs])
        h, s, e = at.h, _wide(at.s), _wide(at.apart)
        G, a, Z, q = _wide(h.slope), _wide(h.a), np.maximum(_wide(h.Z), 1e-100), _wide(h.q)
        d_s = d_f.var - 2.0 * d_f.cov_star
        d_a = d_f.mean / np.sqrt(s) - 0.5 * a * d_s / s
        d_a_c = [
            -d.mean / np.sqrt(_wide(c.var)) - 0.5 * _wide(h.a_c[k]) * d.var / _wide(c.var)
            for k, (c, d) in enumerate(pairs)
        ]
        d_log_p = sum((_wide(h.mills_c[k]) * d for k, d in enumerate(d_a_c)), start=np.zeros_like(d_a))
        d_G = G * (d_log_p / Z - (a + G) * d_a)
        d_bend = (2.0 * G + a) * d_G + G * d_a
        K = _wide(h.bend)
        d_var = d_f.var - (d_bend * e + 2.0 * K * (d_f.var - d_f.cov_star) - K * e * d_s / s) * e / s
        noise = self.objective.gp.hyper.noise**2
        total = d_f.plain_var / (f.plain_var + noise)[:, None] - (d_var / _wide(at.var + noise)).mean(axis=1)
        d_q = (q * d_log_p - G * d_a) / Z
        for k, (process, (c, d)) in enumerate(zip(self.constraints, pairs, strict=True)):
            r, t, a_c = _wide(h.mills_c[k]), _wide(h.slope_c[k]), _wide(h.a_c[k])
            d_t = r * (d_q - q * (a_c + r) * d_a_c[k])
            d_bend = (2.0 * t - a_c) * d_t - t * d_a_c[k]
            d_var = d.var * (1.0 - _wide(h.bend_c[k])) - _wide(c.var) * d_bend
            noise = process.gp.hyper.noise**2
            total += d.plain_var / (c.plain_var + noise)[:, None]
            total -= (d_var / _wide(at.var_c[k] + noise)).mean(axis=1)
        return np.asarray(0.5 * total)


@dataclass(frozen=True)
class _LastFactor:
    h: Exclusion
    s: Array  # (M, S) variance of f(x) - f(x*)
    apart: Array  # (M, S) Var f(x) - Cov(f(x), f(x*))
    var: Array  # (M, S) of f(x) after h
    var_c: Array  # (G, M, S)


def predictive_entropy(context: Context) -> PredictiveEntropy:
    """PESC: `settings.draws` posterior draws, their constrained minimisers, what knowing them would say."""
    models, settings, rng = context.models, context.settings, context.rng
    pending = context.history.pending
    constraints = tuple(gp.with_pending(pending) for gp in models.feasibility.constraints)
    crash = models.feasibility.crash
    limits = constraints if crash is None else (*constraints, crash.gp)
    points = np.vstack(
        [low_discrepancy(settings.raw_samples, context.history.X.shape[1], rng),
         context.neighbours(settings.raw_samples // 4), context.history.X]
    )  # fmt: skip

    def draws(count: int) -> tuple[Paths, tuple[Paths, ...]]:
        return draw_paths(context.objective, count, rng), tuple(draw_paths(gp, count, rng) for gp in limits)

    stars = minimisers(*draws(settings.draws), points)
    rivals = np.unique(rough_minimisers(*draws(RIVALS), points), axis=0)
    rivals = rivals[~(rivals[:, None, :] == stars).all(axis=2).any(axis=1)]  # no factor sits at a place twice
    places = np.vstack([context.history.X, rivals])
    return given_minimisers(context.objective, constraints, places, stars, Feasibility((), crash))


def given_minimisers(
    objective: GP, constraints: tuple[GP, ...], places: Array, stars: Array,
    survival: Feasibility | None = None,
) -> PredictiveEntropy:  # fmt: skip
    """The acquisition for given minimisers `stars` (S, D), with the factors h at `places` (N, D)."""
    processes = condition_on_minimisers((objective, *constraints), places, stars)
    return PredictiveEntropy(processes[0], processes[1:], survival or Feasibility(()))


def _wide(a: Array) -> Array:
    """(M, S) -> (M, S, 1), to go with gradients."""
    return a[:, :, None]


def _soft_log(alpha: Array) -> Array:
    """log α for α well above SOFT, and increasing in α everywhere."""
    total = np.abs(alpha) + np.hypot(alpha, SOFT)
    return np.asarray(np.log(0.5 * np.where(alpha > 0.0, total, SOFT**2 / total)))
