"""Every trial in a file: all that is known of it, in the format that the file's name says."""

from __future__ import annotations

import csv
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tumble
from tests.study_files import write_study
from tumble.studies.csv_io import import_csv
from tumble.studies.exporting import export_trials
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A study with a fixed and a logarithmic parameter, an extra result, a retry and a skipped trial."""
    file = write_study(tmp_path, command="")
    log = "speed = { low = 500.0, high = 4000.0, log = true }\ndepth = 12.5\n"
    text = file.read_text().replace("[parameters]\n", f"[parameters]\n{log}")
    file.write_text(text.replace("[start]\n", "[start]\nspeed = 900\n"))
    ledger = Ledger(read_study_file(file))
    first = ledger.ask().number
    ledger.store.note_retry(first, "exit code 75: sensor away")
    ledger.tell(first, {"cost": 1.5, "load": -0.5, "wear": 0.1 + 0.2})
    ledger.skip(ledger.ask().number, "power cut")
    return ledger


def test_a_table_keeps_everything_and_numbers_as_they_were_meant(tmp_path: Path, ledger: Ledger) -> None:
    assert export_trials(ledger, tmp_path / "a.CSV") == 2
    with open(tmp_path / "a.CSV", newline="") as file:
        told, skipped = csv.DictReader(file)
    assert (told["speed"], told["depth"], told["x"], told["wear"]) == ("900", "12.5", "0.2", "0.3")
    assert (told["retries"], told["by"], told["outcome"]) == ("exit code 75: sensor away", "hand", "safe")
    assert (skipped["outcome"], skipped["reason"]) == ("skipped", "power cut")


def test_the_name_says_the_format(tmp_path: Path, ledger: Ledger) -> None:
    assert export_trials(ledger, tmp_path / "a.json") == 2
    told, skipped = json.loads((tmp_path / "a.json").read_text())
    assert (told["parameters"]["speed"], told["results"]) == (900, {"cost": 1.5, "load": -0.5, "wear": 0.3})
    assert (told["retries"], skipped["outcome"]) == (["exit code 75: sensor away"], "skipped")
    with pytest.raises(tumble.InputError, match=r"a.xlsx: a table is written as .csv or .json, and"):
        export_trials(ledger, tmp_path / "a.xlsx")
    assert not (tmp_path / "a.xlsx").exists()


def test_a_table_with_a_fixed_parameter_is_read_again(tmp_path: Path, ledger: Ledger) -> None:
    export_trials(ledger, tmp_path / "a.csv")
    assert import_csv(ledger, tmp_path / "a.csv").known == 1
    table = (tmp_path / "a.csv").read_text().replace("12.5", "13.5")
    (tmp_path / "b.csv").write_text(table)
    with pytest.raises(tumble.InputError, match=r"line 2: parameter 'depth': is fixed at 12.5, but 13.5"):
        import_csv(ledger, tmp_path / "b.csv")


NAMED_ALIKE = """
name = "alike"
objective = "mean"
trials = 8
[parameters]
mode = { choices = ["slow", "fast"] }
by = { low = 0.0, high = 1.0 }
[constraints]
failed = "<= 3"
[start]
mode = "fast"
by = 0.25
"""


@pytest.fixture
def alike(tmp_path: Path) -> Ledger:
    """A study whose own names, and an extra result of its rig, are those of columns that are written too."""
    (tmp_path / "alike.toml").write_text(NAMED_ALIKE)
    ledger = Ledger(read_study_file(tmp_path / "alike.toml"))
    ledger.tell(ledger.ask().number, {"mean": 1.5, "failed": 2.0, "reason": 7.0, "std": 0.5})
    ledger.fail(ledger.try_({"mode": "slow", "by": 0.5}).number, "bit broke")
    return ledger


def test_names_of_the_study_stay_and_the_others_get_a_prefix(tmp_path: Path, alike: Ledger) -> None:
    export_trials(alike, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        header, *_ = csv.reader(file)
    with open(tmp_path / "a.csv", newline="") as file:
        told, failed = csv.DictReader(file)
    assert len(set(header)) == len(header)
    own = ("mode", "by", "mean", "failed", "reason", "std")
    assert [told[name] for name in own] == ["fast", "0.25", "1.5", "2", "7", "0.5"]
    kept = ("trial", "outcome", "tumble_failed", "tumble_reason", "tumble_mode", "tumble_by")
    assert [failed[name] for name in kept] == ["1", "failed", "1", "crash: bit broke", "try", "hand"]


def test_a_table_with_prefixes_is_read_again(tmp_path: Path, alike: Ledger) -> None:
    export_trials(alike, tmp_path / "a.csv")
    assert import_csv(alike, tmp_path / "a.csv").known == 2
    (tmp_path / "other.toml").write_text(NAMED_ALIKE.replace('"alike"', '"other"'))
    with Ledger(read_study_file(tmp_path / "other.toml")) as other:
        assert import_csv(other, tmp_path / "a.csv").read == 2
        told, failed = other.entries()
    assert (told.outcome, told.results) == ("safe", {"mean": 1.5, "failed": 2.0})
    assert (failed.outcome, failed.reading.reason) == ("failed", "bit broke")


def test_a_prefix_that_is_taken_too_gets_another(tmp_path: Path, alike: Ledger) -> None:
    alike.tell(alike.ask().number, {"mean": 1.0, "failed": 9.0, "tumble_failed": 1.0, "outcome": 3.0})
    export_trials(alike, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        told = list(csv.DictReader(file))[2]
    names = ("tumble_failed", "tumble_tumble_failed", "outcome", "tumble_outcome")
    assert [told[name] for name in names] == ["1", "0", "3", "failed"]
    assert import_csv(alike, tmp_path / "a.csv").known == 3


def test_what_is_never_to_be_tried_stays_so_in_another_study(tmp_path: Path, ledger: Ledger) -> None:
    ledger.skip(ledger.ask().number, "the coolant would boil", kind="never")
    export_trials(ledger, tmp_path / "a.csv")
    assert import_csv(ledger, tmp_path / "a.csv").read == 0
    file = tmp_path / "bowl.toml"
    file.write_text(file.read_text().replace('"bowl"', '"other"'))
    with Ledger(read_study_file(file)) as other:
        assert import_csv(other, tmp_path / "a.csv").read == 2
        told, never = other.entries()
        assert (told.outcome, never.outcome) == ("safe", "never")
        assert never.reason(other.config) == "the coolant would boil"
        assert (other.status().never, other.status().imported) == (1, 1)
        assert import_csv(other, tmp_path / "a.csv").read == 0


def test_an_extra_result_that_is_called_as_a_parameter_has_a_column_of_its_own(
    tmp_path: Path, ledger: Ledger
) -> None:
    measured = {"cost": 2.0, "load": -1.0, "speed": 812.0, "result_speed": 3.0, "x": 0.25}
    ledger.tell(ledger.try_({"speed": 800.0, "x": 0.5, "y": 0.5}).number, measured)
    export_trials(ledger, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        header, *_ = csv.reader(file)
    with open(tmp_path / "a.csv", newline="") as file:
        told = list(csv.DictReader(file))[2]
    assert len(set(header)) == len(header)
    names = ("speed", "result_speed", "result_result_speed", "x", "result_x", "cost")
    assert [told[name] for name in names] == ["800", "3", "812", "0.5", "0.25", "2"]
    assert import_csv(ledger, tmp_path / "a.csv").known == 2


def test_a_fixed_parameter_that_was_dropped_leaves_its_name_to_a_limit(
    tmp_path: Path, ledger: Ledger
) -> None:
    ledger.tell(
        ledger.try_({"speed": 800.0, "x": 0.5, "y": 0.5}).number, {"cost": 2.0, "load": -1, "depth": 9}
    )
    file = tmp_path / "bowl.toml"
    text = file.read_text().replace("depth = 12.5\n", "")
    file.write_text(text.replace("[constraints]\n", '[constraints]\ndepth = "<= 10"\n'))
    with Ledger(read_study_file(file)) as later:
        export_trials(later, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as table:
        told = list(csv.DictReader(table))[2]
    assert (told["depth"], told["parameter_depth"]) == ("9", "12.5")


def test_a_table_says_the_reasons_of_json_and_is_read_again_without_loss(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with Ledger(read_study_file(write_study(here, trials=20, failures=10))) as ledger:
        ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -0.5})
        ledger.tell(ledger.try_({"x": 0.1, "y": 0.2}).number, {"cost": 1.0, "load": 1.0 / 3.0})
        ledger.fail(ledger.try_({"x": 0.3, "y": 0.2}).number, "bit broke")
        ledger.fail(ledger.try_({"x": 0.4, "y": 0.2}).number, "")
        ledger.fail(ledger.try_({"x": 0.5, "y": 0.2}).number, "crash: bit; broke", {"load": 2.0})
        ledger.fail(ledger.try_({"x": 0.6, "y": 0.2}).number, "", {"load": 2.0})
        ledger.skip(ledger.try_({"x": 0.7, "y": 0.2}).number, "it would boil", kind="never")
        before = exported(ledger, here)
    reasons = [reason for *_, reason in before]
    assert reasons[:3] == ["", "breaks load <= 0 by 0.333", "crash: bit broke"]
    assert reasons[4] == "crash: crash: bit; broke; breaks load <= 0 by 2"
    assert (reasons[3].startswith("crash"), reasons[5].endswith("; breaks load <= 0 by 2")) == (True, True)
    assert reasons[6] == "it would boil"
    with Ledger(read_study_file(write_study(there, trials=20))) as other:
        assert import_csv(other, here / "a.csv").read == 7
        assert exported(other, there) == before


def exported(ledger: Ledger, folder: Path) -> list[tuple[str, ...]]:
    """What a table says of each trial, whose reasons are those of JSON."""
    export_trials(ledger, folder / "a.csv")
    export_trials(ledger, folder / "a.json")
    with open(folder / "a.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["reason"] for row in rows] == [
        t["reason"] for t in json.loads((folder / "a.json").read_text())
    ]
    return [
        tuple(row[name] for name in ("x", "y", "cost", "load", "failed", "outcome", "reason")) for row in rows
    ]


def test_times_are_those_of_utc_in_every_zone(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = datetime.now(UTC)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -0.5})
        export_trials(ledger, tmp_path / "a.json")
    finally:
        monkeypatch.undo()
        time.tzset()
    last = json.loads((tmp_path / "a.json").read_text())[-1]
    assert last["started"].endswith("+00:00")
    for moment in (last["started"], last["ended"]):
        assert abs(datetime.fromisoformat(moment) - before) < timedelta(minutes=10)
