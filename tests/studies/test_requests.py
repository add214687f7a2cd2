"""Requests with a key: what they did is found again, also after a restart, and done once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study_files import write_study
from tumble.errors import InputError
from tumble.studies import undo
from tumble.studies.ledger import Ledger
from tumble.studies.ownership import BY_HAND
from tumble.studies.requests import Request, marking, trials_of
from tumble.studies.study_file import read_study_file

SAFE = {"cost": 1.0, "load": -1.0}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_study(tmp_path, command="")


def fresh(file: Path) -> Ledger:
    return Ledger(read_study_file(file))


def request(name: str, body: str = "x") -> Request:
    return Request.of(name, "tell", {"body": body})


def test_each_kind_of_request_finds_its_trial_after_a_restart(file: Path) -> None:
    ledger = fresh(file)
    with marking(ledger, request("ask")):
        ledger.ask()
    with marking(ledger, request("tell")):
        ledger.tell(0, SAFE)
    with marking(ledger, request("amend")):
        undo.amend(ledger, 0, {"cost": 2.0})
    with marking(ledger, request("void")):
        undo.void(ledger, 0)
    ledger.ask()
    with marking(ledger, request("skip")):
        ledger.skip(1)
    again = fresh(file)
    found = {name: trials_of(again, request(name)) for name in ("ask", "tell", "amend", "void", "skip", "no")}
    assert found == {"ask": [0], "tell": [0], "amend": [0], "void": [0], "skip": [1], "no": []}


def test_a_key_that_came_with_another_request_is_refused(file: Path) -> None:
    ledger = fresh(file)
    with marking(ledger, request("k")):
        ledger.ask()
    with pytest.raises(InputError, match="came with another request before"):
        trials_of(ledger, request("k", "y"))


def test_a_request_that_did_not_end_the_trial_itself_does_not_claim_it(file: Path) -> None:
    """Its process died between the mark and the end; then somebody else told the trial."""
    ledger = fresh(file)
    trial_id = ledger.store.id_of(ledger.ask().number)
    with marking(ledger, request("late")):
        ledger.store.mark_end(trial_id)
    assert trials_of(ledger, request("late")) == []
    ledger.tell(0, SAFE)
    assert trials_of(ledger, request("late")) == []


def test_a_trial_that_was_skipped_before_it_had_a_setting_was_not_handed_out(file: Path) -> None:
    """Its process died while it asked; the request that skipped it did its work, though."""
    ledger = fresh(file)
    with marking(ledger, request("ask")):
        ledger.store.create(BY_HAND)
    assert trials_of(ledger, request("ask")) == [0]
    with marking(ledger, request("skip")):
        ledger.skip(0)
    assert trials_of(ledger, request("ask")) == []
    assert trials_of(ledger, request("skip")) == [0]
    with pytest.raises(InputError, match="came with another request before"):
        trials_of(ledger, request("ask", "y"))


def test_an_asking_that_failed_is_taken_up_by_the_same_asker(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tumble.studies.ownership import this_runner

    ledger = fresh(file)
    ledger.asker = this_runner()
    with monkeypatch.context() as patch:
        patch.setattr(ledger.store, "hand_over", lambda *a: (_ for _ in ()).throw(OSError("gone")))
        with pytest.raises(OSError, match="gone"):
            ledger.ask()
    assert ledger.ask().number == 0
    assert ledger.ask().number == 1


@pytest.mark.parametrize("key", ["", "a\nb", "ü", "x" * 256])
def test_a_key_that_can_not_be_one_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="printable ASCII"):
        Request.of(key, "ask", {})
