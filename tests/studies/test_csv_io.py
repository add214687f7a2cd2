"""Tables of trials that are not quite tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import tumble
from tests.study_files import write_study
from tumble.studies.csv_io import import_csv
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y,cost,load,outcome\n0.1\n", "line 2: y is not there; the line ends too early"),
        ("x,y,cost,load\n0.1,0.2\n", "line 2: cost is empty"),
        ("x,y,cost,load\n0.1,0.2,1,-1,7\n", "line 2: there are more cells than columns"),
        ("x,y,cost,load\n0.1,0.2,1," + "9" * 200_000 + "\n", "line 1: field larger than field limit"),
        ("x,y,cost,load\n0.1,0.2,1,1e999\n", "line 2: load must be a finite number, but '1e999' came"),
        ("x,y,cost,load\n0.1,\0,1,-1\n", "line 2: "),
        ("", "column x is missing"),
    ],
)
def test_odd_rows_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "old.csv").write_text(text)
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        with pytest.raises(tumble.InputError, match=message):
            import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entries() == []


def test_empty_surplus_cells_and_line_ends_inside_quotes_are_read(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text('x,y,cost,load,failed,reason\n0.1,0.2,,,1,"bit\nbroke",,\n')
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        assert import_csv(ledger, tmp_path / "old.csv").read == 1
        assert ledger.entry(0).reading.reason == "bit\nbroke"
