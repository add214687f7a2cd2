"""A database that is moved away while the study runs."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from optuna.exceptions import StorageInternalError
from sqlalchemy.exc import OperationalError

from tests.studies.test_outages import open_study
from tumble.studies import outages
from tumble.studies.outages import cause_of, is_outage, sentence_for
from tumble.studies.runner import Runner


def test_a_file_that_is_gone_is_said_to_be_gone_and_none_is_made_in_its_place(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.ask()
    (tmp_path / "bowl.db").rename(tmp_path / "away.db")
    for use in (ledger.entries, lambda: ledger.skip(0)):
        with pytest.raises((StorageInternalError, OperationalError)) as caught:
            use()
        assert is_outage(caught.value)
        assert cause_of(caught.value) == f"{tmp_path / 'bowl.db'} is gone; put it back where it was"
        assert "rights" not in str(sentence_for(caught.value))
    assert not (tmp_path / "bowl.db").exists()
    (tmp_path / "away.db").rename(tmp_path / "bowl.db")
    assert ledger.skip(0).outcome == "skipped"


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.ask()
    (tmp_path / "bowl.db").rename(tmp_path / "away.db")
    os.mkfifo(tmp_path / "bowl.db")
    for use in (ledger.entries, lambda: ledger.skip(0)):
        with pytest.raises((StorageInternalError, OperationalError)) as caught:
            use()
        assert "bowl.db is gone, and what is there now is no file; put it back" in cause_of(caught.value)
        assert str(sentence_for(caught.value)).endswith("try again when it is back")
    (tmp_path / "away.db").rename(tmp_path / "bowl.db")
    assert ledger.skip(0).outcome == "skipped"


def test_a_copy_in_its_place_is_used(tmp_path: Path) -> None:
    """As a backup that is put back."""
    ledger = open_study(tmp_path)
    ledger.ask()
    (tmp_path / "bowl.db").rename(tmp_path / "away.db")
    shutil.copy(tmp_path / "away.db", tmp_path / "bowl.db")
    assert ledger.skip(0).outcome == "skipped"
    assert [e.outcome for e in open_study(tmp_path).entries()] == ["skipped"]


def test_a_run_says_once_that_it_is_gone_and_once_that_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "FIRST_PAUSE", 0.1)
    ledger = open_study(tmp_path, trials=2, seconds=1.5, load="-1.0")
    said: list[str] = []

    def look() -> None:
        ledger.entries()

    runner = Runner(ledger, on_notice=said.append, on_beat=look)

    def move() -> None:
        while not (tmp_path / "runs.log").exists():
            time.sleep(0.05)
        (tmp_path / "bowl.db").rename(tmp_path / "away.db")
        time.sleep(4)
        (tmp_path / "away.db").rename(tmp_path / "bowl.db")

    mover = threading.Thread(target=move)
    mover.start()
    end = runner.run()
    mover.join()
    assert (end.kind, [e.outcome for e in ledger.entries()]) == ("done", ["safe", "safe"])
    assert len(said) == 2
    assert "bowl.db is gone; put it back where it was)" in said[0]
    assert said[1] == "the storage answers again"
