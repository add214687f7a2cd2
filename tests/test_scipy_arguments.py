"""SciPy's `Bounds` and constraint objects: known beforehand, and worked out without a trial."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import Bounds
from scipy.sparse import csr_array

import tumble
from tumble.scipy_arguments import as_box, read_constraints
from tumble.space import Categorical, Fixed, Float, Int, Space

LinearConstraint: Any = optimize.LinearConstraint
NonlinearConstraint: Any = optimize.NonlinearConstraint
SQUARE = Space.from_bounds([(0.0, 1.0), (0.0, 1.0)])
MIXED = Space({"x": Float(0.0, 1.0), "n": Int(1, 4), "kind": Categorical(("a", "b", "c")), "held": Fixed(2)})
NUMBERS = Space({"x": Float(0.0, 1.0), "gear": Categorical((1, 2, 5))})


def holds(space, constraint, setting, boxed=True):
    return space.with_known(read_constraints(constraint, space, boxed)).broken(setting) == []


def test_bounds_are_pairs():
    np.testing.assert_array_equal(as_box(Bounds([0.0, 1.0], [2.0, 3.0])), [[0.0, 2.0], [1.0, 3.0]])
    np.testing.assert_array_equal(as_box(Bounds([0.0, 1.0], 5.0)), [[0.0, 5.0], [1.0, 5.0]])
    assert as_box(SQUARE) is SQUARE


@pytest.mark.parametrize("A", [[1.0, 2.0], [[1.0, 2.0]], csr_array([[1.0, 2.0]])])
def test_a_linear_constraint_is_a_limit_of_a_sum(A):
    constraint = LinearConstraint(A, -np.inf, 1.0)
    assert holds(SQUARE, constraint, [0.5, 0.25])
    assert not holds(SQUARE, constraint, [0.5, 0.26])


def test_a_linear_constraint_of_several_rows_holds_where_all_of_them_do():
    constraint = LinearConstraint([[1.0, 0.0], [0.0, 1.0]], [0.2, 0.3], np.inf)
    assert holds(SQUARE, constraint, [0.2, 0.3])
    assert not holds(SQUARE, constraint, [0.1, 0.3])


def test_a_linear_constraint_is_told_in_words():
    texts = [
        rule.text
        for rule in read_constraints(
            [
                LinearConstraint([1.0, -2.0], 0.1, 1.0),
                LinearConstraint([1.0, 0.0], -np.inf, 0.5),
                LinearConstraint(np.eye(2), 0.0, 1.0),
            ],
            SQUARE,
            True,
        )
    ]
    assert texts == ["0.1 <= 1 x0 - 2 x1 <= 1", "1 x0 <= 0.5", "LinearConstraint of 2 rows"]


def test_a_nonlinear_constraint_takes_what_the_function_takes():
    def ring(x):
        assert x.shape == (2,)
        return x @ x

    assert holds(SQUARE, NonlinearConstraint(ring, 0.2, 0.5), [0.5, 0.2])
    assert not holds(SQUARE, NonlinearConstraint(ring, 0.2, 0.5), [0.1, 0.2])
    setting = {"x": 0.25, "n": 3, "kind": "b", "held": 2}
    seen = []
    constraint = NonlinearConstraint(lambda p: seen.append(p) or [p["x"], p["n"]], [0.0, 1.0], [1.0, 3.0])  # type: ignore[func-returns-value]
    assert holds(MIXED, constraint, setting, boxed=False)
    assert seen[-1] == setting
    assert [type(value) for value in seen[-1].values()] == [float, int, str, int]


def test_numbers_that_are_choices_stay_what_they_are():
    seen = []
    constraint = NonlinearConstraint(lambda p: seen.append(p["gear"]) or p["gear"], 0, 4)  # type: ignore[func-returns-value]
    assert not holds(NUMBERS, constraint, {"x": 0.5, "gear": 5}, boxed=False)
    assert (seen[-1], type(seen[-1])) == (5, int)
    assert holds(NUMBERS, LinearConstraint([1.0, 1.0], 0.0, 3.0), {"x": 0.5, "gear": 2})


def test_a_constraint_as_a_dict_means_at_least_zero():
    assert holds(SQUARE, {"type": "ineq", "fun": lambda x, c: x[0] - c, "args": (0.4,)}, [0.4, 0.0])
    assert holds(SQUARE, {"type": "ineq", "fun": lambda x, c: x[0] - c, "args": 0.4}, [0.4, 0.0])
    assert not holds(SQUARE, [{"type": "ineq", "fun": lambda x: x[0] - 0.4}], [0.3, 0.0])


def test_where_a_function_is_not_finite_its_constraint_does_not_hold():
    assert not holds(
        SQUARE, NonlinearConstraint(lambda x: np.nan if x[0] < 0.5 else 0.0, -1.0, 1.0), [0.3, 0.3]
    )


def test_whole_numbers_may_be_equal_to_something():
    parts = Space({name: Int(0, 20) for name in "abc"})
    assert holds(parts, LinearConstraint([1, 1, 1], 20, 20), {"a": 3, "b": 7, "c": 10})


@pytest.mark.parametrize(
    ("space", "constraint", "message"),
    [
        (SQUARE, ["a", "b"], "constraints that a trial measures are what fun returns.*not 'a'"),
        (SQUARE, 2, "constraints that a trial measures are what fun returns.*not 2"),
        (SQUARE, LinearConstraint([1.0], 0.0, 1.0), r"needs 2 columns \(x0, x1\), not 1"),
        (SQUARE, LinearConstraint([1.0, 1.0], 0.5, 0.5), "lb = ub is an equality of real numbers"),
        (SQUARE, NonlinearConstraint(lambda x: x[0], 0.5, 0.5), "lb = ub is an equality of real numbers"),
        (
            SQUARE,
            NonlinearConstraint(lambda x: x[0], 1.0, 0.0),
            r"lb must be at most ub, but 1\.0 and 0\.0 came",
        ),
        (SQUARE, NonlinearConstraint(lambda x: x, [0.0] * 3, 1.0), "must have 2 values, or one"),
        (SQUARE, {"type": "eq", "fun": lambda x: x[0]}, 'expected {"type": "ineq", "fun": ...}'),
        (SQUARE, NonlinearConstraint(lambda x: None, 0.0, 1.0), "must be a number or a list.*, not None"),
        (SQUARE, NonlinearConstraint(lambda x: "a", 0.0, 1.0), "must be a number or a list of .*, not 'a'"),
        (SQUARE, NonlinearConstraint(lambda x: [[x[0]]], 0.0, 1.0), "must be a number or a list of numbers"),
        (
            SQUARE,
            NonlinearConstraint(lambda x: [0.5] * (1 + (x[0] > 0.5)), 0.0, 1.0),
            "must always return as many numbers, but 1 and 2 came",
        ),
        (MIXED, LinearConstraint([1, 1, 1, 1], 0, 3), "needs numbers, but 'kind' is a choice"),
        (SQUARE, LinearConstraint([1.0, 1.0], 5.0, 6.0), "no setting was found that keeps what is known"),
    ],
)
def test_what_is_no_known_constraint_is_refused(space, constraint, message):
    with pytest.raises(tumble.InputError, match=message):
        space.with_known(read_constraints(constraint, space, True))


@pytest.mark.parametrize("known", [None, 3, [3], b"x0 <= 1"])
def test_what_known_does_not_take_is_refused_by_that_name(known):
    with pytest.raises(tumble.InputError, match=r'known takes texts, such as "x0 .* beforehand; not '):
        tumble.minimize(lambda x: x[0], [(0.0, 1.0)], trials=1, known=known)
