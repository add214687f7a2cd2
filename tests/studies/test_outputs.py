"""Outputs never take the place of a study, and are written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import tumble
from tests.study_files import write_study
from tumble.studies.outputs import check_output
from tumble.studies.study_file import read_study_file
from tumble.studies.whole_files import replacing, write_whole


@pytest.mark.parametrize(
    "name",
    ["bowl.toml", "bowl.db", "bowl.db-journal", "bowl.db-wal", "bowl.db-shm", "bowl.db.lock",
     "bowl.db.requests.lock", "up/../bowl.db", "soft", "hard", "bowl.toml.pending/a.csv"],
)  # fmt: skip
def test_no_file_of_a_study_is_an_output(tmp_path: Path, name: str) -> None:
    config = read_study_file(write_study(tmp_path))
    (tmp_path / "up").mkdir()
    (tmp_path / "bowl.db").write_text("data")
    (tmp_path / "soft").symlink_to("bowl.db")
    os.link(tmp_path / "bowl.db", tmp_path / "hard")
    with pytest.raises(tumble.InputError, match=r"belongs to the study.*; choose another path"):
        check_output(config, tmp_path / name)
    assert check_output(config, tmp_path / "trials.csv") == tmp_path / "trials.csv"


@pytest.fixture
def private_umask() -> Iterator[None]:
    """What this process writes is readable to nobody else."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("private_umask")
def test_a_file_is_written_whole_or_not_at_all_and_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_whole(path, "first")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o664)
    with pytest.raises(UnicodeEncodeError), replacing(path) as handle:
        handle.write("half\ud800")
    assert path.read_text() == "first"
    write_whole(path, "second")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("second", 0o664)
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_links_are_followed_and_what_is_no_plain_file_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a.csv")
    write_whole(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.csv").read_text() == "x"
    write_whole(Path(os.devnull), "x")


def test_what_can_not_be_written_is_said_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(tumble.InputError, match=r"can't be written \(No such file or directory\); check the"):
        write_whole(tmp_path / "no" / "a.csv", "x")
    with pytest.raises(tumble.InputError, match="can't be written"):
        write_whole(tmp_path, "x")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(tumble.InputError, match=r"\(No space left on device\); free some space"):
        write_whole(tmp_path / "a.csv", "x")
    assert list(tmp_path.iterdir()) == []
