"""Known constraints as text: what they mean, against Python's own grammar, and what can't be read."""

from __future__ import annotations

import ast
import math
import sys
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tumble.errors import InputError
from tumble.known import FUNCTIONS, KnownConstraint, read_known
from tumble.parameters import Categorical, Fixed, Float, Int, Parameter

PARAMETERS: dict[str, Parameter] = {
    "speed": Float(500.0, 4000.0),
    "feed": Float(0.01, 0.6, log=True),
    "n": Int(1, 8),
    "gear": Categorical((1, 2, 5)),
    "material": Categorical(("steel", "brass", "alu")),
    "cooled": Categorical((True, False)),
    "odd": Categorical(("auto", 3, None)),
    "feed-rate": Float(0.0, 1.0),
    "max": Float(0.0, 1.0),
    "held": Fixed(3),
    "oil": Fixed("mineral"),
}


def excess(text: str, **values: float) -> float:
    known = read_known(text, PARAMETERS)
    return float(known.excess({name: np.array([float(values[name])]) for name in known.names})[0])


def holds(text: str, **values: float) -> bool:
    return excess(text, **values) <= 0.0


# ------------------------------------------------------------------------------------------- what it means


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("speed * feed <= 900", {"speed": 3000.0, "feed": 0.3}, True),
        ("speed * feed <= 900", {"speed": 3000.0, "feed": 0.31}, False),
        ("900 >= speed*feed", {"speed": 3000.0, "feed": 0.31}, False),
        ("600 < speed < 700", {"speed": 650.0}, True),
        ("600 < speed < 700", {"speed": 700.0}, False),
        ("600 <= speed <= 700", {"speed": 700.0}, True),
        ("-speed ** 2 <= -1e6", {"speed": 1000.0}, True),
        ("2 ** -n <= 0.25", {"n": 2}, True),
        ("2 ** 3 ** 2 == 512 * n", {"n": 1}, True),
        ("10 - 4 - 3 == n", {"n": 3}, True),
        ("24 / 4 / 2 == n", {"n": 3}, True),
        ("+n - -n == 6", {"n": 3}, True),
        ("(n - 1) * 2 == 6", {"n": 4}, True),
        ("min(n, gear, 3) >= 2", {"n": 5, "gear": 2}, True),
        ("max < 0.5", {"max": 0.4}, True),
        ("max(max, 0.6) < 0.5", {"max": 0.4}, False),
        ("sqrt(abs(3 - n)) <= 1", {"n": 4}, True),
        ("log10(speed) < 3 or feed < 0.1", {"speed": 2000.0, "feed": 0.05}, True),
        ("n < 3 or n > 5 and gear == 5", {"n": 6, "gear": 2}, False),
        ("(n < 3 or n > 5) and gear != 5", {"n": 6, "gear": 2}, True),
        ("gear == 5", {"gear": 5}, True),
        ('material == "brass"', {"material": 1}, True),
        ("'steel' != material", {"material": 0}, False),
        ('material != "steel" or speed <= 2000', {"material": 0, "speed": 2500.0}, False),
        ('material != "steel" or speed <= 2000', {"material": 2, "speed": 2500.0}, True),
        ("cooled == true", {"cooled": 0}, True),
        ("cooled == False", {"cooled": 0}, False),
        ("odd == 3", {"odd": 1}, True),
        ("odd == None", {"odd": 2}, True),
        ("`feed-rate` + `n` <= 2", {"feed-rate": 0.5, "n": 1}, True),
        ("speed * pi <= 3142", {"speed": 1000.0}, True),
        ("n <= held", {"n": 3, "held": 3}, True),
        ('oil == "mineral" and n < 3', {"oil": 0, "n": 2}, True),
        ('oil != "air" or n < 3', {"oil": 0, "n": 7}, True),
        ('oil == "air" or n < 3', {"oil": 0, "n": 7}, False),
    ],
)
def test_a_constraint_means_what_it_says(text, values, expected):
    assert holds(text, **values) is expected


@pytest.mark.parametrize(
    "text",
    [
        "1 / (n - 1) <= 5",
        "1 / (n - 1) >= -5",
        "sqrt(-n) <= 1",
        "log(1 - n) <= 5",
        "exp(1000 * n) >= 1",
        "9**9**9**9**n >= 1",
    ],
)
def test_what_can_not_be_computed_does_not_hold(text):
    start = time.perf_counter()
    assert excess(text, n=1.0) == math.inf
    assert time.perf_counter() - start < 1.0


def test_the_excess_says_by_how_much_a_constraint_is_missed():
    assert excess("speed * feed <= 900", speed=1000.0, feed=1.0) == 100.0
    assert excess("speed * feed <= 900", speed=700.0, feed=1.0) == -200.0
    assert excess("600 <= speed <= 700", speed=500.0) == 100.0
    assert excess("speed <= 600 or feed <= 0.5", speed=1000.0, feed=1.0) == 0.5
    assert 0.0 < excess("speed < 700", speed=700.0) < 1e-300


def test_the_names_that_a_constraint_needs_are_listed_once():
    assert read_known("speed * feed + feed <= `feed-rate`", PARAMETERS).names == (
        "speed",
        "feed",
        "feed-rate",
    )


def test_many_settings_are_judged_at_once():
    known = read_known("n * n <= gear", PARAMETERS)
    found = known.excess({"n": np.arange(1.0, 4.0), "gear": np.full(3, 5.0)})
    np.testing.assert_array_equal(found, [-4.0, -1.0, 4.0])


# ---------------------------------------------------------------------- against Python's grammar, one by one

SCALARS = {"a": (-3.0, 3.0), "b": (0.1, 4.0), "c": (-2.0, 5.0)}
REALS: dict[str, Parameter] = {name: Float(*ends) for name, ends in SCALARS.items()}
SLOW: dict[str, Any] = {
    "abs": abs, "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "log10": math.log10, "sin": math.sin,
    "cos": math.cos, "tan": math.tan, "atan": math.atan, "min": min, "max": max,
}  # fmt: skip


class Close(Exception):
    """Two sides are so close, or something is so large, that rounding decides."""


def slow_number(node: ast.expr, values: dict[str, float]) -> float:
    """A number by Python's own syntax tree, one step at a time; NaN where it can't be computed."""
    match node:
        case ast.Constant():
            return float(node.value)  # type: ignore[arg-type]
        case ast.Name():
            return values[node.id]
        case ast.UnaryOp():
            inner = slow_number(node.operand, values)
            return -inner if isinstance(node.op, ast.USub) else inner
        case ast.BinOp():
            left, right = slow_number(node.left, values), slow_number(node.right, values)
        case ast.Call():
            arguments = [slow_number(argument, values) for argument in node.args]
            assert isinstance(node.func, ast.Name)
            if any(map(math.isnan, arguments)):
                return math.nan
            try:
                return float(SLOW[node.func.id](*arguments))
            except ValueError:
                return math.nan
            except OverflowError:
                raise Close from None
        case _:
            raise AssertionError(ast.dump(node))
    try:
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.Pow():
                power = left**right
                return math.nan if isinstance(power, complex) else float(power)
    except (ZeroDivisionError, OverflowError):
        raise Close from None
    raise AssertionError(ast.dump(node))


def slow_truth(node: ast.expr, values: dict[str, float]) -> bool:
    if isinstance(node, ast.BoolOp):
        found = [slow_truth(part, values) for part in node.values]
        return all(found) if isinstance(node.op, ast.And) else any(found)
    assert isinstance(node, ast.Compare)
    sides = [slow_number(side, values) for side in (node.left, *node.comparators)]
    held = True
    for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
        if math.isnan(left) or math.isnan(right):
            held = False
            continue
        if max(abs(left), abs(right)) > 1e100 or abs(left - right) <= 1e-9 * (1.0 + abs(left) + abs(right)):
            raise Close
        below = isinstance(operator, ast.Lt | ast.LtE)
        held &= left < right if below else left > right
    return held


numbers = st.recursive(
    st.sampled_from([*SCALARS, "1", "2.5", ".5", "1e-1", "3.", "0"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", "-", " * ", "/", "**"]), inner).map("".join),
        inner.map("({})".format),
        inner.map("-{}".format),
        st.tuples(st.sampled_from(sorted(set(FUNCTIONS) - {"min", "max"})), inner).map(
            "{0[0]}({0[1]})".format
        ),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map("{0[0]}({0[1]}, {0[2]})".format),
    ),
    max_leaves=12,
)
signs = st.sampled_from([" <= ", ">=", " < ", ">"])
comparisons = st.one_of(
    st.tuples(numbers, signs, numbers).map("".join),
    st.tuples(numbers, signs, numbers, signs, numbers).map("".join),
)
truths = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map("".join), inner.map("({})".format)
    ),
    max_leaves=4,
)


@settings(deadline=None, max_examples=400)
@given(truths, st.data())
def test_a_constraint_agrees_with_pythons_grammar_worked_out_one_step_at_a_time(text, data):
    if not set(SCALARS) & {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}:
        return  # no parameter is named
    known = read_known(text, REALS)
    values = {name: data.draw(st.floats(*ends), label=name) for name, ends in SCALARS.items()}
    try:
        expected = slow_truth(ast.parse(text, mode="eval").body, values)
    except Close:
        return
    columns = {name: np.array([value, value]) for name, value in values.items()}
    assert ((known.excess(columns) <= 0.0) == expected).all(), text


# --------------------------------------------------------------------------------- nothing else is evaluated

WATCHED = ("exec", "compile", "import", "open", "os.system", "subprocess.Popen", "object.__getattr__")
HEARD: list[str] = []
LISTENING = [False]


def hear(event: str, arguments: tuple[object, ...]) -> None:
    if LISTENING[0] and event in WATCHED:
        HEARD.append(event)


sys.addaudithook(hear)
PIECES = [
    "speed", "feed", "n", "material", "__import__", "eval", "exec", "open", "lambda", "os", "system", "self",
    "(", ")", "[", "]", "{", "}", ".", ",", ":", ";", "=", "==", "<=", "<", ">", "!=", "+", "-", "*", "/",
    "**", "//", "%", "@", "'", '"', "`", "\\", "1", "2.5", "1e308", "0x10", "1_000", "and", "or", "not", "if",
    "else", "for", "in", "is", "True", "None", "sqrt(", "max(", "'steel'", "\n", "\0", " ", "é", "𝟙", "∞",
]  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=14).map("".join)))
def test_any_text_is_read_or_refused_and_nothing_else_happens(text):
    HEARD.clear()
    LISTENING[0] = True
    try:
        known = read_known(text, PARAMETERS)
        known.excess({name: np.ones(2) for name in known.names})
    except InputError:
        pass
    finally:
        LISTENING[0] = False
    assert HEARD == []


def test_the_ear_that_listens_for_evaluation_hears_it():
    HEARD.clear()
    LISTENING[0] = True
    eval("1 + 1")
    LISTENING[0] = False
    assert "exec" in HEARD


@pytest.mark.parametrize(
    "text", ["n < 5 " + "+ 1" * 300, "n < " + "max(1, " * 25 + "2" + ")" * 25, "n < 9" + "**9" * 25]
)
def test_a_long_constraint_takes_no_time(text):
    start = time.perf_counter()
    known = read_known(text, PARAMETERS)
    assert isinstance(known, KnownConstraint)
    known.excess({"n": np.ones(1000)})
    assert time.perf_counter() - start < 1.0


# --------------------------------------------------------------------------------------- what can't be read


@pytest.mark.parametrize(
    ("text", "message", "marked"),
    [
        ("speed * fed <= 900", "there is no parameter 'fed'; did you mean feed?", "fed"),
        ("speed * FEED <= 900", "there is no parameter 'FEED'; did you mean feed?", "FEED"),
        ("speed * power <= 900", "there is no parameter 'power'; known are speed, feed, n", "power"),
        ("speed * rate <= 9", "a name with other characters stands in backticks: `feed-rate`", "rate"),
        ("speed ^ 2 <= 1", "can't read '^' here: a power is written **", "^"),
        ("n = 3", "can't read '=' here: write <= or >=, or == for a choice", "="),
        ("n ≤ 3", "can't read '≤' here: write <=", "≤"),
        ("x[0] <= 3", "can't read '[' here: a parameter is written by its name alone", "["),
        ("feed.rate <= 3", "can't read '.' here: a name with other characters stands in backticks", "."),
        ("speed <= 'fast", "can't read \"'\" here: the closing quote is missing", "'"),
        ("speed <= 3 $", "can't read '$' here: a known constraint has names, numbers, arithmetic", "$"),
        ("2speed <= 3", "did not expect 'speed' here: an operator is missing, such as *", "speed"),
        ("speed feed <= 3", "did not expect 'feed' here: an operator is missing, such as *", "feed"),
        ("speed <= ", "the constraint ends too early", "^"),
        ("(speed <= 3", "the constraint ends too early; expected ')' here", "^"),
        ("speed <= 3)", "did not expect ')' here", ")"),
        ("<= 3", "did not expect '<=' here", "<="),
        ("speed", "nothing is compared: a known constraint has <=, >=, < or >", "speed"),
        ("1 < 2", "no parameter is named, so that there is nothing to keep", "1 < 2"),
        ("speed == 900", "an equality of real numbers leaves nothing to search: give a range", "=="),
        ("sqrt(n) == 2", "an equality of real numbers leaves nothing to search", "=="),
        ("material <= 3", "choices have no order: compare them with == or !=", "material"),
        ("3 <= material", "choices have no order: compare them with == or !=", "material"),
        ('material == "gold"', "material must be one of 'steel', 'brass', 'alu'", '"gold"'),
        ("odd == true", "odd must be one of 'auto', 3, None", "true"),
        ("material == speed", "a choice is compared with one that is written out", "speed"),
        ("material == cooled", "a choice is compared with one that is written out", "cooled"),
        (
            "material * 2 <= 3",
            "arithmetic needs a number, but a choice came; a choice is compared",
            "material",
        ),
        ("(n < 3) + 1 <= 3", "arithmetic needs a number, but a comparison came", "(n < 3)"),
        ("(n < 3) == 1", "a comparison can't be compared again; write 'and' between two of them", "(n < 3)"),
        ("n < 3 and speed", "'and' stands between comparisons, not beside a number", "speed"),
        ("not n < 3", "'not' is not known: turn the comparison round", "not"),
        ("min(n) <= 3", "min takes two numbers or more, but 1 came", "min(n)"),
        ("sqrt(n, 2) <= 3", "sqrt takes one number, but 2 came", "sqrt(n, 2)"),
        ("sinh(n) <= 3", "there is no function 'sinh'; known are abs, sqrt, exp", "sinh"),
        ("speed(2) <= 3", "'speed' is a parameter, not a function: write * for a product", "speed"),
        ("__import__('os') <= n", "there is no function '__import__'", "__import__"),
        ("1e999 <= n", "the number is too large for floating point", "1e999"),
    ],
)
def test_a_constraint_that_can_not_be_read_is_refused_and_the_word_is_marked(text, message, marked):
    with pytest.raises(InputError) as refused:
        read_known(text, PARAMETERS)
    sentence, shown, marks = str(refused.value).rsplit("\n", 2)
    assert message in sentence
    assert shown == f"    {text}"
    start, end = marks.index("^"), len(marks)
    assert set(marks[start:]) == {"^"}
    assert marked in ("^", shown[start:end])


def test_a_long_text_is_shown_around_the_word():
    text = "n < 1" + " + 1" * 100 + " + fed" + " + 1" * 100
    with pytest.raises(InputError) as refused:
        read_known(text, PARAMETERS)
    _, shown, marks = str(refused.value).split("\n")
    assert (len(shown), shown[4], shown[-1]) == (66, "…", "…")
    assert shown[marks.index("^") : len(marks)] == "fed"


def test_line_breaks_and_tabs_do_not_spoil_the_marks():
    with pytest.raises(InputError) as refused:
        read_known("n\t+\n fed <= 3", PARAMETERS)
    assert str(refused.value).split("\n")[1] == "    n +  fed <= 3"


@pytest.mark.parametrize(
    "text", ["(" * 31 + "n" + ")" * 31 + " < 3", "-" * 31 + "n < 3", "n < 2" + "**2" * 31]
)
def test_what_is_nested_too_deep_is_refused(text):
    with pytest.raises(InputError, match="brackets and signs are nested deeper than 30"):
        read_known(text, PARAMETERS)


def test_a_text_that_is_too_long_is_refused():
    with pytest.raises(InputError, match="a known constraint has at most 1000 characters: split it"):
        read_known("n < 1" + " + 1" * 300, PARAMETERS)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (3, 'must be text, not 3; write for example "speed'),
        (None, "must be text, not None"),
        ("  ", "is empty"),
    ],
)
def test_what_is_no_text_is_refused(given_, message):
    with pytest.raises(InputError, match=message):
        read_known(given_, PARAMETERS)
