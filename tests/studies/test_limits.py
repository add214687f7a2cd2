"""Limits as they are written: read at once, whatever stands there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tumble.errors import InputError
from tumble.studies.limits import Limit, parse_limit

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: x + 0.0)


@given(NUMBERS, st.sampled_from(["", " ", "  "]))
def test_a_limit_of_one_side_is_what_it_says(bound: float, space: str) -> None:
    assert parse_limit("load", f"{space}<={space}{bound!r}{space}") == Limit("load", None, bound)
    assert parse_limit("load", f"{space}>={space}{bound!r}") == Limit("load", bound, None)


@given(NUMBERS, NUMBERS, st.sampled_from(["", " ", "  "]))
def test_a_limit_of_two_sides_may_be_written_upwards_and_downwards(a: float, b: float, space: str) -> None:
    low, high = min(a, b), max(a, b)
    if low < high:
        up = f"{low!r}{space}<={space}load{space}<={space}{high!r}"
        down = f"{high!r}{space}>={space}load{space}>={space}{low!r}"
        assert parse_limit("load", up) == parse_limit("load", down) == Limit("load", low, high)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5 <= load 80", "both signs must point the same way"),
        ("5 <= load >= 80", "both signs must point the same way"),
        ("80 <= load <= 5", "the lower side must be below the higher one, and 80 is not"),
        ("5 <= load <= 5", "the two sides must differ"),
        ("5 <= torque <= 80", "the middle word must be load, the key of the line"),
        ("load <= 80", 'write for example: load = "<= 80"'),
        ("12", 'expected "<= number"'),
        ("<= 1e999", "a limit must be finite"),
        ("<= 1 <= 2 <= 3", 'expected "<= number"'),
        ("<= 0,3", "but '<= 0,3' came; write 0.3"),
        ("0,5 <= load <= 1,2", "came; write 0.5"),
        ("<= 1,200", "came; write 1200, or 1.200"),
        ("<= 1_200", "came; write it without _"),
    ],
)
def test_what_is_no_limit_is_said_with_a_line_that_is_one(text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        parse_limit("load", text)
    assert said in str(error.value)


LONG = {
    "digits": "9" * 100_000,
    "spaces": " " * 100_000,
    "a word of digits": "5 <= " + "9" * 100_000 + "x",
    "a word behind spaces": "5 <=" + " " * 100_000 + "x",
    "signs": "<=" * 50_000,
}


@pytest.mark.parametrize("what", LONG)
def test_a_text_of_any_length_is_refused_at_once(what: str) -> None:
    with pytest.raises(InputError, match="came; write for example") as error:
        parse_limit("load", LONG[what])
    assert len(str(error.value)) < 1000
