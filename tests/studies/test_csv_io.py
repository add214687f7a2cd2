"""Tables of trials that are not quite tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from optuna.trial import TrialState, create_trial

import tumble
from tests.study_files import write_study
from tumble.integrations.optuna.notes import VoidKind
from tumble.studies.csv_io import Imported, import_csv, read_old_trials
from tumble.studies.exporting import export_trials
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y,cost,load,outcome\n0.1\n", "line 2: y is not there; the line ends too early"),
        ("x,y,cost,load\n0.1,0.2\n", "line 2: cost is empty"),
        ("x,y,cost,load\n0.1,0.2,1,-1,7\n", "line 2: there are more cells than columns"),
        ("x,y,cost,load\n0.1,0.2,1," + "9" * 200_000 + "\n", "line 2: field larger than field limit"),
        ("x,y,cost,load\n0.1,0.2,1,1e999\n", "line 2: load must be a finite number, but '1e999' came"),
        ("x,y,cost,load\n0.1,\0,1,-1\n", "line 2: "),
        ("sep=;\nx;y;cost;load\n0.1;0.2;" + "9" * 200_000 + ";-1\n", "line 3: field larger than field limit"),
        ('x,y,cost,load,note\n0,0,1,-1,"a\nb\r\nc\rd"\n0.1,0.2,abc,-1,\n', "line 6: cost must be"),
        ('x,y,cost,load,note\n0.1,0.2,abc,-1,"a\nb"\n', "line 2: cost must be"),
        ('x,y,cost,load,note,note\n0.1,0.2,abc,-1,"a\nb",ok\n', "line 2: cost must be"),
        ('"x\ny",x,y,cost,load\n,0.1,0.2,abc,-1\n', "line 3: cost must be"),
        ('x,y,cost,load\n0.1,0.2,1,-1,"a\nb"\n', "line 2: there are more cells than columns"),
        ("x,y,cost,load\n\n0.1,0.2,abc,-1\n", "line 3: cost must be"),
        ('sep=;\nx;y;cost;load;note\n0;0;1;-1;"a\nb"\n0.1;0.2;abc;-1;\n', "line 5: cost must be"),
        ('x,y,cost,load,note\n0.1,0.2,abc,-1,"open\n3,4\n', "line 2: cost must be"),
        ("\n\nx,y,cost,load\n\n0.1,0.2,abc,-1\n", "line 5: cost must be"),
        ("", "old.csv: the file is empty; its first line must name every column"),
        ("\ufeff \n\n", "old.csv: the file is empty"),
        ("sep=;\n", "old.csv: the file is empty"),
        (
            '[\n  {"trial": 0,\n "cost": 1.5}\n]\n',
            "old.csv: is JSON, and a table is read as CSV; export it to a name",
        ),
        ("x,y,cost,load, load\n0.1,0.2,1,-1,2\n", "column load stands twice; name each column once"),
        ("x,y,cost,load,x\n0.1,0.2,1,-1,0.3\n", "column x stands twice"),
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


GOOD = {
    "semicolons and decimal commas": "x;y;cost;load\n0,1;0,2;1,5;-1,25\n",
    "a BOM": "\ufeffx,y,cost,load\n0.1,0.2,1.5,-1.25\n",
    "tabs": "x\ty\tcost\tload\n0.1\t0.2\t1.5\t-1.25\n",
    "tabs and decimal commas": "x\ty\tcost\tload\n0,1\t0,2\t1,5\t-1,25\n",
    "a line that names the separator": "sep=;\nx;y;cost;load\n0,1;0,2;1,5;-1,25\n",
    "blanks around names and numbers": "x ; y;cost ;load\n 0.1; 0.2 ;1.5;-1.25\n",
    "three decimals where others say that the comma is one": "x;y;cost;load\n0,100;0,2;1,500;-1,250\n",
    "a remark with a point": "x;y;cost;load;version\n0,1;0,2;1,500;-1,25;1.2\n",
    "quotes around everything": '"x";"y";"cost";"load"\n"0,1";"0,2";"1,5";"-1,25"\n',
    "other columns": "operator,x,y,cost,load,note\nAnna,0.1,0.2,1.5,-1.25,ok\n",
    "blank lines first": "\n\nx;y;cost;load\n0,1;0,2;1,5;-1,25\n",
    "other columns twice": "note,x,y,cost,load,note,,\nAnna,0.1,0.2,1.5,-1.25,ok,,\n",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_tables_are_read_as_they_come(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "old.csv").write_text(text.removeprefix("\ufeff") if encoding == "utf-16" else text, encoding)
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        assert import_csv(ledger, tmp_path / "old.csv").read == 1
        entry = ledger.entry(0)
    assert (entry.parameters, entry.results) == ({"x": 0.1, "y": 0.2}, {"cost": 1.5, "load": -1.25})


def test_what_a_crash_cost_is_kept_and_is_no_value(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("x,y,cost,load,failed\n0.1,0.2,1.5,-1.25,yes\n")
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        import_csv(ledger, tmp_path / "old.csv")
        entry = ledger.entry(0)
        assert (entry.outcome, entry.results) == ("failed", {"cost": 1.5, "load": -1.25})
        assert (entry.reading.value, ledger.status().best) == (None, None)
        assert import_csv(ledger, tmp_path / "old.csv").known == 1


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        ("", "failed"),
        ("crash", ""),
        ("crash; breaks load <= 0 by 2", ""),
        ("crash: bit broke; breaks load <= 0 by 2", "bit broke"),
        ("bit broke", "bit broke"),
    ],
)
def test_what_an_export_adds_to_a_reason_is_taken_off(tmp_path: Path, reason: str, kept: str) -> None:
    (tmp_path / "old.csv").write_text(f"x,y,cost,load,failed,reason\n0.1,0.2,,2,1,{reason}\n")
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entry(0).reading.reason == kept


def test_text_of_an_old_spreadsheet_is_read(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_bytes("x;y;cost;load;failed;reason\n0,1;0,2;;;1;zerstört\n".encode("cp1252"))
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entry(0).reading.reason == "zerstört"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x;y;cost;load\n0,1;0,2;1.234,5;-1\n",
            "line 2: cost is '1.234,5', with a point where other numbers",
        ),
        (
            "x;y;cost;load\n0,1;0,2;1.234;-1\n",
            "line 2: cost is '1.234', with a point where other numbers have",
        ),
        (
            "X,y,cost,load\n0.1,0.2,1,-1\n",
            "column x is missing; is it 'X'\\?; the first line must name every",
        ),
        ("x,y,costs,load\n0.1,0.2,1,-1\n", "column cost is missing; is it 'costs'\\?; the first line"),
        ("x,y,cost,load\n0.1,0.2,1_0,-1\n", "cost must be a finite number, but '1_0' came"),
        (
            "x;y;cost;load\n0.1;0.2;1,234;-1\n",
            "line 2: cost is '1,234', which can be read in two ways; write 1234, or 1,2340 where decimals",
        ),
        ("x\ty\tcost\tload\n1\t0\t-12,500\t-1\n", "line 2: cost is '-12,500', which can be read in two"),
        ("x;y;cost;load\n0,1;0.2;1,234;-1\n", "line 2: cost is '1,234', which can be read in two ways"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "old.csv").write_text(text)
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        with pytest.raises(tumble.InputError, match=message):
            import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entries() == []


@pytest.mark.parametrize("cell", ["1", "1.0", "1,0", "TRUE", "t", "Yes", "y", " x "])
def test_a_tick_under_failed_is_a_crash(tmp_path: Path, cell: str) -> None:
    (tmp_path / "old.csv").write_text(f'x,y,cost,load,failed\n0.1,0.2,1.5,-1,"{cell}"\n')
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entry(0).outcome == "failed"


@pytest.mark.parametrize("cell", ["", "  ", "0", "0.0", "0,0", "False", "F", "no", " N "])
def test_nothing_under_failed_is_no_crash(tmp_path: Path, cell: str) -> None:
    (tmp_path / "old.csv").write_text(f'x,y,cost,load,failed\n0.1,0.2,1.5,-1,"{cell}"\n')
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entry(0).outcome == "safe"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x,y,cost,load,failed\n0.1,0.2,1,-1,0\n0.3,0.2,1,-1,crash\n",
            "line 3: failed is 'crash'; write 1 for",
        ),
        ("x,y,cost,load,failed\n0.1,0.2,1,-1,2\n", "line 2: failed is '2'; write 1 for a trial that failed"),
        (
            "x,y,cost,load,Failed\n0.1,0.2,1,-1,1\n",
            "old.csv: column Failed: write failed, with 1 for a crash",
        ),
        ("x,y,cost,load,failed,REASON\n0.1,0.2,1,-1,1,bang\n", "old.csv: column REASON: write reason"),
        ("x,y,cost,load,Outcome\n0.1,0.2,1,-1,failed\n", "old.csv: column Outcome: write outcome"),
    ],
)
def test_a_failure_that_is_written_otherwise_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "old.csv").write_text(text)
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        with pytest.raises(tumble.InputError, match=message):
            import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entries() == []


MEANT = ["faild", "fialed", "Failed?", "is_failed", "failures", "Crash", "crashed", "has crashed (0/1)"]


@pytest.mark.parametrize("column", MEANT)
def test_a_column_that_may_mean_crashes_is_not_passed_over(tmp_path: Path, column: str) -> None:
    (tmp_path / "old.csv").write_text(f"x,y,cost,load,{column}\n0.1,0.2,1,-1,1\n")
    message = "write failed, with 1 for a crash and 0 or nothing for any other, or rename it where it means"
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        with pytest.raises(tumble.InputError, match=re.escape(f"old.csv: column {column}: {message}")):
            import_csv(ledger, tmp_path / "old.csv")
        (tmp_path / "old.csv").write_text(f"x,y,cost,load,outcom,{column},failed\n0.1,0.2,1,-1,failed,0,1\n")
        with pytest.raises(tumble.InputError, match="column outcom: write outcome, or rename it where"):
            import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entries() == []
        (tmp_path / "old.csv").write_text(f"x,y,cost,load,{column},failed\n0.1,0.2,1,-1,0,1\n")
        assert import_csv(ledger, tmp_path / "old.csv").unused == (column,)
        assert ledger.entry(0).outcome == "failed"


def test_a_column_of_crashes_has_a_prefix_where_its_name_is_taken(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    file.write_text(file.read_text().replace("load =", "failed ="))
    (tmp_path / "old.csv").write_text("x,y,cost,failed,crash\n0.1,0.2,1,-1,1\n")
    with pytest.raises(tumble.InputError, match="column crash: write tumble_failed, with 1 for a crash"):
        read_old_trials(read_study_file(file), tmp_path / "old.csv")


def test_columns_of_no_use_are_named_without_those_of_an_export(tmp_path: Path) -> None:
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -1.0})
        export_trials(ledger, tmp_path / "old.csv")
        assert import_csv(ledger, tmp_path / "old.csv") == Imported(0, 1)
        (tmp_path / "old.csv").write_text("season,x,y,cost,load,field,,note,note\n1,0.1,0.2,1,-1,2,3,4,5\n")
        assert import_csv(ledger, tmp_path / "old.csv").unused == ("season", "field", "note")


def test_a_column_that_differs_in_case_is_read_beside_the_one_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("x,y,cost,load,Failed,failed\n0.1,0.2,1,-1,maybe,1\n")
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entry(0).outcome == "failed"
    file = write_study(tmp_path)
    file.write_text(file.read_text().replace("load =", "Failed =").replace('"bowl"', '"other"'))
    (tmp_path / "old.csv").write_text("x,y,cost,Failed\n0.1,0.2,1,-1\n")
    with Ledger(read_study_file(file)) as ledger:
        import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entry(0).results == {"cost": 1, "Failed": -1}


@pytest.mark.parametrize("word", ["crash", "FAILED", "ok", "3"])
def test_an_outcome_that_is_not_known_is_refused_with_its_line(tmp_path: Path, word: str) -> None:
    rows = f"0.1,0.2,1,-1,safe\n0.3,0.2,1,-1, {word} \n"
    (tmp_path / "old.csv").write_text(f"x,y,cost,load,outcome\n{rows}")
    message = f"line 3: outcome is '{word}'; known are safe, failed, unmeasured, no value, never, and of"
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        with pytest.raises(tumble.InputError, match=message):
            import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entries() == []


@pytest.mark.parametrize("columns", ["x,y,cost,load,outcome", "x,y,cost,load,outcome,failed"])
def test_a_failure_without_a_broken_limit_is_not_taken_for_safe(tmp_path: Path, columns: str) -> None:
    end = "," if columns.endswith("failed") else ""
    (tmp_path / "old.csv").write_text(f"{columns}\n0.1,0.2,1,-1,failed{end}\n")
    message = "line 2: outcome is 'failed', but no limit is broken; write 1 under failed for a crash, or 0"
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        with pytest.raises(tumble.InputError, match=message):
            import_csv(ledger, tmp_path / "old.csv")
        assert ledger.entries() == []


def test_what_failed_by_other_limits_is_judged_by_these(tmp_path: Path) -> None:
    rows = "0.1,0.2,1,-1,failed,0\n0.3,0.2,1,2,failed,0\n0.4,0.2,1,-1,failed,1\n"
    (tmp_path / "old.csv").write_text(f"x,y,cost,load,outcome,failed\n{rows}")
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        assert import_csv(ledger, tmp_path / "old.csv").read == 3
        assert [entry.outcome for entry in ledger.entries()] == ["safe", "failed", "failed"]


def test_trials_that_ran_or_were_void_when_they_were_exported_are_passed_over(tmp_path: Path) -> None:
    kinds: tuple[VoidKind, ...] = get_args(VoidKind)
    with Ledger(read_study_file(write_study(tmp_path, trials=20))) as ledger:
        for kind in kinds:
            ledger.skip(ledger.try_({"x": 0.1, "y": 0.2}).number, kind=kind)
        ledger.store.add(create_trial(state=TrialState.FAIL))
        ledger.try_({"x": 0.4, "y": 0.2})
        export_trials(ledger, tmp_path / "old.csv")
        assert [entry.outcome for entry in ledger.entries()] == [*kinds, "lost", "running"]
        passed_over = dict.fromkeys([*kinds, "lost", "running"], 1)
        found = import_csv(ledger, tmp_path / "old.csv")
        assert (found, found.rows) == (Imported(0, 0, passed_over), len(kinds) + 2)


def test_blanks_around_an_outcome_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("x,y,cost,load,outcome\n0.1,0.2,1,-1, safe \n0.3,0.2,1,-1,  \n")
    with Ledger(read_study_file(write_study(tmp_path))) as ledger:
        assert import_csv(ledger, tmp_path / "old.csv") == Imported(2, 0)
