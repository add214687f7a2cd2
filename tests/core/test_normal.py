"""The functions of the normal law against mpmath, far into both tails."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr

from tumble.core import normal

TAILS = [-700.0, -38.0, -5.0, -1.0, -1e-9, 0.0, 0.3, 2.0, 9.0]


def cdf(z: float) -> mpmath.mpf:
    """Φ(z); to be called with enough digits."""
    return mpmath.erfc(-mpmath.mpf(z) / mpmath.sqrt(2)) / 2


def density(z: float) -> mpmath.mpf:
    """φ(z)."""
    return mpmath.exp(-(mpmath.mpf(z) ** 2) / 2) / mpmath.sqrt(2 * mpmath.pi)


@pytest.mark.parametrize("z", TAILS)
def test_densities_and_their_ratios_hold_in_both_tails(z):
    at = np.array([z])
    with mpmath.workdps(60):
        expected = float(mpmath.log(density(z))), float(density(z) / cdf(z)), float(cdf(z) / density(z))
    assert normal.log_density(at)[0] == pytest.approx(expected[0], rel=1e-14)
    assert normal.density_over_cdf(at, log_ndtr(at))[0] == pytest.approx(expected[1], rel=1e-9)
    assert normal.log_density_over_cdf(at, log_ndtr(at))[0] == pytest.approx(np.log(expected[1]), abs=1e-9)
    if z <= 5.0:
        assert normal.cdf_over_density(at)[0] == pytest.approx(expected[2], rel=1e-13)


@given(st.floats(-35.0, 35.0))
def test_the_quantile_of_a_log_probability_is_the_value_it_belongs_to(z):
    with mpmath.workdps(400):
        log_p = float(mpmath.log(cdf(z)))
        slope = float(cdf(z) / density(z))
    found = normal.quantile_from_log(np.array([log_p]))
    assert found[0] == pytest.approx(z, abs=1e-9)
    assert normal.quantile_slope(np.array([log_p]), found)[0] == pytest.approx(slope, rel=1e-6)


def test_the_quantile_of_certainty_is_finite():
    assert 30.0 < normal.quantile_from_log(np.zeros(1))[0] < 40.0
