"""Draws of a normal vector of which only the signs are known.

The target is h ~ N(mean, C) where s_i h_i > 0 for all i. Expectation propagation (core.process.sites) comes
near it with a site t_i in place of each sign: q(h) ∝ N(h; mean, C) ∏ t_i(h_i). A draw takes one element after
the other, given those before it, and with the sign itself in place of its site:

    h_i ~ q(h_i | h_<i) / t_i(h_i)   where s_i h_i > 0,      with the integral Z_i

so that every draw has the signs, and its weight is ∏ Z_i. With q(h_i | h_<i) = N(a, v) and t_i of precision τ
and target ν / τ,

    q / t_i ∝ N(b, u),   1/u = 1/v - τ,   b = u (a/v - ν)
    log Z_i = log Φ(s b/√u) + ½ b²/u - ½ a²/v + const

Without the sites, an element that comes late would often contradict what was drawn before it. Some may come
late all the same (`add_sign`), while enough draws agree with them: sites cost far more than draws.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ..arrays import Array
from .cholesky import cholesky, solve, with_row
from .sites import propagate

SETTLED = 1e-3  # what the sites may still change by: they guide the draws, the weights put them right
LEAST = 1e-9  # of 1/u, relative to 1/v: what rounding leaves of it
LEAST_WEIGHT = 1e-300  # of a draw that still counts as one


@dataclass(frozen=True)
class SignedDraws:
    """S weighted draws of N elements.

    Parameters
    ----------
    chol : (N, N)
        L, the lower Cholesky factor of C.
    e : (N, S)
        L^-1 (h - mean) of the draws h. More elements change no row of it.
    weights : (S,)
        Their weights, which sum to 1.
    """

    chol: Array
    e: Array
    weights: Array

    @property
    def effective(self) -> float:
        """How many draws of equal weights would be worth as much."""
        return float(1.0 / (self.weights @ self.weights))

    def first(self, count: int) -> "SignedDraws":
        """The first of the draws."""
        weights = self.weights[:count]
        return SignedDraws(self.chol, np.ascontiguousarray(self.e[:, :count]), weights / weights.sum())


def draw_given_signs(mean: float, C: Array, signs: Array, count: int, seed: int = 0) -> SignedDraws:
    """`count` draws of N(mean, C) with the given signs (N,): 1 above 0, -1 below."""
    sites = propagate(C, signs > 0.0, mean, 0.0, SETTLED)
    gain = np.linalg.solve(C + np.diag(sites.var), C)
    middle = mean + gain.T @ (sites.target - mean)
    L = cholesky(C - C @ gain)
    h, e, log_w = np.empty((len(signs), count)), np.empty((len(signs), count)), np.zeros(count)
    rng, strata = np.random.default_rng(seed), _strata(count)
    for i, sign in enumerate(signs):
        a, v, tau = middle[i] + L[i, :i] @ e[:i], L[i, i] ** 2, 1.0 / sites.var[i]
        u = 1.0 / max(1.0 / v - tau, LEAST / v)
        b = u * (a / v - tau * sites.target[i])
        h[i], log_p = _beyond(b, np.sqrt(u), sign, rng.permutation(strata))
        e[i] = (h[i] - a) / L[i, i]
        log_w += log_p + 0.5 * b * b / u - 0.5 * a * a / v
    chol = cholesky(C)
    return SignedDraws(chol, np.ascontiguousarray(solve(chol, h - mean)), _weights(log_w))


def add_sign(draws: SignedDraws, mean: float, c: Array, sign: float, seed: int) -> SignedDraws:
    """`draws` of the first N elements, with one more that has this sign.

    The new element is drawn given those before it, and its sign; that is as likely as the weight says. What
    was drawn before is only weighted anew.

    Parameters
    ----------
    draws
        Of N elements.
    mean
        Of every element.
    c : (N + 1,)
        The covariances of the new element with those before it and with itself.
    sign
        1 above 0, -1 below.
    seed
        Another one gives other draws.
    """
    chol, (n, count) = with_row(draws.chol, c), draws.e.shape
    std = float(chol[n, n])
    a = mean + chol[n, :n] @ draws.e
    h, log_p = _beyond(a, std, sign, np.random.default_rng([seed, n]).permutation(_strata(count)))
    e = np.vstack([draws.e, (h - a) / std])
    return SignedDraws(chol, e, _weights(_logs(draws.weights) + log_p))


def _beyond(mean: Array, std: float, sign: float, log_u: Array) -> tuple[Array, Array]:
    """Draws of N(mean, std²), mean (S,), that have the sign, from the logarithms of uniform ones (S,).

    Returns
    -------
    h, log_p : (S,)
        The draws, and how likely the sign is.
    """
    log_p = log_ndtr((sign / std) * mean)
    return mean - sign * std * ndtri_exp(log_u + log_p), log_p


def _strata(count: int) -> Array:
    """(S,) the logarithms of numbers spread evenly over the unit interval."""
    return np.asarray(np.log((np.arange(count) + 0.5) / count))


def _weights(logs: Array) -> Array:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _logs(weights: Array) -> Array:
    return np.asarray(np.log(np.maximum(weights, LEAST_WEIGHT)))
