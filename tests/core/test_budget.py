"""The controller (14): traces worked out by hand, bounds for every history, replay."""

import copy
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import norm

from tumble.core.budget import (
    BudgetState,
    beyond,
    decide,
    is_bold,
    is_too_risky,
    nothing_safe_enough,
    phi_exponent,
    replay,
    required,
    risk_left,
    share,
    start,
    step,
    stop_reason,
)
from tumble.core.settings import Settings

PLAIN = Settings(delta=None)
Z_SAFE, Z_RISK, Z_0 = norm.ppf(0.99), norm.ppf(0.01), norm.ppf(0.1)


def test_nothing_happens_before_the_first_trial():
    state = start(100, 10, PLAIN)
    assert state.z == pytest.approx(Z_0)
    assert (state.trials_left, state.failures_left) == (100, 10)
    assert state.rho == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("failures", "changes", "rho"),
    [
        (1, {}, 0.99),
        (1, {"rho_only": 0.9}, 0.9),
        (1, {"rho_only": None}, 0.1),
        (1, {"rho_0": 0.95, "rho_only": 0.9}, 0.95),
        (1, {"rho_safe": 0.6}, 0.6),
        (2, {}, 0.1),
        (0, {}, 0.1),
    ],
)
def test_the_only_failure_is_not_spent_on_the_first_trial(failures, changes, rho):
    assert start(25, failures, replace(PLAIN, **changes)).rho == pytest.approx(rho)


def test_the_paper_spends_the_only_failure_as_any_other():
    assert start(25, 1, Settings.paper()).rho == pytest.approx(0.1)


@pytest.mark.parametrize("boldness", [0.0, 0.5, 1.0])
def test_boldness_is_meant_for_the_only_failure_too(boldness):
    settings = Settings(boldness=boldness)
    assert start(25, 1, settings).rho == start(25, 2, settings).rho


AMONG_CHOICES = Settings(delta=None, reserve=1)


@given(st.lists(st.booleans(), max_size=20), st.integers(2, 8), st.integers(0, 3))
def test_while_more_failures_are_left_than_the_reserve_no_more_than_rho_0_is_asked(failed, B, reserve):
    settings, outcomes = replace(AMONG_CHOICES, reserve=reserve), failed[: 19 - B]
    with_reserve, by_14 = (
        replay(20, B, outcomes, settings),
        replay(20, B, outcomes, replace(PLAIN, reserve=None)),
    )
    assert with_reserve.z == by_14.z
    asked = required(with_reserve, settings)
    if with_reserve.failures_left > reserve:
        assert asked == min(by_14.rho, settings.rho_0)
        assert is_bold(with_reserve, True, settings)
    else:
        assert asked == required(by_14, PLAIN)


def test_trials_in_flight_are_minded_whatever_the_reserve():
    state = replace(start(20, 4, AMONG_CHOICES), in_flight=0.7)
    assert required(state, AMONG_CHOICES) == 0.7
    assert not is_bold(state, True, AMONG_CHOICES)


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


@given(st.integers(1, 60), st.floats(0.0, 0.05), st.data())
def test_claimed_risks_after_the_last_failure_add_up_to_delta_whatever_is_proposed(trials, delta, data):
    """Careful trials reach ρ; others have any P(safe), and are refused where that is too risky."""
    settings = Settings(delta=max(delta, 1e-6))
    state, risk = start(trials, 0, settings), 0.0
    while state.trials_left > 0:
        careful = data.draw(st.booleans())
        rho = required(replace(state, risk=risk), settings)
        p_safe = rho if careful else data.draw(st.floats(0.0, 1.0))
        if is_too_risky(p_safe, replace(state, risk=risk), settings):
            assert not careful
            break
        risk += 1.0 - p_safe
        state = step(state, False, settings)
    assert settings.delta is not None
    assert risk <= settings.delta + 1e-9


def test_by_the_paper_s_rule_nothing_is_too_risky():
    spent = replay(10, 1, [True], PLAIN)
    assert not is_too_risky(0.0, spent, PLAIN)
    assert is_too_risky(0.97, replay(10, 1, [True], Settings()), Settings())
    assert not is_too_risky(0.97, replay(10, 1, [False], Settings()), Settings())  # a failure is left


def test_a_trial_that_took_more_than_its_share_leaves_less_to_the_others():
    spent = replay(11, 1, [True], Settings())
    assert required(spent, Settings()) == pytest.approx(1.0 - 0.02 / 10)
    assert required(replace(spent, risk=0.015), Settings()) == pytest.approx(1.0 - 0.005 / 10)
    assert risk_left(replace(spent, risk=0.5), Settings()) == 0.0


def test_the_reasons_to_stop_say_what_happened():
    unless = "unless trials of your own, or a changed budget or limit, did it, P(safe) is too high here"
    assert beyond(3, 2) == f"3 trials failed where 2 may; {unless}"
    assert "P(safe) = 97 %, and all trials left may take a risk of 1.5 %" in nothing_safe_enough(
        0.97, 0.015, True
    )
    assert "nothing safe was seen" in nothing_safe_enough(0.97, 0.015, False)


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


def test_the_exponent_of_phi_by_hand():
    assert phi_exponent(failed=0, told=0) == 0.5
    assert phi_exponent(failed=0, told=10) == 0.25
    assert phi_exponent(failed=0, told=1000) == 0.25
    assert phi_exponent(failed=1, told=1000) == 1.0


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_exponent_of_phi_falls_with_safe_trials_and_is_whole_after_a_failure(told, more):
    assert 0.25 <= phi_exponent(0, told + more) <= phi_exponent(0, told) < phi_exponent(1, told) == 1.0


def test_a_loop_stops_with_one_failure_too_many_and_where_nothing_was_safe():
    assert (
        stop_reason(0, 0, False)
        == stop_reason(2, 3, False)
        == stop_reason(3, 3, True)
        == stop_reason(9, None, False)
        == ""
    )
    assert stop_reason(3, 3, False) == "3 trials failed and no failure is left"
    assert stop_reason(4, 3, True) == beyond(4, 3)


# -- the decision --------------------------------------------------------------------------------------------

states = st.builds(
    BudgetState, st.floats(-2.4, 2.4), st.integers(1, 60), st.integers(0, 12),
    st.none() | st.integers(1, 60),
)  # fmt: skip
all_settings = st.builds(
    Settings, rho_b=st.floats(0.05, 0.95), delta=st.none() | st.floats(0.001, 0.5),
    safety_first=st.booleans(), soften_phi=st.booleans(),
    keep_last_failure=st.booleans(),
)  # fmt: skip


@st.composite
def situations(draw: st.DrawFn) -> dict[str, Any]:
    """What `decide` is told, with no more failures than trials and no more crashes than failures."""
    told = draw(st.integers(0, 40))
    failed = draw(st.integers(0, told))
    return {
        "state": draw(st.none() | states), "told": told, "failed": failed,
        "crashed": draw(st.integers(0, failed)), "safe_known": told > failed and draw(st.booleans()),
        "settings": draw(all_settings), "controlled": draw(st.booleans()),
        "own_level": draw(st.none() | st.just(0.97)),
    }  # fmt: skip


def slow_decision(
    state, told, failed, crashed, safe_known, settings, controlled, own_level
) -> tuple[str, float, float]:
    """The rules of `decide`, said again one by one."""
    rho = 0.0
    if state is not None and state.failures_left > 0:
        rho = float(ndtr(state.z))
    elif state is not None:
        spread_over = state.end if state.end is not None else state.trials_left
        rho = settings.rho_safe
        if settings.delta is not None:
            rho = max(rho, 1.0 - settings.delta / max(spread_over, 1))
    if told == 0:
        return "start", rho, 1.0
    if own_level is not None:
        return "careful", own_level, 1.0
    if state is None:
        return "free", 0.0, 1.0
    exponent = 1.0
    if controlled and settings.soften_phi and failed == 0:
        exponent = max(5.0 / (10.0 + told), 0.25)
    last_one_is_kept = controlled and safe_known and crashed >= 2 and state.failures_left == 1
    if settings.keep_last_failure and last_one_is_kept:
        return "careful", max(rho, settings.rho_safe), 1.0
    if state.failures_left == 0:
        reasons_to_be_bold = [False]
    elif not controlled:
        reasons_to_be_bold = [True]
    elif safe_known:
        reasons_to_be_bold = [rho <= settings.rho_b]
    else:
        reasons_to_be_bold = [not settings.safety_first, failed < state.failures_left]
    if any(reasons_to_be_bold):
        return "bold", rho, exponent
    return ("careful" if safe_known else "safest"), rho, 1.0


@given(situations())
def test_the_decision_equals_a_slow_restatement_and_is_pure(situation):
    before = copy.deepcopy(situation)
    found = decide(**situation)
    assert (found.mode, found.rho, found.phi_exponent) == slow_decision(**situation)
    assert decide(**situation) == found
    assert situation == before


@given(situations())
def test_no_decision_is_bold_without_a_failure_left_and_none_asks_for_less_than_rho_risk(situation):
    found, state = decide(**situation), situation["state"]
    if state is not None and state.failures_left == 0:
        assert found.mode != "bold"
    if state is not None:
        assert min(situation["settings"].rho_risk, float(ndtr(state.z))) <= found.rho <= 1.0
    assert 0.25 <= found.phi_exponent <= 1.0


# -- trials in flight ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", [1, 2, 3, 5])
def test_the_next_trial_finds_no_failure_left_with_at_most_one_percent(left: int) -> None:
    """Beside a count of every outcome of the trials in flight."""
    rng = np.random.default_rng(left)
    for _ in range(50):
        p = rng.random(rng.integers(1, 7)).tolist()
        rho = share(left, p, PLAIN)
        none_left = sum(
            float(np.prod([q if fails else 1.0 - q for q, fails in zip(p, fate, strict=True)]))
            for fate in product((False, True), repeat=len(p))
            if sum(fate) >= left
        )
        assert (1.0 - rho) * none_left <= 0.01 + 1e-12
        assert 0.0 <= rho <= PLAIN.rho_safe
        if rho > 0.0:
            assert (1.0 - rho) * none_left == pytest.approx(0.01)


def test_fewer_trials_in_flight_than_failures_left_ask_for_nothing() -> None:
    assert share(3, [1.0, 1.0], PLAIN) == 0.0
    assert share(3, [1.0, 1.0, 1.0], PLAIN) == pytest.approx(PLAIN.rho_safe)
    assert share(2, [0.001] * 4, PLAIN) == 0.0


@pytest.mark.parametrize("safe_known", [True, False])
@pytest.mark.parametrize("controlled", [True, False])
def test_where_trials_in_flight_may_use_every_failure_the_next_is_careful(safe_known, controlled):
    def mode(in_flight: float) -> str:
        state = replace(start(20, 3, PLAIN), in_flight=in_flight)
        decision = decide(
            state, told=3, failed=0, crashed=0, safe_known=safe_known, settings=PLAIN,
            controlled=controlled,
        )  # fmt: skip
        assert decision.rho >= in_flight
        return decision.mode

    assert mode(0.3) == "bold"
    assert mode(0.97) == ("careful" if safe_known else "safest")
