"""What runners keep beside a study file, while other runners clean up."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.study_files import write_study
from tumble.studies import kept
from tumble.studies.kept import KeptFiles, KeptResult
from tumble.studies.ownership import this_runner
from tumble.studies.study_file import read_study_file
from tumble.studies.whole_files import write_whole


def opened(folder: Path, said: list[str]) -> KeptFiles:
    return KeptFiles(read_study_file(write_study(folder)), said.append)


def test_a_folder_that_another_runner_removes_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, removed = list[str](), list[Path]()
    ours = opened(tmp_path, said)

    def remove_first(path: Path, text: str) -> None:
        if len(removed) < 3:
            path.parent.rmdir()
            removed.append(path)
        write_whole(path, text)

    monkeypatch.setattr(kept, "write_whole", remove_first)
    result = KeptResult(7, {"x": 0.5, "y": 0.5}, {"cost": 1.0}, None, this_runner())
    ours.keep(result)
    assert len(removed) == 3
    assert ours.results() == [result]
    assert said == []


def test_a_folder_that_is_gone_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = opened(tmp_path, [])
    ours.folder.mkdir()

    def gone(path: object) -> None:
        raise FileNotFoundError(path)

    monkeypatch.setattr("os.scandir", gone)
    assert ours.results() == []
    ours.end_left_overs()


def test_runners_that_come_and_go_lose_no_result(tmp_path: Path) -> None:
    said: list[str] = []
    ours, errors = opened(tmp_path, said), list[BaseException]()

    def work(first: int) -> None:
        try:
            for trial in range(first, first + 40):
                ours.keep(KeptResult(trial, {"x": 0.5}, {"cost": 1.0}, None, this_runner()))
                assert trial in [result.trial for result in ours.results()]
                ours.end_left_overs()
                ours.forget(trial)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(100 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert said == []
