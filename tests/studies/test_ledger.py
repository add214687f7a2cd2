"""The ledger: ask, tell, count, refuse, and go on after a death."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest

import tumble
from tests.study_files import write_study
from tumble.studies import deaths, undo
from tumble.studies.asking import is_part_of
from tumble.studies.csv_io import Imported, import_csv, old_trial
from tumble.studies.errors import StudyFileError
from tumble.studies.exporting import export_csv
from tumble.studies.ledger import Ledger
from tumble.studies.locking import lock_study
from tumble.studies.ownership import BY_HAND, OWNER, Owner, this_process
from tumble.studies.records import Entry
from tumble.studies.runner import Runner
from tumble.studies.store import TrialStore
from tumble.studies.study_file import read_study_file
from tumble.studies.surprise import doubts_about

optuna.logging.set_verbosity(optuna.logging.ERROR)


def open_study(folder: Path, **options: object) -> Ledger:
    return Ledger(read_study_file(write_study(folder, **options)))  # type: ignore[arg-type]


def dead_owner() -> Owner:
    """A process of this machine that is gone."""
    return replace(this_process(), pid=2**22 + 1, born="gone")


def reopen(ledger: Ledger) -> Ledger:
    return Ledger(read_study_file(ledger.config.path))


def edit(ledger: Ledger, old: str, new: str) -> Ledger:
    text = ledger.config.path.read_text()
    assert old in text
    ledger.config.path.write_text(text.replace(old, new))
    return reopen(ledger)


def test_the_start_is_tried_first_and_then_the_search_begins(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    first = ledger.ask()
    assert (first.number, first.x, first.mode) == (0, {"x": 0.2, "y": 0.3}, "start")
    second = ledger.ask()
    assert second.number == 1
    assert second.x != first.x


def test_a_start_that_a_storage_rounded_is_not_tried_again() -> None:
    assert is_part_of({"speed": 900.0, "bit": "hss"}, {"speed": 900.0000000000001, "bit": "hss", "feed": 1})
    assert not is_part_of({"speed": 900.0}, {"speed": 900.1})
    assert not is_part_of({"speed": 900.0, "bit": "hss"}, {"speed": 900.0, "bit": "carbide"})
    assert not is_part_of({"speed": 900.0}, {"feed": 1})


def test_a_skipped_start_is_tried_again_and_evidence_does_not_replace_it(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.study.add_trial(old_trial(ledger.config, {"x": 0.9, "y": 0.9}, {"cost": 1.0, "load": 0.6}, None))
    ledger.skip(ledger.ask().number)
    assert ledger.ask().x == {"x": 0.2, "y": 0.3}


def test_counts_follow_what_is_told(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    for results in ({"cost": 1.0, "load": -0.1}, {"cost": 0.5, "load": 0.1}):
        ledger.tell(ledger.ask().number, results)
    ledger.fail(ledger.ask().number, "fell over")
    ledger.fail(ledger.ask().number, "network", transient=True)
    ledger.skip(ledger.ask().number)
    ledger.ask()
    status = reopen(ledger).status()
    assert (status.trials, status.trials_left, status.failures, status.failures_left) == (3, 4, 2, 1)
    assert status.pending == 1
    assert status.best is not None
    assert (status.best.trial, status.best.value) == (0, 1.0)
    outcomes = [e.outcome for e in ledger.entries()]
    assert outcomes == ["safe", "failed", "failed", "transient", "skipped", "running"]
    assert ledger.entry(2).reading.reason == "fell over"


def test_a_limit_that_is_added_makes_earlier_trials_unmeasured_not_safe(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -0.1})
    ledger = edit(ledger, 'load = "<= 0"', 'load = "<= 0"\nheat = "<= 80"')
    assert ledger.entry(0).outcome == "unmeasured"
    assert ledger.status().best is None
    ledger.tell(ledger.ask().number, {"cost": 2.0, "load": -0.1, "heat": 70.0})
    best = ledger.status().best
    assert best is not None
    assert best.trial == 1


def test_the_first_trial_claims_what_an_optimizer_claims(tmp_path: Path) -> None:
    asked = open_study(tmp_path, start=False).ask()
    alone = tumble.Optimizer([(0.0, 1.0)] * 2, 8, 3, ["load"], seed=0).ask()
    assert (asked.mode, asked.p_safe) == ("start", alone.p_safe)
    assert alone.p_safe == 0.5


def test_only_what_is_charged_is_exported_as_billed(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -0.1})
    ledger.skip(ledger.ask().number)
    ledger.fail(ledger.ask().number, "network", transient=True)
    ledger.fail(ledger.ask().number, "fell")
    file = io.StringIO()
    export_csv(ledger, file)
    rows = list(csv.DictReader(file.getvalue().splitlines()))
    assert [(row["outcome"], row["billed"]) for row in rows] == [
        ("safe", "1"),
        ("skipped", "0"),
        ("transient", "0"),
        ("failed", "1"),
    ]


def test_an_emergency_stop_is_a_failure_without_a_value(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    entry = ledger.tell(ledger.ask().number, {"load": 0.4})
    assert (entry.outcome, entry.reading.value, entry.reading.crashed) == ("failed", None, False)


def test_maximising_keeps_the_users_sign(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, extra="maximize = true")
    for value in (1.0, 3.0, 2.0):
        ledger.tell(ledger.ask().number, {"cost": value, "load": -1.0})
    best = ledger.status().best
    assert best is not None
    assert best.value == 3.0


def test_limits_trials_and_failures_may_be_edited_between_trials(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.tell(ledger.ask().number, {"cost": 1.0, "load": 0.1})
    assert ledger.status().failures == 1
    ledger = edit(ledger, '"<= 0"', '"<= 0.2"')
    assert ledger.status().failures == 0
    ledger = edit(edit(ledger, "trials = 8", "trials = 20"), "failures = 3", "failures = 5")
    assert (ledger.status().trials_left, ledger.status().failures_left) == (19, 5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"cost"\n',
            '"cost"\nmaximize = true\n',
            "maximize: study 'bowl' was started with maximize = false; change it back, or give",
        ),
        (
            '"cost"',
            '"price"',
            "objective: study 'bowl' was started with objective = \"cost\"; change it back",
        ),
    ],
)
def test_a_changed_objective_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    ledger = open_study(tmp_path)
    with pytest.raises(StudyFileError, match=message):
        edit(ledger, old, new)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"cost": 1.0}, "load is missing; a trial that kept its limits needs load, cost"),
        ({"load": -1.0}, "cost is missing"),
        ({}, "load is missing"),
        ({"cost": float("nan"), "load": 0.0}, "cost must be a finite number"),
        ({"cost": 1e301, "load": 0.0}, r"cost must be at most 1e\+300 in size, but 1e\+301 came"),
        ({"cost": 1.0, "load": -1e301}, r"load must be at most 1e\+300 in size, but -1e\+301 came"),
    ],
)
def test_incomplete_results_are_refused_and_the_trial_stays_open(
    tmp_path: Path, results: dict[str, float], message: str
) -> None:
    ledger = open_study(tmp_path)
    number = ledger.ask().number
    with pytest.raises(tumble.InputError, match=message):
        ledger.tell(number, results)
    assert ledger.entry(number).outcome == "running"


def test_a_trial_is_told_once_and_must_exist(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    with pytest.raises(tumble.InputError, match="there is no trial 0: none was asked yet"):
        ledger.tell(0, {"cost": 1.0, "load": 0.0})
    ledger.tell(ledger.ask().number, {"cost": 1.0, "load": 0.0})
    for again in (lambda: ledger.tell(0, {"cost": 2.0, "load": 0.0}), lambda: ledger.skip(0)):
        with pytest.raises(tumble.InputError, match=r"trial 0 is over already \(safe\)"):
            again()
    with pytest.raises(tumble.InputError, match="the trials are 0 to 0"):
        ledger.skip(7)


def test_of_two_tells_of_one_trial_one_wins_whole_and_the_other_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one comes between the results and the state of the first, and ends after it."""
    first = open_study(tmp_path)
    second, number = reopen(first), first.ask().number
    errors: list[Exception] = []
    first_is_done, second_has_stored = threading.Event(), threading.Event()
    store, finish = second.store.store_results, second.store.finish

    def store_second(*arguments: Any) -> None:
        store(*arguments)
        second_has_stored.set()

    def finish_second(*arguments: Any) -> None:
        first_is_done.wait(10)
        finish(*arguments)

    def tell_second() -> None:
        try:
            second.tell(number, {"cost": 2.0, "load": 0.5})
        except tumble.InputError as error:
            errors.append(error)

    def store_first(*arguments: Any) -> None:
        TrialStore.store_results(first.store, *arguments)
        thread.start()
        second_has_stored.wait(1.0)

    monkeypatch.setattr(second.store, "store_results", store_second)
    monkeypatch.setattr(second.store, "finish", finish_second)
    monkeypatch.setattr(first.store, "store_results", store_first)
    thread = threading.Thread(target=tell_second)
    entry = first.tell(number, {"cost": 1.0, "load": -0.5})
    first_is_done.set()
    thread.join(30)
    assert (entry.outcome, entry.results) == ("safe", {"cost": 1.0, "load": -0.5})
    assert (first.entry(number).reading.value, first.entry(number).results["cost"]) == (1.0, 1.0)
    assert "trial 0 is over already (safe)" in str(errors[0])


def test_what_a_killed_tell_left_behind_is_replaced_by_the_next_one(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    number = ledger.ask().number
    ledger.store.store_results(ledger.store.id_of(number), {"cost": 1.0, "load": 0.5}, {"load": 0.5})
    entry = ledger.fail(number, "fell")
    assert (entry.results, entry.reason(ledger.config)) == ({}, "crash: fell")


def test_nothing_is_left_after_the_last_trial(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=2, failures=1)
    good = {"cost": 1.0, "load": -1.0}
    ledger.tell(ledger.ask().number, good)
    ledger.ask()
    with pytest.raises(tumble.TrialsExhausted, match=r"^2 of 2 trials are told or in flight: trial 1, by"):
        ledger.ask()
    assert len(ledger.entries()) == 2
    ledger.tell(1, good)
    with pytest.raises(tumble.TrialsExhausted, match=r"^2 of 2 trials are told; raise trials in"):
        ledger.ask()
    ledger = edit(ledger, "trials = 2", "trials = 1")
    with pytest.raises(tumble.TrialsExhausted, match=r"^2 trials are told, more than trials = 1; raise"):
        ledger.ask()


def test_what_the_trials_left_can_gain_is_stored_with_each_decision(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    assert ledger.status().gain_bound is None
    first = ledger.ask()
    assert first.gain_bound is None
    ledger.tell(first.number, {"cost": 0.3, "load": -0.5})
    for _ in range(4):
        later = ledger.ask()
        assert later.gain_bound is None  # few values
        ledger.tell(later.number, {"cost": 0.4, "load": -0.4})
    sixth = ledger.ask()
    assert sixth.expected_gain is not None
    assert sixth.gain_bound is not None
    assert sixth.expected_gain < sixth.gain_bound
    found = reopen(ledger).status()
    assert (found.expected_gain, found.gain_bound) == (sixth.expected_gain, sixth.gain_bound)


def test_a_study_ends_where_the_trials_left_gain_less_than_min_gain(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, extra="min_gain = 1e9")
    for cost in (0.7, 0.6, 0.5, 0.3, 0.2, 0.1):
        ledger.tell(ledger.ask().number, {"cost": cost, "load": -0.4})
    expected = r"improve cost by at most [\de.+-]+ \(90 %\), less than min_gain = 1e\+09; lower min_gain in "
    with pytest.raises(tumble.TrialsExhausted, match=expected):
        ledger.ask()
    assert ledger.confirm().mode == "confirm"  # a person may still confirm
    goes_on = edit(ledger, "min_gain = 1e9", "min_gain = 1e-9")
    assert goes_on.ask().number == 7


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("trials = 8", "trials = 9"),
        ("failures = 3", "failures = 4"),
        ("<= 0", "<= 0.5"),
        ("x = { low = 0.0, high = 1.0 }", "x = { low = 0.0, high = 2.0 }"),
    ],
)
def test_a_study_that_min_gain_ended_goes_on_with_a_larger_budget_or_another_problem(
    tmp_path: Path, old: str, new: str
) -> None:
    ledger = open_study(tmp_path, extra="min_gain = 1e9")
    for cost in (0.6, 0.5, 0.4, 0.3, 0.2):
        ledger.tell(ledger.ask().number, {"cost": cost, "load": cost - 0.8})
    goes_on = edit(ledger, old, new)
    assert goes_on.status().gain_bound is None
    assert goes_on.ask().gain_bound is not None
    with pytest.raises(tumble.TrialsExhausted, match="min_gain"):
        goes_on.ask()


def test_what_is_never_to_be_tried_rings_no_alarm(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    note = {"mode": "careful", "rho": 0.9, "p_safe": 0.9999}
    for k in range(3):
        number = ledger._hand_out(note | {"params": {"x": 0.1 * k, "y": 0.2}}, BY_HAND).number
        ledger.skip(number, "too hot", kind="never")
    assert ledger.status().never == 3
    assert ledger.status().alarm is None
    assert not ledger.optimizer().alarm.rings
    assert ledger.optimizer().alarm.claims == 0


def test_a_run_ends_with_min_gain_as_its_reason(tmp_path: Path) -> None:
    end = Runner(open_study(tmp_path, extra="min_gain = 1e9")).run()
    assert end.kind == "done"
    assert "less than min_gain = 1e+09" in end.why


def test_a_hard_budget_makes_nobody_at_a_keyboard_wait(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, failures=1, extra='on_exhausted = "stop"')
    first = ledger.ask()
    with pytest.raises(tumble.BudgetReserved, match="tell or skip one of those first"):
        ledger.ask()
    ledger.fail(first.number, "fell")
    with pytest.raises(tumble.BudgetExhausted, match="the only failure is spent"):
        ledger.ask()
    assert len(ledger.entries()) == 1


def test_an_interrupted_trial_without_a_place_is_withdrawn_and_nobody_waits_for_it(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, failures=1, extra='on_exhausted = "stop"')
    ledger.ask()
    ledger.store.create(dead_owner())
    with pytest.raises(tumble.BudgetReserved):
        ledger.ask()
    assert [e.outcome for e in ledger.entries()] == ["running", "unstarted"]


def test_a_recommendation_is_confirmed_as_a_billed_trial(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    with pytest.raises(tumble.InputError, match="nothing to confirm"):
        ledger.confirm()
    for _ in range(5):
        asked = ledger.ask()
        x, y = asked.x["x"], asked.x["y"]
        assert isinstance(x, float)
        assert isinstance(y, float)
        ledger.tell(asked.number, {"cost": (x - 0.4) ** 2 + (y - 0.6) ** 2, "load": x + y - 1.2})
    found = ledger.recommend()
    assert found is not None
    asked = ledger.confirm()
    assert asked.x == found.x
    assert asked.mode == "confirm"
    assert (asked.mean, asked.std) == pytest.approx((found.mean, found.std))
    assert doubts_about(ledger, asked.number, {"cost": 90_000.0, "load": -1.0})  # a slip is noticed here, too
    assert not doubts_about(ledger, asked.number, {"cost": found.mean, "load": -0.1})
    assert ledger.status().trials_left == 2
    restored = tumble.Optimizer.from_dict(ledger.optimizer().to_dict())
    assert restored.trials[-1].suggestion is not None
    assert restored.trials[-1].suggestion.mode == "confirm"


# -- running -------------------------------------------------------------------------------------------------


def test_a_study_is_run_to_its_end(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=4)
    end = Runner(ledger).run()
    assert end.kind == "done"
    status = ledger.status()
    assert (status.trials, status.trials_left, status.pending) == (4, 0, 0)
    assert (tmp_path / "runs.log").read_text().split() == [str(i) for i in range(4)]


def test_a_run_stops_between_trials(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    told: list[Entry] = []
    end = Runner(ledger, should_stop=lambda: len(told) >= 2, on_told=told.append).run()
    assert end.kind == "stopped"
    assert ledger.status().trials == 2


def test_the_dead_runners_trial_is_run_again_under_its_number(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=3)
    by_hand = ledger.ask()
    asked = ledger.ask(dead_owner())
    told: list[int] = []
    end = Runner(reopen(ledger), on_told=lambda e: told.append(e.trial)).run()
    assert end.kind == "done"
    assert told == [asked.number, 2]
    entries = ledger.entries()
    assert entries[asked.number].parameters == asked.x
    assert [e.outcome for e in entries][by_hand.number] == "running"
    assert ledger.status().trials == 2


def test_a_trial_that_died_before_it_had_a_setting_gets_one(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=2, failures=1)
    dead = dead_owner()
    ledger.store.create(dead)
    Runner(reopen(ledger)).run()
    assert ledger.entry(0).parameters == {"x": 0.2, "y": 0.3}
    assert ledger.status().trials == 2


def test_a_hand_whose_asking_was_killed_gets_the_same_trial_again(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.store.create(dead_owner())
    assert [ledger.ask().number, ledger.ask().number] == [0, 1]
    assert [e.owner for e in ledger.entries()] == [BY_HAND, BY_HAND]


def test_a_runner_elsewhere_is_dead_when_it_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_study(tmp_path)
    far = Owner("run", "another-machine", 1, "x")
    asked = ledger.ask(far)
    assert ledger.adopt(this_process()) is None
    ledger.storage.grace_period = -1
    assert ledger.adopt(this_process()) is None  # a first look is not enough
    monkeypatch.setattr(deaths, "SECOND_LOOK", 0.0)
    adopted = ledger.adopt(this_process())
    assert adopted is not None
    assert (adopted.number, adopted.x) == (asked.number, asked.x)
    assert ledger.adopt(this_process()) is None


def test_a_trial_in_a_living_process_is_not_told_by_hand(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    asked = ledger.ask(this_process())
    with pytest.raises(tumble.InputError, match=f"is being run by process {os.getpid()}"):
        ledger.tell(asked.number, {"cost": 1.0, "load": 0.0})


def test_what_was_measured_before_a_transient_fault_is_kept_and_teaches_nothing(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    results = {"cost": 2.0, "load": 4.0, "heat": float("nan")}
    entry = ledger.fail(ledger.ask().number, "pump", results, transient=True)
    assert (entry.outcome, entry.results) == ("transient", {"cost": 2.0, "load": 4.0})
    assert (ledger.status().trials, ledger.status().failures, ledger.optimizer().n_told) == (0, 0, 0)


def test_a_transient_fault_is_tried_again_then_skipped_and_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tumble.studies.runner.FIRST_PAUSE", 0.01)
    command = '["sh", "-c", "echo once >> tries; exit 75", "{x}", "{y}"]'
    ledger = open_study(tmp_path, command=command, extra="transient_exit_codes = [75]\nretries = 2")
    end = Runner(ledger).run()
    assert (end.kind, end.why) == ("fault", "trial 0: exit code 75, 3 times; it is not billed")
    assert (tmp_path / "tries").read_text().split() == ["once"] * 3
    assert (ledger.status().trials, ledger.status().failures) == (0, 0)
    assert ledger.entries()[0].outcome == "transient"


def test_unusable_output_is_unbilled_and_stops_the_run_with_what_it_said(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, command='["echo", "hello", "{x}", "{y}"]')
    end = Runner(ledger).run()
    assert end.kind == "fault"
    assert "must be JSON like" in end.why
    assert "hello 0.2 0.3" in end.output
    assert ledger.status().trials == 0


def test_a_crash_is_billed_with_its_reason(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=4, load="-1.0", crash="trial in ('1', '3')")
    Runner(ledger).run()
    crashed = [e for e in ledger.entries() if e.reading.crashed]
    assert [e.trial for e in crashed] == [1, 3]
    assert {e.reading.reason for e in crashed} == {"exit code 1"}
    assert ledger.status().failures == len(crashed)


def test_what_the_rig_said_last_is_stored_and_shown(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, failures=1, command='["python3", "no-such-rig.py", "{x}", "{y}"]')
    end = Runner(ledger).run()
    reason = ledger.entry(0).reading.reason
    assert reason.startswith("exit code 2: ")
    assert "no-such-rig.py" in reason
    assert end.kind == "fault"
    assert "no-such-rig.py" in end.output


def test_a_hard_budget_ends_the_run(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, failures=2, load="1.0", extra='on_exhausted = "stop"')
    end = Runner(ledger).run()
    assert end.kind == "done"
    assert "failures are spent" in end.why
    assert ledger.status().trials == 2


def test_a_run_ends_where_nothing_is_safe_enough_for_what_is_left(tmp_path: Path) -> None:
    """A rig that breaks after its first trial: the failures are spent, and no setting is safe enough."""
    ledger = open_study(tmp_path, failures=2, crash="trial != '0'")
    end = Runner(ledger).run()
    assert end.kind == "done"
    assert "no failure is left, and no new setting is safe enough: the safest one that was found" in end.why
    assert ledger.status().failures == 2


def test_a_run_in_which_nothing_was_safe_stops_when_no_failure_is_left(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, failures=2, load="1.0")
    end = Runner(ledger).run()
    assert end.kind == "fault"
    assert "nothing safe was seen" in end.why
    assert "[start]" not in end.why  # it has one
    assert f"(tumble void {ledger.config.path} TRIAL, for each of 0, 1), and run it again" in end.why
    assert "each with" not in end.why  # they broke a limit
    assert end.why.endswith("; if not, raise failures to go on")
    assert ledger.status().trials == 2


def test_where_the_failures_are_spent_on_one_fault_it_is_named_with_its_remedy(tmp_path: Path) -> None:
    crash = "sys.exit('ModuleNotFoundError: no drill')"
    ledger = open_study(tmp_path, failures=2, crash=crash, start=False)
    end = Runner(ledger).run()
    same = "(each with: exit code 1: ModuleNotFoundError: no drill); nothing safe was seen: look at the"
    assert same in end.why
    assert end.why.endswith("; if not, add a [start] that is safe, and raise failures to go on")
    for trial in (0, 1):
        undo.void(ledger, trial)
    (tmp_path / "rig.py").write_text("print('cost=1 load=-1')")
    assert Runner(ledger).run().kind == "done"


def test_a_start_that_crashes_stops_the_run_before_a_second_failure(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=4, failures=3, crash="sys.exit('ModuleNotFoundError: no drill')")
    end = Runner(ledger).run()
    assert end.kind == "fault"
    assert end.why.startswith(
        "trial 0, the setting given under [start], crashed: exit code 1: ModuleNotFoundError: no drill; "
        "a start is known to be safe, so look at the command"
    )
    assert f"give the trial back (tumble void {ledger.config.path} 0); run it again to go on" in end.why
    assert ledger.status().failures == 1
    undo.void(ledger, 0)
    (tmp_path / "rig.py").write_text("print('cost=1 load=-1')")
    assert Runner(ledger).run().kind == "done"
    assert ledger.status().failures == 0


def test_a_run_goes_on_after_a_start_that_crashed_where_it_is_run_again(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=4, failures=3, load="-1.0", crash="trial == '0'")
    assert Runner(ledger).run().kind == "fault"
    assert Runner(ledger).run().kind == "done"
    assert [e.outcome for e in ledger.entries()][:2] == ["failed", "safe"]


def test_while_waiting_the_dead_are_looked_after(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=3, failures=1, load="-1.0", extra='on_exhausted = "stop"')
    dead = dead_owner()
    ledger.store.create(dead)
    runner = Runner(reopen(ledger))
    runner.run_one(runner.ledger.ask(this_process()))  # waits for trial 0 and so runs it first
    assert [e.outcome for e in ledger.entries()] == ["safe", "safe"]


def test_a_runner_that_waits_takes_over_nothing_that_would_wait_for_it(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, trials=3, failures=1, load="-1.0", extra='on_exhausted = "stop"')
    by_hand = ledger.ask()
    ends: list[str] = []
    thread = threading.Thread(target=lambda: ends.append(Runner(reopen(ledger)).run().kind))
    thread.start()
    while len(ledger.entries()) < 2:  # until the runner waits with trial 1
        time.sleep(0.01)
    ledger.store.create(dead_owner())
    time.sleep(1.0)
    ledger.tell(by_hand.number, {"cost": 1.0, "load": -1.0})
    thread.join(60)
    assert ends == ["done"]
    assert [e.outcome for e in ledger.entries()] == ["safe"] * 3


def test_a_study_without_a_command_is_not_run(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, command="")
    with pytest.raises(tumble.InputError, match="command: is missing"):
        Runner(ledger)


def test_the_lock_keeps_others_out(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    with lock_study(ledger.storage, "bowl"):
        assert (tmp_path / "bowl.db.lock").exists()


def test_owners_survive_the_storage(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    asked = ledger.ask(this_process())
    assert ledger.entry(asked.number).owner == this_process()
    assert this_process().is_alive_here()
    assert ledger.entry(asked.number).stored.system_attrs[OWNER]["kind"] == "run"


# -- evidence ------------------------------------------------------------------------------------------------


def test_an_exported_study_is_read_by_another_as_evidence(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    old, new = open_study(tmp_path / "old"), open_study(tmp_path / "new")
    old.tell(old.ask().number, {"cost": 1.25, "load": -0.1})
    old.tell(old.ask().number, {"cost": 0.5, "load": 0.1})
    old.fail(old.ask().number, "fell, badly", {"load": 0.3})
    old.skip(old.ask().number)
    old.ask()
    table = io.StringIO()
    assert export_csv(old, table) == 5
    path = tmp_path / "old.csv"
    path.write_text(table.getvalue())
    assert import_csv(new, path) == Imported(read=3, known=0, passed_over={"skipped": 1, "running": 1})
    entries = new.entries()
    assert [e.outcome for e in entries] == ["safe", "failed", "failed"]
    assert not any(e.reading.billed for e in entries)
    assert entries[2].reading.reason == "fell, badly"
    assert entries[2].results == {"load": 0.3}
    assert [e.parameters for e in entries] == [
        pytest.approx(e.parameters, rel=1e-14) for e in old.entries()[:3]
    ]
    status = new.status()
    assert (status.trials, status.trials_left, status.failures) == (0, 8, 0)
    assert status.best is not None


def test_reading_a_table_twice_is_no_more_evidence(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    path = tmp_path / "old.csv"
    path.write_text("x,y,cost,load,failed\n0.1,0.1,1,-1,\n0.1,0.1,1,-1,\n0.3,0.2,,-2,1\n")
    assert import_csv(ledger, path) == Imported(read=3, known=0)  # one was measured twice
    assert import_csv(ledger, path) == Imported(read=0, known=3)
    path.write_text(path.read_text() + "0.1,0.1,1.5,-1,\n")
    assert import_csv(ledger, path) == Imported(read=1, known=3)
    assert len(ledger.entries()) == 4


def test_a_study_s_own_trials_are_no_evidence_for_it(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -0.1, "also": 3.0})
    ledger.fail(ledger.ask().number, "fell")
    table = io.StringIO()
    export_csv(ledger, table)
    (tmp_path / "own.csv").write_text(table.getvalue())
    assert import_csv(ledger, tmp_path / "own.csv") == Imported(read=0, known=2, unused=("also",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,1\n", "column cost is missing"),
        ("x,y,cost\n0.1,0.1,abc\n", "line 2: cost must be a finite number, but 'abc' came"),
        ("x,y,cost,load\n0.1,0.1,1,-1\n0.1,7,1,-1\n", "line 3: parameter 'y': expected a number in"),
        ("x,y,cost\n0.1,0.1,1\n", "line 2: load is not there; what was not measured can't be taken as safe"),
        ("x,y,cost,load\n0.1,0.1,,\n", "line 2: cost is empty; give a number, or 1 under failed"),
    ],
)
def test_a_bad_table_is_refused_whole(tmp_path: Path, text: str, message: str) -> None:
    ledger = open_study(tmp_path)
    (tmp_path / "old.csv").write_text(text)
    with pytest.raises(tumble.InputError, match=message.replace("[", r"\[")):
        import_csv(ledger, tmp_path / "old.csv")
    assert ledger.entries() == []


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(tumble.InputError, match=r"there is no file .*none.csv; correct its name"):
        import_csv(open_study(tmp_path), tmp_path / "none.csv")
    with pytest.raises(tumble.InputError, match=r"can't be read \(.*; give a CSV file in UTF-8"):
        import_csv(open_study(tmp_path), tmp_path)


def test_a_folder_and_a_workbook_are_no_table_and_that_is_said_plainly(tmp_path: Path) -> None:
    ledger, book = open_study(tmp_path), tmp_path / "old.xlsx"
    book.write_bytes(b"PK\x03\x04\x14\x00\x06\x00 and what follows")
    with pytest.raises(
        tumble.InputError, match=r"old\.xlsx: is no text; save the table as CSV in UTF-8, and"
    ):
        import_csv(ledger, book)
    book.write_bytes(b"a\x81")  # no text in any of the ways that a spreadsheet writes
    with pytest.raises(
        tumble.InputError, match=r"old\.xlsx: is no text; save the table as CSV in UTF-8, and"
    ):
        import_csv(ledger, book)
    with pytest.raises(
        tumble.InputError, match=r": can't be read \(Is a directory\); give a CSV file in UTF-8"
    ):
        import_csv(ledger, tmp_path)


def test_choices_survive_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'name = "a"\nobjective = "y"\ntrials = 4\n[parameters]\nb = { choices = [true, false] }\n'
        'c = { choices = ["One", "two"] }\nn = { low = 1, high = 9, type = "int" }\n'
    )
    ledger = Ledger(read_study_file(path))
    ledger.tell(ledger.ask().number, {"y": 1.0})
    table = io.StringIO()
    export_csv(ledger, table)
    (tmp_path / "a.csv").write_text(table.getvalue())
    (row,) = csv.DictReader(table.getvalue().splitlines())
    path.write_text(path.read_text().replace('name = "a"', 'name = "b"'))
    other = Ledger(read_study_file(path))
    assert import_csv(other, tmp_path / "a.csv").read == 1
    assert other.entries()[0].parameters == ledger.entries()[0].parameters
    assert row["outcome"] == "safe"


# -- storage -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "storage",
    [
        "sqlite:///no/such/folder/a.db",
        "sqlite:///bowl.toml",
        "postgresql+psycopg://me:secret@127.0.0.1:1/db",
        "postgresql+nodriver://me@127.0.0.1:1/db",
    ],
)
def test_a_storage_that_cannot_be_opened_is_named_without_its_password(tmp_path: Path, storage: str) -> None:
    before = {p.name for p in tmp_path.iterdir()} | {"bowl.toml", "rig.py"}
    with pytest.raises(StudyFileError, match=r"bowl.toml: storage: .* can't be opened") as caught:
        open_study(tmp_path, storage=storage)
    assert "secret" not in str(caught.value)
    assert {p.name for p in tmp_path.iterdir()} == before


def test_a_file_whose_making_was_interrupted_is_finished(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "bowl.db")) as connection:
        connection.execute(
            "CREATE TABLE version_info (version_info_id INTEGER PRIMARY KEY, schema_version INTEGER,"
            " library_version VARCHAR(256))"
        )
        connection.commit()
    assert Ledger(read_study_file(file)).status().trials == 0


def test_looking_at_a_study_writes_nothing(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -1.0})
    ledger.close()
    before = (tmp_path / "bowl.db").read_bytes()
    with Ledger(ledger.config, reading=True) as looking:
        assert looking.status().trials == 1
        assert looking.recommend() is not None
        with pytest.raises(optuna.exceptions.StorageInternalError):
            looking.ask()
    assert (tmp_path / "bowl.db").read_bytes() == before
    assert not (tmp_path / "bowl.db-journal").exists()


def test_a_study_that_is_not_there_is_not_made_by_looking_for_it(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    with pytest.raises(
        StudyFileError, match=r"there is no .*bowl.db: nothing was asked yet, or it was moved or deleted"
    ):
        Ledger(read_study_file(file), reading=True)
    assert not (tmp_path / "bowl.db").exists()
    Ledger(read_study_file(file)).close()
    file.write_text(file.read_text().replace('name = "bowl"', 'name = "cup"\nstorage = "sqlite:///bowl.db"'))
    with pytest.raises(StudyFileError, match="there is no study 'cup' in it"):
        Ledger(read_study_file(file), reading=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "there is no study in .*: nothing was asked yet"),
        ("hello", r"can't be opened \(.*\); the file is damaged, or no database"),
    ],
)
def test_a_file_that_is_no_study_is_not_looked_at(tmp_path: Path, content: str, said: str) -> None:
    file = write_study(tmp_path)
    (tmp_path / "bowl.db").write_text(content)
    with pytest.raises(StudyFileError, match=said):
        Ledger(read_study_file(file), reading=True)
    assert (tmp_path / "bowl.db").read_text() == content


def test_a_file_that_may_not_be_written_to_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_study(tmp_path)
    ledger.close()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(StudyFileError, match=r"bowl.db can't be written to; check the rights of the file"):
        reopen(ledger)
    with Ledger(ledger.config, reading=True) as looking:
        assert looking.status().trials == 0


@pytest.mark.parametrize("noise", [{"cost": 0.05}, {"value": 0.3}, {"cost": 0.05, "value": 0.3}])
def test_a_limit_that_is_called_value_takes_no_noise_from_the_objective(
    tmp_path: Path, noise: dict[str, float]
) -> None:
    file = write_study(tmp_path)
    lines = "".join(f"{name} = {std}\n" for name, std in noise.items())
    file.write_text(file.read_text().replace("load =", "value =") + f"[noise]\n{lines}")
    with Ledger(read_study_file(file)) as ledger:
        for x in (0.1, 0.3, 0.5, 0.7):
            found = {"cost": (x - 0.4) ** 2, "value": x - 0.8}
            ledger.tell(ledger.try_({"x": x, "y": 0.5}).number, found)
        _, models = ledger.optimizer().models()
    processes = {"cost": models.objective, "value": models.feasibility.constraints[0]}
    learned = {name: gp.hyper.noise * gp.outputs.scale for name, gp in processes.items()}
    assert {name: learned[name] for name in noise} == pytest.approx(noise)
    assert all(
        learned[name] != pytest.approx(std) for name in learned.keys() - noise for std in noise.values()
    )


def test_a_limit_that_is_tightened_rings_no_alarm(tmp_path: Path) -> None:
    ledger = open_study(tmp_path, extra="seed = 3")
    for k in range(7):
        ledger.tell(ledger.ask().number, {"cost": 1.0 + 0.1 * k, "load": -0.2 + 0.01 * k})
    before = ledger.optimizer()
    tightened = edit(ledger, "<= 0", "<= -0.5")
    assert tightened.status().failures == 7
    assert tightened.status().alarm is None
    assert tightened.optimizer().alarm.claims == 0
    assert all(trial.suggestion is None for trial in tightened.optimizer().trials)
    again = edit(tightened, "<= -0.5", "<= 0").optimizer()
    assert list(map(repr, again.trials)) == list(map(repr, before.trials))  # as texts: NaN equals nothing


def test_what_is_predicted_of_a_setting_of_ones_own_is_stored_also_where_limits_are_many(
    tmp_path: Path,
) -> None:
    names = [f"temperature-of-bearing-{k}" for k in range(40)]
    limits = "".join(f'{name} = "<= 5"\n' for name in names)
    file = write_study(tmp_path, command="", start=False)
    file.write_text(file.read_text().replace('load = "<= 0"\n', limits))
    with Ledger(read_study_file(file)) as ledger:
        for x, cost in ((0.2, 2.0), (0.6, 1.0)):
            number = ledger.try_({"x": x, "y": x}).number
            ledger.tell(number, {"cost": cost} | dict.fromkeys(names, x))
        decided = ledger.entry(ledger.try_({"x": 0.4, "y": 0.4}).number).decision
    assert set(decided["constraints"]) == set(names)
    assert decided["params"] == {"x": 0.4, "y": 0.4}
