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
from scipy.special import log_ndtr, ndtr

from ..arrays import Array, Flags
from ..normal import LOG_SQRT_2PI
from .cholesky import inverse_if_faster, solve
from .covariance import Covariance, Hyper
from .gp import GP
from .kept import Kept
from .kernels import Kernel
from .refit import SETTLED
from .signs import SignedDraws, add_sign, draw_given_signs
from .sites import SiteCrashes, fit_sites

DRAWS = 512  # so many draws get a risk of 0.1 % right within a third or so
FEWER = 128  # so many are enough to compare settings where a failure is affordable
LENGTHSCALE = 0.15  # times √D; crashes are too few to learn it
SHARPNESS = 0.03  # standard deviation of the noise: a machine hardly ever differs where it is run again
ANEW = 1.5  # beyond 40 trials the draws are made anew when there are so many times as many
ENOUGH = 0.5  # of the draws that were made must still count; with fewer, they are made anew
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
    draws
        What it may be at the trials, and the lower Cholesky factor of C.
    inverse : (N, N)
        The inverse of that factor, where products with it are faster than solves; else None.
    """

    covariance: Covariance
    X: Array
    crashed: Flags
    mean: MeanLaw
    draws: SignedDraws
    inverse: Array | None

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
        by_half = by_var - by_mean
        if self.inverse is None:
            by_k = solve(self.draws.chol, by_half, transposed=True, overwrite=True).T  # (M, N)
        else:
            by_k = by_half.T @ self.inverse
        return at.log_prob, (k[:, 1:] @ by_k[:, :, None])[:, :, 0]

    def _at(self, k: Array) -> _Found:
        """At M points whose smooth part has the covariances k (M, N) with that of the trials."""
        of_mean = self.mean.spread**2
        k = k + of_mean
        half = solve(self.draws.chol, k.T) if self.inverse is None else self.inverse @ k.T
        var = 1.0 + of_mean + SHARPNESS**2 - np.einsum("nm,nm->m", half, half)
        var = np.maximum(var, SHARPNESS**2)  # it can't be smaller, but for rounding
        score = half.T @ self.draws.e  # m_s - centre: C^-1 (h_s - centre) is L^-T e_s
        score += self.mean.centre
        score /= -np.sqrt(var)[:, None]
        risk = ndtr(-score) @ self.draws.weights
        value = np.log1p(-np.minimum(risk, 0.5))
        likely = risk > 0.5  # P(safe) may be so small that only its logarithm is exact
        if likely.any():
            value[likely] = log_of_mean(log_ndtr(score[likely]), self.draws.weights)
        return _Found(value, score, var, half)

    @cached_property
    def rough(self) -> "Crashes":
        """The same process with some of the draws."""
        return replace(self, draws=self.draws.first(FEWER))

    @property
    def gp(self) -> GP:
        """The process with normal pseudo-observations, for methods that draw from it as from any other."""
        return fit_sites(self.X, self.crashed, self.covariance.kernel).gp

    @cached_property
    def _scaled(self) -> Array:
        """(D, N) the trials in units of the lengthscales."""
        return self.covariance.scaled(self.X)


def log_of_mean(logs: Array, weights: Array) -> Array:
    """(M,) log Σ_s w_s exp(logs_ms) of `logs` (M, S); some of the weights (S,) may be 0.

    SciPy's `logsumexp` gives the same, but its call took nearly half of the time of `log_prob_and_grad`.
    """
    largest = np.where(weights > 0.0, logs, -np.inf).max(axis=1)
    return np.asarray(largest + np.log(np.exp(np.minimum(logs - largest[:, None], 0.0)) @ weights))


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
    when there are half as many more trials, and when too few of them agree with a new one; where that happens
    again and again, from all trials. Draws are kept, which changes no bit of them.
    """
    covariance = Covariance(kernel, smooth_part(X.shape[1]))
    trials = _Trials(covariance, X, np.where(crashed, 1.0, -1.0), mean, count, kept)
    draws = trials.draws()
    return Crashes(covariance, X, crashed, mean, draws, inverse_if_faster(draws.chol))


def drawn_from(n: int) -> int:
    """Of n trials, how many the draws are made from; the others are added to them."""
    first = min(n, SETTLED + 1)
    while ANEW * first <= n:
        first = math.ceil(ANEW * first)
    return first


@dataclass(frozen=True)
class _Trials:
    """N trials, and the draws that are made given them.

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

    def draws(self) -> SignedDraws:
        """Draws at all trials."""
        n = len(self.X)
        first = drawn_from(n)
        for _ in range(BEGUN):
            refused = self._refused(first)
            if refused is None:
                draws = self._grown(first)
                if len(draws.e) == n:
                    return draws
                refused = len(draws.e)
            first = refused + 1
        return self._made(n)

    def _made(self, first: int) -> SignedDraws:
        """Draws at the first trials, kept or made."""
        key = self._key("made", first)
        known = self.kept.get(key)
        if known is not None:
            return SignedDraws(*known)
        X = self.X[:first]
        C = self.covariance.between(X, X) + self.mean.spread**2
        C.flat[:: first + 1] += SHARPNESS**2
        made = draw_given_signs(self.mean.centre, C, self.signs[:first], self.count)
        self.kept.keep(key, made.chol, made.e, made.weights)
        return made

    def _grown(self, first: int) -> SignedDraws:
        """Draws at the first trials, to which others are added in turn while enough draws agree.

        The latest ones are kept, and so are the trials of which the last could not be added.
        """
        made, key = self._made(first), self._key("grown", first)
        known = self._followed(key, first)
        begun = draws = made if known is None else SignedDraws(*known[1:])
        for i in range(len(begun.e), len(self.X)):
            more = self._with(draws, i, first)
            if more.effective < ENOUGH * made.effective:
                self.kept.keep(self._key("refused", first), self._all[first : i + 1])
                return draws
            draws = more
        if draws is not begun:
            self.kept.keep(key, self._all[first:], draws.chol, draws.e, draws.weights)
        return draws

    def _with(self, draws: SignedDraws, i: int, seed: int) -> SignedDraws:
        """`draws` at the trials before the i-th, and at that one."""
        c = self.covariance.between(self.X[i : i + 1], self.X[: i + 1])[0] + self.mean.spread**2
        c[i] += SHARPNESS**2
        return add_sign(draws, self.mean.centre, c, self.signs[i], seed)

    def _refused(self, first: int) -> int | None:
        """The trial that can't be added to draws from the first ones; None where none is known."""
        known = self._followed(self._key("refused", first), first)
        return None if known is None else first + len(known[0]) - 1

    def _followed(self, key: Hashable, first: int) -> tuple[Array, ...] | None:
        """An entry that begins with trials, where the first ones are followed by those; else None."""
        known = self.kept.get(key)
        if known is None or not np.array_equal(known[0], self._all[first : first + len(known[0])]):
            return None
        return known

    def _key(self, kind: str, first: int) -> Hashable:
        """Of an entry about draws that were made from the first trials."""
        return kind, self.covariance.kernel, self.mean, self.count, first, self._all[:first].tobytes()

    @cached_property
    def _all(self) -> Array:
        """(N, D + 1) where the trials lie, and their signs."""
        return np.column_stack([self.X, self.signs])
