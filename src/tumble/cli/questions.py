"""Questions to a person at a terminal; without a terminal nothing is asked."""

from __future__ import annotations

import sys

import click

from tumble.cli import show
from tumble.errors import InputError


def is_at_terminal() -> bool:
    """Whether a person can answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def warn_elsewhere(warning: str, yes: bool) -> None:
    """Warn of what nobody was asked about, because no person is there; not where `yes` was given."""
    if not yes and not is_at_terminal():
        print(f"tumble: {show.printable(warning)}", file=sys.stderr)


def confirm_at_terminal(question: str, yes: bool) -> None:
    """Ask; return where the answer is yes, `yes` was given, or nobody is there to ask.

    Raises
    ------
    InputError
        If the answer is no, or the input is at its end.
    KeyboardInterrupt
        If the answer is Ctrl-C.
    """
    if yes or not is_at_terminal():
        return
    try:
        agreed = click.confirm(show.printable(question), err=True)
    except click.Abort as end:  # Ctrl-C, or the end of the input
        if isinstance(end.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        print(file=sys.stderr)  # the question's line has no end yet
        agreed = False
    if not agreed:
        raise InputError("nothing was changed, because the answer was no; --yes answers beforehand")
