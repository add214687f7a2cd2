"""What the trials left can gain: by hand, at its ends, and as every suggestion reports it."""

import numpy as np
import pytest

import tumble
from tumble.core.gain import MARGIN, NOISE, Gain, gain, is_too_little, recent_fall

SOME = np.array([5.5, 4.0, np.inf, 3.0])


def test_a_future_in_which_nothing_is_lower_gains_nothing():
    assert gain(5.0, np.array([5.0, 7.0, np.inf]), 0.0, 10, 10) == Gain(0.0, 0.0)


def test_the_gain_by_hand():
    found = gain(5.0, SOME, noise=0.1, trials_left=2, told=18, fall=3.0)
    expected = 2 / 20 * (0.0 + 1.0 + 0.0 + 2.0) / 4 + 2 / 4 * 3.0  # the latest are 4 of 18
    assert found.expected == pytest.approx(expected)
    assert found.bound == pytest.approx(MARGIN * expected + NOISE * 0.1)


def test_the_share_of_a_future_is_that_of_the_trials_left_in_which_it_is_found():
    """An independent check: the place of f* among k + n trials in a random order, drawn many times."""
    rng, k, n = np.random.default_rng(0), 7, 13
    found_late = np.mean([rng.permutation(k + n)[0] >= n for _ in range(20_000)])
    assert gain(1.0, np.zeros(1), 0.0, k, n).expected == pytest.approx(found_late, abs=0.01)


@pytest.mark.parametrize("trials_left", [1, 3, 6, 40])
def test_a_search_that_falls_steadily_goes_on_to_fall_for_as_many_trials_as_were_looked_at(trials_left):
    """An independent check: the curve itself, which falls by 3 a trial, goes on."""
    curve = np.linspace(100.0, -197.0, 100)
    told, to_come = curve[:24], curve[24:]
    found = gain(told[-1], np.full(20, told[-1]), 0.0, trials_left, 24, recent_fall(told))
    assert found.expected == pytest.approx(told[-1] - to_come[: min(trials_left, 6)].min())


@pytest.mark.parametrize(
    ("values", "fall"),
    [
        ([5.0], 0.0),
        ([9.0, 5.0, 4.0], 1.0),  # of fewer than eight the last one counts
        ([9.0, 5.0, 6.0, 4.5, 6.0, 5.0, 4.0, 3.0], 1.5),
        ([5.0, 4.0, 4.5, 6.0], 0.0),
        ([np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, 7.0, 5.0], 2.0),  # nothing was safe before
        ([np.inf, 8.0, np.inf, 7.0], 1.0),
    ],
)
def test_the_latest_quarter_of_the_trials_lowered_the_best_by(values, fall):
    assert recent_fall(np.array(values)) == fall


@pytest.mark.parametrize("seed", range(20))
def test_the_recent_fall_is_that_of_the_running_best(seed):
    """An independent check: trial by trial, with what is best so far."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(29)
    values[rng.random(29) < 0.3] = np.inf
    best, path = np.inf, []
    for value in values:
        best = value if value < best else best
        path.append(best)
    assert recent_fall(values) == path[21] - path[28]  # the latest are 7 of 29


def test_what_was_gained_lately_counts_where_the_processes_see_nothing():
    sure = np.full(20, 5.0)
    found = gain(5.0, sure, noise=0.0, trials_left=10, told=10, fall=0.75)
    assert found == Gain(0.75, MARGIN * 0.75)
    assert gain(5.0, sure, noise=0.0, trials_left=0, told=10, fall=0.75) == Gain(0.0, 0.0)


def test_without_a_trial_left_there_is_no_gain():
    assert gain(5.0, SOME, 1.0, trials_left=0, told=15) == Gain(0.0, 0.0)


def test_more_trials_gain_more_and_the_units_are_the_user_s():
    few, many = (gain(5.0, SOME, 0.1, k, 15) for k in (5, 50))
    assert few.expected < many.expected
    assert few.bound < many.bound
    larger = gain(500.0, 100.0 * SOME, 10.0, 5, 15)
    assert (larger.expected, larger.bound) == pytest.approx((100.0 * few.expected, 100.0 * few.bound))


@pytest.mark.parametrize(
    ("bound", "least", "expected"),
    [(0.1, 0.2, True), (0.2, 0.2, False), (None, 0.2, False), (0.1, None, False)],
)
def test_too_little_is_known_and_asked_for(bound, least, expected):
    assert is_too_little(bound, least) is expected


def run(trials: int, scale: float = 1.0, **more) -> tumble.Optimizer:
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, trials, 3, constraints=1, seed=0, **more)
    opt.tell([0.2, 0.2], scale * 0.3, [-0.2], billed=False)
    for _ in range(trials):
        s = opt.ask()
        opt.tell(s, scale * float(np.sum((s.x - 0.4) ** 2)), [s.x[0] - 0.7])
    return opt


def test_the_bound_falls_as_the_search_converges():
    opt = run(24)
    said = [t.suggestion for t in opt.trials if t.suggestion is not None]
    bounds = [s.gain_bound for s in said if s.gain_bound is not None]
    assert len(bounds) == len(said) - 4  # so many values say nothing
    assert said[-1].expected_gain is not None
    assert bounds[-1] < 0.1 * bounds[0]
    assert opt.gain == Gain(said[-1].expected_gain, max(bounds[-5:]))


def test_the_units_of_the_gain_are_those_of_the_objective():
    one, thousand = run(6).gain, run(6, 1000.0).gain
    assert one is not None
    assert thousand is not None
    assert thousand.expected == pytest.approx(1000.0 * one.expected, rel=1e-6)


def test_the_gain_does_not_depend_on_an_offset():
    def first_gain(offset):
        opt = tumble.Optimizer([(0.0, 1.0)] * 2, 9, 3, seed=0)
        for k in range(4):
            opt.tell([0.2, 0.2 * k], offset + 0.3 - 0.02 * k)
        fourth = opt.ask()
        opt.tell(fourth, offset + 0.1)
        return fourth.expected_gain, opt.ask().expected_gain

    none, here = first_gain(0.0)
    assert none is None
    assert first_gain(1e4) == (None, pytest.approx(here, rel=1e-3))


def test_nothing_is_said_before_something_safe_is_known_and_with_paper():
    opt = tumble.Optimizer([(0.0, 1.0)], 9, 3, constraints=1, seed=0)
    assert opt.gain is None
    assert opt.ask().gain_bound is None  # start
    opt.tell(0, 1.0, [1.0])
    assert opt.ask().expected_gain is None  # nothing safe
    assert run(6, settings="paper").gain is None


def test_a_suggestion_is_the_same_whether_its_gain_is_reported_or_not():
    from tumble.core.algorithm import propose
    from tumble.methods import METHODS

    opt = run(5)
    history, _ = opt.models()
    plain, told = (
        propose(history, None, METHODS["ei"], opt.settings, np.random.default_rng(1), trials_left=k)
        for k in (None, 5)
    )
    np.testing.assert_array_equal(plain.x, told.x)
    assert plain.gain is None
    assert told.gain is not None


def test_what_is_said_is_saved_and_read_again():
    opt = run(3)
    again = tumble.Optimizer.from_dict(opt.to_dict())
    assert again.gain == opt.gain
