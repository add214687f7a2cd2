"""A lock for each study, across processes and machines."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator

import sqlalchemy
from optuna.storages import RDBStorage


@contextlib.contextmanager
def lock_study(storage: RDBStorage, name: str) -> Iterator[None]:
    """Let one process at a time in, per study; the death of the holder opens the lock.

    Parameters
    ----------
    storage
        The database of the study.  The lock of an SQLite file is a file beside it; a server has locks of its
        own.
    name
        The study's name.
    """
    dialect = storage.engine.dialect.name
    if dialect == "sqlite":
        with _lock_file(f"{storage.engine.url.database}.lock"):
            yield
        return
    key = zlib.crc32(name.encode())
    take, give = {
        "postgresql": ("SELECT pg_advisory_lock(:key)", "SELECT pg_advisory_unlock(:key)"),
        "mysql": ("SELECT GET_LOCK(:key, 60)", "SELECT RELEASE_LOCK(:key)"),
    }[dialect]
    with storage.engine.connect() as connection:
        connection.execute(sqlalchemy.text(take), {"key": key})
        try:
            yield
        finally:
            connection.execute(sqlalchemy.text(give), {"key": key})


@contextlib.contextmanager
def _lock_file(path: str) -> Iterator[None]:
    import fcntl

    with open(path, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
