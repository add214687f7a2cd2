"""Crashes as a process of their own (§4.1's Γ without a measurement).

A latent process g with a prior mean on the safe side crashes where g > 0: Pr(crash | g) = Φ(g / SHARPNESS).
Expectation propagation turns the labels into Gaussian pseudo-observations, so that the posterior is a `GP`
like any other and its P(safe) and gradient come from the same code. Laplace's approximation, which has the
same form, sees no curvature at a trial that is safe by a wide margin and so never becomes sure of one.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from ..arrays import Array, Flags
from ..normal import density_over_cdf
from .covariance import Hyper
from .gp import GP, condition
from .kernels import Kernel

SHARPNESS = 0.1  # of the latent process's standard deviation: the edge of a crash region is nearly a step
SAFE_MEAN = -2.5  # P(safe) = 0.994 far from every trial, before any crash is explained
SAFE_MEANS = (-2.5, -1.7, -0.9)
LENGTHSCALES = (0.22,)  # times √D; a handful of labels cannot tell, and shorter ones forget where it crashed
MEAN_SPREAD = 0.35  # standard deviation of the prior of the mean: one crash alone does not move it
SWEEPS = 60
TAU_FLOOR = 1e-6


@dataclass(frozen=True)
class Sites:
    """Gaussian pseudo-observations `target` (N,) with variances `var` (N,), and the log evidence."""

    target: Array
    var: Array
    log_evidence: float


def propagate(K: Array, crashed: Flags, prior_mean: float) -> Sites:
    """Damped parallel expectation propagation for labels `crashed` (N,) under N(prior_mean, K)."""
    sign = np.where(crashed, 1.0, -1.0)
    n = len(sign)
    tau, nu = np.full(n, TAU_FLOOR), np.full(n, TAU_FLOOR * prior_mean)
    cavity_mean, cavity_var, log_z = np.zeros(n), np.ones(n), np.zeros(n)
    damping = 0.8
    for _ in range(SWEEPS):
        mean, var = _posterior(K, tau, nu, prior_mean)
        cavity_var = 1.0 / np.maximum(1.0 / var - tau, 1e-12)
        cavity_mean = cavity_var * (mean / var - nu)
        log_z, grad, bend = _tilted(sign, cavity_mean, cavity_var)
        new_tau = np.maximum(bend / np.maximum(1.0 - bend * cavity_var, 1e-12), TAU_FLOOR)
        new_nu = new_tau * cavity_mean + grad * (1.0 + new_tau * cavity_var)
        moved = float(np.max(np.abs(new_tau - tau) / (1.0 + tau)))
        tau, nu = tau + damping * (new_tau - tau), nu + damping * (new_nu - nu)
        damping *= 0.98
        if moved < 1e-6:
            break
    target, var = nu / tau, 1.0 / tau
    spread = cavity_var + var
    total = K + np.diag(var)
    residual = target - prior_mean
    _, log_det = np.linalg.slogdet(total)
    evidence = -0.5 * log_det - 0.5 * residual @ np.linalg.solve(total, residual)
    evidence += float(np.sum(log_z + 0.5 * np.log(spread) + 0.5 * (cavity_mean - target) ** 2 / spread))
    return Sites(target, var, float(evidence))


def fit_crashes(X: Array, crashed: Flags, kernel: Kernel) -> GP:
    """The latent process given trials X (N, D) and which crashed; mean and lengthscale by evidence."""
    best: tuple[float, GP] | None = None
    for relative in LENGTHSCALES:
        hyper = Hyper((relative * float(np.sqrt(X.shape[1])),) * X.shape[1], 1.0, SHARPNESS)
        K = condition(kernel, hyper, X[:0], np.zeros(0)).covariance(X, X)
        for prior_mean in SAFE_MEANS:
            sites = propagate(K, crashed, prior_mean)
            score = sites.log_evidence - 0.5 * ((prior_mean - SAFE_MEAN) / MEAN_SPREAD) ** 2
            if best is None or score > best[0]:
                gp = condition(kernel, hyper, X, sites.target, noise_var=sites.var, prior_mean=prior_mean)
                best = score, gp
    assert best is not None
    return best[1]


def _posterior(K: Array, tau: Array, nu: Array, prior_mean: float) -> tuple[Array, Array]:
    gain = np.linalg.solve(K + np.diag(1.0 / tau), K)  # (K + S)^-1 K
    mean = prior_mean + gain.T @ (nu / tau - prior_mean)
    return mean, np.maximum(np.diag(K) - np.einsum("ab,ab->b", K, gain), 1e-12)


def _tilted(sign: Array, mean: Array, var: Array) -> tuple[Array, Array, Array]:
    """log Z of a label under N(mean, var), its derivative by the mean, and minus the second one."""
    spread = np.sqrt(SHARPNESS**2 + var)
    z = sign * mean / spread
    log_z = log_ndtr(z)
    ratio = density_over_cdf(z, log_z)
    return log_z, sign * ratio / spread, ratio * (z + ratio) / spread**2
