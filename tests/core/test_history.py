"""Γ: what a failure is, for one trial and for all of a history."""

import numpy as np
import pytest

from tests.toys import history
from tumble.core.history import violated


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [([], False), ([0.0], False), ([-1.0, -0.0], False), ([-1.0, 1e-300], True), ([np.nan], False),
     ([np.nan, 2.0], True), ([np.nan, -2.0], False)],
)  # fmt: skip
def test_a_constraint_is_violated_above_zero_and_what_was_not_measured_does_not_count(constraints, expected):
    assert violated(np.array(constraints, dtype=float)) is expected


def test_a_history_s_failures_are_its_crashes_and_violations():
    g = np.array([[-1.0, 0.0], [-1.0, 1e-300], [np.nan, np.nan], [np.nan, -1.0], [np.nan, 2.0]])
    y = [1.0, 2.0, np.nan, 3.0, np.nan]
    past = history(np.zeros((5, 2)), y, g, crashed=[False, False, True, False, False])
    assert past.failed.tolist() == [False, True, True, False, True]
    assert past.failed.tolist() == [bool(c) or violated(row) for c, row in zip(past.crashed, g, strict=True)]
    assert past.safe.tolist() == [True, False, False, False, False]
