"""What runners keep beside a study file, while other runners clean up."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.study_files import write_study
from tumble.studies import kept
from tumble.studies.kept import KeptFiles, KeptResult
from tumble.studies.ownership import Owner, this_runner
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


GOOD = {
    "trial": 7,
    "parameters": {"x": 0.5},
    "results": {"cost": 1.0},
    "reason": None,
    "owner": Owner("run", pid=1).to_dict(),
}


@pytest.mark.parametrize(
    "change",
    [
        [],
        None,
        {"study": None},
        {"trial": "7"},
        {"trial": True},
        {"parameters": None},
        {"parameters": {"x": []}},
        {"results": {"cost": "1"}},
        {"results": []},
        {"results": {"cost": 10**400}},
        {"reason": 7},
        {"owner": None},
        {"owner": {}},
        {"owner": {"kind": "run", "pid": "1"}},
        {"owner": {"kind": "run", "host": 1}},
        {"mark": 7},
    ],
)
def test_what_is_no_table_of_a_runner_is_passed_over(tmp_path: Path, change: Any) -> None:
    said = list[str]()
    ours = opened(tmp_path, said)
    ours.keep(KeptResult(3, {"x": 0.5}, {"cost": 1.0}, None, this_runner()))
    study = json.loads((ours.folder / "result-3.json").read_text())["study"]
    whole = {"study": study, "mark": "m", **GOOD}
    odd = {**whole, **change} if isinstance(change, dict) else change
    (ours.folder / "rig-7.json").write_text(json.dumps(odd))
    (ours.folder / "result-7.json").write_text(json.dumps(odd))
    found = [result.trial for result in ours.results()]
    assert found == ([3, 7] if isinstance(change, dict) and "mark" in change else [3])
    ours.end_left_overs()
    assert said == []
    (ours.folder / "result-7.json").write_text("[" * 100_000)
    assert [result.trial for result in ours.results()] == [3]
    for key in GOOD:
        lacking = {name: value for name, value in whole.items() if name != key}
        (ours.folder / "result-7.json").write_text(json.dumps(lacking))
        assert [result.trial for result in ours.results()] == [3]


def test_a_key_that_a_later_version_writes_is_passed_over(tmp_path: Path) -> None:
    ours = opened(tmp_path, [])
    result = KeptResult(7, {"x": 0.5}, {"cost": 1.0}, None, this_runner())
    ours.keep(result)
    path = ours.folder / "result-7.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"later": 1}))
    assert ours.results() == [result]


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
