"""What the commands share: the study file, --json, and the exit codes at the end of each help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tumble.errors import InputError
from tumble.studies.config import NAME
from tumble.studies.values import not_a_number, read_number

EXIT_CODES = {
    0: "done",
    2: "the input can't be used",
    3: "the rig needs someone to look at it",
    4: "nothing is left to ask for",
    5: "done, but not all of its output could be written",
    130: "stopped by Ctrl-C (run it again to go on)",
}
EPILOG = f"Exit codes: {', '.join(f'{code} {means}' for code, means in EXIT_CODES.items())}."


class FilePath(click.Path):
    """A path without the character NUL, which no file has in its name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if "\0" in str(value):
            self.fail("a path can't contain the character NUL", param, ctx)
        return super().convert(value, param, ctx)


class WholeNumber(click.types.IntParamType):
    """A whole number without _ in it, which Python would pass over."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        if "_" in str(value):
            self.fail(f"{value!r} is not a whole number; write it without _", param, ctx)
        return super().convert(value, param, ctx)


class WholeNumberBetween(WholeNumber, click.IntRange):
    """A whole number within bounds, without _ in it."""


def _why(ctx: click.Context, param: click.Parameter, failed: str | None) -> str | None:
    """Why a trial failed; None where nobody says that it did.

    Empty text may mean either, and neither is recorded on a guess.
    """
    if failed is not None and not failed.strip():
        raise InputError("--failed is empty: say why it failed, and leave it out where it did not")
    return failed


PATH = FilePath(path_type=Path, readable=False)  # what can't be read is said by whoever reads it
WHOLE = WholeNumber()

study_file = click.argument("file", type=PATH)
trial_number = click.argument("trial", type=WHOLE)
why_failed = click.option("--failed", metavar="WHY", callback=_why, help="It failed, and why.")
without_question = click.option("--yes", is_flag=True, help="Do not ask at a terminal.")
as_json = click.option("--json", is_flag=True, help="One line of JSON.")


def parse_pairs(words: Sequence[str], example: str, kind: str = "value") -> dict[str, str]:
    """Names and values from name=value; a name stands once. `kind` is what a value is called in a message.

    Raises
    ------
    InputError
        If a word is something else.
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not NAME.fullmatch(name) or not value:
            raise InputError(f"expected name={kind} such as {example}, but {word!r} came")
        if name in found:
            raise InputError(f"{name} is given twice: {found[name]} and {value}; give it once")
        found[name] = value
    return found


def parse_results(words: Sequence[str], objective: str) -> dict[str, float]:
    """What was measured, from name=number; a name stands once. An example has the name of the objective.

    Raises
    ------
    InputError
        If a word is something else.
    """
    found: dict[str, float] = {}
    for name, value in parse_pairs(words, f"{objective}=3.2", "number").items():
        number = read_number(value)
        if number is None:
            raise not_a_number(name, value)
        found[name] = number
    return found
