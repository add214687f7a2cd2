"""Crossings: E|f'| by quadrature, intensities by Monte Carlo, Rice's formula by counting on sampled paths."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import logsumexp

from tests import oracles
from tests.oracles import KERNELS, central, close, problem
from tumble.core.crossings import (
    expected_crossings,
    log_intensity,
    log_mean_intensity_and_gradient,
    rice_upcrossings,
)
from tumble.core.normal import expected_abs
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import condition
from tumble.core.process.slopes import slopes_and_curvature, slopes_at

GRID = np.linspace(0.0, 1.0, 401)[:, None]


def paths(mean, cov, count: int, seed: int = 0):
    """Draws (count, P) of N(mean, cov), by an eigendecomposition."""
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return mean + np.random.default_rng(seed).standard_normal((count, len(mean))) @ root.T


@given(st.floats(-50.0, 50.0), st.floats(1e-3, 20.0))
def test_the_expected_absolute_slope_equals_quadrature(mean, std):
    def integrand(t):
        return abs(mean + std * t) * stats.norm.pdf(t)

    knots = sorted({-30.0, -5.0, 0.0, float(np.clip(-mean / std, -30.0, 30.0)), 5.0, 30.0})
    pieces = [integrate.quad(integrand, a, b, epsabs=1e-12)[0] for a, b in pairwise(knots)]
    assert float(expected_abs(np.array(mean), np.array(std))) == pytest.approx(sum(pieces), rel=1e-7)


def test_the_expected_absolute_slope_of_a_certain_slope_is_its_size():
    assert float(expected_abs(np.array(-3.0), np.array(1e-12))) == pytest.approx(3.0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_the_intensity_equals_monte_carlo_over_value_and_slopes(kernel, dim):
    """(8) is E[‖∇f‖₁; f = u]: the mean of ‖∇f‖₁ over draws whose f lies in a thin slab around u."""
    gp, dense = problem(kernel, dim, 4 * dim, noise=0.1)
    x = np.random.default_rng(dim).random(dim)
    law = dense.at(x)
    draws = paths(law.mean, law.cov, 600_000)
    level, half = law.mean[0] - 0.7 * np.sqrt(law.cov[0, 0]), 0.04 * np.sqrt(law.cov[0, 0])
    inside = np.abs(draws[:, 0] - level) < half
    samples = np.where(inside, np.abs(draws[:, 1:]).sum(axis=1), 0.0) / (2.0 * half)
    ours = np.exp(log_intensity(slopes_at(gp, x[None, :]), np.array([level]))[0, 0])
    assert abs(ours - samples.mean()) < 5.0 * samples.std() / np.sqrt(len(samples))
    assert samples.std() / np.sqrt(len(samples)) < 0.02 * ours


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_mean_intensity_and_its_gradient_equal_those_of_refits(kernel, dim, share):
    gp, dense = problem(kernel, dim, 6 + 2 * dim, noise=0.1, additive=share)
    x = np.random.default_rng([1, dim]).random((3, dim))
    u, weights = np.array([-1.5, -0.4, 0.6]), np.array([0.2, 0.5, 0.3])

    def slow(points):
        return np.log([weights @ [oracles.intensity(dense, p, level) for level in u] for p in points])

    value, grad = log_mean_intensity_and_gradient(*slopes_and_curvature(gp, x), u, weights)
    close(value, slow(x), 1e-8)
    close(grad, central(slow, x), 1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", range(1, 11))
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_gradient_of_the_intensity_is_its_derivative(kernel, dim, share):
    gp, _ = problem(kernel, dim, 6 + 2 * dim, additive=share)
    x = np.random.default_rng([1, dim]).random((3, dim))
    u = np.array([-4.0, -1.0, 0.2, 3.0])
    weights = np.array([0.1, 0.4, 0.3, 0.2])
    for levels, shares in [
        (u, weights),
        *((u[[i]], np.ones(1)) for i in range(4)),
    ]:  # their mean, and each alone

        def log_mean(p, levels=levels, shares=shares):
            return logsumexp(log_intensity(slopes_at(gp, p), levels), b=shares, axis=1)

        value, grad = log_mean_intensity_and_gradient(*slopes_and_curvature(gp, x), levels, shares)
        close(value, log_mean(x), 1e-12)
        close(grad, central(log_mean, x), 1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_goes_flat_forty_deviations_away(kernel):
    gp, _ = problem(kernel, 3, 10)
    x = np.random.default_rng(0).random((5, 3))
    mean, var = gp.predict(x)
    for sign in (-40.0, 40.0):
        for m in range(5):
            u = np.array([mean[m] + sign * np.sqrt(var[m])])
            value, grad = log_mean_intensity_and_gradient(
                *slopes_and_curvature(gp, x[m : m + 1]), u, np.ones(1)
            )
            assert np.isfinite(value).all()
            assert np.abs(grad).max() > 1e-3


@pytest.mark.parametrize("kernel", KERNELS)
def test_intensities_on_top_of_dense_data_are_finite(kernel):
    X = np.linspace(0.0, 1.0, 60)[:, None]
    gp = condition(kernel, Hyper((5.0,), 1.0, 1e-6), X, np.sin(X[:, 0]))
    x = np.vstack([X, X + 1e-9, X + 1e-4])
    for u in (-1.0, 0.5, 3.0):
        value, grad = log_mean_intensity_and_gradient(*slopes_and_curvature(gp, x), np.array([u]), np.ones(1))
        assert np.isfinite(value).all()
        assert np.isfinite(grad).all()


@pytest.mark.parametrize(("kernel", "lengthscale"), [("se", 0.1), ("matern52", 0.2)])
def test_rice_s_formula_equals_counted_upcrossings_of_sampled_paths(kernel, lengthscale):
    hyper = Hyper((lengthscale,), 1.5, 0.1)
    f = paths(np.zeros(401), oracles.cov_values(kernel, hyper, GRID, GRID), 8000)
    for u in (0.0, 1.0, -1.5):
        counts = ((f[:, :-1] < u) & (f[:, 1:] >= u)).sum(axis=1)
        error = counts.std() / np.sqrt(len(counts))
        expected = rice_upcrossings(kernel, hyper, u)
        assert abs(counts.mean() - expected) < 4.0 * error + 0.02 * expected  # a grid misses a few


def test_at_high_levels_rice_s_formula_gives_the_law_of_the_supremum():
    """(3): Pr(sup f >= u) is at most Pr(f(0) >= u) + E[N_u+], and approaches it as u grows."""
    hyper = Hyper((0.1,), 1.0, 0.1)
    f = paths(np.zeros(401), oracles.cov_values("se", hyper, GRID, GRID), 40_000)
    supremum = f.max(axis=1)
    gaps = []
    for u in (1.5, 2.0, 2.5, 3.0):
        sampled = float((supremum >= u).mean())
        error = np.sqrt(sampled * (1.0 - sampled) / len(f))
        rice = rice_upcrossings("se", hyper, u)
        bound = stats.norm.sf(u) + rice
        assert sampled < bound + 4.0 * error
        gaps.append(abs(rice - sampled))
        if u >= 2.5:
            assert sampled > bound * 0.93 - 4.0 * error
    assert gaps[-1] < 0.1 * gaps[0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_expected_crossings_equal_counted_crossings_of_conditioned_paths(kernel):
    hyper = Hyper((0.15,), 1.0, 0.05)
    X = np.array([[0.1], [0.35], [0.8]])
    gp = condition(kernel, hyper, X, np.array([0.5, -0.4, 0.9]))
    f = paths(*gp.predict_joint(GRID), 8000)
    for u in (-1.0, 0.0, 0.5):
        counts = ((f[:, :-1] < u) != (f[:, 1:] < u)).sum(axis=1)
        error = counts.std() / np.sqrt(len(counts))
        expected = expected_crossings(gp, u)
        assert abs(counts.mean() - expected) < 4.0 * error + 0.02 * expected


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_data_crossings_are_twice_rice_s_upcrossings(kernel):
    hyper = Hyper((0.3,), 2.0, 0.1)
    gp = condition(kernel, hyper, np.zeros((0, 1)), np.zeros(0))
    for u in (-1.0, 0.0, 2.0):
        assert expected_crossings(gp, u) == pytest.approx(2.0 * rice_upcrossings(kernel, hyper, u), rel=1e-9)
