"""What is printed to a disk that is full, or to a pipe that nobody reads: the command goes on without it.

A study at night must not end because its log can't be written.  What could not be written is said once on the
error stream, and the next line is tried again.  A letter that a terminal does not know is spelt with others.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO, cast

import click

from tumble.cli.show import printable

SPELT = str.maketrans({"±": "+-", "ρ": "rho", "Δ": "D", "·": ".", "…": "...", "×": "x", "━": "-"})


class Output:
    """A stream that loses what can't be written, and never raises for it.

    Parameters
    ----------
    stream
        Where it is written; None where it is closed.
    on_loss
        Called with the cause, once.
    """

    def __init__(self, stream: TextIO | None, on_loss: Callable[[str], None]) -> None:
        self._stream, self._on_loss = stream, on_loss
        self.is_lost = False

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or lose it."""
        self._try(lambda stream: stream.write(_spelt(text, stream)))
        return len(text)

    def flush(self) -> None:
        """Write what waits, or lose it."""
        self._try(lambda stream: stream.flush())

    def end(self) -> None:
        """Write what waits; where that can't be, it goes nowhere, so that the interpreter's end is quiet."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as error:
            self._lose(error.strerror or str(error))
            with contextlib.suppress(OSError), open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), self._stream.fileno())

    def _try(self, call: Callable[[TextIO], object]) -> None:
        if self._stream is None:
            self._lose("it is closed")
            return
        try:
            call(self._stream)
        except OSError as error:
            self._lose(error.strerror or str(error))

    def _lose(self, why: str) -> None:
        first, self.is_lost = not self.is_lost, True
        if first:
            self._on_loss(why)


def _spelt(text: str, stream: TextIO) -> str:
    """The text in letters that the stream can write: +- for ±, and the number of any other letter."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding, stream.errors or "strict")
    except UnicodeEncodeError:
        return text.translate(SPELT).encode(encoding, "backslashreplace").decode(encoding)
    return text


@contextlib.contextmanager
def going_on() -> Iterator[Output]:
    """Print to streams that may be lost; gives the one that says whether something was."""
    before = sys.stdout, sys.stderr
    errors = Output(sys.stderr, lambda why: None)
    shown = Output(sys.stdout, _say_loss)
    sys.stdout, sys.stderr = cast(TextIO, shown), cast(TextIO, errors)
    try:
        yield shown
    finally:
        shown.end()
        errors.end()
        sys.stdout, sys.stderr = before


def _say_loss(why: str) -> None:
    """Say it. Of a reader who has seen enough (`tumble status | head`) only a run speaks: it goes on."""
    command = click.get_current_context(silent=True)
    if why == os.strerror(errno.EPIPE) and (command is None or command.info_name != "run"):
        return
    remedy = "tumble status shows what is stored, with every trial in flight"
    said = f"the output can't be written ({why}); the command goes on without it: {remedy}"
    print(f"tumble: {printable(said)}", file=sys.stderr, flush=True)
