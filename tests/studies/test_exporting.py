"""Every trial in a file: all that is known of it, in the format that the file's name says."""

from __future__ import annotations

import csv
import json
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
