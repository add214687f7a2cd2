"""φ(x) against SciPy and mpmath, with gradients."""

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from tests.oracles import KERNELS, central, close, problem
from tumble.core.feasibility import Feasibility
from tumble.core.process.covariance import Hyper
from tumble.core.process.crashes import Crashes, fit_crashes
from tumble.core.process.gp import condition
from tumble.core.process.kernels import Kernel
from tumble.core.process.outputs import Outputs
from tumble.core.process.sites import SHARPNESS, fit_sites
from tumble.core.student import Law


def several(kernel: Kernel, dim: int, count: int) -> Feasibility:
    return Feasibility(tuple(problem(kernel, dim, 10, seed=j, additive=0.2 * j)[0] for j in range(count)))


def with_crashes(dim: int = 2) -> Feasibility:
    X = np.random.default_rng(0).random((9, dim))
    crashed: Any = X[:, 0] > 0.6
    return Feasibility(several("matern52", dim, 1).constraints, fit_crashes(X, crashed, "matern52"))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("count", [1, 3])
def test_the_probability_of_safety_is_the_product_over_constraints(kernel, count):
    feasibility = several(kernel, 3, count)
    x = np.random.default_rng(1).random((6, 3))
    each = np.stack(
        [stats.norm.cdf(0.0, m, np.sqrt(v)) for m, v in (g.predict(x) for g in feasibility.constraints)]
    )
    close(feasibility.each(x), each.T, 1e-12)
    close(np.exp(feasibility.log_prob(x)), each.prod(axis=0), 1e-12)
    close(feasibility.log_prob_and_grad(x)[0], feasibility.log_prob(x), 1e-12)


@pytest.mark.parametrize("least", [-3.0, 0.0, 1.0, 9.0])
def test_a_margin_is_exact_where_it_is_large_enough(least):
    feasibility, x = with_crashes(), np.random.default_rng(1).random((40, 2))
    whole, found = feasibility.margin(x), feasibility.margin(x, least)
    close(found[whole >= least], whole[whole >= least], 1e-9)
    assert (found[whole < least] < least).all()


def test_a_rough_probability_is_nearly_the_same_and_is_not_widened():
    plain, x = with_crashes(), np.random.default_rng(1).random((200, 2))
    close(np.exp(replace(plain, widening=(3.0,)).rough.log_prob(x)), np.exp(plain.log_prob(x)), 0.06)
    sites = fit_sites(x[:9], x[:9, 0] > 0.6, "matern52")
    assert replace(plain, crash=sites).rough.crash is sites
    assert replace(plain, crash=None).rough.crash is None


def test_a_widened_constraint_claims_less():
    plain = several("matern52", 2, 2)
    wide = Feasibility(plain.constraints, None, (2.0, 1.0))
    x = np.random.default_rng(1).random((6, 2))
    close(wide.scores(x)[:, 0], plain.scores(x)[:, 0] / 2.0, 1e-12)
    close(wide.scores(x)[:, 1], plain.scores(x)[:, 1], 1e-12)


def test_a_constraint_under_student_s_law_has_its_probability_and_gradient():
    plain = several("matern52", 2, 2)
    laws = (Law(1.3, 3.0), Law(1.1, 40.0))
    feasibility = replace(plain, laws=laws, widening=(1.0, 1.5), measured=True)
    x = np.random.default_rng(1).random((6, 2))
    expected = []
    for gp, law, width in zip(plain.constraints, laws, feasibility.widening, strict=True):
        mean, var = gp.predict(x)
        std = width * law.width * np.sqrt(var + gp.hyper.noise**2)
        expected.append(stats.t.cdf(-mean / std, law.freedom))
    close(feasibility.each(x), np.transpose(expected), 1e-10)
    close(feasibility.log_prob(x), np.log(expected).sum(axis=0), 1e-10)
    value, grad = feasibility.log_prob_and_grad(x)
    close(value, feasibility.log_prob(x), 1e-10)
    close(grad, central(feasibility.log_prob, x), 1e-6)
    close(feasibility.margin_and_grad(x)[1], central(feasibility.margin, x), 1e-6)


def test_what_is_predicted_has_the_quantiles_of_the_law():
    gp = replace(problem("matern52", 2, 10)[0], outputs=Outputs(0.0, 4.0))
    law = Law(1.3, 3.0)
    x = np.random.default_rng(1).random((3, 2))
    median, std = Feasibility((gp,), widening=(2.0,), laws=(law,)).predicted(x)
    mean, var = gp.predict(x)
    low, high = (
        4.0 * (mean + 1.3 * stats.t.ppf(q, 3.0) * np.sqrt(var))
        for q in (stats.norm.cdf(-1.0), stats.norm.cdf(1.0))
    )
    close(median[:, 0], 4.0 * mean, 1e-12)
    close(std[:, 0], 0.5 * (high - low), 1e-10)


def test_safety_is_of_what_will_be_measured_where_the_noise_counts():
    gp = problem("matern52", 2, 10, noise=0.4)[0]
    x = np.random.default_rng(1).random((6, 2))
    mean, var = gp.predict(x)
    rng = np.random.default_rng(2)
    drawn = mean + np.sqrt(var) * rng.standard_normal((200_000, 6)) + 0.4 * rng.standard_normal((200_000, 6))
    measured = Feasibility((gp,), measured=True)
    close(measured.each(x)[:, 0], (drawn <= 0.0).mean(axis=0), 5e-3)
    close(measured.log_prob_and_grad(x)[0], measured.log_prob(x), 1e-12)
    close(measured.log_prob_and_grad(x)[1], central(measured.log_prob, x), 1e-6)
    close(measured.margin(x), measured.margin_and_grad(x)[0], 1e-12)


def test_crashes_join_the_product_as_the_last_column():
    feasibility = with_crashes()
    x = np.random.default_rng(1).random((6, 2))
    assert isinstance(feasibility.crash, Crashes)
    sites = fit_sites(feasibility.crash.X, feasibility.crash.crashed, "matern52")
    mean, var = sites.gp.predict(x)
    expected = stats.norm.cdf(-mean / np.sqrt(SHARPNESS**2 + var))
    close(replace(feasibility, crash=sites).each(x)[:, -1], expected, 1e-10)
    close(feasibility.each(x)[:, -1], np.exp(feasibility.crash.log_prob(x)), 1e-10)
    close(feasibility.log_prob(x), np.log(feasibility.each(x)).sum(axis=1), 1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", range(1, 11))
def test_gradients_of_safety_are_derivatives(kernel, dim):
    plain = several(kernel, dim, 2)
    feasibility = Feasibility(plain.constraints, None, (1.5, 1.0))
    x = np.random.default_rng([1, dim]).random((4, dim))
    close(feasibility.log_prob_and_grad(x)[1], central(feasibility.log_prob, x), 1e-6)
    margin, grad = feasibility.margin_and_grad(x)
    close(grad, central(lambda p: feasibility.margin_and_grad(p)[0], x), 1e-6)
    tame = np.abs(margin) < 5.0
    close(margin[tame], stats.norm.ppf(np.exp(feasibility.log_prob(x[tame]))), 1e-6)


def test_gradients_hold_for_crashes_too():
    feasibility = with_crashes()
    x = np.random.default_rng(5).random((4, 2))
    close(feasibility.log_prob_and_grad(x)[1], central(feasibility.log_prob, x), 1e-6)
    close(feasibility.margin_and_grad(x)[1], central(lambda p: feasibility.margin_and_grad(p)[0], x), 1e-6)


@pytest.mark.parametrize("value", [-9.0, -6.0, -3.0, 0.0, 3.0, 9.0, 30.0])
def test_the_margin_is_exact_near_certainty_on_both_sides(value):
    """Φ^-1(Φ(a) Φ(b)) with 700 digits, where float64's 1 - φ would be 0."""
    X = np.array([[0.5]])
    gps = tuple(condition("se", Hyper((0.5,), 1.0, 0.01), X, np.array([v])) for v in (value, 0.9 * value))
    feasibility = Feasibility(gps)
    x = np.array([[0.1]])
    scores = feasibility.scores(x)[0]
    margin, grad = feasibility.margin_and_grad(x)
    with mpmath.workdps(700):
        p = mpmath.mpf(1)
        for score in scores:
            p *= mpmath.erfc(-mpmath.mpf(score) / mpmath.sqrt(2)) / 2
        miss = 1 - p
        back = mpmath.erfc(-mpmath.mpf(float(margin[0])) / mpmath.sqrt(2)) / 2
        if value < 0:
            assert float(abs((1 - back) - miss) / miss) < 1e-6
        else:
            assert float(abs(back - p) / p) < 1e-6
    assert np.isfinite(grad).all()


def test_the_margin_of_what_is_safe_beyond_doubt_is_finite():
    gp = condition("se", Hyper((0.5,), 1.0, 0.01), np.array([[0.5]]), np.array([-1e6]))
    margin, grad = Feasibility((gp,)).margin_and_grad(np.array([[0.5], [0.4]]))
    assert (margin > 30.0).all()
    assert np.isfinite(margin).all()
    assert np.isfinite(grad).all()


def test_without_constraints_everything_is_safe():
    feasibility = Feasibility(())
    x = np.random.default_rng(0).random((3, 2))
    assert (feasibility.log_prob(x) == 0.0).all()
    assert feasibility.each(x).shape == (3, 0)
    margin, grad = feasibility.margin_and_grad(x)
    assert (margin > 8.0).all()
    assert (grad == 0.0).all()


def test_the_gradient_survives_certain_failure():
    X = np.linspace(0.0, 1.0, 20)[:, None]
    gp = condition("matern52", Hyper((0.3,), 1.0, 1e-4), X, np.full(20, 50.0))
    value, grad = Feasibility((gp,)).log_prob_and_grad(X + 0.01)
    assert (value < -1000.0).all()
    assert np.isfinite(grad).all()


def test_what_a_trial_tells_is_asked_of_each_constraint():
    feasibility = replace(with_crashes(), measured=True)
    rng = np.random.default_rng(2)
    x, goals = rng.random((5, 2)), rng.random((3, 2))
    (gp,) = feasibility.constraints
    (share,) = feasibility.shared_variances(x, goals)
    np.testing.assert_array_equal(share, gp.shared_variance(x, goals, gp.hyper.noise**2))
