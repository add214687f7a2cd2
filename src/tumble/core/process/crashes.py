"""Crashes as a process of their own (§4.1's Γ without a measurement).

A trial crashes where a latent process h is above 0. It has a constant mean, of which only its law
N(centre, spread²) is known, a smooth part of variance 1, and a little noise, SHARPNESS: the edge of a crash
region is nearly a step. Draws of h at the trials that have the signs seen (core.process.signs) say what it
may be. Given one of them, h is normal elsewhere:

    P(safe) = Σ_s w_s Φ(-m_s / √v),    m_s = centre + k C^-1 (h_s - centre),    v = var h(x) - k C^-1 kᵀ

with C the covariance of h at the trials and k that of h(x) with them, the constant mean included.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from ..arrays import Array, Flags
from ..normal import LOG_SQRT_2PI
from .cholesky import cholesky_by_rows, solve
from .covariance import Covariance, Hyper
from .gp import GP
from .kept import Kept
from .kernels import Kernel
from .refit import SETTLED
from .signs import SignedDraws, add_signs, draw_given_signs
from .sites import SiteCrashes, fit_sites

DRAWS = 512  # so many draws get a risk of 0.1 % right within a third or so
FEWER = 128  # so many are enough to compare settings where a failure is affordable
LENGTHSCALE = 0.15  # times √D; crashes are too few to learn it
SHARPNESS = 0.03  # standard deviation of the noise: a machine hardly ever differs where it is run again
ANEW = 1.25  # beyond 40 trials the draws are made anew when there are so many times as many
BEGUN = 5  # so often draws are begun that a later trial contradicts; then they are made from all trials
DRAWN = Kept(64 * 2**20)  # the draws of the latest searches, in bytes


class MeanLaw(NamedTuple):
    """N(centre, spread²) of the constant mean, in standard deviations of the smooth part."""

    centre: float
    spread: float


UNKNOWN = MeanLaw(0.0, 1.0)  # nothing says how large a part of the settings crashes: P(safe) is 50 %
FEW = MeanLaw(-1.3, 1.0)  # who can't afford one crash has reason to expect few: P(safe) is 82 %
RARE = MeanLaw(-1.9, 0.8)  # limits are measured, and a crash is what they do not explain: P(safe) is 93 %


class _Found(NamedTuple):
    """At M points, from N trials and S draws."""

    log_prob: Array  # (M,)
    score: Array  # (M, S) -m_s / √v
    var: Array  # (M,) v
    half: Array  # (N, M) L^-1 kᵀ, with L the factor of C


@dataclass(frozen=True)
class Crashes:
    """The latent process of crashes, given N trials.

    Parameters
    ----------
    covariance
        Of its smooth part.
    X : (N, D)
        The trials.
    crashed : (N,)
        Which of them crashed.
    mean
        The law of its constant mean.
    chol : (N, N)
        Lower Cholesky factor of C.
    draws
        What it may be at the trials.
    """

    covariance: Covariance
    X: Array
    crashed: Flags
    mean: MeanLaw
    chol: Array
    draws: SignedDraws

    def log_prob(self, x: Array) -> Array:
        """(M,) log P(no crash) at x (M, D).

        If x is a read-only array, the answer is kept until another such array comes.
        """
        known: tuple[Array, Array] | None = self.__dict__.get("_latest")
        if known is not None and known[0] is x:
            return known[1]
        value = self._at(self.covariance.between(x, self.X)).log_prob
        if not x.flags.writeable:
            value.flags.writeable = False
            self.__dict__["_latest"] = x, value
        return value

    def log_prob_and_grad(self, x: Array) -> tuple[Array, Array]:
        """log P(no crash) (M,) at x (M, D), and its gradient (M, D)."""
        # ∇ log P = Σ_s q_s ∇(-m_s / √v),  q_s = w_s φ(-m_s / √v) / P,  and ∇v = -2 ∇k C^-1 kᵀ
        k = self.covariance.rows(x, self._scaled).k
        at = self._at(k[:, 0])
        q = self.draws.weights * np.exp(-0.5 * at.score**2 - LOG_SQRT_2PI - at.log_prob[:, None])
        by_var = (np.vecdot(q, at.score) / at.var) * at.half
        by_mean = self.draws.e @ (q / np.sqrt(at.var)[:, None]).T
        by_k = solve(self.chol, by_var - by_mean, transposed=True, overwrite=True).T  # (M, N)
        return at.log_prob, (k[:, 1:] @ by_k[:, :, None])[:, :, 0]

    def _at(self, k: Array) -> _Found:
        """At M points whose smooth part has the covariances k (M, N) with that of the trials."""
        of_mean = self.mean.spread**2
        k = k + of_mean
        half = solve(self.chol, k.T)
        var = 1.0 + of_mean + SHARPNESS**2 - np.einsum("nm,nm->m", half, half)
        var = np.maximum(var, SHARPNESS**2)  # it can't be smaller, but for rounding
        score = half.T @ self.draws.e  # m_s - centre: C^-1 (h_s - centre) is L^-T e_s
        score += self.mean.centre
        score /= -np.sqrt(var)[:, None]
        risk = ndtr(-score) @ self.draws.weights
        value = np.log1p(-np.minimum(risk, 0.5))
        likely = risk > 0.5  # P(safe) may be so small that only its logarithm is exact
        if likely.any():
            value[likely] = logsumexp(log_ndtr(score[likely]), axis=1, b=self.draws.weights)
        return _Found(value, score, var, half)

    @cached_property
    def rough(self) -> "Crashes":
        """The same process with some of the draws."""
        h, e, weights = self.draws.h[:, :FEWER], self.draws.e[:, :FEWER], self.draws.weights[:FEWER]
        return replace(self, draws=SignedDraws(h, np.ascontiguousarray(e), weights / weights.sum()))

    @property
    def gp(self) -> GP:
        """The process with normal pseudo-observations, for methods that draw from it as from any other."""
        return fit_sites(self.X, self.crashed, self.covariance.kernel).gp

    @cached_property
    def _scaled(self) -> Array:
        """(D, N) the trials in units of the lengthscales."""
        return self.covariance.scaled(self.X)


CrashModel: TypeAlias = Crashes | SiteCrashes


def safe_before_any_trial(mean: MeanLaw) -> float:
    """P(safe) of any setting where nothing was tried."""
    return float(ndtr(-mean.centre / np.sqrt(1.0 + mean.spread**2 + SHARPNESS**2)))


def smooth_part(dim: int) -> Hyper:
    """The hyperparameters of the smooth part in `dim` dimensions."""
    return Hyper((LENGTHSCALE * float(np.sqrt(dim)),) * dim, 1.0, SHARPNESS)


def fit_crashes(
    X: Array, crashed: Flags, kernel: Kernel, mean: MeanLaw = UNKNOWN, count: int = DRAWS, kept: Kept = DRAWN
) -> Crashes:
    """The latent process given trials X (N, D) and which of them crashed, by `count` draws.

    Beyond 40 trials, later trials are added to draws that were made from the first ones. They are made anew
    when there are a quarter more trials, and when too few of them agree with a new one; where that happens
    again and again, from all trials. Draws are kept, which changes no bit of them.
    """
    covariance = Covariance(kernel, smooth_part(X.shape[1]))
    C, n = _of_trials(covariance, X, mean), len(X)
    trials = _Trials(covariance, X, np.where(crashed, 1.0, -1.0), mean, count, kept)
    first = drawn_from(n)
    for _ in range(BEGUN):
        refused = trials.refused(first)
        if refused is None:
            chol = cholesky_by_rows(C, first)
            draws = trials.draws(first, chol)
            if len(draws.h) == n:
                return Crashes(covariance, X, crashed, mean, chol, draws)
            refused = len(draws.h)
        first = refused + 1
    return Crashes(covariance, X, crashed, mean, cholesky_by_rows(C, n), trials.first_draws(n))


def drawn_from(n: int) -> int:
    """Of n trials, how many the draws are made from; the others are added to them."""
    first = min(n, SETTLED + 1)
    while ANEW * first <= n:
        first = math.ceil(ANEW * first)
    return first


def _of_trials(covariance: Covariance, X: Array, mean: MeanLaw) -> Array:
    """(N, N) C, the covariance of h at the trials."""
    C = covariance.between(X, X) + mean.spread**2
    C.flat[:: len(C) + 1] += SHARPNESS**2
    return C


@dataclass(frozen=True)
class _Trials:
    """N trials, and the draws that were made given them.

    Parameters
    ----------
    covariance
        Of the smooth part.
    X : (N, D)
        Where they lie.
    signs : (N,)
        1 where they crashed, else -1.
    mean
        The law of the constant mean.
    count
        How many draws there are.
    kept
        What was drawn lately.
    """

    covariance: Covariance
    X: Array
    signs: Array
    mean: MeanLaw
    count: int
    kept: Kept

    def first_draws(self, first: int) -> SignedDraws:
        """Draws at the first trials, kept or made."""
        key = self._key(first, first)
        known = self.kept.get(key)
        if known is None:
            C = _of_trials(self.covariance, self.X[:first], self.mean)
            known = _in_one(draw_given_signs(self.mean.centre, C, self.signs[:first], self.count))
            self.kept.keep(key, known)
        return _apart(known)

    def draws(self, first: int, chol: Array) -> SignedDraws:
        """Draws at the first trials, to which others are added in turn while enough draws agree.

        The first trial with which too few agree is noted.
        """
        draws, n = self.first_draws(first), len(self.X)
        sizes = range(n, first, -1)
        known = next(
            (found for m in sizes if (found := self.kept.get(self._key(first, m))) is not None), None
        )
        begun = draws if known is None else _apart(known)
        m = len(begun.h)
        grown = add_signs(begun, self.mean.centre, chol, self.signs[m:], first, 0.5 * draws.effective)
        if len(grown.h) < n:
            self.kept.keep(self._note(first, len(grown.h)), np.empty(0))
        elif m < n:
            self.kept.keep(self._key(first, n), _in_one(grown))
        if first < m < n:
            self.kept.forget(self._key(first, m))
        return grown

    def refused(self, first: int) -> int | None:
        """The trial that can't be added to draws from the first ones; None where none is known."""
        later = range(first, len(self.X))
        return next((m for m in later if self.kept.get(self._note(first, m)) is not None), None)

    def _key(self, first: int, m: int) -> tuple[Hashable, ...]:
        """Of draws at m trials, made from the first ones."""
        trials = self.X[:m].tobytes(), self.signs[:m].tobytes()
        return self.covariance.kernel, self.mean, self.count, first, *trials

    def _note(self, first: int, m: int) -> tuple[Hashable, ...]:
        """That trial m can't be added to them."""
        return "refused", *self._key(first, m + 1)


def _in_one(draws: SignedDraws) -> Array:
    """(2 N + 1, S) the draws as one array."""
    return np.vstack([draws.h, draws.e, draws.weights])


def _apart(array: Array) -> SignedDraws:
    """Inverse of `_in_one`."""
    n = len(array) // 2
    return SignedDraws(array[:n], array[n:-1], array[-1])
