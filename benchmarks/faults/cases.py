"""One case: an operation that is hit at one point, in a process of its own, and what becomes of its study."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy.exc
from alembic.script import ScriptDirectory
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
    """Do once, in this process, what need not be done again in each process that comes from it.

    Optuna reads the files of its schema's versions whenever a storage is opened; which one is the last is
    noted here.  What lives until now is kept out of the garbage collection, so that no child copies it.
    """
    with places.folder() as folder, places.copy(folder), _ledger_in(folder) as ledger:
        OPERATIONS["tell"](ledger, folder)
        OPERATIONS["ask"](ledger, folder)
        head = ledger.storage.get_head_version()
    ScriptDirectory.get_current_head = lambda self: head  # type: ignore[method-assign]
    gc.collect()
    gc.freeze()


def _ledger_in(folder: Path) -> Ledger:
    return Ledger(read_study_file(folder / "faults.toml"))


def find_cases(places: Places, operations: Sequence[str] = tuple(OPERATIONS)) -> list[Case]:
    """Every case of these operations, by a dry run of each."""
    cases = []
    for operation in operations:
        with places.folder() as folder, places.copy(folder):
            report = _in_process(partial(_operate, operation, folder, Watch()))
        assert report.get("ok"), (operation, report)
        points = [Point(**point) for point in report["points"]]
        cases += [Case(operation, at, p, fault) for at, p in enumerate(points) for fault in p.faults()]
    return cases


def try_case(places: Places, case: Case) -> Verdict:
    """Do it, and judge."""
    with places.folder() as folder, places.copy(folder):
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
    there, here = os.pipe()
    child = os.fork()
    if child == 0:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a stopped run leaves nobody
        os.close(there)
        _report(work, here)
    os.close(here)
    with open(there, "rb") as answers:
        is_late = not select.select([answers], [], [], LONGEST)[0]
        if is_late:
            os.kill(child, signal.SIGKILL)
        text = answers.read()
    os.waitpid(child, 0)
    report: dict[str, Any] = json.loads(text) if text else {"killed": True, "late": is_late}
    return report


def _report(work: Callable[[], dict[str, Any]], out: int) -> None:
    """Do it, hand over what came of it, and end this process."""
    try:
        table = work()
    except BaseException as error:
        table = {"raised": "".join(traceback.format_exception(error))}
    with open(out, "wb") as answers:
        answers.write(json.dumps(table).encode())
    os._exit(0)
