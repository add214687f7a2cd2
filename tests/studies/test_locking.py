"""Locks: nobody waits for ever, and no link is followed."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

import tumble
from tests.study_files import write_study
from tumble.studies import locking
from tumble.studies.errors import StudyFileError
from tumble.studies.ledger import Ledger
from tumble.studies.locking import LockHeld, lock_study
from tumble.studies.study_file import read_study_file


def open_study(folder: Path) -> Ledger:
    return Ledger(read_study_file(write_study(folder)))


def test_a_lock_that_is_not_given_back_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "LONGEST", 0.1)
    ledger = open_study(tmp_path)
    with (
        lock_study(ledger.storage, "bowl"),
        pytest.raises(LockHeld, match="another process has held the lock"),
        lock_study(ledger.storage, "bowl"),
    ):
        pass


def test_a_link_in_the_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    (tmp_path / "precious").write_text("text")
    (tmp_path / "bowl.db.lock").symlink_to("precious")
    with (
        pytest.raises(StudyFileError, match=r"can't be locked.*remove the link"),
        lock_study(ledger.storage, "b"),
    ):
        pass
    assert (tmp_path / "precious").read_text() == "text"


@pytest.mark.parametrize("reading", [True, False])
def test_a_locked_file_is_said_within_seconds(tmp_path: Path, reading: bool) -> None:
    ledger = open_study(tmp_path)
    number = ledger.ask().number
    ledger.close()
    with closing(sqlite3.connect(tmp_path / "bowl.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        begin = time.monotonic()
        with pytest.raises(tumble.InputError, match=r"locked\); another program has opened it for writing"):
            Ledger(ledger.config, reading=reading).tell(number, {"cost": 1.0, "load": 0.0})
        assert time.monotonic() - begin < 30


def test_a_database_has_one_lock_under_every_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "LONGEST", 0.1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "bowl.db").symlink_to("../bowl.db")
    ledger, other = open_study(tmp_path), open_study(tmp_path / "other")
    with (
        lock_study(ledger.storage, "bowl"),
        pytest.raises(LockHeld, match="another process has held the lock"),
        lock_study(other.storage, "bowl"),
    ):
        pass
