"""What a study says as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from tests.study_files import write_study
from tumble.serialize import plain
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file
from tumble.studies.tables import entry_table, suggestion_table


def test_an_entry_has_what_was_asked_what_came_and_what_was_decided(tmp_path: Path) -> None:
    ledger = Ledger(read_study_file(write_study(tmp_path, command="")))
    asked = suggestion_table(ledger.ask())
    entry = entry_table(ledger.tell(0, {"cost": 1.0, "load": 0.5}), ledger.config)
    assert entry["parameters"] == asked["parameters"] == {"x": 0.2, "y": 0.3}
    assert (entry["outcome"], entry["reason"]) == ("failed", "breaks load <= 0 by 0.5")
    assert (entry["mode"], entry["why"], entry["billed"]) == ("start", asked["why"], True)
    json.dumps(plain(entry), allow_nan=False)
