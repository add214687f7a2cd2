"""The controller (14): traces worked out by hand, bounds for every history, replay."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import norm

from tumble.core.budget import BudgetState, is_bold, lost, replay, required, start, step, wariness
from tumble.core.settings import Settings

PLAIN = Settings(delta=None)
Z_SAFE, Z_RISK, Z_0 = norm.ppf(0.99), norm.ppf(0.01), norm.ppf(0.1)


def test_nothing_happens_before_the_first_trial():
    state = start(100, 10, PLAIN)
    assert state.z == pytest.approx(Z_0)
    assert (state.trials_left, state.failures_left) == (100, 10)
    assert state.rho == pytest.approx(0.1)


def test_a_trace_of_a_success_a_failure_and_a_success_by_hand():
    """T = 10, B = 2. After each trial ΔT is 9, 8, 7 and ΔB is 2, 1, 1; z_safe = -z_risk = 2.3263."""
    state = step(start(10, 2, PLAIN), False, PLAIN)
    z = -1.2815515655446004 + (-2.3263478740408408 + 1.2815515655446004) * 2 / 18
    assert state.z == pytest.approx(z, abs=1e-12)
    assert state.z == pytest.approx(-1.3976400, abs=1e-6)
    state = step(state, True, PLAIN)
    z = z + (2.3263478740408408 - z) * 1 / 1 + (-2.3263478740408408 - z) * 1 / 16
    assert state.z == pytest.approx(z, abs=1e-12)
    assert state.z == pytest.approx(2.2683036, abs=1e-6)
    state = step(state, False, PLAIN)
    z = z + (-2.3263478740408408 - z) * 1 / 14
    assert state.z == pytest.approx(z, abs=1e-12)
    assert (state.trials_left, state.failures_left) == (7, 1)


def test_a_failure_presses_harder_the_fewer_are_left():
    """From the same z with ΔT = 50: with ΔB = 4 a quarter of the way, with ΔB = 2 half of it."""
    moved = []
    for left in (4, 2):
        state = step(BudgetState(0.0, 51, left + 1), True, PLAIN)
        moved.append(state.z)
        assert state.z == pytest.approx(Z_SAFE / left + Z_RISK * left / 100)
    assert moved[1] > moved[0]


def test_without_failures_left_the_reference_is_safe():
    state = step(BudgetState(-1.0, 20, 1), True, PLAIN)
    assert state.failures_left == 0
    assert state.z == pytest.approx(Z_SAFE)
    assert step(state, True, PLAIN).z == pytest.approx(Z_SAFE)  # one too many changes nothing
    assert step(state, True, PLAIN).failures_left == 0


def test_more_failures_than_trials_left_mean_risk():
    state = step(BudgetState(1.0, 6, 6), False, PLAIN)
    assert (state.trials_left, state.failures_left) == (5, 6)
    assert state.z == pytest.approx(Z_RISK)


def test_as_many_failures_as_trials_left_still_obey_the_law():
    state = step(BudgetState(0.0, 6, 5), False, PLAIN)
    assert state.z == pytest.approx(Z_RISK / 2)


def test_the_last_trial_leaves_the_state_alone():
    state = step(BudgetState(0.3, 1, 1), False, PLAIN)
    assert (state.z, state.trials_left) == (0.3, 0)


def test_the_memory_survives_steps():
    """Two histories with equal counts but another order end at different z."""
    early = replay(20, 3, [True, False, False, False], PLAIN)
    late = replay(20, 3, [False, False, False, True], PLAIN)
    assert (early.trials_left, early.failures_left) == (late.trials_left, late.failures_left)
    assert late.z > early.z


rhos = st.floats(0.001, 0.999)


@given(st.integers(1, 80), st.data(), st.lists(st.booleans(), max_size=80), st.tuples(rhos, rhos, rhos, rhos))
def test_z_stays_between_its_references_for_every_history(trials, data, outcomes, levels):
    failures = data.draw(st.integers(0, trials))
    risk, zero, safe = sorted(levels[:3])
    settings = Settings(rho_safe=safe, rho_risk=risk, rho_0=zero, rho_b=levels[3])
    state = start(trials, failures, settings)
    spent = 0
    for t, failed in enumerate(outcomes[:trials]):
        state = step(state, failed, settings)
        spent += failed
        assert norm.ppf(risk) - 1e-9 <= state.z <= norm.ppf(safe) + 1e-9
        assert state.trials_left == trials - t - 1
        assert state.failures_left == max(failures - spent, 0)
    assert replay(trials, failures, outcomes[:trials], settings) == state


@given(st.integers(1, 60), st.lists(st.booleans(), max_size=60))
def test_successes_lower_what_is_asked_and_failures_raise_it(trials, outcomes):
    state = start(trials, trials // 2, PLAIN)
    for failed in outcomes[: trials - 1]:
        after = step(state, failed, PLAIN)
        if not failed and after.failures_left > 0:
            assert after.z <= state.z + 1e-12
        if after.failures_left == 0:
            assert after.z == pytest.approx(Z_SAFE)
        state = after


@pytest.mark.parametrize(("left", "expected"), [(100, 0.9998), (10, 0.998), (2, 0.99), (1, 0.99)])
def test_at_the_end_of_the_budget_the_total_risk_is_spread_over_the_trials_left(left, expected):
    state = BudgetState(float(Z_SAFE), left, 0)
    assert required(state, Settings(delta=0.02)) == pytest.approx(expected)
    assert required(state, PLAIN) == pytest.approx(0.99)


@pytest.mark.parametrize(("failures", "told"), [(0, []), (1, [True])])
def test_after_the_last_failure_every_trial_left_is_asked_for_the_same(failures, told):
    settings = Settings(rho_safe=0.9, delta=0.02)
    state, asked = replay(40 + len(told), failures, told, settings), []
    while state.trials_left > 0:
        asked.append(required(state, settings))
        state = step(state, False, settings)
    assert asked == pytest.approx([1.0 - 0.02 / 40] * 40)


@given(st.integers(1, 80), st.integers(0, 5), st.lists(st.booleans(), max_size=80))
@example(2, 0, [False, False])
def test_the_risks_after_the_last_failure_add_up_to_delta_at_most(trials, failures, outcomes):
    delta = 0.02
    settings = Settings(rho_safe=0.9, delta=delta)
    state, risk = start(trials, failures, settings), 0.0
    for failed in outcomes[:trials]:
        if state.failures_left == 0 and required(state, settings) > settings.rho_safe:
            risk += 1.0 - required(state, settings)
        state = step(state, failed, settings)
    assert risk <= delta + 1e-12


def test_with_failures_left_the_controller_decides():
    assert required(BudgetState(0.0, 30, 2), Settings()) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("z", "left", "safe_known", "expected"),
    [
        (-1.0, 3, True, True),
        (0.0, 3, True, True),  # ρ_t = ρ_b is not above it
        (0.1, 3, True, False),
        (2.0, 3, False, True),  # until the first safe trial
        (-1.0, 0, True, False),
        (-1.0, 0, False, False),  # ΔB = 0 has precedence over everything
    ],
)
def test_search_is_bold_below_the_boundary_and_until_something_safe_is_known(z, left, safe_known, expected):
    assert is_bold(BudgetState(z, 20, left), safe_known, Settings()) is expected
    assert is_bold(BudgetState(z, 20, left), safe_known, Settings.paper(), failed=7) is expected


@pytest.mark.parametrize(("failed", "expected"), [(0, True), (3, True), (4, False), (9, False)])
def test_with_nothing_safe_known_only_half_of_the_failures_are_risked(failed, expected):
    assert is_bold(BudgetState(-1.0, 20, 4), False, Settings(), failed) is expected
    assert is_bold(BudgetState(-1.0, 20, 4), True, Settings(), failed)


def test_a_whole_study_without_failures_ends_at_the_risky_reference():
    z = replay(100, 10, [False] * 99, PLAIN).z
    assert z == pytest.approx(Z_RISK)
    assert np.isclose(replay(100, 0, [False] * 99, PLAIN).z, Z_SAFE)


def test_wariness_by_hand():
    assert wariness(failed=0, told=0) == 0.5
    assert wariness(failed=0, told=10) == 0.25
    assert wariness(failed=0, told=1000) == 0.25
    assert wariness(failed=1, told=1000) == 1.0


@given(st.integers(0, 200), st.integers(0, 200))
def test_wariness_falls_with_safe_trials_and_is_whole_after_a_failure(told, more):
    assert 0.25 <= wariness(0, told + more) <= wariness(0, told) < wariness(1, told) == 1.0


def test_a_loop_stops_with_one_failure_too_many_and_where_nothing_was_safe():
    assert lost(0, 0, False) == lost(2, 3, False) == lost(3, 3, True) == lost(9, None, False) == ""
    assert lost(3, 3, False) == "3 trials failed and no failure is left"
    assert lost(4, 3, True) == "4 trials failed where 3 may, so that P(safe) can't be trusted here"
