"""Who runs a trial, whether they still live, and a lock for taking over from the dead.

A runner that is killed can't say goodbye, so every trial that is run carries its owner from the moment it
exists.  On the owner's own machine its process tells whether it lives; from elsewhere its heartbeat does.
"""

from __future__ import annotations

import contextlib
import os
import socket
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import sqlalchemy
from optuna.storages import RDBStorage

OWNER = "tumble:owner"


@dataclass(frozen=True)
class Owner:
    """A process on a machine ("run"), or a person ("hand")."""

    kind: Literal["run", "hand"]
    host: str = ""
    pid: int = 0
    born: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    def is_here(self) -> bool:
        """Whether the owner is or was a process of this machine."""
        return self.host == socket.gethostname()

    def lives_here(self) -> bool:
        """Whether that process is still there, and still the same."""
        return self.is_here() and _born(self.pid) == self.born


HAND = Owner("hand")


def me() -> Owner:
    """The process that asks."""
    return Owner("run", socket.gethostname(), os.getpid(), _born(os.getpid()) or "")


def _born(pid: int) -> str | None:
    """When a process was started, in a form that no later process with the same number shares."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None if Path("/proc/self").exists() else _elsewhere(pid)
    return None if fields[0] in "ZX" else f"{boot[:8]}:{fields[19]}"


def _elsewhere(pid: int) -> str | None:
    """Without /proc only the number is known."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return ""
    return ""


@contextlib.contextmanager
def exclusive(storage: RDBStorage, name: str) -> Iterator[None]:
    """One process at a time per study, on however many machines; the death of its holder opens the lock."""
    dialect = storage.engine.dialect.name
    if dialect == "sqlite":
        with _file_lock(f"{storage.engine.url.database}.lock"):
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
def _file_lock(path: str) -> Iterator[None]:
    import fcntl

    with open(path, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
