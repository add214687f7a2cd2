"""Each check gives the value back, or says what was expected and what came."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tumble import InputError, checks


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (lambda v: checks.whole(v, "n"), np.int64(3), 3),
        (lambda v: checks.whole(v, "n", 1, 5), 5, 5),
        (lambda v: checks.number(v, "x"), np.float32(0.5), 0.5),
        (lambda v: checks.number(v, "x"), np.array([2.0]), 2.0),
        (lambda v: checks.number(v, "x"), Decimal("1.5"), 1.5),
        (lambda v: checks.above_zero(v, "x"), 1, 1.0),
        (lambda v: checks.at_least(v, "x", 0.0), 0, 0.0),
        (lambda v: checks.within(v, "x", 0.0, 1.0), 1.0, 1.0),
        (lambda v: checks.between(v, "x", 0.0, 1.0), 0.5, 0.5),
        (lambda v: checks.truth(v, "t"), False, False),
        (lambda v: checks.truth(v, "t"), np.True_, True),
        (lambda v: checks.text(v, "s"), "", ""),
        (lambda v: checks.choice(v, "c"), "a", "a"),
        (lambda v: checks.one_of(v, "w", ("a", "b")), "b", "b"),
        (lambda v: checks.items(v, "l"), (1, 2), [1, 2]),
        (lambda v: checks.table(v, "d"), {"a": 1}, {"a": 1}),
        (lambda v: checks.keys(v, "d", ["a"]), {"a": 1}, {"a": 1}),
    ],
)
def test_what_is_good_comes_back(check: Callable[[Any], Any], value: Any, expected: Any) -> None:
    assert check(value) == expected


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (lambda v: checks.whole(v, "n"), 1.0, "n must be a whole number, not 1.0"),
        (lambda v: checks.whole(v, "n", 1), True, "n must be a whole number of at least 1, not True"),
        (lambda v: checks.whole(v, "n", 1, 5), 6, "n must be a whole number from 1 to 5, not 6"),
        (lambda v: checks.whole(v, "n"), -(2**54), "n must be at most 2^53 in size; write a smaller number"),
        (lambda v: checks.number(v, "x"), "1", "x must be a number, not '1'"),
        (lambda v: checks.number(v, "x"), np.nan, "x must be finite, not nan"),
        (lambda v: checks.number(v, "x"), Decimal("nan"), "x must be finite, not nan"),
        (lambda v: checks.number(v, "x"), Decimal("sNaN"), "x must be finite, not nan"),
        (lambda v: checks.number(v, "x"), -(10**400), "x must be finite, not -inf"),
        (
            lambda v: checks.whole(v, "n"),
            np.timedelta64(2, "s"),
            "n must be a whole number, not np.timedelta64",
        ),
        (
            lambda v: checks.number(v, "x"),
            np.timedelta64(2, "s"),
            "x must be a number, not np.timedelta64(2,'s')",
        ),
        (lambda v: checks.number(v, "x", "do that"), 10**400, "x must be finite, not inf; do that"),
        (lambda v: checks.above_zero(v, "x"), 0.0, "x must be above 0, not 0.0"),
        (lambda v: checks.at_least(v, "x", 0.0), -1, "x must be at least 0, not -1"),
        (lambda v: checks.within(v, "x", 0.0, 1.0), 2.0, "x must be a number from 0 to 1, not 2.0"),
        (lambda v: checks.between(v, "x", 0.0, 1.0), 1.0, "x must be a number between 0 and 1, not 1.0"),
        (lambda v: checks.truth(v, "t"), 1, "t must be true or false, not 1"),
        (lambda v: checks.text(v, "s"), 3, "s must be text, not 3"),
        (lambda v: checks.choice(v, "c"), [1], "c must be text, a number, true or false, not [1]"),
        (lambda v: checks.one_of(v, "w", ("a", "b", "c")), "d", 'w must be "a", "b" or "c", not \'d\''),
        (lambda v: checks.one_of(v, "w", (True, False)), 1, "w must be True or False, not 1"),
        (lambda v: checks.items(v, "l"), "ab", "l must be a list, not 'ab'"),
        (lambda v: checks.table(v, "d"), 3, "d must be a table of values by name, not 3"),
        (lambda v: checks.keys(v, "d", ["b", "a"]), {"a": 1}, "d needs exactly a, b"),
    ],
)
def test_what_is_bad_is_named(check: Callable[[Any], Any], value: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        check(value)
    assert message in str(caught.value)


def test_a_caller_that_names_the_value_itself_leaves_the_name_empty() -> None:
    with pytest.raises(InputError, match=r"^must be text, not 3$"):
        checks.text(3, "")


def test_a_long_value_is_cut() -> None:
    assert len(checks.show("a" * 1000)) == checks.LONGEST
    assert checks.show(10**5000) == "a number of thousands of digits"


def test_what_a_table_of_pandas_calls_its_values_counts() -> None:
    row = pd.Series({"b": 1.0, "a": 2.0})
    assert checks.by_label(row) == {"b": 1.0, "a": 2.0}
    assert checks.by_label(pd.DataFrame([row, row + 1.0])) == [{"b": 1.0, "a": 2.0}, {"b": 2.0, "a": 3.0}]
    numbered = pd.Series([1.0, 2.0])
    assert checks.by_label(numbered) is numbered
    assert checks.by_label([1.0]) == [1.0]
    with pytest.raises(InputError, match="two values have the same label, of a, a, b; give each its own"):
        checks.by_label(pd.Series([0.5, -0.25, 0.1], ["a", "a", "b"]))


def test_a_table_of_polars_is_a_list_of_dicts() -> None:
    class Table:
        columns = ("a",)

        def to_dicts(self) -> list[dict[str, float]]:
            return [{"a": 1.0}]

        def to_dict(self) -> None:
            raise AssertionError("gives columns")

    assert checks.by_label(Table()) == [{"a": 1.0}]
