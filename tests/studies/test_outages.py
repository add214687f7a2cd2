"""A storage that goes away: no rig notices, no result is lost, nothing waits for the dead."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
import sqlalchemy

import tumble
from tests.study_files import write_study
from tumble.studies import deaths, locking, outages, undo
from tumble.studies.kept import KeptResult
from tumble.studies.ledger import Ledger
from tumble.studies.outages import Patience, StorageAway, is_outage
from tumble.studies.ownership import BY_HAND, this_process, this_runner
from tumble.studies.processes import _fields
from tumble.studies.runner import Runner
from tumble.studies.study_file import read_study_file
from tumble.trials import Suggestion

optuna.logging.set_verbosity(optuna.logging.ERROR)


def outage() -> sqlalchemy.exc.OperationalError:
    return sqlalchemy.exc.OperationalError("SELECT 1", {}, sqlite3.OperationalError("server closed"))


def flaky(method: Callable[..., Any], faults: int, after: bool = False) -> Callable[..., Any]:
    """A method that fails `faults` times, before or after it did its work."""
    left = [faults]

    def call(*args: Any, **options: Any) -> Any:
        fails = left[0] > 0
        left[0] -= 1
        if fails and not after:
            raise outage()
        found = method(*args, **options)
        if fails:
            raise outage()
        return found

    return call


def open_study(folder: Path, **options: Any) -> Ledger:
    return Ledger(read_study_file(write_study(folder, **({"failures": 1} | options))))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "FIRST_PAUSE", 0.01)


def test_what_counts_as_an_outage() -> None:
    internal = optuna.exceptions.StorageInternalError("wrapped")
    internal.__cause__ = outage()
    assert is_outage(outage())
    assert is_outage(internal)
    assert not is_outage(ValueError("no"))
    assert not is_outage(sqlalchemy.exc.IntegrityError("x", {}, Exception("bad row")))


@pytest.mark.parametrize(
    ("cause", "end"),
    [
        (
            "database or disk is full",
            "until it answers: make room on the disk, or let files grow larger (ulimit -f)",
        ),
        ("server closed", "until it answers: check that the server runs and can be reached from here"),
        ("no idea", "tried again until it answers"),
    ],
)
def test_who_waits_for_the_storage_is_told_what_helps(cause: str, end: str) -> None:
    said: list[str] = []
    full = sqlalchemy.exc.OperationalError("INSERT", {}, sqlite3.OperationalError(cause))

    def call() -> None:
        raise full

    assert not Patience(said.append).attempt(call)
    assert said[0].endswith(end)


def test_patience_says_it_once_and_gives_up_only_when_it_is_to_stop() -> None:
    said: list[str] = []
    assert Patience(said.append).insist(flaky(lambda: 7, faults=3)) == 7
    assert len(said) == 2
    assert "the storage does not answer (server closed)" in said[0]
    assert said[1] == "the storage answers again"
    with pytest.raises(StorageAway, match="server closed"):
        Patience(said.append, should_stop=lambda: True).insist(flaky(lambda: 7, faults=9))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("method", ["create", "enter", "finish", "store_results", "trials", "beat"])
def test_a_run_survives_a_storage_that_fails_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, after: bool
) -> None:
    """Also where the storage did what it was asked, and only its answer was lost."""
    monkeypatch.setattr("tumble.studies.runner.HEARTBEAT", 0)
    ledger = open_study(tmp_path, trials=2, seconds=1.2 if method == "beat" else 0.0, load="-1.0")
    said: list[str] = []
    runner = Runner(ledger, on_notice=said.append)
    monkeypatch.setattr(ledger.store, method, flaky(getattr(ledger.store, method), 2, after))
    assert runner.run().kind == "done", said
    assert [e.outcome for e in ledger.entries()] == ["safe", "safe"]
    assert (tmp_path / "runs.log").read_text().split() == ["0", "1"]
    assert "the storage answers again" in said
    assert not ledger.kept.folder.exists()


def test_a_crash_is_billed_also_where_the_storage_fails_while_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Optuna ends a trial although its sampler could not write that it failed."""
    ledger = open_study(tmp_path)
    ledger.ask()
    ledger.skip(0)  # so that [start] is over
    ledger.ask()

    def no_note(*args: object) -> None:
        raise outage()

    monkeypatch.setattr(ledger.sampler, "after_trial", no_note)
    with pytest.raises(sqlalchemy.exc.OperationalError):
        ledger.fail(1, "bit broke")
    assert (ledger.entry(1).outcome, ledger.entry(1).reading.reason) == ("failed", "bit broke")
    assert ledger.status().failures == 1


def test_a_crash_after_half_a_skip_is_billed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_study(tmp_path)
    ledger.ask()
    with monkeypatch.context() as patch:
        patch.setattr(type(ledger.store._storage), "set_trial_state_values", flaky(lambda *a: True, 9))
        with pytest.raises(sqlalchemy.exc.OperationalError):
            ledger.skip(0)
    assert ledger.fail(0, "bit broke").outcome == "failed"


def test_a_display_that_cannot_look_does_not_reach_the_rig(tmp_path: Path) -> None:
    def look(*args: object) -> None:
        raise outage()

    ledger = open_study(tmp_path, trials=1, seconds=1.5)
    assert Runner(ledger, on_start=look, on_told=look, on_beat=look).run().kind == "done"
    assert ledger.status().trials == 1


def test_a_result_outlives_a_runner_that_is_stopped_while_the_storage_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_study(tmp_path, trials=1)
    stop: list[bool] = []
    runner = Runner(ledger, should_stop=lambda: bool(stop), on_notice=lambda text: stop.append(True))
    monkeypatch.setattr(ledger.store, "finish", flaky(ledger.store.finish, 99))
    end = runner.run()
    assert (end.kind, "nothing that was measured is lost" in end.why) == ("stopped", True)
    assert [result.trial for result in ledger.kept.results()] == [0]


@pytest.mark.parametrize("reason", [None, "bit broke"])
def test_what_a_killed_runner_had_measured_is_told_by_the_next(tmp_path: Path, reason: str | None) -> None:
    ledger = open_study(tmp_path, trials=2, failures=2, load="-1.0")
    dead = replace(this_runner(), pid=2**22 + 1, born="gone")
    asked = ledger.ask(dead)
    results = {"load": -1.0} | ({"cost": 9.0} if reason is None else {})
    ledger.kept.keep(KeptResult(asked.number, dict(asked.x), results, reason, dead))
    said: list[str] = []
    assert Runner(ledger, on_notice=said.append).run().kind == "done"
    assert ledger.entry(0).results == results
    assert ledger.entry(0).reading.reason == (reason or "")
    assert (tmp_path / "runs.log").read_text().split() == ["1"]
    assert said == ["the result of trial 0, which a killed runner had kept, is told"]
    assert not ledger.kept.folder.exists()


@pytest.mark.parametrize(
    ("results", "limits", "missing", "outcome"),
    [
        ({"cost": 9.0, "load": -1.0}, 'load = "<= 0"\nheat = "<= 5"\n', "heat", "unmeasured"),
        ({"load": 1.0}, 'load = "<= 2"\n', "cost", "no value"),
    ],
)
def test_a_kept_result_is_told_where_the_file_asks_for_more_by_now(
    tmp_path: Path, results: dict[str, float], limits: str, missing: str, outcome: str
) -> None:
    with open_study(tmp_path, trials=2, command="") as ledger:
        dead = replace(this_runner(), pid=2**22 + 1, born="gone")
        asked = ledger.ask(dead)
        ledger.kept.keep(KeptResult(asked.number, dict(asked.x), results, None, dead))
    file = tmp_path / "bowl.toml"
    file.write_text(file.read_text().replace('load = "<= 0"\n', limits))
    said: list[str] = []
    with Ledger(read_study_file(file)) as ledger:
        ledger.kept.say = said.append
        for _ in range(2):
            assert ledger.adopt(this_runner()) is None
        entry = ledger.entry(0)
        assert (entry.outcome, entry.results) == (outcome, results)
        assert ledger.status().trials == 1
        assert not ledger.kept.folder.exists()
        assert said == [
            f"the result of trial 0, which a killed runner had kept, is told without {missing}, which {file} "
            "asks for by now: amend the trial if that is known"
        ]
        undo.amend(ledger, 0, {missing: 1.5})
        assert ledger.entry(0).outcome == "safe"


def left_by_a_dead_runner(tmp_path: Path, results: dict[str, float]) -> Ledger:
    """A study whose trial 0 ran to its end, and whose runner died before it told the results."""
    ledger = open_study(tmp_path, trials=2, command="")
    dead = replace(this_runner(), pid=2**22 + 1, born="gone")
    asked = ledger.ask(dead)
    ledger.kept.keep(KeptResult(0, dict(asked.x), results, None, dead))
    return ledger


def test_what_is_set_aside_twice_is_kept_twice(tmp_path: Path) -> None:
    kept = Ledger(read_study_file(write_study(tmp_path))).kept
    for cost in (1.0, 2.0):
        kept.keep(KeptResult(7, {"x": 0.5}, {"cost": cost}, None, this_runner()))
        kept.set_aside(7)
    names = sorted(path.name for path in kept.folder.iterdir())
    assert names == ["refused-7-2.json", "refused-7.json"]


def test_a_kept_result_that_is_refused_is_set_aside_and_said_once(tmp_path: Path) -> None:
    ledger = left_by_a_dead_runner(tmp_path, {"cost": 1e301, "load": -1.0})
    said: list[str] = []
    ledger.kept.say = said.append
    me = this_runner()
    adopted = ledger.adopt(me)
    assert adopted is not None
    assert adopted.number == 0
    assert ledger.adopt(this_runner()) is None
    aside = ledger.kept.folder / "refused-0.json"
    assert [path.name for path in ledger.kept.folder.iterdir()] == [aside.name]
    assert json.loads(aside.read_text())["results"] == {"cost": 1e301, "load": -1.0}
    assert said == [
        "the result of trial 0, which a killed runner had kept, can't be told (cost must be at most 1e+300 "
        f"in size, but 1e+301 came); it stays in {aside}, and the trial is to be run again: look at the "
        "file, and remove it when it is not needed"
    ]


def test_a_kept_result_waits_while_the_study_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = left_by_a_dead_runner(tmp_path, {"cost": 1.0, "load": -1.0})
    monkeypatch.setattr(locking, "LONGEST", 0.0)
    with locking.lock_study(ledger.storage, "bowl"), pytest.raises(locking.LockHeld):
        ledger.adopt(this_runner())
    assert [result.trial for result in ledger.kept.results()] == [0]
    assert ledger.adopt(this_runner()) is None
    assert ledger.entry(0).results == {"cost": 1.0, "load": -1.0}


def test_a_kept_result_of_a_trial_that_someone_else_tells_meanwhile_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = left_by_a_dead_runner(tmp_path, {"cost": 1.0, "load": -1.0})
    entries, said = ledger.entries(), list[str]()
    ledger.kept.say = said.append
    ledger.tell(0, {"cost": 2.0, "load": -1.0}, owner=ledger.kept.results()[0].owner)
    monkeypatch.setattr(ledger, "entries", lambda: entries)
    ledger.adopt(this_runner())
    assert ledger.entry(0).results == {"cost": 2.0, "load": -1.0}
    assert said == []
    assert not ledger.kept.folder.exists()


def test_what_is_kept_of_a_living_runner_of_another_trial_or_study_is_left_alone(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=3)
    me, dead = this_runner(), replace(this_runner(), pid=2**22 + 1, born="gone")
    asked = ledger.ask(me)
    ledger.kept.keep(KeptResult(asked.number, dict(asked.x), {"cost": 1.0, "load": -1.0}, None, me))
    ledger.kept.keep(KeptResult(7, {"x": 0.0, "y": 0.0}, {"cost": 1.0, "load": -1.0}, None, dead))
    (ledger.kept.folder / "result-8.json").write_text('{"study": ["another", "x"]}')
    (ledger.kept.folder / "result-9.json").write_text("{half")
    assert ledger.adopt(this_process()) is None
    assert ledger.entry(0).is_running
    assert sorted(p.name for p in ledger.kept.folder.iterdir()) == [
        "result-0.json",
        "result-8.json",
        "result-9.json",
    ]


def test_a_trial_whose_machine_died_before_its_first_heartbeat_is_adopted_after_the_grace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_study(tmp_path, failures=1, extra='on_exhausted = "stop"')
    far = replace(this_runner(), machine="another", pid=1)
    monkeypatch.setattr(ledger.storage, "record_heartbeat", lambda trial_id: None)
    ledger.store.create(far)
    assert ledger.adopt(this_process()) is None
    monkeypatch.setattr(deaths, "GRACE", 0.0)
    adopted = ledger.adopt(this_process())
    assert adopted is not None
    assert adopted.number == 0


def test_the_last_words_of_a_dead_worker_win_over_its_adoption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_study(tmp_path)
    dead = replace(this_runner(), pid=2**22 + 1, born="gone")
    asked = ledger.ask(dead)
    take_over = ledger.store.take_over

    def late(trial_id: int, owner: Any) -> None:
        """The server carries out what the dead worker sent, just now."""
        with Ledger(ledger.config) as server:
            server.study.tell(asked.number, 1.0)
        take_over(trial_id, owner)

    monkeypatch.setattr(ledger.store, "take_over", late)
    assert ledger.adopt(this_process()) is None
    assert not ledger.entry(0).is_running


def test_a_trial_that_someone_else_told_meanwhile_does_not_end_the_run(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=2, load="-1.0")

    def tell_first(suggestion: Suggestion) -> None:
        if suggestion.number == 0:
            ledger.study.tell(0, 5.0)

    assert Runner(ledger, on_start=tell_first).run().kind == "done"
    assert ledger.status().trials == 2


def test_the_holders_of_a_hard_budget_are_named(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, failures=2, extra='on_exhausted = "stop"')
    ledger.ask()
    ledger.ask(this_runner())
    holders = r"trial 0, by hand since .* \(tell or skip it\); trial 1, by process"
    with pytest.raises(tumble.BudgetReserved, match=holders):
        ledger.ask(BY_HAND)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_the_next_runner_ends_what_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / "rig.sh").write_text(
        "[ -e pid ] || { setsid sleep 300 & echo $! > pid.new; mv pid.new pid; sleep 300; }\n"
        'echo \'{"cost": 1, "load": -1}\'\n'
    )
    file = write_study(tmp_path, trials=1, failures=1, command='["sh", "rig.sh", "{x}", "{y}"]')
    killed = subprocess.Popen([sys.executable, "-m", "tumble.cli", "run", str(file)])
    while not (tmp_path / "pid").exists():
        assert killed.poll() is None, "the runner ended before its rig began"
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    left = int((tmp_path / "pid").read_text())
    assert _fields(left) is not None
    said: list[str] = []
    with Ledger(read_study_file(file)) as ledger:
        assert Runner(ledger, on_notice=said.append).run().kind == "done"
    gone = _fields(left)
    assert gone is None or gone[0] in "ZX"
    assert "processes that a killed runner left of trial 0" in said[0]
    assert not (tmp_path / "bowl.toml.pending").exists()
    assert json.loads((tmp_path / "pid").read_text()) == left


def test_a_runner_that_waits_for_long_says_for_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tumble.studies.runner.LONG_WAIT", 0.0)
    ledger = open_study(tmp_path, extra='on_exhausted = "stop"')
    ledger.ask()
    said: list[str] = []
    runner = Runner(Ledger(ledger.config), should_stop=lambda: bool(said), on_notice=said.append)
    assert runner.run().kind == "stopped"
    assert len(said) == 1
    assert said[0].startswith(
        "trial 1 waits: every failure left may be used by a trial in flight: trial 0, by"
    )
    assert "tell or skip it" in said[0]
