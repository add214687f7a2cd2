"""The settings that keep what is known: which they are, exactly as they are decoded, and some of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_space import spaces
from tumble.errors import InputError
from tumble.known import Region, read_known
from tumble.known.region import column
from tumble.parameters import Categorical, Fixed, Float, Int, Parameter


def region(parameters: dict[str, Parameter], *texts: str) -> Region:
    return Region(parameters, [read_known(text, parameters) for text in texts])


def box(dim: int) -> dict[str, Parameter]:
    return {f"x{j}": Float(0.0, 1.0) for j in range(dim)}


@settings(deadline=None)
@given(spaces, st.integers(0, 10**6))
def test_a_column_is_what_decode_gives_to_the_last_digit(space, seed):
    rng = np.random.default_rng(seed)
    U = np.vstack([rng.random((6, space.dim)), np.zeros(space.dim), np.ones(space.dim)])
    at = 0
    for name, parameter in space.parameters.items():
        found = column(parameter, U[:, at : at + parameter.width])
        at += parameter.width
        decoded = [space.decode(u)[name] for u in U]
        if isinstance(parameter, Categorical):
            numeric = all(isinstance(c, int | float) and not isinstance(c, bool) for c in parameter.choices)
            decoded = [v if numeric else parameter.choices.index(v) for v in decoded]
        np.testing.assert_array_equal(found, np.array(decoded, dtype=float))


def test_a_column_of_a_fixed_parameter_is_its_value():
    np.testing.assert_array_equal(column(Fixed(2.5), np.empty((3, 0))), [2.5, 2.5, 2.5])
    np.testing.assert_array_equal(column(Fixed("oil"), np.empty((3, 0))), [0.0, 0.0, 0.0])


def test_points_are_allowed_where_every_constraint_holds():
    found = region(box(2), "x0 + x1 <= 1", "x0 >= 0.2")
    np.testing.assert_array_equal(
        found.allows(np.array([[0.3, 0.3], [0.1, 0.3], [0.9, 0.3]])), [True, False, False]
    )
    assert found.broken(np.array([0.1, 0.95])) == ["x0 + x1 <= 1", "x0 >= 0.2"]


@pytest.mark.parametrize(
    ("dim", "texts"),
    [
        (2, ["x0 + x1 <= 1"]),
        (2, ["x0 * x1 <= 0.001"]),
        (3, ["x0 + x1 + x2 <= 0.1"]),  # a share of 1.7e-4
        (10, [" + ".join(f"x{j}" for j in range(10)) + " <= 0.1"]),  # a share of 3e-17
        (3, ["abs(x0**2 + x1**2 - 0.5) <= 1e-4", "x2 <= 0.01"]),
        (4, ["x0 < x1 < x2 < x3", "x3 - x0 <= 0.02"]),
    ],
)
def test_points_inside_are_found_however_small_their_share_is(dim, texts):
    found = region(box(dim), *texts)
    assert found.inside.shape == (256, dim)
    assert found.allows(found.inside).all()
    assert len(np.unique(found.inside, axis=0)) > 200


def test_points_inside_spread_over_a_thin_ring():
    inside = region(box(2), "abs(x0**2 + x1**2 - 0.5) <= 1e-3").inside
    angles = np.sort(np.arctan2(inside[:, 1], inside[:, 0]))
    assert np.diff(angles, prepend=0.0, append=np.pi / 2).max() < 0.3


def test_points_inside_are_the_same_ones_every_time():
    np.testing.assert_array_equal(
        region(box(3), "x0 + x1 <= 0.01").inside, region(box(3), "x0 + x1 <= 0.01").inside
    )


def test_whole_numbers_may_be_equal_to_something():
    parts: dict[str, Parameter] = {name: Int(0, 50) for name in "abc"}
    found = region({**parts, "kind": Categorical(("x", "y", "z"))}, "a + b + c == 50", 'kind == "y"')
    assert found.allows(found.inside).all()
    assert len(np.unique(found.inside[:, 0].round(2))) > 5


@pytest.mark.parametrize("texts", [["x0 >= 1.2"], ["x0 <= 0.2", "x0 >= 0.8"], ["sqrt(-x0 - 1) <= 1"]])
def test_where_no_setting_is_found_it_says_so(texts):
    with pytest.raises(InputError, match=r"no setting was found that keeps what is known \(\"") as refused:
        region(box(2), *texts).inside  # noqa: B018
    assert "loosen it, or widen them" in str(refused.value)


def test_there_are_at_most_a_hundred_known_constraints():
    with pytest.raises(InputError, match="there are at most 100 known constraints, but 101 came"):
        region(box(1), *["x0 <= 0.5"] * 101)
