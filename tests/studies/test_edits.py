"""The study file is read between two trials: edits take effect, bad ones are refused once."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests.studies.test_ledger import open_study
from tumble.studies.edits import StudyFileWatch
from tumble.studies.ledger import Ledger
from tumble.studies.records import Entry
from tumble.studies.runner import End, Runner
from tumble.studies.study_file import read_study_file


def edit(ledger: Ledger, old: str, new: str) -> None:
    text = ledger.config.path.read_text()
    assert old in text
    ledger.config.path.write_text(text.replace(old, new))


def run_and_edit(ledger: Ledger, after: int, *edits: tuple[str, str]) -> tuple[End, list[str]]:
    """Run the study, with each of the edits made after so many trials more."""
    heard: list[str] = []

    def told(entry: Entry) -> None:
        done = entry.trial + 1
        if done % after == 0 and done // after <= len(edits):
            edit(ledger, *edits[done // after - 1])

    return Runner(ledger, on_told=told, on_notice=heard.append).run(), heard


@pytest.mark.parametrize("rule", ["safe", "stop"])
def test_a_budget_below_what_was_spent_stops_at_once(rule: str, tmp_path: Path) -> None:
    ledger = open_study(
        tmp_path, trials=30, failures=20, load="1.0", start=False, extra=f'on_exhausted = "{rule}"'
    )
    end, heard = run_and_edit(ledger, 3, ("failures = 20", "failures = 2"))
    assert end.kind == ("fault" if rule == "safe" else "done")
    status = ledger.status()
    assert (status.trials, status.failures) == (3, 3)
    assert heard == [f"{ledger.config.path} was edited; from the next trial on: failures 20 -> 2"]


def test_a_run_that_waits_for_trials_in_flight_stops_too_where_too_many_failed(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=30, failures=20, load="1.0", start=False)
    ledger.ask()  # by hand: in flight all the time
    end, _ = run_and_edit(ledger, 4, ("failures = 20", "failures = 2"))
    assert end.kind == "fault"
    assert ledger.status().failures == 3


def test_fewer_and_more_trials_take_effect(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=20, failures=None)
    end, heard = run_and_edit(ledger, 2, ("trials = 20", "trials = 3"))
    assert (end.kind, ledger.status().trials) == ("done", 3)
    edit(ledger, "trials = 3", "trials = 4")
    Runner(ledger, on_notice=heard.append).run()
    assert ledger.status().trials == 4
    assert [text.partition("on: ")[2] for text in heard] == ["trials 20 -> 3", "trials 3 -> 4"]


def test_limits_command_and_the_rest_take_effect_for_the_next_trial(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=5, failures=4, load="x + y")
    quick = ('load = "<= 0"', 'load = "<= 5"')
    other = ("trials = 5", 'trials = 5\ntimeout = 7\nretries = 1\non_exhausted = "stop"\nseed = 3')
    _, heard = run_and_edit(ledger, 1, quick, other, ("rig.py", "other.py"))
    assert [text.partition("on: ")[2] for text in heard[:2]] == [
        "limits load <= 0 -> load <= 5",
        "on_exhausted safe -> stop; timeout none -> 7; retries 3 -> 1; seed 0 -> 3",
    ]
    assert "there is no script" in heard[2]
    assert len(heard) == 3
    assert ledger.status().failures == 0  # judged anew by the new limit
    assert (ledger.config.timeout, ledger.sampler.on_exhausted) == (7.0, "stop")


def test_a_limit_that_is_misspelt_while_it_runs_is_named(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=4)
    end, heard = run_and_edit(ledger, 2, ('load = "<= 0"', 'laod = "<= 0"'))
    assert end.kind == "fault"  # the rig does not measure it either
    assert heard == [
        f"{ledger.config.path} was edited; from the next trial on: limits load <= 0 -> laod <= 0",
        "no told trial has measured laod, so that none counts as safe; did you mean load?",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("trials = 4", "trials = -4", "trials: must be a whole number of at least 1"),
        ("trials = 4", "trials = ", "not valid TOML"),
        ("x = { low = 0.0", "x = { log = true, low = 0.1", "parameters.x: log was false, and can't change"),
        ('objective = "cost"', 'objective = "price"', "objective: study 'bowl' was started with objective"),
        ('name = "bowl"', 'name = "other"', "name: can't change while the study runs; change it back"),
        ('name = "bowl"', 'name = "bowl"\nstorage = "sqlite:///b.db"', "storage: can't change while"),
    ],
)
def test_a_bad_edit_is_refused_once_and_the_old_file_kept(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    ledger, heard = open_study(tmp_path, trials=4), list[str]()
    watch, before = StudyFileWatch(ledger, heard.append), ledger.config
    edit(ledger, old, new)
    assert not watch.look()
    assert not watch.look()
    assert ledger.config == before
    assert len(heard) == 1
    assert message in heard[0]
    assert heard[0].endswith("; the study goes on with what the file said before")


def test_a_run_goes_on_after_a_bad_edit_and_says_it_once(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=4)
    end, heard = run_and_edit(ledger, 1, ('objective = "cost"', 'objective = "price"'))
    assert (end.kind, ledger.status().trials) == ("done", 4)
    (said,) = heard
    assert "objective: study 'bowl' was started with objective" in said


def test_a_file_that_is_gone_for_a_moment_is_missed_and_then_followed(tmp_path: Path) -> None:
    ledger, heard = open_study(tmp_path), list[str]()
    watch, text = StudyFileWatch(ledger, heard.append), ledger.config.path.read_text()
    ledger.config.path.unlink()
    assert not watch.look()
    assert not watch.look()
    ledger.config.path.write_text(text.replace("trials = 8", "trials = 9"))
    assert watch.look()
    assert not watch.look()
    assert ["there is no such file" in heard[0], "trials 8 -> 9" in heard[1], len(heard)] == [True, True, 2]


def test_a_runner_that_waits_for_a_place_sees_the_budget_raised(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=3, failures=1, extra='on_exhausted = "stop"')
    held = ledger.ask().number  # it holds the only failure
    ends: list[End] = []
    other = Ledger(read_study_file(ledger.config.path))
    thread = threading.Thread(target=lambda: ends.append(Runner(other).run()), daemon=True)
    thread.start()
    time.sleep(0.3)
    edit(ledger, "failures = 1", "failures = 2")
    thread.join(60)
    assert [end.kind for end in ends] == ["done"]
    assert other.status().trials == 2
    assert ledger.entry(held).is_running
