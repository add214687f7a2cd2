"""Is 0.99 really 0.99? The online correction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tumble.core.calibration import MEMORY, UPPER_QUARTILE, reliability, widening


@given(st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), max_size=80))
def test_a_standard_deviation_is_never_narrowed(errors):
    factor = widening(np.array(errors, dtype=float))
    assert factor >= 1.0
    assert np.isfinite(factor)


@pytest.mark.parametrize("errors", [[], [np.nan], [np.nan, np.nan]])
def test_nothing_known_means_no_correction(errors):
    assert widening(np.array(errors, dtype=float)) == 1.0


@pytest.mark.parametrize("true_factor", [2.0, 4.0])
def test_overconfident_predictions_are_widened_about_as_much_as_they_need(true_factor):
    rng = np.random.default_rng(0)
    factors = [widening(true_factor * rng.standard_normal(50)) for _ in range(200)]
    assert 0.7 * true_factor < np.median(factors) < 2.0 * true_factor


def test_well_calibrated_predictions_are_hardly_touched():
    rng = np.random.default_rng(0)
    factors = [widening(rng.standard_normal(50)) for _ in range(200)]
    assert np.median(factors) < 1.5


def test_compared_with_an_upper_quartile_a_right_model_is_left_alone():
    rng = np.random.default_rng(0)
    factors = [widening(rng.standard_normal(n), UPPER_QUARTILE) for n in (5, 20, 50) for _ in range(100)]
    assert np.mean(factors) < 1.1
    wrong = [widening(3.0 * rng.standard_normal(30), UPPER_QUARTILE) for _ in range(100)]
    assert 1.8 < np.median(wrong) < 4.0


def test_errors_towards_the_safe_side_cost_nothing():
    assert widening(-np.abs(np.random.default_rng(0).standard_normal(40)) * 20.0) == 1.0


def test_old_errors_are_forgotten():
    errors = np.concatenate([np.full(20, 50.0), -np.ones(MEMORY)])
    assert widening(errors) == 1.0
    assert widening(errors[: 20 + MEMORY // 2]) > 1.0


@given(st.lists(st.tuples(st.floats(0.0, 1.0) | st.just(float("nan")), st.booleans()), max_size=40))
def test_reliability_counts_what_was_claimed_and_what_held(outcomes):
    p, failed = np.array([o[0] for o in outcomes]), np.array([o[1] for o in outcomes], dtype=bool)
    found = reliability(p, failed, 0.9)
    claimed = [(q, f) for q, f in outcomes if q >= 0.9]
    assert (found.level, found.claimed) == (0.9, len(claimed))
    assert found.held == sum(not f for _, f in claimed)


def test_only_the_largest_errors_are_turned_into_scores():
    errors, seen = np.arange(1.0, 31.0), []

    def scored(largest):
        seen.append(largest)
        return 2.0 * largest

    assert widening(errors, UPPER_QUARTILE, scored) == pytest.approx(2.0 * widening(errors, UPPER_QUARTILE))
    np.testing.assert_array_equal(seen[0], np.arange(30.0, 24.0, -1.0))  # a fifth of them
