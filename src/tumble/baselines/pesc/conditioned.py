"""A process that is told where the constrained minimum is: the posterior given the data and x*.

Expectation propagation leaves Gaussian sites on d = f - f(x*) and on the constraints, at some places and x*.
With c(x) the covariances of a process with its values at those points, for each minimiser:

    mean(x) + c(x)ᵀ pull,     var(x) - c(x)ᵀ shrink c(x),     Cov(f(x), f(x*)) = c(x)ᵀ star
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import log_ndtr

from ...core.arrays import Array
from ...core.process.gp import GP
from .propagation import Normal, Sites, propagate

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

NUGGET = 1e-9  # of the prior variance, on top of posterior covariances: their rounding
IRRELEVANT = 1e-6  # a place that is safe and better than x* with less than this probability is left out


@dataclass(frozen=True)
class Moments:
    """Of one process at M points: given the data (M,), given each of S minimisers as well (M, S)."""

    plain_var: Array
    mean: Array
    var: Array
    cov_star: Array  # with the value at x*


@dataclass(frozen=True)
class MomentSlopes:
    """Gradients of `Moments`, (M, D) and (M, S, D)."""

    plain_var: Array
    mean: Array
    var: Array
    cov_star: Array


@dataclass(frozen=True)
class GivenMinimisers:
    """A process given the data and, one after the other, each of S minimisers."""

    gp: GP
    points: Array  # (Q, D) where factors sit: places, then the minimisers
    half: Array  # (N, Q) chol^-1 k(X, points)
    pull: Array  # (Q, S)
    shrink: Array  # (Q, S, Q)
    star: Array  # (Q, S) weights: Cov(f(x), f(x*)) = Σ_q Cov(f(x), f(point_q)) star_q
    star_mean: Array  # (S,)
    star_var: Array  # (S,)

    def moments(self, x: Array) -> Moments:
        """At x (M, D)."""
        k = self.gp.covariance(x, self.gp.X)
        return self._moments(k, self.gp.covariance(x, self.points))[0]

    def moments_and_slopes(self, x: Array) -> tuple[Moments, MomentSlopes]:
        """`moments` and their gradients."""
        k, d_k = self.gp.covariance_and_grad(x, self.gp.X)
        k_points, d_points = self.gp.covariance_and_grad(x, self.points)
        moments, half, shrunk = self._moments(k, k_points)
        weights = solve_triangular(self.gp.chol, np.hstack([half, self.half]), lower=True, trans=1)
        own, others = weights[:, : len(x)], weights[:, len(x) :]
        d_cov = d_points - np.einsum("mnd,nq->mqd", d_k, others)  # (M, Q, D)
        d_plain = -2.0 * np.einsum("mnd,nm->md", d_k, own)
        d_mean = np.einsum("mnd,n->md", d_k, self.gp.weights)[:, None, :]
        slopes = MomentSlopes(
            plain_var=d_plain,
            mean=d_mean + np.einsum("mqd,qs->msd", d_cov, self.pull),
            var=d_plain[:, None, :] - 2.0 * shrunk @ d_cov,
            cov_star=np.einsum("mqd,qs->msd", d_cov, self.star),
        )
        return moments, slopes

    def _moments(self, k: Array, k_points: Array) -> tuple[Moments, Array, Array]:
        half = solve_triangular(self.gp.chol, k.T, lower=True)
        cov = k_points - half.T @ self.half  # (M, Q) given the data
        plain = np.maximum(self.gp.hyper.variance - np.einsum("nm,nm->m", half, half), self.gp.floor)
        Q, S = self.pull.shape
        shrunk = (cov @ self.shrink.reshape(Q, S * Q)).reshape(len(cov), S, Q)
        var = plain[:, None] - np.einsum("msq,mq->ms", shrunk, cov)
        mean = (self.gp.prior_mean + k @ self.gp.weights)[:, None] + cov @ self.pull
        moments = Moments(plain, mean, np.maximum(var, self.gp.floor), cov @ self.star)
        return moments, half, shrunk


@dataclass(frozen=True)
class _Change:
    """What knowing one minimiser changes for one process. The arrays weigh covariances with all P points."""

    pull: Array  # (P,)
    shrink: Array  # (P, P)
    star: Array  # (P,)
    star_mean: float
    star_var: float


def condition_on_minimisers(gps: Sequence[GP], places: Array, stars: Array) -> tuple[GivenMinimisers, ...]:
    """Objective and constraints given each minimiser of `stars` (S, D), with factors h at `places` (N, D)."""
    points = np.vstack([places, stars])
    joint = [_joint(gp, points) for gp in gps]
    smallest = 10.0 * NUGGET * gps[0].hyper.variance
    changes = [_changes(joint, len(places), len(places) + i, smallest) for i in range(len(stars))]
    used = np.zeros(len(points), dtype=bool)
    used[len(places) :] = True
    for change in (change for by_process in changes for change in by_process):
        used |= change.shrink.any(axis=1)
    return tuple(_process_given(gp, points, used, [c[t] for c in changes]) for t, gp in enumerate(gps))


def _joint(gp: GP, points: Array) -> tuple[Array, Array]:
    mean, cov = gp.predict_joint(points)
    cov[np.diag_indices_from(cov)] += NUGGET * gp.hyper.variance
    return mean, cov


def _process_given(gp: GP, points: Array, used: Mask, changes: list[_Change]) -> GivenMinimisers:
    where = np.flatnonzero(used)
    k = gp.covariance(gp.X, points[where])
    return GivenMinimisers(
        gp=gp,
        points=points[where],
        half=solve_triangular(gp.chol, k, lower=True),
        pull=np.stack([change.pull[where] for change in changes], axis=1),
        shrink=np.stack([change.shrink[np.ix_(where, where)] for change in changes], axis=1),
        star=np.stack([change.star[where] for change in changes], axis=1),
        star_mean=np.array([change.star_mean for change in changes]),
        star_var=np.array([change.star_var for change in changes]),
    )


def _changes(joint: list[tuple[Array, Array]], places: int, star: int, smallest: float) -> list[_Change]:
    """For each process, what knowing the minimiser at index `star` of the points changes.

    smallest: a variance of f(x) - f(x*) below which x is x* itself.
    """
    active = _relevant(joint, places, star, smallest)
    at = np.append(active, star)
    mean, cov = joint[0]
    d_cov = cov[np.ix_(active, active)] - cov[active, star][:, None] - cov[star, active] + cov[star, star]
    difference = Normal.of(mean[active] - mean[star], d_cov)
    constraints = [Normal.of(m[at], c[np.ix_(at, at)]) for m, c in joint[1:]]
    sites = propagate(difference, constraints)
    return [
        _of_objective(mean, cov, active, star, sites[0]),
        *(_of_constraint(len(mean), at, s) for s in sites[1:]),
    ]


def _relevant(joint: list[tuple[Array, Array]], places: int, star: int, smallest: float) -> Index:
    """Indices of the places that may be safe and better than x*: for the others h is 1."""
    mean, cov = joint[0]
    var = np.diag(cov)[:places] + cov[star, star] - 2.0 * cov[:places, star]
    log_p = log_ndtr((mean[star] - mean[:places]) / np.sqrt(var))
    for m, c in joint[1:]:
        log_p = log_p + log_ndtr(-m[:places] / np.sqrt(np.diag(c)[:places]))
    return np.flatnonzero((log_p > np.log(IRRELEVANT)) & (var > smallest))


def _of_objective(mean: Array, cov: Array, active: Index, star: int, sites: Sites) -> _Change:
    spread = np.zeros((len(mean), len(active)))  # d = spreadᵀ f
    spread[active, np.arange(len(active))] = 1.0
    spread[star] = -1.0
    pull, shrink = sites.pull(), sites.shrink()
    with_star = spread.T @ cov[:, star]  # Cov(d, f(x*))
    to_star = -(spread @ (shrink @ with_star))
    to_star[star] += 1.0
    return _Change(
        spread @ pull, spread @ shrink @ spread.T, to_star,
        float(mean[star] + with_star @ pull), float(cov[star, star] - with_star @ shrink @ with_star),
    )  # fmt: skip


def _of_constraint(size: int, at: Index, sites: Sites) -> _Change:
    pull, shrink = np.zeros(size), np.zeros((size, size))
    pull[at] = sites.pull()
    shrink[np.ix_(at, at)] = sites.shrink()
    return _Change(pull, shrink, np.zeros(size), float(sites.mean[-1]), float(sites.cov[-1, -1]))
