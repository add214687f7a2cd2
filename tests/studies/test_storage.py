"""The database of a study: its connections are closed, and a full disk is called by its name."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
import pytest
import sqlalchemy

from tests.study_files import write_study
from tumble.studies.errors import NoStudy, StudyFileError
from tumble.studies.ledger import Ledger
from tumble.studies.outages import cause_of, is_outage, remedy_for, sentence_for
from tumble.studies.study_file import read_study_file

optuna.logging.set_verbosity(optuna.logging.ERROR)


class Connection(sqlite3.Connection):
    """A connection that is known until it is closed."""

    opened = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        Connection.opened += 1

    def close(self) -> None:
        Connection.opened -= 1
        super().close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many connections are open that were opened since."""
    connect = sqlite3.connect
    for module in (sqlite3, sqlite3.dbapi2):
        monkeypatch.setattr(module, "connect", lambda *a, **k: connect(*a, **{"factory": Connection, **k}))
    gc.collect()
    Connection.opened = 0
    return lambda: Connection.opened


def test_a_ledger_that_is_dropped_closes_its_connections(tmp_path: Path, opened: Callable[[], int]) -> None:
    ledger = Ledger(read_study_file(write_study(tmp_path)))
    ledger.ask()
    assert opened() > 0
    del ledger
    gc.collect()
    assert opened() == 0


def test_a_study_that_does_not_fit_its_file_leaves_no_connection(
    tmp_path: Path, opened: Callable[[], int]
) -> None:
    file = write_study(tmp_path)
    Ledger(read_study_file(file)).close()
    file.write_text(file.read_text().replace('objective = "cost"', 'objective = "price"'))
    with pytest.raises(StudyFileError, match="objective"):
        Ledger(read_study_file(file))
    gc.collect()
    assert opened() == 0


def test_a_file_that_is_no_database_leaves_no_connection(tmp_path: Path, opened: Callable[[], int]) -> None:
    file = write_study(tmp_path)
    (tmp_path / "bowl.db").write_text("no database at all, but long enough to be taken for one" * 99)
    with pytest.raises(StudyFileError, match="not a database"):
        Ledger(read_study_file(file))
    assert opened() == 0


def test_a_damaged_file_is_called_so_and_nothing_is_promised(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    (tmp_path / "bowl.db").write_text("no database at all, but long enough to be taken for one" * 99)
    for reading in (False, True):
        with pytest.raises(StudyFileError, match="the file is damaged, or no database: restore a copy of it"):
            Ledger(read_study_file(file), reading=reading).status()


@pytest.mark.parametrize("sql", ["", "CREATE TABLE other (a)"])
def test_a_file_that_holds_no_study_is_called_so(tmp_path: Path, sql: str) -> None:
    file = write_study(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "bowl.db")) as connection:
        connection.execute(sql)
    with pytest.raises(NoStudy, match=r"storage: there is no study in .*bowl\.db: nothing was asked yet, or"):
        Ledger(read_study_file(file), reading=True)


def test_a_database_whose_maker_was_killed_holds_no_study_yet(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    Ledger(read_study_file(file)).ask()
    with contextlib.closing(sqlite3.connect(tmp_path / "bowl.db")) as connection, connection:
        connection.execute("DELETE FROM version_info")  # the tables are made first, and then this row
    with pytest.raises(NoStudy, match="nothing was asked yet"):
        Ledger(read_study_file(file), reading=True)
    assert Ledger(read_study_file(file)).ask().number == 1  # whoever may write makes it whole


@pytest.mark.parametrize("said", ["database disk image is malformed", "file is not a database"])
def test_a_file_that_is_damaged_on_the_way_is_not_said_to_lose_nothing(said: str) -> None:
    error = sqlalchemy.exc.DatabaseError("SELECT 1", {}, sqlite3.DatabaseError(said))
    sentence = sentence_for(error) or ""
    assert f"({said}); the file is damaged, or no database: restore a copy of it" in sentence
    assert "lost" not in sentence


@pytest.mark.parametrize("reading", [False, True])
def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path, reading: bool) -> None:
    (tmp_path / "bowl.db").mkdir()
    with pytest.raises(StudyFileError, match=r"storage: .*bowl\.db is a folder; name a file, for example"):
        Ledger(read_study_file(write_study(tmp_path)), reading=reading)


@pytest.mark.parametrize("reading", [False, True])
def test_a_pipe_in_the_place_of_the_file_is_refused_and_not_waited_for(tmp_path: Path, reading: bool) -> None:
    os.mkfifo(tmp_path / "bowl.db")
    with pytest.raises(StudyFileError, match=r"storage: .*bowl\.db is no plain file; name a file"):
        Ledger(read_study_file(write_study(tmp_path)), reading=reading)


def test_a_file_that_may_not_grow_is_called_full_and_loses_nothing(tmp_path: Path) -> None:
    """SQLite's own limit stands for a disk: it says the same words."""
    ledger = Ledger(read_study_file(write_study(tmp_path, trials=200)))
    ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -1.0})

    def limit(connection: sqlite3.Connection, record: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 1}")

    sqlalchemy.event.listen(ledger.storage.engine, "connect", limit)
    ledger.close()

    def fill() -> None:
        for _ in range(150):
            ledger.skip(ledger.ask().number, "x" * 400)

    with pytest.raises((sqlalchemy.exc.OperationalError, optuna.exceptions.StorageInternalError)) as caught:
        fill()
    assert cause_of(caught.value) == "database or disk is full"
    assert (
        remedy_for(caught.value)
        == "make room on the disk, or let files grow larger (ulimit -f), then try again"
    )
    assert is_outage(caught.value)
    sqlalchemy.event.remove(ledger.storage.engine, "connect", limit)
    ledger.close()
    assert ledger.entry(0).results == {"cost": 1.0, "load": -1.0}
    assert ledger.ask().number > 0


SMALL_DISK = """\
set -e
mount -t tmpfs -o size=400k tmpfs "$1"
cp "$2"/bowl.toml "$2"/rig.py "$1"
cd "$1"
exec "$PYTHON" -c "$SCRIPT"
"""
FILLED = """\
import contextlib, os
from tumble.cli import main

def tumble(*words):
    try:
        main(words)
    except SystemExit as end:
        return end.code or 0

assert tumble("ask", "bowl.toml") == 0
assert tumble("tell", "bowl.toml", "0", "cost=1", "load=-1") == 0
with contextlib.suppress(OSError), open("ballast", "wb", buffering=0) as ballast:
    while True:
        ballast.write(bytes(1024))
print("code", tumble("ask", "bowl.toml"))
os.remove("ballast")
assert tumble("ask", "bowl.toml") == 0
tumble("status", "bowl.toml")
"""


def may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]
    return subprocess.run(mount, capture_output=True).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="needs a mount namespace")
def test_a_full_disk_is_said_with_a_remedy_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small").mkdir()
    write_study(tmp_path)
    monkeypatch.setenv("PYTHON", sys.executable)
    monkeypatch.setenv("SCRIPT", FILLED)
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", str(tmp_path / "small"), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "code 3" in done.stdout
    assert "make room on the disk, or let files grow larger (ulimit -f), then try again" in done.stderr
    assert "Traceback" not in done.stderr
    assert "1 told, 1 in flight" in done.stdout
