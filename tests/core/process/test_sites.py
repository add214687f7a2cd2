"""Crashes by normal pseudo-observations, against importance sampling from the same prior."""

from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from tests import oracles
from tests.oracles import KERNELS, central, close, cov_values
from tumble.core.process import cholesky
from tumble.core.process.cholesky import FEWEST
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import condition
from tumble.core.process.sites import SHARPNESS, SiteCrashes, fit_sites, propagate


def by_sampling(kernel, hyper, X, crashed, prior_mean, x, draws=200_000):
    """P(safe) at x (M, D), and the log evidence: prior draws weighted by the likelihood of the labels."""
    points = np.vstack([X, x])
    cov = cov_values(kernel, hyper, points, points)
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    g = prior_mean + np.random.default_rng(0).standard_normal((draws, len(points))) @ root.T
    sign = np.where(crashed, 1.0, -1.0)
    weight = np.exp(log_ndtr(sign * g[:, : len(X)] / SHARPNESS).sum(axis=1))
    safe = ndtr(-g[:, len(X) :] / SHARPNESS)
    effective = weight.sum() ** 2 / (weight**2).sum()
    return weight @ safe / weight.sum(), float(np.log(weight.mean())), effective


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("crashed", "prior_mean"),
    [
        ([False, False, False, True], -2.5),  # P(safe) near 1 away from the crash
        ([False, True, False, True], -0.9),  # near one half between them
        ([True, False, True, False, False], 0.0),
        ([False], -2.5),
        ([True], -1.7),
    ],
)
def test_sites_come_close_to_importance_sampling(kernel, crashed, prior_mean):
    labels = np.array(crashed)
    X = np.linspace(0.05, 0.95, len(labels))[:, None]
    hyper = Hyper((0.25,), 1.0, SHARPNESS)
    x = np.vstack([X, np.linspace(0.0, 1.0, 9)[:, None]])
    sampled, evidence, effective = by_sampling(kernel, hyper, X, labels, prior_mean, x)
    sites = propagate(cov_values(kernel, hyper, X, X), labels, prior_mean)
    gp = condition(kernel, hyper, X, sites.target, noise_var=sites.var, prior_mean=prior_mean)
    ours = np.exp(SiteCrashes(gp).log_prob(x))
    assert effective > 300
    slack = 3.0 / np.sqrt(effective)
    np.testing.assert_allclose(ours, sampled, atol=0.04 + slack)  # a step is not quite Gaussian
    assert sites.log_evidence == pytest.approx(evidence, abs=0.1 + 4.0 / np.sqrt(effective))
    near_one = sampled > 0.98
    assert (ours[near_one] <= sampled[near_one] + 0.002).all()  # never surer than the truth
    assert (ours[near_one] >= sampled[near_one] - 0.045).all()


@pytest.mark.parametrize("n", [FEWEST - 1, FEWEST])
def test_each_site_has_the_moments_of_its_label_with_few_and_with_many_labels(n):
    """The posterior given all sites agrees with cavity times label, for each of them."""
    X = np.random.default_rng(0).random((n, 2))
    crashed: Any = X.sum(axis=1) > 1.3
    K, prior_mean = cov_values("matern52", Hyper((0.3, 0.3), 1.0, SHARPNESS), X, X), -0.9
    sites = propagate(K, crashed, prior_mean, settled=1e-9)
    gain = np.linalg.solve(K + np.diag(sites.var), K)
    mean, var = prior_mean + gain.T @ (sites.target - prior_mean), np.diag(K - K @ gain)
    cavity_var = 1.0 / (1.0 / var - 1.0 / sites.var)
    cavity_mean = cavity_var * (mean / var - sites.target / sites.var)
    spread, sign = np.sqrt(cavity_var + SHARPNESS**2), np.where(crashed, 1.0, -1.0)
    z = sign * cavity_mean / spread
    ratio = norm.pdf(z) / ndtr(z)
    close(mean, cavity_mean + cavity_var * sign * ratio / spread, 1e-4)
    close(var, cavity_var - cavity_var**2 * ratio * (z + ratio) / spread**2, 1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("crashed", [[False, True, False, True], [True], [False, False, True]])
def test_parallel_propagation_ends_where_one_label_at_a_time_does(kernel, crashed):
    X = np.linspace(0.05, 0.95, len(crashed))[:, None]
    K = cov_values(kernel, Hyper((0.25,), 1.0, SHARPNESS), X, X)
    expected = oracles.propagate(K, crashed, -0.9, SHARPNESS)
    sites = propagate(K, np.array(crashed), -0.9)
    gain = np.linalg.solve(K + np.diag(sites.var), K)
    close(-0.9 + gain.T @ (sites.target + 0.9), expected.mean, 1e-4)
    close(K - K @ gain, expected.cov, 1e-4)


@pytest.mark.parametrize(("n", "inverts"), [(FEWEST - 1, False), (FEWEST, True)])
def test_few_sites_take_solves(monkeypatch, n, inverts):
    """The inverse of a factor pays for many sites alone, and has other last digits."""
    asked = []

    def counted(chol, real=cholesky.inverse):
        asked.append(len(chol))
        return real(chol)

    monkeypatch.setattr(cholesky, "inverse", counted)
    X = np.random.default_rng(0).random((n, 2))
    K = cov_values("matern52", Hyper((0.3, 0.3), 1.0, SHARPNESS), X, X) + SHARPNESS**2 * np.eye(n)
    propagate(K, X[:, 0] > 0.7, -1.9, 0.0, 1e-3)
    assert bool(asked) == inverts


def test_after_one_crash_of_one_the_sites_take_crashes_to_be_rare():
    crashes = fit_sites(np.array([[0.1]]), np.array([True]), "matern52")
    assert np.exp(crashes.log_prob(np.array([[1.0]])))[0] > 0.99  # what 0.1.0 said


def test_the_sites_take_the_likeliest_prior_mean():
    X = np.random.default_rng(0).random((20, 2))
    assert fit_sites(X, np.ones(20, dtype=bool), "matern52").gp.prior_mean == -1.7
    assert fit_sites(X, np.arange(20) == 3, "matern52").gp.prior_mean == -2.5


@pytest.mark.parametrize("dim", [1, 3])
def test_gradients_by_the_sites_are_derivatives(dim):
    X = np.random.default_rng(0).random((9, dim))
    crashes = fit_sites(X, X[:, 0] > 0.6, "matern52")
    x = np.random.default_rng(1).random((6, dim))
    value, grad = crashes.log_prob_and_grad(x)
    close(value, crashes.log_prob(x), 1e-10)
    close(grad, central(crashes.log_prob, x), 1e-6)
