"""Parameters to the unit cube and back."""

from __future__ import annotations

import json
import math
from decimal import Context, Inexact, localcontext
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tumble
from tumble.errors import InputError
from tumble.space import Categorical, Fixed, Float, Int, Parameter, Space


@st.composite
def floats(draw: st.DrawFn) -> Parameter:
    low = draw(st.floats(-1e6, 1e6))
    high = low + draw(st.floats(1e-3, 1e6))
    kind = draw(st.sampled_from(["linear", "log", "step"]))
    if kind == "log":
        low = draw(st.floats(1e-8, 1e3))
        return Float(low, low * draw(st.floats(1.1, 1e8)), log=True)
    return Float(low, high, step=(high - low) / draw(st.floats(1.0, 50.0)) if kind == "step" else None)


@st.composite
def ints(draw: st.DrawFn) -> Parameter:
    if draw(st.booleans()):
        low = draw(st.integers(1, 10**4))
        return Int(low, low + draw(st.integers(1, 10**9)), log=True)
    low, span = draw(st.integers(-(10**6), 10**6)), draw(st.integers(1, 10**6))
    return Int(low, low + span, step=draw(st.integers(1, span)))


CHOICES = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3) | st.floats(-1, 1)
categoricals = st.lists(CHOICES, min_size=2, max_size=5, unique=True).map(
    lambda choices: Categorical(tuple(choices))
)
parameters = floats() | ints() | categoricals
spaces = st.lists(parameters, min_size=1, max_size=5).map(
    lambda ps: Space({f"p{i}": p for i, p in enumerate(ps)})
)


@st.composite
def spaces_and_points(draw: st.DrawFn) -> tuple[Space, np.ndarray]:
    space = draw(spaces)
    return space, draw(arrays(float, (draw(st.integers(1, 6)), space.dim), elements=st.floats(-0.5, 1.5)))


@given(spaces_and_points())
@settings(deadline=None)
def test_snapping_stays_in_the_cube_and_twice_is_once(case: tuple[Space, np.ndarray]) -> None:
    space, points = case
    once = space.snap(points)
    assert once.shape == points.shape
    assert (once >= 0).all()
    assert (once <= 1).all()
    np.testing.assert_array_equal(space.snap(once), once)


@given(spaces_and_points())
@settings(deadline=None)
def test_decoding_a_point_and_its_snapped_twin_gives_the_same_values(case: tuple[Space, np.ndarray]) -> None:
    space, points = case
    for raw, snapped in zip(points, space.snap(points), strict=True):
        assert space.decode(raw) == space.decode(snapped)


@given(spaces_and_points())
@settings(deadline=None)
def test_encoding_what_was_decoded_gives_the_snapped_point(case: tuple[Space, np.ndarray]) -> None:
    space, points = case
    for raw, snapped in zip(points, space.snap(points), strict=True):
        np.testing.assert_allclose(space.encode(space.decode(raw)), snapped, atol=2e-7)


@given(spaces_and_points())
@settings(deadline=None)
def test_decoded_values_are_admissible_and_of_the_right_type(case: tuple[Space, np.ndarray]) -> None:
    space, points = case
    for point in points:
        for name, value in space.decode(point).items():
            parameter = space.parameters[name]
            if isinstance(parameter, Categorical):
                assert any(value is c or value == c for c in parameter.choices)
            elif not isinstance(parameter, Fixed):
                assert type(value) is (float if isinstance(parameter, Float) else int)
                assert parameter.low <= value <= parameter.high


@given(spaces)
@settings(deadline=None)
def test_a_space_survives_json(space: Space) -> None:
    again = Space.from_dict(json.loads(json.dumps(space.to_dict())))
    assert again == space
    assert hash(again) == hash(space)
    assert again.names == space.names


@given(ints(), st.floats(0, 1))
@settings(deadline=None)
def test_no_integer_is_nearer_than_the_snapped_one(parameter: Int, u: float) -> None:
    point = np.array([[u]])
    distance = abs(parameter.snap(point)[0, 0] - u)
    value = parameter.decode(point[0])
    for other in (value - parameter.step, value + parameter.step):
        if parameter.low <= other <= parameter.high:
            assert distance <= abs(parameter.encode(other)[0] - u) + 1e-9


def test_dimensions_follow_the_parameters() -> None:
    space = Space(
        {"a": Float(0, 1), "b": Int(1, 5), "c": Categorical(("x", "y")), "d": Categorical((1, 2, 3))}
    )
    assert space.dim == 1 + 1 + 1 + 3
    assert space.names == ("a", "b", "c", "d")
    assert not space.is_continuous
    assert "Float" in repr(space)


def test_a_box_is_continuous_and_linear() -> None:
    space = Space.from_bounds([[0, 2], [-1, 1]])
    assert space.is_continuous
    assert space.decode([0.5, 0.25]) == {"x0": 1.0, "x1": -0.5}
    np.testing.assert_allclose(space.encode([1.0, -0.5]), [0.5, 0.25])
    points = np.random.default_rng(0).random((7, 2))
    np.testing.assert_array_equal(space.snap(points), points)


def test_the_ends_are_reached_exactly() -> None:
    space = Space({"a": Float(0.1, 0.7), "b": Float(1e-5, 0.3, log=True), "c": Int(3, 1000, log=True)})
    assert space.decode(np.zeros(3)) == {"a": 0.1, "b": 1e-5, "c": 3}
    assert space.decode(np.ones(3)) == {"a": 0.7, "b": 0.3, "c": 1000}


@given(
    st.floats(1e-6, 1e6).map(lambda v: float(f"{v:.12g}")),
    st.floats(1.5, 1e9), st.floats(0.0, 1.0), st.floats(0.0, 1.0),
)  # fmt: skip
def test_a_value_on_a_log_scale_comes_back_as_it_was_given(
    low: float, ratio: float, t: float, u: float
) -> None:
    parameter = Float(low, low * ratio, log=True)
    given_value = min(max(float(f"{low * ratio**t:.12g}"), low), low * ratio)
    assert parameter.decode(parameter.encode(given_value)) == given_value
    assert low <= parameter.decode(np.array([u])) <= low * ratio


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_value_comes_back_as_it_was_given(low: float, span: float, t: float, u: float) -> None:
    low, high = round(low, 3), round(low, 3) + round(span, 3)
    parameter, value = Float(low, high), min(max(round(low + t * span, 4), low), high)
    assert parameter.decode(parameter.encode(value)) == value
    assert low <= parameter.decode(np.array([u])) <= high


@given(st.sampled_from([Int(0, 2**53), Int(-(2**52), 2**52), Int(1, 2**46, log=True)]), st.data())
def test_a_whole_number_comes_back_from_the_widest_ranges(parameter: Int, data: st.DataObject) -> None:
    ends = st.integers(parameter.high - 1000, parameter.high)
    value = data.draw(st.integers(parameter.low, parameter.high) | ends)
    assert parameter.decode(parameter.encode(value)) == value


@pytest.mark.parametrize(
    "parameter", [Float(1e-3, 1.0, log=True), Float(-1.3, 1.0), Float(-0.7, 1.1)], ids=repr
)
@pytest.mark.parametrize("limit", [0.1, 0.2, 0.3, 0.6, 0.7])
def test_a_setting_on_a_known_limit_keeps_it(parameter: Float, limit: float) -> None:
    space = Space({"r": parameter}, known=[f"r <= {limit}"])
    space.check_known({"r": limit})
    found = tumble.minimize(lambda s: (s["r"], [-1.0]), space, 1, 1, x0=[{"r": limit}], seed=0)
    assert found.x == {"r": limit}


def test_log_parameters_are_even_in_the_logarithm() -> None:
    space = Space({"rate": Float(1e-4, 1.0, log=True), "width": Int(1, 10000, log=True)})
    assert space.decode([0.5, 0.5]) == {"rate": pytest.approx(1e-2), "width": 100}


def test_steps_are_written_as_a_person_would() -> None:
    space = Space({"a": Float(0.0, 1.0, step=0.1)})
    assert [space.decode([u])["a"] for u in (0.1, 0.3, 0.7)] == [0.1, 0.3, 0.7]


def test_steps_do_not_depend_on_the_decimal_context_of_the_program() -> None:
    with localcontext(Context(prec=3, traps=[Inexact])):
        assert Float(0.0, 1000.0, step=0.1).decode(np.array([0.1234])) == 123.4


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(2.4e9, 2.4835e9, 0.1), (1.7e9, 1.7e9 + 100.0, 0.01), (1e10, 1e10 + 1.0, 2e-5), (0.0, 1.0, 1e-15),
     (0.0, 1e-320, 1e-321)],
)  # fmt: skip
def test_a_step_that_is_small_beside_the_numbers_keeps_its_values(
    low: float, high: float, step: float
) -> None:
    parameter = Float(low, high, step=step)
    for t in np.random.default_rng(0).random(200):
        value = parameter.decode(np.array([t]))
        assert parameter.decode(parameter.encode(value)) == value


def test_a_number_that_is_refused_is_written_with_the_digits_that_matter() -> None:
    with pytest.raises(InputError, match=r"expected 1e\+10 plus a multiple of 0.125, but 10000000000.2 came"):
        Float(1e10, 1e10 + 1, step=0.125).encode(1e10 + 0.2)
    with pytest.raises(InputError, match=r"expected a number in \[0, 1\], but 1.0000000001 came"):
        Float(0.0, 1.0).encode(1.0000000001)


class Bit(StrEnum):
    HSS = "hss"
    CARBIDE = "carbide"


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


def test_a_member_of_an_enumeration_is_its_value_also_after_saving() -> None:
    space = Space({"bit": Categorical(tuple(Bit)), "size": Categorical(tuple(Size)), "x": Float(0.0, 1.0)})
    again = Space.from_dict(json.loads(json.dumps(space.to_dict())))
    named, plain = {"bit": Bit.CARBIDE, "size": Size.LARGE}, {"bit": "carbide", "size": 2}
    assert {
        tuple(one.encode({**setting, "x": 0.5})) for one in (space, again) for setting in (named, plain)
    } == {(1.0, 1.0, 0.5)}
    with pytest.raises(InputError, match="expected one of"):
        space.encode({**plain, "size": 2.0, "x": 0.5})


def test_a_truth_of_numpy_is_the_one_a_parameter_is_fixed_at() -> None:
    space = Space({"x": Float(0.0, 1.0), "cooled": Fixed(True)})
    assert space.encode({"x": 0.5, "cooled": np.True_}) == 0.5
    with pytest.raises(InputError, match="is fixed at True"):
        space.encode({"x": 0.5, "cooled": np.False_})


def test_the_last_step_does_not_pass_the_upper_bound() -> None:
    space = Space({"a": Float(0.0, 1.0, step=0.3), "b": Int(0, 10, step=4)})
    assert space.decode([1.0, 1.0]) == {"a": 0.9, "b": 8}


def test_one_hot_snaps_to_the_largest_coordinate() -> None:
    space = Space({"c": Categorical(("x", "y", "z"))})
    np.testing.assert_array_equal(space.snap([[0.2, 0.9, 0.8]]), [[0, 1, 0]])
    np.testing.assert_array_equal(space.snap([[0.5, 0.5, 0.5]]), [[1, 0, 0]])


def test_a_value_that_equals_a_choice_of_another_type_is_not_that_choice() -> None:
    space = Space({"c": Categorical((1, "1", None))})
    assert [int(np.argmax(space.encode({"c": c}))) for c in (1, "1", None)] == [0, 1, 2]
    for other in (True, 1.0, "None", math.nan):
        with pytest.raises(InputError, match="expected one of"):
            space.encode({"c": other})


def test_numpy_scalars_are_accepted_as_values() -> None:
    space = Space({"a": Float(0, 1), "b": Int(0, 4), "c": Categorical(("x", "y"))})
    values = {"a": np.float64(0.5), "b": np.int64(2), "c": np.str_("y")}
    np.testing.assert_allclose(space.encode(values), [0.5, 0.5, 1.0])


@pytest.mark.parametrize(
    "choices", [np.arange(3), np.array(["x", "y"]), np.array([0.5, 2.0]), np.array([True, False])]
)
def test_numpy_scalars_among_the_choices_become_python_values(choices: Any) -> None:
    parameter = Categorical(tuple(choices))
    assert [type(choice) for choice in parameter.choices] == [type(choice) for choice in choices.tolist()]
    assert json.loads(json.dumps(parameter.to_dict()))["choices"] == choices.tolist()


F: Any = Float
N: Any = Int
C: Any = Categorical
S: Any = Space  # what a user may pass, whatever the types say


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: F(1.0, 0.0), "swap them"),
        (lambda: F(1.0, 1.0), "give it a range"),
        (lambda: F(math.nan, 1.0), "low must be finite, not nan"),
        (lambda: F(0.0, math.inf), "high must be finite, not inf"),
        (lambda: F("0", 1.0), "low must be a number, not '0'"),
        (lambda: F(-1e308, 1.7e308), "too wide"),
        (lambda: F(0.0, 1.0, log=True), "needs low > 0"),
        (lambda: F(0.1, 1.0, log=True, step=0.1), "log or step, not both"),
        (lambda: F(0.1, 1.0, log="no"), "log must be true or false, not 'no'"),
        (lambda: F(0.0, 1.0, step=0.0), "step must lie in"),
        (lambda: F(0.0, 1.0, step=2.0), "only one value to try"),
        (lambda: F(0.0, 1.0, step=5e-324), "more values than float64 can tell apart"),
        (lambda: F(1e10, 1e10 + 1.0, step=1e-6), "more values than float64 can tell apart"),
        (lambda: N(0, 3.5), "high must be a whole number, not 3.5"),
        (lambda: N(True, 3), "low must be a whole number, not True"),
        (lambda: N(0, math.nan), "high must be a whole number"),
        (lambda: N(4, 4), "give it a range"),
        (lambda: N(0, 4, log=True), "needs low >= 1"),
        (lambda: N(1, 4, log=True, step=2), "log or step, not both"),
        (lambda: N(1, 4, log=np.array([True, False])), "log must be true or false, not array(["),
        (lambda: N(1, 4, step=0), "step must be an integer from 1"),
        (lambda: N(1, 4, step=7), "only one value to try"),
        (lambda: N(0, 2**60), "high must be at most 2^53 in size"),
        (lambda: C(()), "at least two"),
        (lambda: C(("a",)), "add another, or give the parameter one fixed value"),
        (lambda: C("abc"), "must be a list"),
        (lambda: C(("a", "a")), "must differ from each other, but 'a' and 'a' are equal"),
        (lambda: C((1, True)), "must differ from each other, but 1 and True are equal"),
        (lambda: C(("a", False, 0.0)), "but False and 0.0 are equal: drop one of them, or write them as"),
        (lambda: C((2, "2", 2.0)), "but 2 and 2.0 are equal"),
        (lambda: C((math.nan, 1.0)), "a choice can't be nan, which is not equal to itself"),
        (lambda: C((("a",), ("b",))), "a choice must be"),
        (lambda: S({}), "at least one parameter"),
        (lambda: S({"": F(0, 1)}), "non-empty string"),
        (lambda: S({"a": (0, 1)}), "must be a Float, Int, Categorical or Fixed"),
        (lambda: S.from_bounds([[1, 0]]), "bounds of dimension 0: low must be below high"),
        (lambda: S.from_bounds([0, 1]), "shape (D, 2)"),
        (lambda: S.from_bounds([]), "shape (D, 2)"),
        (lambda: S.from_bounds([["a", "b"]]), "must be pairs of numbers"),
        (lambda: S.from_dict([1]), "described by a dict"),
        (lambda: S.from_dict({"a": {"type": "complex"}}), "parameter 'a': expected a dict with"),
        (lambda: S.from_dict({"a": {"type": "int", "lo": 1}}), "unknown or missing keys"),
    ],
)
def test_bad_parameters_say_what_is_wrong(make: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)


MIXED = Space(
    {"a": Float(0, 1), "b": Float(0, 1, step=0.25), "c": Int(0, 8, step=2), "d": Categorical(("x", "y", "z"))}
)
GOOD = {"a": 0.5, "b": 0.25, "c": 4, "d": "x"}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (GOOD | {"a": 1.5}, "parameter 'a': expected a number in [0, 1], but 1.5 came"),
        (GOOD | {"a": math.nan}, "parameter 'a': value must be finite, not nan"),
        (GOOD | {"a": "0.5"}, "value must be a number, not '0.5'"),
        (GOOD | {"b": 0.3}, "parameter 'b': expected 0 plus a multiple of 0.25, but 0.3 came"),
        (GOOD | {"c": 3}, "parameter 'c': expected 0 plus a multiple of 2, but 3 came"),
        (GOOD | {"c": 10}, "expected an integer from 0 to 8"),
        (GOOD | {"c": 2.5}, "value must be a whole number"),
        (GOOD | {"d": "w"}, "expected one of ['x', 'y', 'z'], but 'w' came"),
        (GOOD | {"d": "Y"}, "expected one of ['x', 'y', 'z'], but 'Y' came; did you mean y?"),
        ({"a": 0.5}, "b, c, d are missing; give every parameter a value"),
        ({"a": 0.5, "b": 0.25, "c": 4}, "d is missing; give every parameter a value"),
        (GOOD | {"e": 1}, "there is no parameter 'e'; known are a, b, c, d"),
        ({}, "a, b, c, d are missing"),
        ([0.5, 0.25], "expected 4 values (a, b, c, d), but 2 came"),
        ("abcd", "by name or in this order"),
    ],
)
def test_bad_values_say_what_is_wrong(params: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        MIXED.encode(params)
    assert message in str(caught.value)


def test_points_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(InputError, match="finite coordinates"):
        MIXED.decode([0.5])
    with pytest.raises(InputError, match="finite coordinates"):
        MIXED.decode([math.nan] * 6)
    with pytest.raises(InputError, match="shape"):
        MIXED.snap(np.zeros(6))


def test_spaces_with_another_order_differ() -> None:
    first, second = Float(0, 1), Int(0, 4)
    assert Space({"a": first, "b": second}) != Space({"b": second, "a": first})
    assert Space({"a": first}) != {"a": first}


# ------------------------------------------------------------------------------------------------ fixed


def test_a_fixed_parameter_is_in_every_setting_and_has_no_coordinate():
    space = Space({"speed": Float(0.0, 2.0), "oil": Fixed("mineral"), "passes": Fixed(3)})
    assert (space.dim, space.fixed) == (1, {"oil": "mineral", "passes": 3})
    assert space.decode([0.5]) == {"speed": 1.0, "oil": "mineral", "passes": 3}
    np.testing.assert_array_equal(space.encode({"speed": 1.0, "oil": "mineral", "passes": 3.0}), [0.5])
    np.testing.assert_array_equal(space.snap([[0.2], [0.7]]), [[0.2], [0.7]])
    assert Space.from_dict(space.to_dict()) == space


@pytest.mark.parametrize("value", ["mineral", 3, 2.5, True, None])
def test_a_fixed_value_is_taken_back_as_it_was(value):
    space = Space({"x": Float(0.0, 1.0), "held": Fixed(value)})
    decoded = space.decode([0.25])
    assert decoded["held"] is value
    assert space.encode(decoded) == [0.25]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fixed(np.nan), "a fixed value must be finite"),
        (
            lambda: Fixed([1]),  # type: ignore[arg-type]
            "a fixed value must be text, a number, true or false",
        ),
        (lambda: Space({"a": Fixed(1)}), "every parameter is fixed, so that there is nothing to search"),
        (lambda: Space({"x": Float(0, 1), "a": Fixed(1)}).encode([0.5, 2]), "'a': is fixed at 1, but 2 came"),
        (lambda: Space({"x": Float(0, 1), "a": Fixed(1)}).encode([0.5, True]), "fixed at 1, but True came"),
        (lambda: Space({"x": Float(0, 1), "a": Fixed(1)}).encode([0.5, "1"]), "fixed at 1, but '1' came"),
    ],
)
def test_a_fixed_value_that_cannot_be_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_search_with_a_fixed_parameter_hands_it_out():
    space = Space({"x": Float(0.0, 1.0), "held": Fixed("oil")})
    opt = tumble.Optimizer(space, trials=6, seed=0)
    for _ in range(4):
        s = opt.ask()
        assert s.x["held"] == "oil"
        opt.tell(s, (s.x["x"] - 0.3) ** 2)
    again = tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict())))
    assert again.ask().x == opt.ask().x
    assert [piece.name for piece in tumble.plots.slices_data(opt)] == ["x"]
    assert tumble.plots.coordinates_data(opt).names == ["x"]


# ------------------------------------------------------------------------------------------ what is known


def test_a_space_with_known_constraints_says_which_of_them_a_setting_breaks():
    space = Space({"x": Float(0.0, 1.0), "n": Int(1, 4)}, known=["x * n <= 2", "n >= 2"])
    assert space.known == ("x * n <= 2", "n >= 2")
    assert space.broken({"x": 0.9, "n": 3}) == ["x * n <= 2"]
    assert space.broken([0.1, 2]) == []
    assert Space({"x": Float(0.0, 1.0)}).broken([0.3]) == []
    with pytest.raises(InputError, match=r'x = 0.9, n = 3 does not keep "x \* n <= 2", which is known'):
        space.check_known({"x": 0.9, "n": 3})
    space.check_known({"x": 0.1, "n": 3})


@pytest.mark.parametrize("names", [("x", "y"), ("parameters", "known"), ("known", "x")])
def test_a_space_with_known_constraints_is_saved_and_read(names):
    parameters = {name: Float(0.0, 1.0) for name in names}
    plain, limited = Space(parameters), Space(parameters, [f"{names[0]} <= {names[1]}"])
    for space in (plain, limited):
        assert Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space
    assert plain != limited
    assert hash(limited) == hash(Space(parameters, f"{names[0]} <= {names[1]}"))
    assert f"known=['{names[0]} <= {names[1]}']" in repr(limited)
    assert "known=" not in repr(plain)


def test_a_known_constraint_that_is_a_function_can_not_be_saved():
    class Rule:
        text, names = "my rule", ("x",)

        def excess(self, columns):
            return columns["x"] - 0.5

    space = Space({"x": Float(0.0, 1.0)}, known="x >= 0.1").with_known([Rule()])
    assert space.broken([0.6]) == ["my rule"]
    assert space.broken([0.05]) == ["x >= 0.1"]
    with pytest.raises(InputError, match="my rule is a function, which can't be saved: write it as text"):
        space.to_dict()


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (3, r"known must be a list of texts such as \[\"x \+ y <= 1\"\], not 3"),
        ([3], "known: a known constraint must be text, not 3"),
        (["x <= 0.5", "z <= 1"], "known constraint 2: there is no parameter 'z'; known are x"),
        ("x <= 0.5 +", "known: the constraint ends too early"),
        ("x >= 2", "no setting was found that keeps what is known"),
    ],
)
def test_known_constraints_that_can_not_be_used_are_refused(known, message):
    with pytest.raises(InputError, match=message):
        Space({"x": Float(0.0, 1.0)}, known)


@given(floats(), st.lists(st.floats(0.0, 1.0), max_size=5), st.integers(0, 13), st.integers(0, 10**6))
def test_many_values_are_those_of_each(parameter, coordinates, digits, seed):
    assert isinstance(parameter, Float)
    drawn = np.random.default_rng(seed).uniform(parameter.low, parameter.high, 200)
    given_values = np.clip([float(f"{x:.{digits}g}") for x in drawn], parameter.low, parameter.high)
    known = [] if parameter.step else [float(parameter.encode(x)[0]) for x in given_values]
    t = np.clip([0.0, 1.0, 0.5, *coordinates, *known, *np.nextafter(known, 1.0)], 0.0, 1.0)
    expected = [parameter.decode(np.array([v])) for v in t]
    np.testing.assert_array_equal(parameter.decode_many(t), expected)


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 5e-324), (-1e-310, 1e-300), (-1e300, 1e308), (1e15, 1e15 + 2)]
)
def test_many_values_of_a_strange_range_are_those_of_each(low, high):
    parameter, t = Float(low, high), np.linspace(0.0, 1.0, 101)
    np.testing.assert_array_equal(parameter.decode_many(t), [parameter.decode(np.array([v])) for v in t])
