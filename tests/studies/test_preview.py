"""What would be suggested next, in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.study_files import write_study
from tumble import Optimizer
from tumble.errors import BudgetExhausted
from tumble.studies.ledger import Ledger
from tumble.studies.preview import next_setting
from tumble.studies.report import page
from tumble.studies.study_file import read_study_file


def test_a_report_is_written_also_where_no_setting_is_safe_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Optimizer, number: int) -> None:
        raise BudgetExhausted("no failure is left, and no setting is safe enough")

    with Ledger(read_study_file(write_study(tmp_path, command="", start=False))) as ledger:
        ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -0.5})
        monkeypatch.setattr(Optimizer, "suggest", refuse)
        assert next_setting(ledger) == "none: no failure is left, and no setting is safe enough"
        assert "no setting is safe enough" in page(ledger)


def test_every_setting_has_the_order_of_the_study_file(tmp_path: Path) -> None:
    path = write_study(tmp_path, command="", start=False)
    path.write_text(path.read_text().replace("y = {", "mid = { value = 3 }\na = {"))
    with Ledger(read_study_file(path)) as ledger:
        ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -0.5})
        ledger.ask()
        recommended = ledger.recommend()
        assert recommended is not None
        assert list(recommended.x) == ["x", "mid", "a"]
        assert re.findall(r"(\w+) = \S+[, ]", next_setting(ledger))[:3] == ["x", "mid", "a"]


def test_a_setting_has_all_the_digits_that_matter_in_its_range(tmp_path: Path) -> None:
    path = write_study(tmp_path, command="", start=False)
    narrow = "x = { low = 2500.0, high = 2500.4 }\ngrid = { low = 0.0, high = 2e6, step = 0.25 }"
    path.write_text(path.read_text().replace("x = { low = 0.0, high = 1.0 }", narrow))
    with Ledger(read_study_file(path)) as ledger:
        asked = ledger.try_({"x": 2500.23456, "grid": 1234567.25, "y": 0.123456})
        assert ledger.config.in_words(asked.x) == {"x": "2500.2346", "grid": "1234567.25", "y": "0.12346"}
        ledger.tell(asked.number, {"cost": 101325.25, "load": -0.5})
        assert "x = 2500.2" in next_setting(ledger)
        report = page(ledger)
        assert "cost = 101325 in trial 0: x = 2500.2346, grid = 1234567.25, y = 0.12346" in report


def test_nothing_is_predicted_where_no_value_was_seen(tmp_path: Path) -> None:
    with Ledger(read_study_file(write_study(tmp_path, command="", start=False))) as ledger:
        assert next_setting(ledger).endswith("(start: nothing is known yet)")
        ledger.fail(ledger.ask().number, "it fell")
        assert "P(safe) = " in next_setting(ledger)
        assert "predicted" not in next_setting(ledger)
