"""Student's t law against mpmath, in both tails."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from tests.oracles import central, close
from tumble.core.student import Law, Laws, Student

POINTS = np.array([-1e9, -500.0, -100.0, -30.0, -3.0, -0.1, 0.0, 0.1, 3.0, 10.0, 100.0])


def exact(t: float, freedom: float) -> float:
    """log of the distribution function with 40 digits."""
    with mpmath.workdps(40):
        y = freedom / (freedom + mpmath.mpf(t) ** 2)
        tail = mpmath.betainc(mpmath.mpf(freedom) / 2, 0.5, 0, y, regularized=True) / 2
        return float(mpmath.log(tail) if t <= 0 else mpmath.log1p(-tail))


@pytest.mark.parametrize("freedom", [1.25, 4.0, 17.3, 200.0])
def test_the_distribution_function_is_exact_in_both_tails(freedom):
    expected = [exact(float(t), freedom) for t in POINTS]
    np.testing.assert_allclose(Student(freedom).log_cdf(POINTS), expected, rtol=1e-9)
    near = POINTS[2:]
    np.testing.assert_allclose(Student(freedom).log_density(near), stats.t.logpdf(near, freedom), rtol=1e-9)


@pytest.mark.parametrize("law", [Law(), Law(1.3, 2.5), Law(1.0, 60.0)])
def test_the_slope_of_a_law_is_its_derivative(law):
    t = np.array([[-6.0], [-2.0], [0.0], [1.5], [4.0]])
    log_p = law.log_cdf(t[:, 0])
    close(law.density_over_cdf(t[:, 0], log_p), central(lambda x: law.log_cdf(x[:, 0]), t)[:, 0], 1e-7)


def test_a_normal_score_is_as_likely_as_the_value():
    law, t = Law(1.2, 5.0), np.array([-4.0, 0.5, 3.0])
    close(stats.norm.cdf(law.normal_score(t)), stats.t.cdf(t, 5.0), 1e-10)
    assert law.from_normal(1.0) == pytest.approx(float(stats.t.ppf(stats.norm.cdf(1.0), 5.0)))
    assert law.normal_score(np.array([law.from_normal(2.0)]))[0] == pytest.approx(2.0)


def test_without_degrees_of_freedom_the_law_is_normal():
    t = np.array([-3.0, 2.0])
    assert Law().is_normal
    np.testing.assert_array_equal(Law(2.0).normal_score(t), t)
    np.testing.assert_array_equal(Law().log_cdf(t), stats.norm.logcdf(t))
    assert Law().from_normal(1.7) == 1.7


@pytest.mark.parametrize("freedoms", [(np.inf, np.inf), (4.0, 17.3), (2.5, np.inf)])
def test_several_laws_at_once_are_each_of_them(freedoms):
    t = np.array([[-1e4, -3.0, 0.0, 2.0], [-8.0, -0.1, 1.0, 30.0]])
    log_p, slope = Laws(np.array(freedoms)[:, None]).log_cdf_and_slope(t)
    for row, freedom in enumerate(freedoms):
        law = Law(1.0, freedom)
        expected = law.log_cdf(t[row])
        np.testing.assert_allclose(log_p[row], expected, rtol=1e-12)
        np.testing.assert_allclose(slope[row], law.density_over_cdf(t[row], expected), rtol=1e-9)
