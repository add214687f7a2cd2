"""The values of parameters as people write them: a cell of a table, or ``speed=900`` on a command line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from tumble import checks
from tumble.errors import InputError
from tumble.parameters import Categorical, Choice, Fixed, Float, Parameter
from tumble.shown import EXACT, digits_within, number
from tumble.space import Space
from tumble.studies.csv_table import DECIMAL_COMMA, THOUSANDS
from tumble.studies.errors import StudyFileError
from tumble.studies.schema import did_you_mean

NUMBER = re.compile(r"[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE)


def parse_value(name: str, parameter: Parameter, text: str, decimal_comma: bool = False) -> Choice:
    """The value that a text says; whether it is admissible is not looked at.

    Raises
    ------
    InputError
        If it says none.
    """
    choices = parameter.choices if isinstance(parameter, Categorical) else ()
    if isinstance(parameter, Fixed):
        choices = (parameter.value,)
    if not choices or _is_number(choices):
        return _same(choices, parse_number(name, text, decimal_comma))
    written = {_written(choice): choice for choice in choices}
    said = text if text in written else text.strip()
    if said in written:
        return written[said]
    for choice in choices:
        if is_read_as(_with_point(said, decimal_comma), choice):
            return choice
    if said in ("TRUE", "FALSE") and said.lower() in written:  # a spreadsheet writes them so
        return written[said.lower()]
    hint = checks.nearest(said, written)
    raise InputError(
        f"{name} must be one of {', '.join(written)}, but {text!r} came{f'; {hint}' if hint else ''}"
    )


def is_read_as(text: str, choice: Choice) -> bool:
    """Whether a text says a choice that is no text: true and false in any case, 2.0 for the number 2.

    A choice that is text is said by itself alone, in its own upper and lower case.
    """
    if isinstance(choice, bool):
        return text.lower() == _written(choice)
    return isinstance(choice, int | float) and read_number(text) == choice


def check_told_apart(path: Path, space: Space) -> None:
    """Refuse text that a table, a command line or a rig can't tell from a choice that is no text.

    A study that has trials already goes on: this is for one that begins.
    """
    for name, parameter in space.parameters.items():
        choices = parameter.choices if isinstance(parameter, Categorical) else ()
        for text in (choice for choice in choices if isinstance(choice, str)):
            for other in choices:
                if is_read_as(text.strip(), other):
                    raise StudyFileError(
                        f"{path}: parameters.{name}: choices must be written differently, but "
                        f"{checks.show(text)} and {checks.show(other)} can't be told apart in a table or on "
                        "a command line: drop one, or rename the text"
                    )


def parse_number(name: str, text: str, decimal_comma: bool = False) -> float:
    """A finite number, with a comma for its point where that is the habit.

    Raises
    ------
    InputError
        If it is none.
    """
    written = _with_point(text.strip(), decimal_comma)
    number = read_number(written)
    if number is None or not math.isfinite(number):
        raise not_a_number(name, text, written)
    return number


def read_number(text: str) -> float | None:
    """The number that a text says, which may be infinite or NaN; None where it says none.

    Digits are 0 to 9.  Python reads 1_5 as 15, and digits of other scripts.  Here neither is a number: 1_5 is
    more likely a slip for 1.5.
    """
    return float(text) if NUMBER.fullmatch(text.strip()) else None


def not_a_number(name: str, text: str, written: str | None = None) -> InputError:
    """What is raised for a text that says no finite number; `written` is the text with a point."""
    hint = number_hint(text.strip() if written is None else written)
    return InputError(f"{name} must be a finite number, but {text!r} came{hint}")


def number_hint(written: str) -> str:
    """How to write a number with a comma or with _ in it, as the end of a message; empty for any other."""
    if "_" in written and read_number(written.replace("_", "")) is not None:
        return "; write it without _"
    if not DECIMAL_COMMA.fullmatch(written):
        return ""
    thousands = f"{written.replace(',', '')}, or " if THOUSANDS.fullmatch(written) else ""
    return f"; write {thousands}{written.replace(',', '.')}"


def parse_setting(space: Space, words: Mapping[str, str]) -> dict[str, Choice]:
    """The setting that name=value says; a fixed parameter need not be named.

    Raises
    ------
    InputError
        If a name is unknown or missing, or a value can't be used.
    """
    for name in words:
        if name not in space.names:
            raise InputError(f"unknown parameter {name!r}; {did_you_mean(name, space.names, 'known are')}")
    setting: dict[str, Choice] = dict(space.fixed)
    for name, parameter in space.parameters.items():
        if name in words:
            setting[name] = parse_value(name, parameter, words[name])
        elif name not in setting:
            every = " ".join(f"{n}=..." for n in space.names if n not in space.fixed)
            raise InputError(f"{name} is missing; name every parameter: {every}")
    return setting


def in_words(parameter: Parameter | None, value: object) -> str:
    """A value as a person reads it, and sets it at a machine.

    A number of a range has all the digits that matter there: a range from 2500 to 2500.4 needs eight. One of
    a grid, a fixed one and a choice are written out.
    """
    if not isinstance(value, float):
        return str(value)
    if isinstance(parameter, Float) and parameter.step is None:
        return number(value, digits_within(parameter.low, parameter.high))
    return number(value, EXACT)


def _with_point(written: str, decimal_comma: bool) -> str:
    """A number with a point, where a comma is the habit."""
    return written.replace(",", ".") if decimal_comma and "." not in written else written


def _is_number(choices: tuple[Choice, ...]) -> bool:
    return all(isinstance(c, int | float) and not isinstance(c, bool) for c in choices)


def _same(choices: tuple[Choice, ...], number: float) -> Choice:
    """The choice that equals a number, in its own type; else the number."""
    return next((choice for choice in choices if choice == number), number)


def _written(choice: Choice) -> str:
    return {True: "true", False: "false"}[choice] if isinstance(choice, bool) else str(choice)
