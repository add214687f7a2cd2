"""Crashes as a process of their own (§4.1's Γ without a measurement).

A trial crashes where a latent process g is above 0, nearly: Pr(crash | g) = Φ(g / SHARPNESS). Its prior mean
lies on the safe side. Expectation propagation turns the labels into Gaussian pseudo-observations, so that
the posterior is a `GP` like any other. Laplace's approximation has the same form, but it sees no curvature
at a trial that is safe by a wide margin, and so never becomes sure of one. P(crash) at a point takes the
safe labels nearest to it as they are (core.process.labels).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from ..arrays import Array, Flags
from ..normal import density_over_cdf
from .cholesky import solve
from .covariance import Covariance, Hyper
from .gp import GP, condition
from .kernels import Kernel
from .labels import Joint, log_safe

SHARPNESS = 0.1  # of the latent process's standard deviation: the edge of a crash region is nearly a step
SAFE_MEAN = -2.5  # P(safe) = 0.994 far from every trial, before any crash is explained
PRIOR_MEANS = (-2.5, -1.7, -0.9)  # the one of largest evidence is taken
MEAN_SPREAD = 0.35  # standard deviation of the prior of the mean: one crash alone does not move it
LENGTHSCALE = 0.22  # times √D; crashes are too few to learn it, and a shorter one forgets them nearby
SWEEPS = 60  # at most
SETTLED = 1e-6  # sweeps end when no precision changes by more, relative to 1 + itself
DAMPING = 0.8  # the share of the first step that is taken
DAMPING_DECAY = 0.98  # what that share is multiplied by after each sweep
TAU_FLOOR = 1e-6
NEAREST = 3  # safe labels that are taken as they are at a point; more make little difference


@dataclass(frozen=True)
class Sites:
    """Gaussian pseudo-observations `target` (N,) with variances `var` (N,), and the log evidence."""

    target: Array
    var: Array
    log_evidence: float


class _Tilted(NamedTuple):
    """log Z = log E[Φ(± g / SHARPNESS)] of each label under its cavity, and its derivatives by the mean."""

    log_z: Array  # (N,)
    slope: Array  # (N,)
    curvature: Array  # (N,) minus the second derivative


def propagate(K: Array, crashed: Flags, prior_mean: float) -> Sites:
    """Damped parallel expectation propagation for labels `crashed` (N,) under N(prior_mean, K).

    Each label has a site exp(-½ τ g² + ν g). The cavity N(m, v) is the posterior without it, and the site is
    chosen such that cavity times site has the mean and variance of cavity times label:

        1/v = 1/var - τ,   m = v (mean/var - ν);     τ = β / (1 - β v),   ν = τ m + α (1 + τ v)

    with α the derivative of log Z by m and β minus its second derivative.
    """
    sign = np.where(crashed, 1.0, -1.0)
    n = len(sign)
    tau, nu = np.full(n, TAU_FLOOR), np.full(n, TAU_FLOOR * prior_mean)
    cavity_mean, cavity_var, log_z = np.zeros(n), np.ones(n), np.zeros(n)
    damping = DAMPING
    for _ in range(SWEEPS):
        mean, var = _posterior(K, tau, nu, prior_mean)
        cavity_var = 1.0 / np.maximum(1.0 / var - tau, 1e-12)
        cavity_mean = cavity_var * (mean / var - nu)
        log_z, slope, curvature = _tilted(sign, cavity_mean, cavity_var)
        new_tau = np.maximum(curvature / np.maximum(1.0 - curvature * cavity_var, 1e-12), TAU_FLOOR)
        new_nu = new_tau * cavity_mean + slope * (1.0 + new_tau * cavity_var)
        moved = float(np.max(np.abs(new_tau - tau) / (1.0 + tau)))
        tau, nu = tau + damping * (new_tau - tau), nu + damping * (new_nu - nu)
        damping *= DAMPING_DECAY
        if moved < SETTLED:
            break
    target, var = nu / tau, 1.0 / tau
    # log N(target; prior_mean, K + var) + Σ log Z - log N(target; m, v + var), without what cancels
    spread = cavity_var + var
    total = K + np.diag(var)
    residual = target - prior_mean
    _, log_det = np.linalg.slogdet(total)
    evidence = -0.5 * log_det - 0.5 * residual @ np.linalg.solve(total, residual)
    evidence += float(np.sum(log_z + 0.5 * np.log(spread) + 0.5 * (cavity_mean - target) ** 2 / spread))
    return Sites(target, var, float(evidence))


@dataclass(frozen=True)
class Crashes:
    """The latent process of crashes, given N labels.

    Parameters
    ----------
    gp
        Its Gaussian posterior, given the sites.
    sites
        What the labels are to it.
    labels : (N,)
        1 for a crash, -1 for none.
    nearest
        How many safe labels are taken as they are at a point; 0 for none: P(safe) by the Gaussian posterior.
    """

    gp: GP
    sites: Sites
    labels: Array
    nearest: int

    def log_prob(self, x: Array) -> Array:
        """(M,) log P(no crash) at x (M, D): the larger of both approximations, which err on the safe side."""
        mean, var = self.gp.predict(x)
        by_sites = np.asarray(log_ndtr(-mean / np.sqrt(var + SHARPNESS**2)))
        if self._count == 0:
            return by_sites
        covariances = self.gp.covariance(x, self.gp.X)[:, None]
        return np.maximum(by_sites, log_safe(*self._around(mean, var, covariances))[0])

    def log_prob_and_grad(self, x: Array) -> tuple[Array, Array]:
        """log P(no crash) (M,) at x (M, D), and its gradient (M, D)."""
        rows = self.gp.rows(x)
        mean, var, d_mean, d_var = self.gp.predict_with_gradient(x, rows)
        spread = var + SHARPNESS**2
        score = -mean / np.sqrt(spread)
        value = log_ndtr(score)
        d_score = -d_mean / np.sqrt(spread)[:, None] - (0.5 * score / spread)[:, None] * d_var
        grad = density_over_cdf(score, value)[:, None] * d_score
        if self._count == 0:
            return value, grad
        exact, d_exact = log_safe(*self._around(mean, var, rows.k, d_mean, d_var))
        return np.maximum(value, exact), np.where((exact > value)[:, None], d_exact, grad)

    @property
    def _count(self) -> int:
        """How many safe labels are taken as they are."""
        return min(self.nearest, int(np.sum(self.labels < 0.0)))

    def _around(
        self, mean: Array, var: Array, k: Array, d_mean: Array | None = None, d_var: Array | None = None
    ) -> tuple[Joint, Array, Array, float]:
        """What `log_safe` needs; k (M, 1 [+ D], N): covariances with the data, and their derivatives."""
        M, D, count = len(mean), k.shape[1] - 1, self._count
        shared = k @ self._through  # (M, 1 [+ D], N) posterior covariances of g(x) with g at the labels
        per_std = np.abs(shared[:, 0]) / np.sqrt(np.diag(self._between))
        correlation = np.where(self.labels < 0.0, per_std, -1.0)
        near = np.argsort(-correlation, axis=1, kind="stable")[:, :count]
        rows = np.take_along_axis(shared, near[:, None, :], axis=2)
        m, V = np.empty((M, count + 1)), np.empty((M, count + 1, count + 1))
        m[:, 0], m[:, 1:], V[:, 0, 0] = mean, self._means[near], var
        V[:, 0, 1:] = V[:, 1:, 0] = rows[:, 0]
        V[:, 1:, 1:] = self._between[near[:, :, None], near[:, None, :]]
        m_d, V_d = np.zeros((M, D, count + 1)), np.zeros((M, D, count + 1, count + 1))
        if d_mean is not None and d_var is not None:
            m_d[..., 0], V_d[..., 0, 0] = d_mean, d_var
            V_d[..., 0, 1:] = V_d[..., 1:, 0] = rows[:, 1:]
        tau, target = 1.0 / self.sites.var[near], self.sites.target[near]
        return Joint(m, V, m_d, V_d), tau, target, SHARPNESS

    @cached_property
    def _through(self) -> Array:
        """(N, N) (K + S)^-1 S, with S the variances of the sites."""
        half = solve(self.gp.chol, np.diag(self.sites.var))
        return solve(self.gp.chol, half, transposed=True)

    @cached_property
    def _between(self) -> Array:
        """(N, N) posterior covariances of g at the labels: K (K + S)^-1 S."""
        return self.gp.covariance(self.gp.X, self.gp.X) @ self._through

    @cached_property
    def _means(self) -> Array:
        """(N,) posterior means of g at the labels."""
        return self.gp.mean(self.gp.X)


def fit_crashes(
    X: Array, crashed: Flags, kernel: Kernel, nearest: int = NEAREST, doubt: bool = True
) -> Crashes:
    """The latent process given trials X (N, D) and which of them crashed; its mean is the likeliest.

    With `doubt`, the mean has no prior while every trial crashed: nothing but the prior says then that
    crashes are rare, and what was seen says the contrary. By the evidence alone the mean is the largest.
    """
    dim = X.shape[1]
    hyper = Hyper((LENGTHSCALE * float(np.sqrt(dim)),) * dim, 1.0, SHARPNESS)
    K = Covariance(kernel, hyper).between(X, X)
    sites = {prior_mean: propagate(K, crashed, prior_mean) for prior_mean in PRIOR_MEANS}

    believed = not (doubt and bool(crashed.all()))

    def log_posterior(prior_mean: float) -> float:
        log_prior = -0.5 * ((prior_mean - SAFE_MEAN) / MEAN_SPREAD) ** 2 if believed else 0.0
        return sites[prior_mean].log_evidence + log_prior

    best = max(PRIOR_MEANS, key=log_posterior)
    gp = condition(kernel, hyper, X, sites[best].target, noise_var=sites[best].var, prior_mean=best)
    return Crashes(gp, sites[best], np.where(crashed, 1.0, -1.0), nearest)


def _posterior(K: Array, tau: Array, nu: Array, prior_mean: float) -> tuple[Array, Array]:
    """Mean (N,) and variance (N,) of g at the data, given the sites."""
    gain = np.linalg.solve(K + np.diag(1.0 / tau), K)  # (K + S)^-1 K
    mean = prior_mean + gain.T @ (nu / tau - prior_mean)
    return mean, np.maximum(np.diag(K) - np.einsum("ab,ab->b", K, gain), 1e-12)


def _tilted(sign: Array, mean: Array, var: Array) -> _Tilted:
    """Of labels with `sign` (N,) under N(mean, var), elementwise."""
    # Z = Φ(z) with z = ± mean / √(SHARPNESS² + var), and r = φ(z)/Φ(z) is the derivative of log Φ
    spread = np.sqrt(SHARPNESS**2 + var)
    z = sign * mean / spread
    log_z = log_ndtr(z)
    ratio = density_over_cdf(z, log_z)
    return _Tilted(log_z, sign * ratio / spread, ratio * (z + ratio) / spread**2)
