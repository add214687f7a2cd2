"""One line, two readings: what a run had when it was stopped, and what it had at the end."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality.scores import Run

FAILED = [False, True, False, True, False, True, False]
REGRETS = [0.5, None, 0.3, None, 0.2, None, 0.1]


def line(method="optuna", failures=2, **changes):
    made = {
        "family": "classics", "problem": "classics:7", "block": "GPSampler", "method": method, "trials": 10,
        "failures": failures, "regrets": REGRETS, "failed": FAILED, "p_safe": [None] * 7, "rho": [None] * 7,
        "start": 0.9, "seconds_total": 1.0,
    }  # fmt: skip
    return {**made, **changes}


def test_a_peer_is_stopped_when_its_budget_is_spent():
    run = Run.of(line())
    assert run.stopped.n_trials == 4
    assert run.stopped.regret == 0.3
    assert (run.stopped.n_failures, run.stopped.beyond) == (2, 0)
    assert run.stopped.omega == pytest.approx(20.0)


def test_a_method_with_a_controller_goes_on_until_a_failure_beyond_b():
    run = Run.of(line(method="xsf"))
    assert run.stopped.n_trials == 6
    assert run.stopped.regret == 0.2
    assert run.stopped.beyond == 1
    assert run.prefix.n_trials == 4


def test_left_to_go_on_all_trials_count():
    run = Run.of(line())
    assert run.whole.regret == 0.1
    assert (run.whole.n_failures, run.whole.beyond) == (3, 1)


def test_without_a_safe_trial_the_regret_is_infinite():
    run = Run.of(line(start=None, regrets=[None] * 7, failed=[True] * 7))
    assert run.whole.regret == np.inf
    assert run.stopped.n_trials == 2


def test_the_start_counts_before_the_first_trial():
    run = Run.of(line())
    assert run.best_after(9).tolist() == [0.9, 0.5, 0.5, 0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1]


def test_no_budget_at_all_stops_a_peer_at_once():
    assert Run.of(line(failures=0)).stopped.n_trials == 0
