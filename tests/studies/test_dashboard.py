"""The dashboard answers to the names of this machine alone, shows what is now, and says what it can't do."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("optuna_dashboard")

from tests.study_files import write_study
from tumble.studies import dashboard, undo
from tumble.studies.dashboard import for_this_machine
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file


def ask_for(host: str | None) -> tuple[str, bytes]:
    """The status and the body for a request with this Host header."""
    statuses: list[str] = []

    def pages(environ: Any, start: Any) -> Iterable[bytes]:
        start("200 OK", [])
        return [b"the study"]

    environ = {} if host is None else {"HTTP_HOST": host}
    body = for_this_machine(pages)(environ, lambda status, headers: statuses.append(status))  # type: ignore[arg-type]
    return statuses[0], b"".join(body)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080"])
def test_the_names_of_this_machine_are_answered(host: str) -> None:
    assert ask_for(host) == ("200 OK", b"the study")


@pytest.mark.parametrize("host", ["evil.example:8080", "127.0.0.1.evil.example", "localhost:1:2x", "", None])
def test_other_names_are_refused(host: str | None) -> None:
    status, body = ask_for(host)
    assert status == "403 Forbidden"
    assert b"the study" not in body


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    found = Ledger(read_study_file(write_study(tmp_path, command="")))
    for cost in (3.0, 2.0, 1.0):
        found.tell(found.ask().number, {"cost": cost, "load": -1.0})
    return found


@pytest.fixture
def address(ledger: Ledger) -> Iterator[str]:
    with dashboard.make(Ledger(ledger.config, reading=True)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/api/studies"
        server.shutdown()
        thread.join()


def answer(address: str, method: str = "GET") -> tuple[int, Any]:
    request = urllib.request.Request(address, b"{}" if method != "GET" else None, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as found:
            return found.status, json.load(found)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_the_figures_are_drawn_again_when_a_told_trial_is_changed(ledger: Ledger) -> None:
    view = dashboard.StudyView(ledger)

    def drawn() -> dict[str, str]:
        attributes = view.get_study_system_attrs(ledger.store.study_id)
        return {key: text for key, text in attributes.items() if key.startswith(dashboard.PLOT)}

    before = drawn()
    assert drawn() == before
    undo.amend(ledger, 2, {"cost": 5.0})
    amended = drawn()
    assert amended != before
    undo.void(ledger, 2)
    assert drawn() != amended


@pytest.mark.parametrize(("method", "path"), [("POST", ""), ("DELETE", "/1"), ("PUT", "/1/note")])
def test_a_page_that_wants_to_change_the_study_is_told_that_it_only_shows_it(
    address: str, method: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    code, said = answer(address + path, method)
    assert (code, "the dashboard only shows the study" in said["reason"]) == (403, True)
    assert not caplog.records


def test_an_edited_file_is_followed(ledger: Ledger) -> None:
    view, file = dashboard.StudyView(ledger), ledger.written.path
    view.look()
    assert view.ledger is ledger
    file.write_text(file.read_text().replace('load = "<= 0"', 'load = "<= -2"'))
    view.look()
    trials = view.get_all_trials(ledger.store.study_id)
    assert [trial.system_attrs["constraints"] for trial in trials] == [[1.0]] * 3


def test_a_study_that_can_not_be_used_is_said_to_the_page_and_not_to_the_terminal(
    address: str, ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert answer(address + "/1")[1]["best_trials"][0]["number"] == 2
    (tmp_path / "bowl.db").rename(tmp_path / "away.db")
    code, said = answer(address + "/1")
    assert (code, "bowl.db is gone; put it back where it was" in said["reason"]) == (503, True)
    assert answer(address)[0] == 503
    (tmp_path / "away.db").rename(tmp_path / "bowl.db")
    assert answer(address)[0] == 200
    file = ledger.written.path
    file.write_text(file.read_text().replace("trials =", "tirals ="))
    code, said = answer(address)
    assert (code, "did you mean trials" in said["reason"]) == (503, True)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
