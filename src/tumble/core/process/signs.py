"""Draws of a normal vector of which only the signs are known.

The target is h ~ N(mean, C) where s_i h_i > 0 for all i. Expectation propagation (core.process.sites) comes
near it with a site t_i in place of each sign: q(h) ∝ N(h; mean, C) ∏ t_i(h_i). A draw takes one element after
the other, given those before it, and with the sign itself in place of its site:

    h_i ~ q(h_i | h_<i) / t_i(h_i)   where s_i h_i > 0,      with the integral Z_i

so that every draw has the signs, and its weight is ∏ Z_i. With q(h_i | h_<i) = N(a, v) and t_i of precision τ
and target ν / τ,

    q / t_i ∝ N(b, u),   1/u = 1/v - τ,   b = u (a/v - ν)
    log Z_i = log Φ(s b/√u) + ½ b²/u - ½ a²/v + const

Without the sites, an element that comes late would often contradict what was drawn before it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ..arrays import Array
from .cholesky import cholesky
from .sites import propagate

SETTLED = 1e-3  # what the sites may still change by: they guide the draws, the weights put them right
LEAST = 1e-9  # of 1/u, relative to 1/v: what rounding leaves of it


@dataclass(frozen=True)
class SignedDraws:
    """S weighted draws of N elements.

    Parameters
    ----------
    h : (N, S)
        The draws.
    weights : (S,)
        Their weights, which sum to 1.
    """

    h: Array
    weights: Array


def draw_given_signs(mean: float, C: Array, signs: Array, count: int, seed: int = 0) -> SignedDraws:
    """`count` draws of N(mean, C) with the given signs (N,): 1 above 0, -1 below."""
    sites = propagate(C, signs > 0.0, mean, 0.0, SETTLED)
    gain = np.linalg.solve(C + np.diag(sites.var), C)
    middle = mean + gain.T @ (sites.target - mean)
    L = cholesky(C - C @ gain)
    h, e, log_w = np.empty((len(signs), count)), np.empty((len(signs), count)), np.zeros(count)
    rng = np.random.default_rng(seed)
    strata = np.log((np.arange(count) + 0.5) / count)
    for i, sign in enumerate(signs):
        a, v, tau = middle[i] + L[i, :i] @ e[:i], L[i, i] ** 2, 1.0 / sites.var[i]
        u = 1.0 / max(1.0 / v - tau, LEAST / v)
        b = u * (a / v - tau * sites.target[i])
        log_p = log_ndtr((sign / np.sqrt(u)) * b)
        h[i] = b - sign * np.sqrt(u) * ndtri_exp(rng.permutation(strata) + log_p)
        e[i] = (h[i] - a) / L[i, i]
        log_w += log_p + 0.5 * b * b / u - 0.5 * a * a / v
    weights = np.exp(log_w - log_w.max())
    return SignedDraws(h, weights / weights.sum())
