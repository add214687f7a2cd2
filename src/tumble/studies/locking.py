"""Locks of each study, across processes and machines."""

from __future__ import annotations

import contextlib
import errno
import os
import time
import zlib
from collections.abc import Callable, Iterator

import sqlalchemy
from optuna.storages import RDBStorage

from tumble.studies.errors import StudyFileError

LONGEST = 30.0  # seconds; a lock is held for a few statements at a time, or for a suggestion
LOCK_TIMEOUT = "55P03"  # what PostgreSQL says where nobody gave a lock back


class LockHeld(StudyFileError):
    """Another process has held the lock of a study for too long."""


def lock_study(storage: RDBStorage, name: str) -> contextlib.AbstractContextManager[None]:
    """Let one process at a time in, per study; the death of the holder opens the lock.

    Parameters
    ----------
    storage
        The database of the study.  The lock of an SQLite file is a file beside it; a server has locks of its
        own.
    name
        The study's name.

    Raises
    ------
    LockHeld
        If another process holds the lock and does not give it back.
    """
    return _lock(storage, name, "")


def lock_requests(storage: RDBStorage, name: str) -> contextlib.AbstractContextManager[None]:
    """Let one process at a time carry out a request with a key, per study; otherwise as `lock_study`.

    It is a lock of its own: what is carried out may take that of the study.
    """
    return _lock(storage, name, ".requests")


@contextlib.contextmanager
def _lock(storage: RDBStorage, name: str, which: str) -> Iterator[None]:
    if storage.engine.dialect.name == "sqlite":
        database = os.path.realpath(str(storage.engine.url.database))  # a link to it has the same lock
        with _lock_file(f"{database}{which}.lock"):
            yield
        return
    with storage.engine.connect() as connection:
        key = {"key": zlib.crc32(f"{name}{which}".encode())}
        _take_in_turn(connection, key, name)
        try:
            yield
        finally:
            connection.execute(sqlalchemy.text("SELECT pg_advisory_unlock(:key)"), key)


def _take_in_turn(connection: sqlalchemy.Connection, key: dict[str, int], name: str) -> None:
    """Take a lock of the server, which keeps the queue: whoever asks again and again costs all the others."""
    connection.execute(sqlalchemy.text(f"SET LOCAL lock_timeout = {round(1000 * LONGEST)}"))
    try:
        connection.execute(sqlalchemy.text("SELECT pg_advisory_lock(:key)"), key)
    except sqlalchemy.exc.OperationalError as error:
        if getattr(error.orig, "sqlstate", "") != LOCK_TIMEOUT:
            raise
        raise _held(f"study {name!r} on the server") from None


@contextlib.contextmanager
def _lock_file(path: str) -> Iterator[None]:
    """A lock on a file, which is never one that a link points to."""
    import fcntl

    def take() -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        remedy = "remove the link" if error.errno == errno.ELOOP else "check the rights of its folder"
        raise StudyFileError(f"{path}: can't be locked ({error.strerror}); {remedy}") from None
    try:
        _insist(take, path)
        yield
    finally:
        os.close(descriptor)


def _held(what: str) -> LockHeld:
    return LockHeld(
        f"{what}: another process has held the lock for {LONGEST:g} seconds; "
        "look for a command of tumble that is suspended, and end it"
    )


def _insist(take: Callable[[], bool], what: str) -> None:
    end, pause = time.monotonic() + LONGEST, 0.001
    while not take():
        if time.monotonic() > end:
            raise _held(what)
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
