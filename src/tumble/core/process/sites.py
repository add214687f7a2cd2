"""Crashes by normal pseudo-observations, as in 0.1.0, and for methods that need a process like any other.

Pr(crash | g) = Φ(g / SHARPNESS) of a latent process g, whose prior mean lies on the safe side. Expectation
propagation turns each label into a normal site, so that the posterior is a `GP`. Laplace's approximation has
the same form, but it sees no curvature at a trial that is safe by a wide margin, and so never becomes sure of
one. A safe label cuts g off at 0, which a normal law can't follow: core.process.crashes takes labels as they
are.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from ..arrays import Array, Flags
from ..normal import density_over_cdf
from .cholesky import cholesky, inverse_if_faster, solve
from .covariance import Covariance, Hyper
from .gp import GP, condition
from .kernels import Kernel

SHARPNESS = 0.1  # of the latent process's standard deviation: the edge of a crash region is nearly a step
SAFE_MEAN = -2.5  # P(safe) = 0.994 far from every trial, before any crash is explained
PRIOR_MEANS = (-2.5, -1.7, -0.9)  # the one of largest evidence is taken
MEAN_SPREAD = 0.35  # standard deviation of the prior of the mean: one crash alone does not move it
LENGTHSCALE = 0.22  # times √D; crashes are too few to learn it, and a shorter one forgets them nearby
SWEEPS = 60  # at most
SETTLED = 1e-6  # the change of a precision at which sweeps end
DAMPING = 0.8  # the share of the first step that is taken
DAMPING_DECAY = 0.98  # what that share is multiplied by after each sweep
TAU_FLOOR = 1e-6


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


def propagate(
    K: Array, crashed: Flags, prior_mean: float, sharpness: float = SHARPNESS, settled: float = SETTLED
) -> Sites:
    """Damped parallel expectation propagation for labels `crashed` (N,) under N(prior_mean, K).

    Each label has a site exp(-½ τ g² + ν g). The cavity N(m, v) is the posterior without it, and the site is
    chosen such that cavity times site has the mean and variance of cavity times label:

        1/v = 1/var - τ,   m = v (mean/var - ν);     τ = β / (1 - β v),   ν = τ m + α (1 + τ v)

    with α the derivative of log Z by m and β minus its second derivative. Sweeps end when no precision
    changes by more than `settled`, relative to 1 + itself.
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
        log_z, slope, curvature = _tilted(sign, cavity_mean, cavity_var + sharpness**2)
        new_tau = np.maximum(curvature / np.maximum(1.0 - curvature * cavity_var, 1e-12), TAU_FLOOR)
        new_nu = new_tau * cavity_mean + slope * (1.0 + new_tau * cavity_var)
        moved = float(np.max(np.abs(new_tau - tau) / (1.0 + tau)))
        tau, nu = tau + damping * (new_tau - tau), nu + damping * (new_nu - nu)
        damping *= DAMPING_DECAY
        if moved < settled:
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
class SiteCrashes:
    """The latent process of crashes, given normal sites.

    Parameters
    ----------
    gp
        Its posterior.
    """

    gp: GP

    @property
    def rough(self) -> "SiteCrashes":
        """The same: it is fast enough."""
        return self

    def log_prob(self, x: Array) -> Array:
        """(M,) log P(no crash) at x (M, D)."""
        mean, var = self.gp.predict(x)
        return np.asarray(log_ndtr(-mean / np.sqrt(var + SHARPNESS**2)))

    def log_prob_and_grad(self, x: Array) -> tuple[Array, Array]:
        """log P(no crash) (M,) at x (M, D), and its gradient (M, D)."""
        mean, var, d_mean, d_var = self.gp.predict_with_gradient(x)
        spread = var + SHARPNESS**2
        score = -mean / np.sqrt(spread)
        value = log_ndtr(score)
        d_score = -d_mean / np.sqrt(spread)[:, None] - (0.5 * score / spread)[:, None] * d_var
        return value, density_over_cdf(score, value)[:, None] * d_score


def fit_sites(X: Array, crashed: Flags, kernel: Kernel) -> SiteCrashes:
    """The latent process given trials X (N, D) and which of them crashed; its mean is the likeliest."""
    dim = X.shape[1]
    hyper = Hyper((LENGTHSCALE * float(np.sqrt(dim)),) * dim, 1.0, SHARPNESS)
    K = Covariance(kernel, hyper).between(X, X)
    sites = {prior_mean: propagate(K, crashed, prior_mean) for prior_mean in PRIOR_MEANS}

    def log_posterior(prior_mean: float) -> float:
        return sites[prior_mean].log_evidence - 0.5 * ((prior_mean - SAFE_MEAN) / MEAN_SPREAD) ** 2

    best = max(PRIOR_MEANS, key=log_posterior)
    gp = condition(kernel, hyper, X, sites[best].target, noise_var=sites[best].var, prior_mean=best)
    return SiteCrashes(gp)


def _posterior(K: Array, tau: Array, nu: Array, prior_mean: float) -> tuple[Array, Array]:
    """Mean (N,) and variance (N,) of g at the data, given the sites."""
    # K - K (K + S)^-1 K with S = diag(1/τ), R = diag(√τ) and L Lᵀ = B = I + R K R is
    # K - Vᵀ V, V = L^-1 R K, and it is R^-1 (I - B^-1) R^-1, B^-1 = L^-T L^-1
    root = np.sqrt(tau)
    scaled = root[:, None] * K
    B = scaled * root
    B.flat[:: len(B) + 1] += 1.0
    L = cholesky(B)
    right = nu / root - root * prior_mean
    known = inverse_if_faster(L)
    if known is None:
        V = solve(L, scaled)
        mean, var = V.T @ solve(L, right), np.diag(K) - np.einsum("ab,ab->b", V, V)
    else:
        mean = (right - (known @ right) @ known) / root
        var = (1.0 - np.einsum("ab,ab->b", known, known)) / tau
    return prior_mean + mean, np.maximum(var, 1e-12)


def _tilted(sign: Array, mean: Array, var: Array) -> _Tilted:
    """Of labels with `sign` (N,), elementwise; var: of g under N(mean, ·) and of the noise together."""
    # Z = Φ(z) with z = ± mean / √var, and r = φ(z)/Φ(z) is the derivative of log Φ
    spread = np.sqrt(var)
    z = sign * mean / spread
    log_z = log_ndtr(z)
    ratio = density_over_cdf(z, log_z)
    return _Tilted(log_z, sign * ratio / spread, ratio * (z + ratio) / spread**2)
