"""Data profiles and claims of P(safe), against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality import curves
from benchmarks.quality.scores import Run


def run(regrets, failed, p_safe, rho=None, trials=4, failures=1, budgeted=False):
    n = len(failed)
    return Run(
        "classics", 0, "row", budgeted, trials, failures, np.array(regrets, dtype=float), np.array(failed),
        np.array(p_safe, dtype=float), np.array(rho or [0.0] * n, dtype=float), np.inf, 0.1,
    )  # fmt: skip


def test_a_profile_counts_targets_reached():
    made = run([0.05, 0.02, 0.005, 0.0005], [False] * 4, [1.0] * 4)
    found = curves.profile([made], stopped=False, points=5)
    assert found.solved.tolist() == pytest.approx([0.0, 0.2, 0.4, 0.6, 1.0])


def test_a_stopped_run_keeps_what_it_had():
    made = run([0.05, np.inf, 0.005, 0.0005], [False, True, False, False], [1.0] * 4)
    found = curves.profile([made], stopped=True, points=5)
    assert found.solved.tolist() == pytest.approx([0.0, 0.2, 0.2, 0.2, 0.2])


def test_claims_are_sorted_by_level_and_age():
    made = run([0.1] * 12, [False] * 11 + [True], [0.9] * 10 + [0.9, 0.9], trials=12)
    found = {(c.low, c.age): c for c in curves.claims([made])}
    young, old = found[0.85, (0, 10)], found[0.85, (10, 20)]
    assert (young.n, young.realised.mean) == (10, 0.0)
    assert (old.n, old.realised.mean) == (2, 0.5)
    assert old.claimed_risk == pytest.approx(0.1)


def test_a_claim_of_one_belongs_to_the_highest_level():
    found = curves.claims([run([0.1], [False], [1.0], trials=1)])
    assert [(c.low, c.high) for c in found] == [(0.9995, 1.0)]


def test_failures_below_rho_are_counted():
    made = run([0.1] * 3, [True, True, False], [0.2, 0.6, 0.1], rho=[0.5, 0.5, 0.5])
    assert curves.failures_below_rho([made]) == (1, 2)
