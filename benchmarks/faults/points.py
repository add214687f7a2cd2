"""Where an operation can be hit, and what hits it there."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import signal
import socket
import sqlite3
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from unittest import mock

import sqlalchemy

from tumble.studies import locking, whole_files

Fault = Literal["kill", "exception", "slow", "lost"]
FAULTS: tuple[Fault, ...] = ("kill", "exception", "slow", "lost")
DELAY = 1.0  # seconds of a slow statement
SQL = ("do_execute", "do_executemany", "do_execute_no_params", "do_commit", "do_rollback")  # of a dialect
FILES = ("open", "fsync", "replace")  # of the module `os`, where our own writing calls them
FOLDERS = ("mkdir", "unlink", "rmdir")  # of `pathlib.Path`
WRITES = ("INSERT", "UPDATE", "DELETE")


@dataclass(frozen=True)
class Point:
    """One moment of an operation.

    Parameters
    ----------
    kind
        "sql" or "file".
    call
        What is called.
    after
        Whether it is over; else it is about to begin.
    detail
        The beginning of the statement.
    is_remote
        Whether a server is asked.
    """

    kind: Literal["sql", "file"]
    call: str
    after: bool
    detail: str = ""
    is_remote: bool = False

    def faults(self) -> tuple[Fault, ...]:
        """What can hit it: afterwards only what differs from being hit before the next call."""
        if self.kind == "file":
            return ("kill", "exception") if self.after else ("kill", "exception", "slow")
        if not self.after:
            return FAULTS[:3] if self.call == "connect" else FAULTS
        if self.call == "do_commit":  # only a server can do it and lose the answer
            return ("kill", "exception") if self.is_remote else ("kill",)
        return ("exception",) if self.detail.startswith(WRITES) else ()


class Watch:
    """Notes every point that is passed; the fault happens at one of them.

    Parameters
    ----------
    at
        The index of that point; -1 for none.
    fault
        What happens there.
    """

    def __init__(self, at: int = -1, fault: Fault = "slow") -> None:
        self.at, self.fault = at, fault
        self.seen: list[Point] = []

    @property
    def was_reached(self) -> bool:
        """Whether the point was passed."""
        return 0 <= self.at < len(self.seen)

    def note(self, point: Point, error: Exception, connection: Any = None) -> None:
        """Pass a point: raise `error`, or lose `connection`, where that is to happen here."""
        self.seen.append(point)
        if len(self.seen) - 1 != self.at:
            return
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.fault == "exception":
            raise error
        elif self.fault == "slow":
            time.sleep(DELAY)
        else:
            _lose(connection)


def _lose(connection: Any) -> None:
    """End a connection behind the back of whoever uses it."""
    raw = getattr(connection, "driver_connection", connection)
    if isinstance(raw, sqlite3.Connection):
        raw.close()
    else:
        with socket.socket(fileno=os.dup(raw.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def watched(watch: Watch, storage: str) -> Iterator[None]:
    """Let every statement on `storage`, and every file that we write, pass the watch."""
    dialect = sqlalchemy.make_url(storage).get_dialect()
    with contextlib.ExitStack() as stack:
        for call in (*SQL, "connect"):
            wrapped = _sql(watch, call, getattr(dialect, call))
            stack.enter_context(mock.patch.object(dialect, call, wrapped))
        for call in FOLDERS:
            wrapped = _file(watch, call, getattr(pathlib.Path, call))
            stack.enter_context(mock.patch.object(pathlib.Path, call, wrapped))
        watched_os = types.SimpleNamespace(**vars(os))
        for call in FILES:
            setattr(watched_os, call, _file(watch, call, getattr(os, call)))
        for module in (whole_files, locking):
            stack.enter_context(mock.patch.object(module, "os", watched_os))
        opened = _opener(watch)
        stack.enter_context(mock.patch.object(whole_files, "open", opened, create=True))
        yield


def _sql(watch: Watch, call: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(dialect: Any, *args: Any, **options: Any) -> Any:
        handle = args[0] if call in SQL else None
        connection = getattr(handle, "connection", handle) if call.startswith("do_execute") else handle
        detail = str(args[1]).lstrip()[:60] if call.startswith("do_execute") else ""
        error = dialect.dbapi.OperationalError("server closed the connection unexpectedly (injected)")
        is_remote = dialect.name != "sqlite"
        watch.note(Point("sql", call, False, detail, is_remote), error, connection)
        found = original(dialect, *args, **options)
        watch.note(Point("sql", call, True, detail, is_remote), error, connection)
        return found

    return wrapped


def _file(watch: Watch, call: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any, **options: Any) -> Any:
        watch.note(Point("file", call, False), _disk_full())
        found = original(*args, **options)
        watch.note(Point("file", call, True), _disk_full())
        return found

    return wrapped


def _opener(watch: Watch) -> Callable[..., Any]:
    """`open` of a descriptor; what is written can be hit after its first half."""

    class Halved(io.FileIO):
        def write(self, data: Any) -> int:
            whole = bytes(data)
            done = super().write(whole[: len(whole) // 2])
            watch.note(Point("file", "write", False), _disk_full())
            done += super().write(whole[done:])
            watch.note(Point("file", "write", True), _disk_full())
            return done

    def opened(descriptor: int, mode: str, newline: str, encoding: str) -> io.TextIOWrapper:
        return io.TextIOWrapper(io.BufferedWriter(Halved(descriptor, mode)), encoding, newline=newline)

    return opened


def _disk_full() -> OSError:
    return OSError(28, "No space left on device (injected)")
