"""Tables of a TOML file: a check for each key, and one sentence for the first value that can't be used.

A check takes a value and gives it back, or raises `InputError`; the checks of single values are those of
`tumble.checks`. They are written by hand, because importing a library for it would take longer than reading
the study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias, cast

from tumble import checks
from tumble.errors import InputError

Check: TypeAlias = Callable[[object], Any]
REQUIRED: Any = object()
_KINDS = {list: "a list", dict: "a table", bool: "true or false", int: "a number", float: "a number"}


class Wrong(InputError):
    """What is wrong with a value, and `keys`, the way to it."""

    def __init__(self, message: str, *keys: str) -> None:
        super().__init__(message)
        self.keys = keys


class Key(NamedTuple):
    """What may stand under a key, and what is taken where it is left out.

    The texts are for messages and for the manual: its `type`, what it `means`, an `example`, and `left_out`,
    the default in words where the value itself says little.
    """

    check: Check
    default: Any = REQUIRED
    type: str = ""
    means: str = ""
    example: str = ""
    left_out: str = ""


def read(table: Mapping[str, Any], keys: Mapping[str, Key]) -> dict[str, Any]:
    """The value of every key; `Wrong` for the first one that is missing, can't be used or is not known."""
    for name in table:
        if name not in keys:
            raise Wrong(f"unknown key; {did_you_mean(name, keys)}", name)
    values = {}
    for name, key in keys.items():
        if name not in table and key.default is REQUIRED:
            raise Wrong("is missing; add it", name)
        with under(name):
            values[name] = key.check(table[name]) if name in table else key.default
    return values


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "known keys are") -> str:
    """The known word that is nearest, as a question, or all of them."""
    words = list(known)
    return checks.nearest(word, words) or f"{otherwise} {', '.join(words)}"


def text(value: object) -> str:
    """Text."""
    given = checks.text(value, "")
    if "\0" in given:
        raise Wrong("must not contain the character NUL; no command and no database takes it")
    return given


def secret_text(value: object) -> str:
    """Text that no message may quote."""
    if not isinstance(value, str):
        raise Wrong(f"must be text, not {_KINDS.get(type(value), 'a date or a time')}")
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
    return checks.truth(value, "")


def number(value: object) -> float:
    """A number; a whole one stays whole."""
    checks.number(value, "")
    return cast(float, value)


def positive(value: object) -> float:
    """A number above 0."""
    return checks.above_zero(value, "")


def at_least_zero(value: object) -> float:
    """A number of at least 0."""
    return checks.at_least(value, "", 0.0)


def share(value: object) -> float:
    """A number from 0 to 1."""
    return checks.within(value, "", 0.0, 1.0)


def whole(low: int, high: int | None = None) -> Check:
    """A whole number from `low` to `high`."""
    return lambda value: checks.whole(value, "", low, high)


def one_of(*choices: str) -> Check:
    """One of a few words."""
    return lambda value: checks.one_of(value, "", choices)


def choice(value: object) -> str | bool | int | float:
    """What a parameter can be set to."""
    return text(value) if isinstance(value, str) else checks.choice(value, "")


def list_of(check: Check, *, least: int = 0) -> Check:
    """A list of at least so many."""

    def check_all(value: object) -> list[Any]:
        given = checks.items(value, "")
        return list(_all(enumerate(given), check, len(given), least).values())

    return check_all


def table_of(check: Check, *, least: int = 0) -> Check:
    """A table of at least so many, under any names."""

    def check_all(value: object) -> dict[str, Any]:
        given = checks.table(value, "")
        return _all(given.items(), check, len(given), least)

    return check_all


def one_or_more(check: Check) -> Check:
    """A list, or one that stands alone."""
    each = list_of(check)
    return lambda value: each(value) if isinstance(value, list) else [check(value)]


def table(keys: Mapping[str, Key]) -> Check:
    """A table with these keys."""
    return lambda value: read(checks.table(value, ""), keys)


def _all(items: Any, check: Check, count: int, least: int) -> dict[str, Any]:
    if count < least:
        raise Wrong("must not be empty")
    values = {}
    for key, value in items:
        with under(key):
            values[key] = check(value)
    return values


@contextmanager
def under(key: object) -> Iterator[None]:
    """Say in an error raised inside under which key it is."""
    try:
        yield
    except InputError as error:
        keys = error.keys if isinstance(error, Wrong) else ()
        raise Wrong(str(error), str(key), *keys) from None
