"""PESC's parts: the factor h, its expectation propagation, posterior draws and their minimisers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr

from tests.oracles import KERNELS, central, close, problem
from tests.toys import draw_process
from tumble.baselines.pesc.conditioned import condition_on_minimisers
from tumble.baselines.pesc.paths import SLACK, draw_paths, minimisers
from tumble.baselines.pesc.propagation import Normal, exclusion, propagate, with_sites
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import condition

means = st.floats(-3.0, 3.0)
variances = st.floats(0.05, 4.0)


def log_z(m_d, v_d, m_c, v_c):
    """log E[h] from its definition."""
    held = np.prod(ndtr(-np.asarray(m_c) / np.sqrt(v_c)))
    return np.log(1.0 - held * ndtr(-m_d / np.sqrt(v_d)))


@given(means, variances, st.lists(st.tuples(means, variances), max_size=3))
def test_the_moments_of_h_are_derivatives_of_its_mass(m, v, limits):
    m_c, v_c = np.array([c[0] for c in limits]), np.array([c[1] for c in limits])
    h = exclusion(np.array([m]), np.array([v]), m_c[:, None], v_c[:, None])
    assert float(np.log(h.Z[0])) == pytest.approx(log_z(m, v, m_c, v_c), abs=1e-9)
    means = np.concatenate([[m], m_c])

    def mass(means):
        return np.array([log_z(row[0], v, row[1:], v_c) for row in means])

    slope = central(mass, means[None, :], 1e-3)[0]
    expected = np.concatenate([h.slope / np.sqrt(v), h.slope_c[:, 0] / np.sqrt(v_c)])
    np.testing.assert_allclose(expected, slope, rtol=1e-5, atol=1e-7)
    bend = -np.diag(central(lambda p: central(mass, p, 1e-3), means[None, :], 1e-3)[0])
    expected = np.concatenate([h.bend / v, h.bend_c[:, 0] / v_c])
    np.testing.assert_allclose(expected, bend, rtol=1e-3, atol=1e-4)


def test_h_is_finite_far_out():
    m = np.array([-60.0, -8.0, 0.0, 60.0])
    for m_c in (-60.0, -8.0, 0.0, 60.0):
        h = exclusion(m, np.ones(4), np.full((2, 4), m_c), np.ones((2, 4)))
        for part in (h.bend, h.bend_c, h.slope, h.slope_c):
            assert np.isfinite(part).all()
        assert (h.bend < 1.0).all()
        assert (h.bend_c < 1.0).all()


def test_one_factor_is_matched_exactly():
    """d ~ N(m, v) known to be positive is a truncated normal."""
    sites = propagate(Normal.of(np.array([-0.4]), np.array([[0.7]])), [])
    law = stats.truncnorm(0.4 / np.sqrt(0.7), np.inf, loc=-0.4, scale=np.sqrt(0.7))
    assert sites[0].mean[0] == pytest.approx(law.mean(), abs=1e-3)
    assert sites[0].cov[0, 0] == pytest.approx(law.var(), abs=1e-3)


def test_sites_of_either_sign_are_a_dense_product():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    normal = Normal.of(rng.standard_normal(4), root @ root.T + 0.1 * np.eye(4))
    tau, nu = np.array([2.0, -0.01, 0.5, -0.02]), rng.standard_normal(4)
    sites = with_sites(normal, tau, nu)
    assert sites is not None
    precision = np.linalg.inv(normal.cov)
    cov = np.linalg.inv(precision + np.diag(tau))
    np.testing.assert_allclose(sites.cov, cov, atol=1e-10)
    np.testing.assert_allclose(sites.mean, cov @ (precision @ normal.mean + nu), atol=1e-10)
    assert with_sites(normal, np.full(4, -100.0), nu) is None


def test_propagation_agrees_with_rejection_on_a_small_problem():
    """Moments of (d, c) at three points and of c at x*, given every factor, from draws that satisfy them."""
    rng = np.random.default_rng(1)
    f, c = draw_process(1, 4, rng, scale=0.3), draw_process(1, 4, rng, scale=0.3)
    points = np.array([[0.1], [0.45], [0.8], [0.6]])  # x* last
    (m, V), (m_c, V_c) = f.predict_joint(points), c.predict_joint(points)
    A = np.hstack([np.eye(3), -np.ones((3, 1))])
    sites = propagate(Normal.of(A @ m, A @ V @ A.T), [Normal.of(m_c, V_c)])
    d = rng.multivariate_normal(A @ m, A @ V @ A.T, 400_000)
    g = rng.multivariate_normal(m_c, V_c, 400_000)
    kept = (g[:, 3] <= 0.0) & ~((d < 0.0) & (g[:, :3] <= 0.0)).any(axis=1)
    assert kept.sum() > 5_000
    for site, draws in zip(sites, (d[kept], g[kept]), strict=True):
        std = draws.std(axis=0)
        np.testing.assert_allclose((site.mean - draws.mean(axis=0)) / std, 0.0, atol=0.15)
        np.testing.assert_allclose(np.sqrt(np.diag(site.cov)) / std, 1.0, atol=0.15)


@pytest.mark.parametrize("noise", [1e-6, 1e-3, 0.3])
@pytest.mark.parametrize("kind", ["spread", "cluster", "twins"])
def test_propagation_survives_two_hundred_badly_conditioned_trials(noise, kind):
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    if kind == "cluster":
        X = 0.5 + 1e-3 * (X - 0.5)
    if kind == "twins":
        X[100:] = X[:100] + 1e-9
    y, g = np.sin(5.0 * X).sum(axis=1), np.cos(4.0 * X[:, 0])
    hyper = Hyper((0.5, 0.5), 1.0, noise)
    gps = (condition("se", hyper, X, y), condition("se", hyper, X, g))
    stars = np.vstack([rng.random((3, 2)), X[:2]])  # two of them at trials
    processes = condition_on_minimisers(gps, X, stars)
    x = np.vstack([rng.random((20, 2)), X[:5], stars])
    for process in processes:
        moments, slopes = process.moments_and_slopes(x)
        for part in (moments.mean, moments.var, moments.cov_star, slopes.mean, slopes.var, slopes.cov_star):
            assert np.isfinite(part).all()
        assert (moments.var > 0.0).all()
        assert (process.star_var > -1e-6).all()


def test_a_process_given_its_minimiser_is_the_joint_normal_with_sites():
    """Mean, variance and covariance with f(x*) at a new point, from one dense joint normal."""
    rng = np.random.default_rng(3)
    f, c = draw_process(2, 5, rng, scale=0.4), draw_process(2, 5, rng, scale=0.4)
    star, x = rng.random((1, 2)), rng.random((1, 2))
    given = condition_on_minimisers((f, c), f.X, star)
    points = np.vstack([f.X, star])
    A = np.hstack([np.eye(5), -np.ones((5, 1))])
    (m, V), (m_c, V_c) = f.predict_joint(points), c.predict_joint(points)
    sites = propagate(Normal.of(A @ m, A @ V @ A.T), [Normal.of(m_c, V_c)])
    for gp, process, site, B in ((f, given[0], sites[0], A), (c, given[1], sites[1], np.eye(6))):
        mean, cov = gp.predict_joint(np.vstack([points, x]))
        B = np.hstack([B, np.zeros((len(B), 1))])  # sites see B @ values
        precision = np.linalg.inv(cov) + B.T @ np.diag(site.tau) @ B
        after = np.linalg.inv(precision)
        expected = after @ (np.linalg.solve(cov, mean) + B.T @ site.nu)
        got = process.moments(x)
        assert got.mean[0, 0] == pytest.approx(expected[6], abs=1e-6)
        assert got.var[0, 0] == pytest.approx(after[6, 6], abs=1e-6)
        assert process.star_mean[0] == pytest.approx(expected[5], abs=1e-6)
        assert process.star_var[0] == pytest.approx(after[5, 5], abs=1e-6)
    assert given[0].moments(x).cov_star[0, 0] == pytest.approx(_cov_star(f, points, x, sites[0], A), abs=1e-6)


def _cov_star(gp, points, x, site, A):
    _, cov = gp.predict_joint(np.vstack([points, x]))
    B = np.hstack([A, np.zeros((len(A), 1))])
    return np.linalg.inv(np.linalg.inv(cov) + B.T @ np.diag(site.tau) @ B)[5, 6]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("additive", [0.0, 0.5])
def test_draws_have_the_posterior_s_moments(kernel, additive):
    gp, _ = problem(kernel, 2, 6, noise=0.1, additive=additive)
    x = np.random.default_rng(1).random((4, 2))
    mean, cov = gp.predict_joint(x)
    draws = np.hstack([draw_paths(gp, 100, np.random.default_rng([7, i])).values(x) for i in range(60)])
    scale = np.sqrt(np.diag(cov))
    np.testing.assert_allclose((draws.mean(axis=1) - mean) / scale, 0.0, atol=0.06)
    np.testing.assert_allclose(
        np.cov(draws) / np.outer(scale, scale), cov / np.outer(scale, scale), atol=0.12
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_draw_s_gradient_is_its_derivative_and_its_value_that_of_the_batch(kernel):
    gp, _ = problem(kernel, 3, 8, additive=0.3)
    paths = draw_paths(gp, 4, np.random.default_rng(0))
    x = np.random.default_rng(1).random((5, 3))
    expected = central(paths.values, x)
    for i in range(4):
        for p in range(5):
            value, grad = paths.value_and_grad(x[p], i)
            assert value == pytest.approx(paths.values(x)[p, i], rel=1e-9)
            close(grad, expected[p, :, i], 1e-6)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_minimisers_are_those_of_a_fine_grid(count):
    rng = np.random.default_rng(count)
    objective = draw_paths(draw_process(1, 4, rng, scale=0.2), 12, rng)
    limits = tuple(draw_paths(draw_process(1, 4, rng, scale=0.2), 12, rng) for _ in range(count))
    found = minimisers(objective, limits, rng.random((300, 1)))
    grid = np.linspace(0.0, 1.0, 20_001)[:, None]
    values = objective.values(grid)
    allowed = (
        np.all([p.values(grid) <= 0.0 for p in limits], axis=0) if limits else np.ones_like(values, bool)
    )
    missed = []
    for i in np.flatnonzero(allowed.any(axis=0)).tolist():
        assert all(p.value_and_grad(found[i], i)[0] <= SLACK for p in limits)
        missed.append(objective.value_and_grad(found[i], i)[0] - values[allowed[:, i], i].min())
    assert np.mean(np.array(missed) < 1e-3) >= 0.9  # a narrow allowed strip may hide between 300 points
    assert np.max(missed) < 0.05


def test_a_draw_without_an_allowed_point_gives_the_smallest_violation():
    rng = np.random.default_rng(0)
    objective = draw_paths(draw_process(1, 4, rng, scale=0.2), 3, rng)
    never = draw_paths(
        condition("se", Hyper((0.3,), 1.0, 0.1), np.zeros((0, 1)), np.zeros(0), prior_mean=50.0), 3, rng
    )
    points = rng.random((50, 1))
    found = minimisers(objective, (never,), points)
    np.testing.assert_array_equal(found, points[np.argmin(never.values(points), axis=0)])
