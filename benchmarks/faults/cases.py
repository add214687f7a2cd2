"""One case: an operation that is hit at one point, in a process of its own, and what becomes of its study."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy.exc
from optuna.exceptions import StorageInternalError

from tumble.errors import TumbleError
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

from .judging import judge
from .operations import OPERATIONS
from .places import Places
from .points import Fault, Point, Watch, watched

LONGEST = 120.0  # seconds of one process
CLEAN = (TumbleError, sqlalchemy.exc.SQLAlchemyError, StorageInternalError)  # what the commands explain


@dataclass(frozen=True)
class Case:
    """An operation, the index of the point where it is hit, and by what."""

    operation: str
    at: int
    point: Point
    fault: Fault


@dataclass(frozen=True)
class Verdict:
    """What became of a case: whether the fault happened, and what was wrong afterwards."""

    case: Case
    was_reached: bool
    problems: tuple[str, ...]


def warm_up(places: Places) -> None:
    """Do once, in this process, what need not be done again in each process that comes from it."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        with places.copy(folder), Ledger(read_study_file(folder / "faults.toml")) as ledger:
            OPERATIONS["tell"](ledger, folder)
            OPERATIONS["ask"](ledger, folder)


def find_cases(places: Places) -> list[Case]:
    """Every case, by a dry run of each operation."""
    cases = []
    for operation in OPERATIONS:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            with places.copy(folder):
                report = _in_process(partial(_operate, operation, folder, Watch()))
        assert report.get("ok"), (operation, report)
        points = [Point(**point) for point in report["points"]]
        cases += [Case(operation, at, p, fault) for at, p in enumerate(points) for fault in p.faults()]
    return cases


def try_case(places: Places, case: Case) -> Verdict:
    """Do it, and judge."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        with places.copy(folder):
            watch = Watch(case.at, case.fault)
            report = _in_process(partial(_operate, case.operation, folder, watch))
            problems = _problems_of(case, report)
            told = {} if report.get("killed") else report
            judged = _in_process(lambda: {"found": judge(case.operation, folder, told)})
    problems += judged.get("found", [f"it can't be judged: {judged}"])
    return Verdict(case, report.get("killed", False) or report.get("reached", False), tuple(problems))


def _problems_of(case: Case, report: dict[str, Any]) -> list[str]:
    if report.get("late"):
        return ["the operation is stuck"]
    if report.get("killed"):
        return [] if case.fault == "kill" else ["the operation died"]
    return [] if report["ok"] or report["clean"] else [f"an error that nobody explains: {report['error']}"]


def _operate(operation: str, folder: Path, watch: Watch) -> dict[str, Any]:
    """The operation, with its fault; how it ended."""
    config = read_study_file(folder / "faults.toml")
    try:
        with contextlib.ExitStack() as stack:
            if operation in ("open", "export"):  # to be read only, a study is opened in another way
                stack.enter_context(watched(watch, config.storage))
                ledger = Ledger(config, reading=operation == "export")
            else:
                ledger = Ledger(config)
                stack.enter_context(watched(watch, config.storage))
            number = OPERATIONS[operation](ledger, folder)
        end: dict[str, Any] = {"ok": True, "number": number}
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        end = {"ok": False, "clean": isinstance(error, CLEAN), "error": text}
    points = [asdict(point) for point in watch.seen] if watch.at < 0 else []
    return end | {"reached": watch.was_reached, "points": points}


def _in_process(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `work` returns, from a process of its own; `killed` and `late` where it came to no end."""
    with tempfile.TemporaryDirectory() as home:
        out = Path(home) / "report.json"
        child = os.fork()
        if child == 0:
            _report(work, out)
        end = time.monotonic() + LONGEST
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return {"killed": True, "late": True}
            time.sleep(0.005)
        report: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {"killed": True}
        return report


def _report(work: Callable[[], dict[str, Any]], out: Path) -> None:
    """Do it, write what came of it, and end this process."""
    try:
        table = work()
    except BaseException as error:
        table = {"raised": "".join(traceback.format_exception(error))}
    out.write_text(json.dumps(table))
    os._exit(0)
