"""Void and amend in a study: what counts, what is kept, and that all workers see the same."""

from __future__ import annotations

import io
import sqlite3
from pathlib import Path

import optuna
import pytest
import sqlalchemy

from tests.study_files import write_study
from tumble.errors import BudgetExhausted, InputError, TrialsExhausted
from tumble.studies import undo
from tumble.studies.csv_io import import_csv
from tumble.studies.exporting import export_csv
from tumble.studies.ledger import Ledger
from tumble.studies.report import page
from tumble.studies.study_file import read_study_file

GOOD = {"cost": 1.0, "load": -0.5}
BAD = {"cost": 0.5, "load": 0.5}


def open_study(folder: Path, **options: object) -> Ledger:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return Ledger(read_study_file(write_study(folder, **options)))  # type: ignore[arg-type]


def reopen(ledger: Ledger) -> Ledger:
    return Ledger(read_study_file(ledger.config.path))


def told(ledger: Ledger, *results: dict[str, float]) -> Ledger:
    for result in results:
        ledger.tell(ledger.ask().number, result)
    return ledger


def suggestion(ledger: Ledger) -> dict[str, object]:
    """What the next ask would give, without asking."""
    opt = ledger.optimizer()
    return dict(opt.suggest(len(ledger.entries())).x)


def test_a_voided_trial_gives_back_its_trial_and_its_failure(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path), GOOD, BAD)
    entry = undo.void(ledger, 1, "sensor loose")
    status = ledger.status()
    assert (entry.outcome, entry.reason(ledger.config), entry.results) == ("voided", "sensor loose", BAD)
    assert (status.trials, status.failures, status.failures_left, status.trials_left) == (1, 0, 3, 7)
    assert (status.voided, status.amended) == (1, 0)
    assert ledger.ask().number == 2
    again = reopen(ledger)
    assert again.entry(1).outcome == "voided"


def test_the_search_goes_on_as_if_a_voided_trial_had_never_been(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path), GOOD, {"cost": 900.0, "load": -0.4}, {"cost": 0.7, "load": -0.3})
    undo.void(ledger, 1)
    opt = ledger.optimizer()
    assert [t.number for t in opt.trials] == [0, 2]
    assert opt.fitted is None  # what was fitted to the slip is forgotten
    assert suggestion(ledger) == suggestion(reopen(ledger))
    asked = ledger.ask()
    assert asked.number == 3
    assert reopen(ledger).optimizer().fitted is not None


@pytest.mark.parametrize("change", ["void", "amend", "fail"])
def test_a_study_that_min_gain_ended_goes_on_after_a_correction(tmp_path: Path, change: str) -> None:
    later = [{"cost": cost, "load": -0.3} for cost in (0.7, 0.65, 0.6, 0.55, 0.5)]
    ledger = told(open_study(tmp_path, extra="min_gain = 1e9"), GOOD, *later)
    with pytest.raises(TrialsExhausted, match="min_gain"):
        ledger.ask()
    for number in (0, 1):
        if change == "void":
            undo.void(ledger, number)
        else:
            undo.amend(ledger, number, {"cost": 90.0}, "broke" if change == "fail" else None)
    status = ledger.status()
    assert (status.expected_gain, status.gain_bound, ledger.optimizer().gain) == (None, None, None)
    assert ledger.ask().number == 6
    assert reopen(ledger).entry(6).is_running


def test_an_amended_trial_is_read_as_if_it_had_been_told_right(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    slipped = told(open_study(tmp_path / "a"), GOOD, {"cost": 80.0, "load": 0.4})
    right = told(open_study(tmp_path / "b"), GOOD, {"cost": 0.8, "load": -0.4})
    undo.amend(slipped, 1, {"cost": 0.8, "load": -0.4})
    pairs = zip(slipped.optimizer().trials, right.optimizer().trials, strict=True)
    assert all(
        (a.value, a.constraints, a.failed, a.u) == (b.value, b.constraints, b.failed, b.u) for a, b in pairs
    )
    assert slipped.status().best == right.status().best
    assert slipped.status().failures == 0


def test_results_that_are_not_named_stay_and_limits_are_applied_as_they_are_now(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path), BAD)
    entry = undo.amend(ledger, 0, {"cost": 0.25})
    assert (entry.results, entry.outcome) == ({"cost": 0.25, "load": 0.5}, "failed")
    path = ledger.config.path
    path.write_text(path.read_text().replace('"<= 0"', '"<= 1"'))
    assert reopen(ledger).entry(0).outcome == "safe"


def test_a_trial_is_amended_to_a_failure_and_back(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path), GOOD)
    entry = undo.amend(ledger, 0, {"load": -0.1}, "bit broke")
    assert (entry.outcome, entry.results, entry.reading.reason) == ("failed", {"load": -0.1}, "bit broke")
    assert ledger.status().best is None
    entry = undo.amend(ledger, 0, GOOD, failed=False)
    assert (entry.outcome, entry.results, entry.reading.crashed) == ("safe", GOOD, False)
    assert [c.kind for c in entry.changes] == ["amended", "amended"]
    assert [c.before for c in entry.changes] == [GOOD, {"load": -0.1}]


def test_the_log_says_what_when_and_by_whom_and_the_storage_keeps_the_original(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path), BAD)
    undo.amend(ledger, 0, GOOD)
    undo.void(ledger, 0, "slip")
    first, second = ledger.entry(0).changes
    assert (first.was, first.before, second.was, second.before) == ("failed", BAD, "safe", GOOD)
    assert "@" in first.by
    assert first.at.endswith("+00:00")
    assert str(second).startswith("voided 20")
    original = ledger.study.get_trials()[0]
    assert (original.state, original.value, original.user_attrs["results"]) == (
        optuna.trial.TrialState.COMPLETE,
        0.5,
        BAD,
    )


def test_a_worker_that_is_open_already_counts_a_change_of_another(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path, failures=1, extra='on_exhausted = "stop"'), BAD)
    other = reopen(ledger)
    with pytest.raises(BudgetExhausted):
        other.ask()
    undo.void(ledger, 0)
    assert other.status().failures == 0
    number = other.ask().number
    other.tell(number, GOOD)
    undo.amend(ledger, number, {}, "it broke after all")
    with pytest.raises(BudgetExhausted):
        other.ask()


def test_failures_above_the_budget_are_recorded(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path, failures=1), GOOD, GOOD)
    undo.amend(ledger, 0, BAD)
    undo.amend(ledger, 1, BAD)
    assert (ledger.status().failures, ledger.status().failures_left) == (2, 0)


def test_a_voided_start_is_tried_again(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path), GOOD)
    undo.void(ledger, 0)
    assert ledger.ask().x == {"x": 0.2, "y": 0.3}


@pytest.mark.parametrize("act", ["void", "amend"])
def test_what_is_not_told_is_refused_and_nothing_is_stored(tmp_path: Path, act: str) -> None:
    ledger = told(open_study(tmp_path), GOOD)
    running = ledger.ask().number
    skipped = told(ledger).ask().number
    ledger.skip(skipped)
    undo.void(ledger, 0)
    before = ledger.entries()
    for number, message in [
        (0, "trial 0 is voided"),
        (running, f"trial {running} is in flight"),
        (skipped, f"trial {skipped} is skipped"),
        (99, "there is no trial 99"),
        (-1, "there is no trial -1"),
        (2**31, "there is no trial 2147483648"),
        (-(10**23), "there is no trial -1000"),
    ]:
        with pytest.raises(InputError, match=message):
            undo.void(ledger, number) if act == "void" else undo.amend(ledger, number, GOOD)
    assert ledger.entries() == before


@pytest.mark.parametrize(
    ("results", "failed", "message"),
    [
        ({}, None, "nothing to amend"),
        ({"cost": float("nan")}, None, "cost"),
        ({"load": float("inf")}, "broke", "load"),
    ],
)
def test_results_that_cannot_be_used_are_refused(
    tmp_path: Path, results: dict[str, float], failed: str | None, message: str
) -> None:
    ledger = told(open_study(tmp_path), GOOD)
    with pytest.raises(InputError, match=message):
        undo.amend(ledger, 0, results, failed)
    assert ledger.entry(0).changes == []


def test_a_crash_amended_without_all_results_is_refused(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.fail(ledger.ask().number, "fell")
    with pytest.raises(InputError, match="load"):
        undo.amend(ledger, 0, {"cost": 1.0}, failed=False)
    assert undo.amend(ledger, 0, GOOD, failed=False).outcome == "safe"


def test_a_crash_whose_numbers_are_corrected_stays_a_crash_with_its_reason(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.fail(ledger.ask().number, "bit broke", GOOD)
    for results in ({"load": -0.25}, {"cost": 2.0, "load": -0.25}):  # some of them, and all of them
        entry = undo.amend(ledger, 0, results)
        assert (entry.outcome, entry.reason(ledger.config)) == ("failed", "crash: bit broke")
    assert (ledger.status().failures, ledger.status().best) == (1, None)
    assert ledger.entry(0).results == {"cost": 2.0, "load": -0.25}
    assert undo.amend(ledger, 0, {"load": -0.5}, "").reading.reason == "bit broke"
    undo.amend(ledger, 0, GOOD)
    entry = undo.amend(ledger, 0, {}, failed=False)
    assert (entry.outcome, entry.results, ledger.status().failures) == ("safe", GOOD, 0)
    with pytest.raises(InputError, match="nothing to amend"):
        undo.amend(ledger, 0, {}, failed=False)


def test_a_broken_limit_is_no_failure_to_take_back(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path), GOOD | {"load": 0.5})
    with pytest.raises(
        InputError, match=r"trial 0 breaks load <= 0 by 0.5: if that result is wrong, amend it"
    ):
        undo.amend(ledger, 0, {}, failed=False)


def test_an_example_of_an_amendment_has_the_objective_of_the_study(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    file.write_text(file.read_text().replace('"cost"', '"energy"'))
    ledger = told(Ledger(read_study_file(file)), {"energy": 1.0, "load": -0.5})
    with pytest.raises(InputError, match=r"name a result such as energy=3\.2, or give"):
        undo.amend(ledger, 0, {})


def test_a_setting_that_was_never_to_be_tried_has_results_where_it_was_run(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    ledger.skip(ledger.ask().number, "too hot", kind="never")
    assert undo.amend(ledger, 0, GOOD).outcome == "safe"


def test_an_export_keeps_all_and_says_what_was_changed(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    ledger = told(open_study(tmp_path / "a"), GOOD, {"cost": 70.0, "load": -0.2}, BAD)
    undo.amend(ledger, 1, {"cost": 0.7})
    undo.void(ledger, 2, "slip")
    text = io.StringIO()
    assert export_csv(ledger, text) == 3
    table = tmp_path / "trials.csv"
    table.write_text(text.getvalue())
    lines = text.getvalue().splitlines()
    assert "was safe cost=70 load=-0.2" in lines[2]
    assert ",voided,0," in lines[3]
    other = open_study(tmp_path / "b")
    assert import_csv(other, table).read == 2  # the voided one is passed over
    assert import_csv(ledger, table).known == 2  # an amended trial is the study's own
    assert [e.results for e in other.entries()] == [GOOD, {"cost": 0.7, "load": -0.2}]


def test_old_data_may_be_voided_and_amended_and_are_never_billed(tmp_path: Path) -> None:
    ledger = open_study(tmp_path)
    table = tmp_path / "old.csv"
    table.write_text("x,y,cost,load\n0.1,0.2,1.0,-0.5\n0.3,0.2,2.0,-0.5\n")
    import_csv(ledger, table)
    undo.amend(ledger, 0, {"load": 0.5})
    undo.void(ledger, 1)
    status = ledger.status()
    assert (status.trials, status.failures, status.voided, status.amended) == (0, 0, 1, 1)
    assert not ledger.entry(0).reading.billed


def test_the_report_says_what_was_changed(tmp_path: Path) -> None:
    ledger = told(open_study(tmp_path), GOOD, BAD, GOOD)
    undo.void(ledger, 1, "slip")
    undo.amend(ledger, 0, {"cost": 2.0})
    text = page(ledger)
    assert "1 voided, 1 amended" in text
    assert "safe, amended" in text
    assert "voided" in text


class PulledPlug(Exception):
    """The process ends here."""


@pytest.mark.parametrize("act", ["void", "amend"])
def test_a_change_that_is_cut_off_at_any_statement_is_there_whole_or_not_at_all(
    tmp_path: Path, act: str
) -> None:
    ledger = told(open_study(tmp_path), BAD)
    entry = ledger.entry(0)
    for cut in range(200):
        count = 0

        def pull(*args: object, cut: int = cut) -> None:
            nonlocal count
            count += 1
            if count > cut:
                raise PulledPlug

        sqlalchemy.event.listen(ledger.storage.engine, "before_cursor_execute", pull)
        try:
            if act == "void":
                undo.void(ledger, 0)
            else:
                undo.amend(ledger, 0, GOOD)
        except (PulledPlug, optuna.exceptions.StorageInternalError):
            is_over = False
        else:
            is_over = True
        finally:
            sqlalchemy.event.remove(ledger.storage.engine, "before_cursor_execute", pull)
        entry = reopen(ledger).entry(0)
        outcomes = {"void": ("failed", "voided"), "amend": ("failed", "safe")}[act]
        assert entry.outcome == outcomes[bool(entry.changes)]
        if is_over or entry.changes:
            break
    assert len(entry.changes) == 1
    database = sqlite3.connect(ledger.storage.engine.url.database or "")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
