"""Numbers of a table, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.reporting import figures
from experiments.runs import statistics
from tests.runs import finished, inline

__all__ = ["inline"]  # a fixture


def test_a_cell_never_mixes_settings_and_says_what_it_left_out():
    old = finished(seed=1, settings_hash="old", started="2025-01-01T00:00:00")
    cell = statistics.cells([old, finished(seed=2), finished(seed=0)])["michalewicz10", "xs", "default"]
    assert cell.seeds == (0, 2)
    assert cell.replaced == 1


def test_only_the_seeds_asked_for_enter_a_cell():
    lines = [finished(seed=s) for s in (0, 1000, 1001)]
    assert statistics.cells(lines, range(1000, 1040))["michalewicz10", "xs", "default"].seeds == (1000, 1001)


def test_a_paired_test_uses_the_shared_seeds_and_knows_which_is_worse():
    def cell(offset, seeds):
        lines = tuple(finished(seed=s, regret=offset + 0.01 * s) for s in seeds)
        return statistics.Cell("f", "m", "b", lines)

    test = statistics.paired(cell(0.5, range(12)), cell(0.1, range(2, 14)))
    assert test.n == 10
    assert test.p < 0.01
    assert test.worse
    assert not statistics.paired(cell(0.1, range(12)), cell(0.5, range(12))).worse
    assert statistics.paired(cell(0.1, range(5)), cell(0.1, range(5))).p == 1.0


def test_average_ranks_share_ties():
    ranks = statistics.average_ranks([{"a": 1.0, "b": 1.0, "c": 2.0}, {"a": 1.0, "b": 3.0, "c": 2.0}])
    assert ranks == {"a": 1.25, "b": 2.25, "c": 2.5}


def test_claims_of_safety_are_counted_against_what_happened():
    assert statistics.claimed_and_kept([finished()]) == (2, 0)
    assert statistics.claimed_and_kept([finished()], threshold=0.2) == (3, 1)


def test_the_trial_at_which_a_budget_is_gone():
    assert statistics.exhausted_at({"failures": 2, "failed": [True, False, True, False]}) == 3
    assert statistics.exhausted_at({"failures": 5, "failed": [True, False]}) is None
    assert statistics.exhausted_at({"failures": None, "failed": [True]}) is None
    assert statistics.exhausted_at({"failures": 0, "failed": [False]}) == 0


def test_curves_of_stopped_runs_keep_their_last_value():
    cell = statistics.Cell("f", "m", "b", (finished("michalewicz10-constrained"),))
    np.testing.assert_array_equal(figures.regret_curves(cell, 5), [[1.0, 0.8, 0.5, 0.5, 0.5]])
    np.testing.assert_array_equal(figures.failures_left(cell, 5), [[2, 2, 1, 1, 1]])
    assert np.isnan(figures.rho(cell.lines[0], 5)[2:]).all()


def test_a_spread_is_that_of_the_sample_and_one_value_has_none():
    assert statistics.sample_std([1.0, 2.0, 3.0]) == pytest.approx(1.0)
    np.testing.assert_array_equal(statistics.sample_std([[1.0, 0.0], [3.0, np.nan]]), [np.sqrt(2.0), np.nan])
    assert statistics.mean_and_std(np.array([1.0, 2.0, 3.0]), "{:.1f}".format) == "2.0 ± 1.0"
    assert statistics.mean_and_std(np.array([2.0]), "{:.1f}".format) == "2.0 ± -"
