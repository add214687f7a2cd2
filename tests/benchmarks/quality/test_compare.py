"""Wins, ranks, intervals and Holm's correction, against counting by hand and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, rankdata

from benchmarks.quality import compare

regret = st.one_of(st.just(np.inf), st.floats(0.0, 1.0))


def test_a_win_needs_a_margin():
    assert compare.won(0.1, 0.2) == 1.0
    assert compare.won(0.2, 0.1) == 0.0
    assert compare.won(0.1, 0.1005) == 0.5
    assert compare.won(np.inf, np.inf) == 0.5
    assert compare.won(3.0, np.inf) == 1.0


@given(regret, regret)
def test_one_s_win_is_the_other_s_loss(a, b):
    assert compare.won(a, b) + compare.won(b, a) == 1.0


@given(st.lists(st.integers(0, 5), min_size=2, max_size=8))
def test_ranks_are_those_of_scipy_where_regrets_are_far_apart(values):
    found = compare.ranks({str(i): float(v) for i, v in enumerate(values)})
    assert list(found.values()) == pytest.approx(rankdata(values))


def test_an_interval_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        values = {("a", i): float(v) for i, v in enumerate(rng.normal(0.5, 1.0, 40))}
        found = compare.over_problems(values)
        covered += found.low <= 0.5 <= found.high
    assert 180 <= covered <= 199


def test_problems_are_resampled_within_their_families():
    values = {("a", i): 0.0 for i in range(5)} | {("b", i): 1.0 for i in range(5)}
    found = compare.over_problems(values)
    assert (found.low, found.mean, found.high) == (0.5, 0.5, 0.5)


def test_ranks_are_over_the_problems_that_all_have_run():
    scores = {("a", 0): {"x": 0.1, "y": 0.5}, ("a", 1): {"x": 0.1}}
    found = compare.mean_ranks(scores, ["x", "y"])
    assert found["x"].n == 1
    assert (found["x"].mean, found["y"].mean) == (1.0, 2.0)


def test_holm_is_the_textbook_s():
    assert compare.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert compare.holm([]) == []


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(values):
    corrected = compare.holm(values)
    assert all(c >= p for c, p in zip(corrected, values, strict=True))
    order = np.argsort(values, kind="stable")
    assert np.all(np.diff(np.array(corrected)[order]) >= 0.0)


def test_a_rival_that_always_wins_beats_us_in_its_family_only():
    scores = {("a", i): {"x": 0.5, "y": 0.1} for i in range(12)}
    scores |= {("b", i): {"x": 0.1, "y": 0.5} for i in range(12)}
    found = {duel.family: duel for duel in compare.duels(scores, "x", ["y"])}
    assert found["a"].beaten
    assert not found["b"].beaten
    assert found["a"].p == pytest.approx(2 * 2 * 0.5**12)


def test_a_share_is_resampled_by_whole_runs():
    alike = [np.array([True, False])] * 10
    found = compare.resampled_share(alike)
    assert (found.mean, found.low, found.high, found.n) == (0.5, 0.5, 0.5, 20)


@pytest.mark.parametrize("n", [1, 14, 300])
def test_a_share_of_none_or_of_all_has_the_exact_end(n):
    none, every = (compare.resampled_share([np.full(n, flag)]) for flag in (False, True))
    exact = binomtest(0, n).proportion_ci(0.95, method="exact")
    assert (none.mean, none.low, every.mean, every.high) == (0.0, 0.0, 1.0, 1.0)
    assert none.high == pytest.approx(exact.high)
    assert every.low == pytest.approx(1.0 - exact.high)


def test_one_problem_a_family_still_has_an_interval():
    found = compare.over_problems({("a", 0): 0.0, ("b", 0): 1.0, ("c", 0): 1.0})
    assert found.low < found.mean < found.high


def test_few_problems_are_counted_and_given_no_interval():
    few, many = (compare.over_problems({("a", k): k / 2 % 1.5 for k in range(n)}) for n in (3, 9))
    assert (str(few), few.percent) == ("0.50 (n = 3)", "1.5 of 3")
    assert str(many).startswith("0.50 [0.")
    assert many.percent.startswith("50 % [")
