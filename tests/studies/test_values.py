"""Values as people write them: which text says which number, and which choice."""

from __future__ import annotations

import pytest

from tumble.errors import InputError
from tumble.parameters import Categorical, Choice
from tumble.studies.values import parse_value, read_number

STEELS = Categorical(("Steel", "Stainless", "brass"))
MIXED = Categorical(("auto", 1.5, 2.0, True))


@pytest.mark.parametrize(
    "text", ["1_5", "1_000.5", "\uff11\uff15", "\u0661", "0x10", "1 5", "", ".", "e5", "1,5"]
)
def test_what_python_may_read_as_a_number_is_none(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize("text", ["15", "+1.5e1", " 15.", ".15E2", "015"])
def test_a_number_has_digits_a_point_and_an_exponent(text: str) -> None:
    assert read_number(text) == 15.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("STEEL", "m must be one of Steel, Stainless, brass, but 'STEEL' came; did you mean Steel\\?$"),
        ("steel", "but 'steel' came; did you mean Steel\\?$"),
        ("Brass", "but 'Brass' came; did you mean brass\\?$"),
        ("stanless", "but 'stanless' came; did you mean Stainless\\?$"),
        ("tin", "m must be one of Steel, Stainless, brass, but 'tin' came$"),
    ],
)
def test_a_choice_in_other_letters_is_refused_and_the_right_one_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_value("m", STEELS, text)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("auto", "auto"),
        (" auto ", "auto"),
        ("2", 2.0),
        ("2.0", 2.0),
        ("1,5", 1.5),
        ("TRUE", True),
        ("true", True),
    ],
)
def test_choices_that_are_no_text_are_read_as_tables_write_them(text: str, choice: Choice) -> None:
    found = parse_value("m", MIXED, text, decimal_comma=True)
    assert (found, type(found)) == (choice, type(choice))
