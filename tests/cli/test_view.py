"""What `tumble run` shows: readable at 80 columns, and all of it at 160."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from tests.study_files import write_study
from tumble.cli.view import duration, live_view, time_left
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Six trials: safe, failed, crashed after a retry, skipped, safe with an extra result, in flight."""
    ledger = Ledger(read_study_file(write_study(tmp_path, command="")))
    settings = [(0.25, 0.125), (0.75, 0.75), (0.5, 0.5), (0.125, 0.25), (0.375, 0.25), (0.5, 0.25)]
    numbers = [ledger.try_({"x": x, "y": y}).number for x, y in settings]
    ledger.tell(numbers[0], {"cost": 1.5, "load": -0.25})
    ledger.tell(numbers[1], {"cost": 1.25, "load": 0.75})
    ledger.store.note_retry(numbers[2], "exit code 75: sensor away")
    ledger.fail(numbers[2], "exit code 1: the bit broke while the coolant was off; look at spindle 2 before")
    ledger.skip(numbers[3], "power cut")
    ledger.tell(numbers[4], {"cost": 1.0, "load": -0.5, "wear": 0.125})
    return ledger


def shown(ledger: Ledger, width: int, height: int = 50) -> list[str]:
    start = ledger.entries()[-1].stored.datetime_start
    assert start is not None
    console = Console(width=width, file=io.StringIO())
    console.print(live_view(ledger, width, height, start + timedelta(seconds=200)))
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue().splitlines()


def test_at_80_columns_setting_and_outcome_come_first_and_reasons_are_wrapped(ledger: Ledger) -> None:
    lines = shown(ledger, 80)
    assert max(map(len, lines)) <= 80
    assert lines[:10] == [
        "trial  setting          outcome             cost   load   wear  mode  P(safe)",
        "    0  x=0.25  y=0.125  safe                 1.5  -0.25      -  try         -",
        "    1  x=0.75  y=0.75   failed              1.25   0.75      -  try         -",
        "       breaks load <= 0 by 0.75",
        "    2  x=0.5  y=0.5     failed                 -      -      -  try         -",
        "       crash: exit code 1: the bit broke while the coolant was off; look at",
        "       spindle 2 before",
        "       tried again: exit code 75: sensor away",
        "    3  x=0.125  y=0.25  skipped                -      -      -  try         -",
        "       power cut",
    ]
    assert lines[10:12] == [
        "    4  x=0.375  y=0.25  safe                   1   -0.5  0.125  try         -",
        "    5  x=0.5  y=0.25    running 3 min 20 s     -      -      -  try         -",
    ]
    assert "━" in lines[13]
    assert " 4 of 8, about " in lines[13]
    assert "  failures  2, 1 left of 3" in lines


def test_a_narrow_terminal_puts_the_setting_below(ledger: Ledger) -> None:
    lines = shown(ledger, 55)
    assert max(map(len, lines)) <= 55
    assert lines[0] == "trial  outcome             cost   load   wear  mode"
    assert lines[2] == "       x=0.25  y=0.125"
    assert all(len(line) <= 40 for line in shown(ledger, 20))


def test_at_160_columns_everything_stands_in_one_line(ledger: Ledger) -> None:
    lines = shown(ledger, 160)
    assert len(lines[0]) <= 160
    assert lines[0].split() == ["trial", "setting", "outcome", "cost", "load", "wear", "mode", "P(safe)"]
    assert not any(line.startswith("       spindle") for line in lines)


def test_a_low_terminal_keeps_what_is_left_in_sight(ledger: Ledger) -> None:
    lines = shown(ledger, 80, height=10)
    assert len(lines) <= 10
    assert lines[0].startswith("trial  setting")
    assert any(line.startswith("    5  ") for line in lines)
    assert any("failures" in line for line in lines)


@pytest.fixture
def central_europe() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("central_europe")
@pytest.mark.parametrize(
    ("begin", "end", "left"),
    [((25, 1), (25, 4), "8 h"), ((26, 1), (26, 4), "6 h"), ((26, 4), (26, 1), "")],
)
def test_what_is_left_is_said_right_where_summer_ends_and_not_where_the_clock_was_set_back(
    ledger: Ledger, begin: tuple[int, int], end: tuple[int, int], left: str
) -> None:
    entry = ledger.entries()[0]
    entry.stored.datetime_start = datetime(2026, 10, *begin)
    entry.stored.datetime_complete = datetime(2026, 10, *end)
    assert time_left([entry], 2) == left


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (8.4, "8 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (7201, "2 h"),
        (273600, "3 d 4 h"),
    ],
)
def test_a_duration_is_said_in_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_before_the_first_trial_there_is_a_view_too(tmp_path: Path) -> None:
    ledger = Ledger(read_study_file(write_study(tmp_path, command="")))
    console = Console(width=80, file=io.StringIO())
    ledger.ask()
    console.print(live_view(ledger, 80, 24, datetime.now()))
