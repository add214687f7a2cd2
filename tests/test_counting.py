"""What a list of trials comes to."""

from dataclasses import replace

import numpy as np
import pytest

from tumble import Settings, Suggestion, Trial, counting


def trial(number: int, value: float | None = None, g: float | None = None, **more: object) -> Trial:
    constraints = () if g is None else (g,)
    told = Trial(number, None, (0.5,), "told", value=value, constraints=constraints)
    return told if not more else Trial(**{**vars(told), **more})


def suggestion(number: int, p_safe: float) -> Suggestion:
    return Suggestion(number, None, "bold", 0.5, p_safe, 0.0, 1.0, 1, 1)


TRIALS = [
    trial(0, 1.0, -1.0),
    trial(1, 0.5, 1.0),
    trial(3, None, None, crashed=True, billed=False),
    trial(4, 1.0, -2.0),
    trial(7, status="skipped"),
    trial(8, status="pending", suggestion=suggestion(8, 0.5)),
]


def test_counts() -> None:
    assert [t.number for t in counting.told(TRIALS)] == [0, 1, 3, 4]
    assert (counting.failures(TRIALS), counting.used(TRIALS), counting.in_flight(TRIALS)) == (1, 4, 1)
    assert (counting.next_number(TRIALS), counting.next_number([])) == (9, 0)


def test_the_best_is_the_first_of_the_lowest_safe_values() -> None:
    best = counting.best(TRIALS)
    assert best is not None
    assert (best.number, best.value) == (0, 1.0)
    assert counting.best([TRIALS[1]]) is None


@pytest.mark.parametrize(("p_safe", "left"), [(0.5, 2), (0.999, 3)])
def test_without_sharing_a_trial_in_flight_that_may_well_fail_holds_a_failure(
    p_safe: float, left: int
) -> None:
    flying, whole = (
        trial(0, status="pending", suggestion=suggestion(0, p_safe)),
        Settings(share_failures=False),
    )
    assert counting.controller([flying], 9, 3, whole).failures_left == left
    assert counting.controller([flying], 9, 3, whole, reserved=9).failures_left == 0


def test_trials_in_flight_leave_failures_left_as_they_are_and_ask_for_room() -> None:
    flying = [trial(k, status="pending", suggestion=suggestion(k, 0.5)) for k in range(2)]
    state = counting.controller(flying, 9, 2, Settings())
    assert state.failures_left == 2
    assert state.in_flight == pytest.approx(1.0 - 0.01 / 0.25)
    assert counting.controller(flying, 9, 3, Settings()).in_flight == 0.0
    assert counting.controller(flying, 9, 3, Settings(), reserved=1).in_flight == pytest.approx(0.96)
    assert counting.controller(flying, 9, 0, Settings()).in_flight == 0.0  # the rule of the end holds


def test_a_setting_that_nobody_predicted_is_counted_as_one_that_fails() -> None:
    own, unknown = trial(0, status="pending"), trial(1, status="pending", suggestion=suggestion(1, np.nan))
    assert counting.controller([own], 9, 1, Settings()).in_flight == pytest.approx(0.99)
    assert counting.controller([unknown], 9, 1, Settings()).in_flight == pytest.approx(0.98)
    safe = trial(2, status="pending", suggestion=suggestion(2, 0.999))
    assert [t.number for t in counting.holders([own, unknown, safe, TRIALS[0]], 0.99)] == [0, 1]


def test_what_was_not_measured_is_nan_in_the_table() -> None:
    table = counting.history(TRIALS, 1, 1)
    np.testing.assert_array_equal(table.y, [1.0, 0.5, np.nan, 1.0])
    np.testing.assert_array_equal(table.g, [[-1.0], [1.0], [np.nan], [-2.0]])
    assert (table.pending.shape, table.crashed.tolist()) == ((1, 1), [False, False, True, False])


def test_a_trial_that_was_stopped_early_is_guessed_at_the_median_and_is_not_safe() -> None:
    stopped = trial(9, None, -1.0)
    table = counting.history([*TRIALS, stopped], 1, 1)
    np.testing.assert_array_equal(table.y, [1.0, 0.5, np.nan, 1.0, 1.0])
    assert table.safe.tolist() == [True, False, False, True, False]
    assert counting.best([*TRIALS, stopped]) == counting.best(TRIALS)
    alone = counting.history([stopped], 1, 1)
    assert np.isnan(alone.y).all()
    assert not alone.safe.any()


def test_reliability_counts_the_claims_that_held() -> None:
    told = [
        trial(0, 1.0, g, suggestion=suggestion(0, p)) for g, p in ((-1.0, 0.99), (1.0, 0.99), (-1.0, 0.5))
    ]
    found = counting.reliability_of(told, 0.9)
    assert (found.claimed, found.held) == (2, 1)


def test_the_risk_since_the_last_failure_counts_what_was_suggested_then() -> None:
    def at_the_end(number: int, p_safe: float, **more: object) -> Trial:
        made = replace(suggestion(number, p_safe), failures_left=0)
        return trial(number, 1.0, -1.0, suggestion=made, **more)

    trials = [
        trial(0, 1.0, -1.0, suggestion=suggestion(0, 0.5)),
        trial(1, 1.0, 1.0, suggestion=suggestion(1, 0.5)),  # the last failure
        trial(2, 1.0, -1.0, suggestion=suggestion(2, 0.5)),  # was in flight by then
        at_the_end(3, 0.999),
        at_the_end(4, 0.99, status="pending"),
        at_the_end(5, 0.9, status="skipped"),
        at_the_end(6, 0.9, billed=False),
        trial(7, 1.0, -1.0),  # a setting of one's own
        at_the_end(8, np.nan),
    ]
    assert counting.risk_since_spent(trials, 1) == pytest.approx(0.011)
    assert counting.risk_since_spent(trials, 2) == 0.0
    assert counting.controller(trials, 20, 1, Settings()).risk == pytest.approx(0.011)


def test_what_is_never_to_be_tried_says_nothing_of_p_safe() -> None:
    vetoes = [trial(k, crashed=True, billed=False, suggestion=suggestion(k, 0.999)) for k in range(2, 5)]
    tried = [trial(k, 1.0, -1.0, suggestion=suggestion(k, 0.999)) for k in range(2)]
    assert counting.alarm_of([*tried, *vetoes]) == counting.alarm_of(tried)
    assert counting.reliability_of([*tried, *vetoes], 0.9) == counting.reliability_of(tried, 0.9)
    assert counting.alarm_of([*tried, *(replace(t, billed=True) for t in vetoes)]).rings
