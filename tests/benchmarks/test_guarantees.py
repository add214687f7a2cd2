"""The page of guarantees shows what the kept lines say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import attacks, guarantees
from benchmarks.attacks import read_lines, store_lines
from benchmarks.guarantees import attacks_part, with_attacks
from experiments.runs import machine

FAULT = {
    "attack": "fault",
    "storage": "sqlite",
    "operation": "tell",
    "fault": "kill",
    "command": "c",
    "state": "abc",
}
COUNTS = {"cases": 9, "unreached": 1, "tried": 7, "survived": 6, "lost": 1}


def test_the_page_shows_what_was_counted() -> None:
    page = guarantees.PAGE.read_text(encoding="utf-8")
    assert page == with_attacks(page, attacks_part(read_lines()))


def test_every_kept_line_adds_up() -> None:
    lines = read_lines()
    assert lines
    for line in lines:
        assert line["command"].startswith("python -m benchmarks.")
        if line["attack"] in ("fault", "mutation"):
            assert line["tried"] == line["survived"] + line["lost"], line
        if line["attack"] in ("soak", "scale"):
            assert line["peak"] <= line["budget"], line


def test_a_line_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "results" / "attacks.jsonl"
    store_lines([FAULT | COUNTS, FAULT | COUNTS | {"fault": "slow"}], file)
    store_lines([FAULT | COUNTS | {"lost": 0}], file)
    assert [(line["fault"], line["lost"]) for line in read_lines("fault", file)] == [("kill", 0), ("slow", 1)]
    store_lines([{"attack": "soak"}], file)
    assert read_lines("soak", file)[0]["state"] == machine.commit()
    assert read_lines("outage", file) == []


def test_every_kind_of_line_has_its_row() -> None:
    mutation = {
        "attack": "mutation",
        "what": "CSV file",
        "tried": 5,
        "survived": 5,
        "lost": 0,
        "state": "abc",
    }
    soak = {"attack": "soak", "kills": 9, "restarts": 2, "workers": 4, "budget": 3, "peak": 3, "told": 20}
    soak |= {"lost": 0, "twice": 0, "stuck": 1, "wrong": 0, "died": 0, "state": "abc"}
    outage = {
        "attack": "outage",
        "restarts": 3,
        "workers": 2,
        "told": 8,
        "lost": 0,
        "died": 0,
        "state": "abc",
    }
    scale = {"attack": "scale", "command": "c", "workers": 8, "told": 80, "budget": 6, "peak": 6}
    scale |= {"throughput": 4.5, "most_possible": 6.0, "ask_median": 0.25}
    studies = {"attack": "studies", "studies": 10, "open": 0.02, "ask": 0.1, "status": 0.004}
    cells = [
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in attacks_part([FAULT | COUNTS, mutation, soak, outage, scale, studies]).splitlines()
    ]
    assert ["a fault at every point, SQLite (8 of 9 cases)", "7", "6", "1", "abc"] in cells
    assert ["damaged input: CSV file", "5", "5", "0", "abc"] in cells
    assert ["tell", "7", "0", "0", "0", "7", "6", "1"] in cells
    assert any(row[1:] == ["20", "19", "1", "abc"] for row in cells)
    assert [
        "3 restarts of PostgreSQL, 2 workers (0 of them ended by themselves); trials told",
        "8",
        "8",
        "0",
        "abc",
    ] in cells
    assert ["8", "80", "6", "6", "4.5", "6", "0.25 s"] in cells
    assert ["10", "20 ms", "100 ms", "4 ms"] in cells


def test_the_command_prints_or_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{guarantees.BEGIN}\nold\n{guarantees.END}\nafter\n")
    monkeypatch.setattr(guarantees, "PAGE", page)
    guarantees.main([])
    printed = capsys.readouterr().out
    guarantees.main(["--write"])
    assert printed.strip() in page.read_text()
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("after\n")
    assert attacks.FILE.name == "attacks.jsonl"
