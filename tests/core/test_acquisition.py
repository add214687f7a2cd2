"""log α_X (10) against Monte Carlo, its gradient against central differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.oracles import KERNELS, central, close, problem
from tumble.core.acquisition import ExcursionSearch, log_mean_exp
from tumble.core.crossings import log_intensity
from tumble.core.process.slopes import slopes_at


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 3])
def test_excursion_search_equals_monte_carlo(kernel, dim):
    """E over f* of E[‖∇f‖₁; f = f*], with f* drawn and f in a thin slab around it."""
    gp, dense = problem(kernel, dim, 5 * dim, noise=0.1)
    x = np.random.default_rng(dim).random(dim)
    law = dense.at(x)
    std = np.sqrt(law.cov[0, 0])
    minima = law.mean[0] + std * np.array([-1.6, -0.9, -0.2])
    rng = np.random.default_rng(0)
    draws = rng.multivariate_normal(law.mean, law.cov, 600_000, check_valid="ignore", method="eigh")
    level, half = rng.choice(minima, len(draws)), 0.05 * std
    samples = np.where(np.abs(draws[:, 0] - level) < half, np.abs(draws[:, 1:]).sum(axis=1), 0.0) / (2 * half)
    ours = np.exp(ExcursionSearch(gp, minima).value_and_grad(x[None, :])[0][0])
    assert abs(ours - samples.mean()) < 5.0 * samples.std() / np.sqrt(len(samples))
    assert ours == pytest.approx(np.exp(log_intensity(slopes_at(gp, x[None, :]), minima)).mean(), rel=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", range(1, 11))
@pytest.mark.parametrize("band", [False, True])
def test_the_gradient_of_excursion_search_is_its_derivative(kernel, dim, band):
    gp, _ = problem(kernel, dim, 6 + 2 * dim, additive=0.2)
    search = ExcursionSearch(gp, np.linspace(-3.0, -0.5, 7), band)
    x = np.random.default_rng([2, dim]).random((4, dim))
    value, grad = search.value_and_grad(x)
    assert value.shape == (4,)
    close(grad, central(lambda p: search.value_and_grad(p)[0], x), 1e-6)


def test_screening_is_the_density_of_the_minimum_alone():
    gp, _ = problem("se", 2, 8)
    minima = np.array([-2.0, -1.0])
    x = np.random.default_rng(0).random((5, 2))
    mean, var = gp.predict(x)
    density = np.mean([stats.norm.pdf(u, mean, np.sqrt(var)) for u in minima], axis=0)
    close(ExcursionSearch(gp, minima).screen(x), np.log(density), 1e-9)


def test_crossings_of_a_band_are_those_of_a_level_times_its_width():
    gp, _ = problem("matern52", 2, 8)
    minima = np.array([-2.0, -1.0])
    x = np.random.default_rng(0).random((5, 2))
    level, band = ExcursionSearch(gp, minima), ExcursionSearch(gp, minima, band=True)
    width = np.log(np.sqrt(gp.predict(x)[1]))
    close(band.value_and_grad(x)[0] - level.value_and_grad(x)[0], width, 1e-8)
    close(band.screen(x) - level.screen(x), width, 1e-8)


def test_the_logarithm_goes_on_where_the_density_underflows():
    gp, _ = problem("matern52", 2, 30)
    x = np.random.default_rng(0).random((6, 2))
    search = ExcursionSearch(gp, np.array([-200.0, -300.0]))
    value, grad = search.value_and_grad(x)
    assert (value < -745.0).any()  # exp of it is 0 in float64
    assert np.isfinite(value).all()
    assert (np.abs(grad).max(axis=1) > 1e-3).all()


@given(st.lists(st.floats(-700.0, 700.0), min_size=1, max_size=6))
def test_the_logarithm_of_a_mean_is_what_it_says(values):
    expected = np.logaddexp.reduce(values) - np.log(len(values))
    assert float(log_mean_exp(np.array([values]))[0]) == pytest.approx(expected, abs=1e-9)
