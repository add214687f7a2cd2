"""An SQLite file that is moved away while a study uses it.

An open connection goes on reading a file that has gone, and says of a write only that it is "readonly".  So
every use of a connection looks first whether the file is there, and is the one that it was opened with.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy.engine import Engine
from sqlalchemy.pool import ConnectionPoolEntry

OPENED = "tumble:file"  # which file a connection was opened with


def watch_file(engine: Engine, file: Path) -> None:
    """Refuse to use a file that is gone, and to make an empty one in its place.

    Parameters
    ----------
    engine
        The database, whose file is there.
    file
        Where it is.
    """

    def look(*args: Any, **options: Any) -> None:
        _identity(file)

    def note(connection: object, entry: ConnectionPoolEntry) -> None:
        entry.info[OPENED] = _identity(file)

    def compare(connection: object, entry: ConnectionPoolEntry, proxy: object) -> None:
        if entry.info.setdefault(OPENED, _identity(file)) != _identity(file):
            raise sqlalchemy.exc.DisconnectionError("another file has taken its place")

    sqlalchemy.event.listen(engine, "do_connect", look)
    sqlalchemy.event.listen(engine, "connect", note)
    sqlalchemy.event.listen(engine, "checkout", compare)


def _identity(file: Path) -> tuple[int, int]:
    """Which file it is; SQLite waits for ever for a pipe that nobody writes to."""
    try:
        found = os.stat(file)
    except FileNotFoundError:
        raise sqlite3.OperationalError(f"{file} is gone; put it back where it was") from None
    if not stat.S_ISREG(found.st_mode):
        raise sqlite3.OperationalError(
            f"{file} is gone, and what is there now is no file; put it back where it was"
        )
    return found.st_dev, found.st_ino
