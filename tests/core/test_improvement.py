"""The improvement against mpmath, quadrature and Monte Carlo; more of EI is in tests/baselines."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from tests.oracles import KERNELS, problem
from tumble.core.improvement import (
    ExpectedImprovement,
    ProbabilityOfImprovement,
    improvement,
    log_improvement,
)


def exact_log_improvement(z: float) -> float:
    """log(φ + zΦ) with as many digits as the subtraction takes."""
    with mpmath.workdps(60):
        t = mpmath.mpf(z)
        phi = mpmath.exp(-t * t / 2) / mpmath.sqrt(2 * mpmath.pi)
        cdf = mpmath.erfc(-t / mpmath.sqrt(2)) / 2
        return float(mpmath.log(phi + t * cdf))


@given(st.floats(-1e4, 1e4))
def test_the_logarithm_of_the_improvement_is_exact_in_both_tails(z):
    assert float(log_improvement(np.array([z]))[0]) == pytest.approx(
        exact_log_improvement(z), rel=1e-11, abs=1e-12
    )


@pytest.mark.parametrize("z", [-1.0, -1.0 - 1e-12, -50.0, -50.0 - 1e-12, 0.0])
def test_the_branches_of_the_improvement_meet(z):
    assert float(log_improvement(np.array([z]))[0]) == pytest.approx(exact_log_improvement(z), rel=1e-12)


@pytest.mark.parametrize("z", [(-49.0, -5.0, -1.0, 0.0, 3.0, 8.0), (-80.0, -2.0), (-2.0, 40.0)])
def test_the_improvement_and_its_parts_are_exact(z):
    found = improvement(np.array(z))
    with mpmath.workdps(60):
        logs = [exact_log_improvement(t) for t in z]
        cdf = [float(mpmath.log(mpmath.ncdf(t))) for t in z]
        density = [float(mpmath.log(mpmath.npdf(t))) for t in z]
    np.testing.assert_allclose(found.log_h, logs, rtol=1e-11)
    np.testing.assert_allclose(found.cdf, np.exp(np.subtract(cdf, logs)), rtol=1e-9)
    np.testing.assert_allclose(found.density, np.exp(np.subtract(density, logs)), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_expected_improvement_equals_quadrature_and_monte_carlo(kernel):
    gp, _ = problem(kernel, 2, 8, noise=0.1)
    x = np.random.default_rng(0).random((4, 2))
    mean, var = gp.predict(x)
    target = -0.3
    ours = np.exp(ExpectedImprovement(gp, target).value_and_grad(x)[0])
    for i in range(len(x)):
        law = stats.norm(mean[i], np.sqrt(var[i]))
        integral, _ = quad(lambda f, law=law: (target - f) * law.pdf(f), law.ppf(1e-14), target)
        assert ours[i] == pytest.approx(integral, rel=1e-7)
        draws = np.maximum(target - law.rvs(200_000, random_state=i), 0.0)
        assert abs(ours[i] - draws.mean()) < 5.0 * draws.std() / np.sqrt(len(draws)) + 1e-6


def test_probability_of_improvement_equals_monte_carlo():
    gp, _ = problem("matern52", 2, 8, noise=0.1)
    x = np.random.default_rng(0).random((4, 2))
    mean, var = gp.predict(x)
    ours = np.exp(ProbabilityOfImprovement(gp, -0.1).value_and_grad(x)[0])
    np.testing.assert_allclose(ours, stats.norm.cdf((-0.1 - mean) / np.sqrt(var)), rtol=1e-12)
    draws = mean + np.sqrt(var) * np.random.default_rng(1).standard_normal((200_000, 4))
    np.testing.assert_allclose(ours, (draws < -0.1).mean(axis=0), atol=5.0 * 0.5 / np.sqrt(200_000))


@pytest.mark.parametrize("noise", [0.02, 0.3, 2.0])
def test_noise_leaves_of_a_gain_the_share_by_which_one_trial_would_shrink_the_doubt(noise):
    """σ is a trial's doubt before it is made; the oracle makes it and looks at σ again."""
    gp, _ = problem("matern52", 2, 8, noise=noise)
    x = np.random.default_rng(0).random((6, 2))
    before = np.sqrt(gp.predict(x)[1])
    after = np.array([np.sqrt(gp.with_pending(at[None, :]).predict(at[None, :])[1][0]) for at in x])
    ours = ExpectedImprovement(gp, -0.3, noise).screen(x) - ExpectedImprovement(gp, -0.3).screen(x)
    np.testing.assert_allclose(np.exp(ours), 1.0 - after / before, rtol=1e-5)


@pytest.mark.parametrize("noise", [1e-12, 1.0, 1e6])
def test_what_noise_leaves_keeps_its_digits(noise):
    gp, _ = problem("matern52", 2, 8)
    x = np.random.default_rng(0).random((3, 2))
    var = gp.predict(x)[1]
    ours = ExpectedImprovement(gp, -0.3, noise).screen(x) - ExpectedImprovement(gp, -0.3).screen(x)
    with mpmath.workdps(60):
        tau = mpmath.mpf(noise)
        exact = [float(mpmath.log(1 - tau / mpmath.sqrt(mpmath.mpf(v) + tau**2))) for v in var]
    np.testing.assert_allclose(ours, exact, rtol=1e-9, atol=1e-9)
