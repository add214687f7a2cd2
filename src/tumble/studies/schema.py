"""Tables of a TOML file: a check for each key, and one sentence for the first value that can't be used.

A check takes a value and gives it back, or raises `Wrong`.  By hand, because a library of models takes longer
to load than a study takes to be read.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

Check: TypeAlias = Callable[[object], Any]
REQUIRED: Any = object()


class Wrong(ValueError):
    """What is wrong with a value, and `keys`, the way to it."""

    def __init__(self, message: str, *keys: str) -> None:
        super().__init__(message)
        self.keys = keys


class Key(NamedTuple):
    """What may stand under a key, and what is taken where it is left out."""

    check: Check
    default: Any = REQUIRED


def read(table: Mapping[str, Any], keys: Mapping[str, Key]) -> dict[str, Any]:
    """The value of every key; `Wrong` for the first one that is missing, can't be used or is not known."""
    values = {}
    for name, key in keys.items():
        if name not in table and key.default is REQUIRED:
            raise Wrong("is missing; add it", name)
        with _under(name):
            values[name] = key.check(table[name]) if name in table else key.default
    for name in table:
        if name not in keys:
            close = difflib.get_close_matches(name, keys, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known keys are {', '.join(keys)}"
            raise Wrong(f"unknown key; {hint}", name)
    return values


def text(value: object) -> str:
    """Text."""
    if not isinstance(value, str):
        raise Wrong(f"expected text in quotes, but {show(value)} came")
    return value


def name(value: object) -> str:
    """Text that fits into a database as a name."""
    if not text(value):
        raise Wrong("must not be empty")
    if len(text(value)) > 200:
        raise Wrong("is too long; use at most 200 characters")
    return text(value)


def truth(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Wrong(f"expected true or false, but {show(value)} came")
    return value


def number(value: object) -> float:
    """A number, whole or not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Wrong(f"expected a number, but {show(value)} came")
    return value


def positive(value: object) -> float:
    """A number above 0."""
    if not number(value) > 0:
        raise Wrong(f"must be greater than 0, but {show(value)} came")
    return number(value)


def whole(low: int, high: int | None = None) -> Check:
    """A whole number from `low` to `high`."""

    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Wrong(f"expected a whole number, but {show(value)} came")
        if value < low:
            raise Wrong(f"must be at least {low}, but {value} came")
        if high is not None and value > high:
            raise Wrong(f"must be at most {high}, but {value} came")
        return value

    return check


def one_of(*choices: str) -> Check:
    """One of a few words."""

    def check(value: object) -> Any:
        if value not in choices:
            words = [repr(choice) for choice in choices]
            raise Wrong(f"expected {', '.join(words[:-1])} or {words[-1]}, but {show(value)} came")
        return value

    return check


def choice(value: object) -> str | bool | int | float:
    """What a parameter can be set to."""
    if not isinstance(value, (str, bool, int, float)):
        raise Wrong(f"expected text, a number, true or false, but {show(value)} came")
    return value


def list_of(check: Check, *, least: int = 0) -> Check:
    """A list of at least so many."""

    def check_all(value: object) -> list[Any]:
        if not isinstance(value, list):
            raise Wrong(f"expected a list in square brackets, but {show(value)} came")
        return list(_all(enumerate(value), check, len(value), least).values())

    return check_all


def table_of(check: Check, *, least: int = 0) -> Check:
    """A table of at least so many, under any names."""

    def check_all(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Wrong(f"expected a table, but {show(value)} came")
        return _all(value.items(), check, len(value), least)

    return check_all


def table(keys: Mapping[str, Key]) -> Check:
    """A table with these keys."""

    def check(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Wrong(f"expected a table, but {show(value)} came")
        return read(value, keys)

    return check


def show(value: object) -> str:
    """A value as the file has it, short."""
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _all(items: Any, check: Check, count: int, least: int) -> dict[str, Any]:
    if count < least:
        raise Wrong("must not be empty")
    values = {}
    for key, value in items:
        with _under(key):
            values[key] = check(value)
    return values


@contextmanager
def _under(key: object) -> Iterator[None]:
    """Says in a `Wrong` raised inside under which key it is."""
    try:
        yield
    except Wrong as wrong:
        raise Wrong(str(wrong), str(key), *wrong.keys) from None
