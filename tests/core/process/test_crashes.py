"""The crash classifier against importance sampling from its own prior."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from tests import oracles
from tests.oracles import KERNELS, central, close, cov_values
from tumble.core.feasibility import Feasibility
from tumble.core.process.covariance import Hyper
from tumble.core.process.crashes import SHARPNESS, Crashes, fit_crashes, propagate
from tumble.core.process.gp import condition


def by_sampling(kernel, hyper, X, crashed, prior_mean, x, draws=200_000):
    """P(safe) at x (M, D), and the log evidence: prior draws weighted by the likelihood of the labels."""
    points = np.vstack([X, x])
    cov = cov_values(kernel, hyper, points, points)
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    g = prior_mean + np.random.default_rng(0).standard_normal((draws, len(points))) @ root.T
    sign = np.where(crashed, 1.0, -1.0)
    log_weight = log_ndtr(sign * g[:, : len(X)] / SHARPNESS).sum(axis=1)
    weight = np.exp(log_weight)
    safe = ndtr(-g[:, len(X) :] / SHARPNESS)
    effective = weight.sum() ** 2 / (weight**2).sum()
    return weight @ safe / weight.sum(), float(np.log(weight.mean())), effective


def by_propagation(kernel, hyper, X, crashed, prior_mean, x, nearest):
    sites = propagate(cov_values(kernel, hyper, X, X), crashed, prior_mean)
    gp = condition(kernel, hyper, X, sites.target, noise_var=sites.var, prior_mean=prior_mean)
    crashes = Crashes(gp, sites, np.where(crashed, 1.0, -1.0), nearest)
    return Feasibility((), crashes).each(x)[:, 0], sites.log_evidence


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
@pytest.mark.parametrize("nearest", [0, 3])
def test_the_classifier_equals_importance_sampling(kernel, crashed, prior_mean, nearest):
    labels = np.array(crashed)
    X = np.linspace(0.05, 0.95, len(labels))[:, None]
    hyper = Hyper((0.25,), 1.0, SHARPNESS)
    x = np.vstack([X, np.linspace(0.0, 1.0, 9)[:, None]])
    sampled, evidence, effective = by_sampling(kernel, hyper, X, labels, prior_mean, x)
    ours, log_evidence = by_propagation(kernel, hyper, X, labels, prior_mean, x, nearest)
    assert effective > 300
    slack = 3.0 / np.sqrt(effective)
    np.testing.assert_allclose(ours, sampled, atol=0.04 + slack)  # a step is not quite Gaussian
    assert log_evidence == pytest.approx(evidence, abs=0.1 + 4.0 / np.sqrt(effective))
    near_one = sampled > 0.98
    assert (ours[near_one] <= sampled[near_one] + 0.002).all()  # never surer than the truth
    assert (ours[near_one] >= sampled[near_one] - 0.045).all()


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


def test_probabilities_near_one_and_near_one_half_both_occur_in_that_comparison():
    labels = np.array([False, True, False, False])
    X = np.linspace(0.05, 0.95, 4)[:, None]
    sampled, _, _ = by_sampling(
        "matern52", Hyper((0.25,), 1.0, SHARPNESS), X, labels, -1.7, np.linspace(0, 1, 60)[:, None], 50_000
    )
    assert sampled.max() > 0.98
    assert np.abs(sampled - 0.5).min() < 0.1


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 2, 6])
@pytest.mark.parametrize("seed", range(5))
def test_ten_safe_trials_and_one_distant_crash_leave_the_safe_ones_safe(kernel, dim, seed):
    rng = np.random.default_rng([seed, dim])
    safe, crash = 0.5 * rng.random((10, dim)), np.full((1, dim), 0.97)
    X = np.vstack([safe, crash])
    gp = fit_crashes(X, np.arange(11) == 10, kernel)
    p = Feasibility((), gp).each(X)[:, 0]
    assert p[:10].min() >= 0.99
    assert p[10] < 0.5


def test_crashes_all_around_are_believed():
    X = np.random.default_rng(0).random((20, 2))
    p = Feasibility((), fit_crashes(X, np.ones(20, dtype=bool), "matern52")).each(X)[:, 0]
    assert p.max() < 0.5


@pytest.mark.parametrize("dim", [1, 2, 6])
@pytest.mark.parametrize("crashes", [1, 2, 5])
def test_nothing_but_crashes_proves_no_safety_anywhere(dim, crashes):
    X = np.random.default_rng(crashes).random((crashes, dim)) * 0.2
    corner = np.ones((1, dim))
    doubting, old = (
        np.exp(fit_crashes(X, np.ones(crashes, dtype=bool), "matern52", doubt=doubt).log_prob(corner))[0]
        for doubt in (True, False)
    )
    assert 0.3 < doubting < 0.83
    assert old > doubting
    if crashes == 1 and dim == 1:
        assert old > 0.99  # what 0.1.0 said after one crash of one


def test_one_safe_trial_ends_the_doubt():
    X, crashed = np.array([[0.1], [0.9]]), np.array([True, False])
    for x in np.linspace(0.0, 1.0, 5)[:, None, None]:
        doubting, old = (fit_crashes(X, crashed, "se", doubt=doubt).log_prob(x) for doubt in (True, False))
        assert doubting == old


def test_the_edge_of_a_crash_region_is_learned():
    X = np.random.default_rng(0).random((40, 2))
    crashed: Any = X[:, 0] > 0.6
    p = Feasibility((), fit_crashes(X, crashed, "matern52"))
    query = np.random.default_rng(1).random((200, 2))
    clear = np.abs(query[:, 0] - 0.6) > 0.12
    predicted = p.each(query[clear])[:, 0] < 0.5
    assert (predicted == (query[clear, 0] > 0.6)).mean() > 0.95


def test_the_same_setting_may_crash_and_not_crash():
    X = np.full((6, 1), 0.4)
    gp = fit_crashes(X, np.array([True, False, True, False, False, True]), "matern52")
    p = Feasibility((), gp).each(np.array([[0.4]]))[0, 0]
    assert 0.2 < p < 0.8


def test_many_labels_are_no_trouble():
    X = np.random.default_rng(0).random((150, 3))
    crashed: Any = (X**2).sum(axis=1) > 1.5
    p = Feasibility((), fit_crashes(X, crashed, "matern52")).each(X)[:, 0]
    assert np.isfinite(p).all()
    assert ((p < 0.5) == crashed).mean() > 0.9


def by_slice_sampling(crashes, x, draws, seed=0):
    """P(crash) at x (1, D): elliptical slice sampling of the latent process at x and at the labels."""
    rng = np.random.default_rng(seed)
    points, mean = np.vstack([x, crashes.gp.X]), crashes.gp.prior_mean
    cov = cov_values("matern52", crashes.gp.hyper, points, points)
    root = np.linalg.cholesky(cov + 1e-9 * np.eye(len(points)))

    def log_likelihood(g):
        return log_ndtr(crashes.labels * (mean + g[1:]) / SHARPNESS).sum()

    g = np.append(0.0, np.where(crashes.labels > 0.0, 0.5 - mean, 0.0))
    now, total = log_likelihood(g), 0.0
    for step in range(draws + draws // 10):
        other, floor = root @ rng.standard_normal(len(g)), now - rng.exponential()
        angle = rng.random() * 2.0 * np.pi
        low, high = angle - 2.0 * np.pi, angle
        while True:
            moved = g * np.cos(angle) + other * np.sin(angle)
            if (value := log_likelihood(moved)) > floor:
                break
            low, high = (angle, high) if angle < 0.0 else (low, angle)
            angle = low + (high - low) * rng.random()
        g, now = moved, value
        total += ndtr((mean + g[0]) / SHARPNESS) * (step >= draws // 10)
    return total / draws


@pytest.mark.parametrize(("count", "most"), [(5, 1.1e-3), (20, 5e-4), (60, 1e-4)])
def test_amid_safe_trials_the_risk_of_a_crash_comes_close_to_that_of_sampling(count, most):
    rng = np.random.default_rng(1)
    X = np.vstack([0.5 + 0.05 * rng.standard_normal((count, 2)), [[0.97, 0.97]]])
    crashes = fit_crashes(X, np.arange(count + 1) == count, "matern52")
    x = np.full((1, 2), 0.5)
    sampled = by_slice_sampling(crashes, x, 4000)
    risk = -np.expm1(crashes.log_prob(x)[0])
    by_sites_alone = -np.expm1(replace(crashes, nearest=0).log_prob(x)[0])
    assert 0.3 * sampled < risk < most  # on the safe side of sampling
    assert risk < 0.25 * by_sites_alone


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("nearest", [0, 1, 3, 50])
def test_gradients_of_the_risk_of_a_crash_are_derivatives(dim, nearest):
    X = np.random.default_rng(0).random((9, dim))
    crashed: Any = X[:, 0] > 0.6
    crashes = fit_crashes(X, crashed, "matern52", nearest)
    x = np.random.default_rng(1).random((6, dim))
    value, grad = crashes.log_prob_and_grad(x)
    close(value, crashes.log_prob(x), 1e-10)
    close(grad, central(crashes.log_prob, x), 1e-6)
