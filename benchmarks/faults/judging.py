"""What became of a study after a fault: a process that opens it afresh looks, and goes on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any

from tumble.errors import InputError
from tumble.studies.ledger import Ledger
from tumble.studies.ownership import BY_HAND
from tumble.studies.records import Entry
from tumble.studies.study_file import read_study_file

from .operations import (
    AMENDED,
    CORRECTED,
    FAILURES,
    KNOWN,
    MEASURED,
    OLD,
    OPERATIONS,
    PENDING,
    RESULTS,
    TRIED,
    VOIDED,
    read_exported,
)

TOUCHED = {"void": VOIDED, "amend": AMENDED}
CHANGED = {"void": (-1, -1), "amend": (0, 1)}  # what they add to the told trials, and to the failures
LONGEST_ASK = 30.0  # seconds until the next trial must be there; a lock is waited for so long


def judge(operation: str, folder: Path, report: dict[str, Any]) -> list[str]:
    """What is wrong after an operation was hit; an empty list where nothing is.

    Parameters
    ----------
    operation
        Its name.
    folder
        The folder of the study.
    report
        What its process said at the end: `ok` and the `number` that it returned, or its `error`; empty where
        it was killed.
    """
    config = read_study_file(folder / "faults.toml")
    with Ledger(config) as ledger:
        found = CHECKS[operation](ledger, folder, report)
        found += _check_known(ledger, KNOWN.keys() - {TOUCHED.get(operation)})
        found += _check_counts(operation, ledger)
        found += _check_goes_on(ledger)
    return found


def _check_known(ledger: Ledger, numbers: Set[int]) -> list[str]:
    entries = {e.trial: e for e in ledger.entries()}
    lost = [n for n in numbers if n not in entries or not _is_as_told(entries[n])]
    return [f"told trial {number} is lost" for number in lost]


def _is_as_told(entry: Entry) -> bool:
    results = KNOWN[entry.trial]
    outcome = "failed" if results["load"] > 0 else "safe"
    return (entry.results, entry.outcome, entry.changes) == (results, outcome, [])


def _check_open(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    return []


def _check_ask(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    """A person who saw no answer looks whether a new trial is there in his name, and else asks again."""
    mine = [
        e.trial
        for e in ledger.entries()
        if e.is_running and e.owner == BY_HAND and e.trial != PENDING and len(e.parameters) == 2
    ]
    if report.get("ok"):
        return [] if mine == [report["number"]] else [f"trial {report['number']} was handed out and is lost"]
    if not mine:
        ledger.ask()
    return []


def _check_try(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    """The setting is in flight once; a person who saw no answer asks for it, or tries it again."""
    mine = [e for e in ledger.entries() if e.is_running and e.parameters == TRIED]
    if report.get("ok"):
        right = [(e.trial, e.owner) for e in mine] == [(report["number"], BY_HAND)]
        return [] if right else [f"trial {report['number']} was handed out and is lost"]
    if len(mine) > 1:
        return ["a setting was handed out twice"]
    if not mine:
        OPERATIONS["try"](ledger, folder)
    elif mine[0].owner != BY_HAND and ledger.ask().number != mine[0].trial:
        return ["a setting whose asking was interrupted is not given back"]
    return []


def _check_end(ledger: Ledger, outcome: str, results: dict[str, float], report: dict[str, Any]) -> list[str]:
    """The trial in hand is over as it was told, or still in flight; then it is told now."""
    entry = ledger.entry(PENDING)
    if entry.is_running:
        found = ["what was told is lost"] if report.get("ok") else []
        told = ledger.tell(PENDING, RESULTS)
        wrong = told.outcome != "failed" or told.results != RESULTS or told.reading.crashed
        return [*found, "what is told after a fault is stored otherwise"] if wrong else found
    try:
        ledger.tell(PENDING, RESULTS)
    except InputError:
        right = entry.outcome == outcome and entry.results == results
        return [] if right else ["half of what was told is stored"]
    return ["a trial was told twice"]


def _check_tell(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    return _check_end(ledger, "failed", RESULTS, report)


def _check_post_tell(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    """The request is sent again under its key: it gets its first answer, and nothing is told twice."""
    found = ["what was told is lost"] if report.get("ok") and ledger.entry(PENDING).is_running else []
    if OPERATIONS["POST /tell"](ledger, folder) != PENDING:
        found.append("a repeated request got another answer")
    with Ledger(ledger.config) as fresh:
        return [*found, *_check_end(fresh, "failed", RESULTS, report)]


def _check_fail(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    return _check_end(ledger, "failed", {"load": 0.5}, report)


def _check_skip(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    return _check_end(ledger, "skipped", {}, report)


def _check_void(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    """The trial is voided once, whole, or as it was told; then it is voided now."""
    entry = ledger.entry(VOIDED)
    found = ["half a change is stored"] if entry.outcome != "voided" and not _is_as_told(entry) else []
    if entry.outcome != "voided":
        found += ["what was voided is there again"] if report.get("ok") else []
        OPERATIONS["void"](ledger, folder)
    try:
        OPERATIONS["void"](ledger, folder)
    except InputError:
        once = len(ledger.entry(VOIDED).changes) == 1
        return found if once else [*found, "a trial is voided, and not once"]
    return [*found, "a trial was voided twice"]


def _check_amend(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    """The trial has its new results, or those that were told; then it is amended now."""
    entry = ledger.entry(AMENDED)
    found = []
    if _is_as_told(entry):
        found = ["an amendment is lost"] if report.get("ok") else []
        OPERATIONS["amend"](ledger, folder)
    entry = ledger.entry(AMENDED)
    right = (entry.results, entry.outcome, len(entry.changes)) == (CORRECTED, "failed", 1)
    return found if right else [*found, "an amendment is not there once"]


def _check_run(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    """The rig runs each trial once, and once more only where its runner was killed.

    A result that a killed runner had kept is told by the next one, which then runs the next trial.
    """
    found = ["what the rig measured is lost"] if report.get("ok") and len(_run_by_rig(ledger)) != 1 else []
    if not _run_by_rig(ledger):
        with Ledger(ledger.config) as fresh:
            OPERATIONS["run"](fresh, folder)
    runs = Counter(map(int, (folder / "runs.log").read_text().split()))
    if max(runs.values()) > (1 if report else 2):
        found.append(f"the rig ran so often, by trial: {dict(runs)}")
    told = {e.trial: e.results for e in _run_by_rig(ledger)}
    return found if told == dict.fromkeys(runs, MEASURED) else [*found, "a trial that was run is not told"]


def _run_by_rig(ledger: Ledger) -> list[Entry]:
    return [e for e in ledger.entries() if e.trial > PENDING and e.reading.phase == "told"]


def _check_import(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    def read() -> list[tuple[Any, ...]]:
        old = [e for e in ledger.entries() if not e.reading.billed]
        return sorted((e.parameters["x"], e.parameters["y"], *e.results.values()) for e in old)

    found = ["imported trials are lost"] if report.get("ok") and read() != sorted(OLD) else []
    OPERATIONS["import"](ledger, folder)
    return found if read() == sorted(OLD) else [*found, "an imported trial is not there once"]


def _check_export(ledger: Ledger, folder: Path, report: dict[str, Any]) -> list[str]:
    rows = read_exported(folder)
    found = ["half a file is there"] if rows is not None and not _is_whole(rows) else []
    if report.get("ok") and rows is None:
        found.append("the exported file is lost")
    OPERATIONS["export"](ledger, folder)
    again = read_exported(folder)
    return found if again is not None and _is_whole(again) else [*found, "an export is no longer possible"]


def _is_whole(rows: list[dict[str, Any]]) -> bool:
    return [row["outcome"] for row in rows] == ["safe", "failed", "running"] and "ended" in rows[-1]


def _check_counts(operation: str, ledger: Ledger) -> list[str]:
    """What is billed and what is in flight, once everything was done once."""
    status = ledger.status()
    skipped = ledger.entry(PENDING).outcome == "skipped"
    ended = operation in ("tell", "POST /tell", "fail", "skip")
    one = len(_run_by_rig(ledger)) if operation == "run" else int(ended and not skipped)
    told, failed = CHANGED.get(operation, (0, 0))
    expected = (2 + one + told, 1 + one + failed, 1 - int(ended) + int(operation in ("ask", "try")))
    counts = (status.trials, status.failures, status.pending)
    return [] if counts == expected else [f"told, failed, in flight: {counts}, not {expected}"]


def _check_goes_on(ledger: Ledger) -> list[str]:
    """The next trial is there in time, and the cap is kept."""
    begin = time.monotonic()
    ledger.ask()
    seconds, status = time.monotonic() - begin, ledger.status()
    found = [f"the next trial took {seconds:.0f} s"] if seconds > LONGEST_ASK else []
    exceeded = status.failures + status.pending > FAILURES
    return [*found, "failures and trials in flight exceed B"] if exceeded else found


CHECKS: dict[str, Callable[[Ledger, Path, dict[str, Any]], list[str]]] = {
    "open": _check_open,
    "ask": _check_ask,
    "try": _check_try,
    "tell": _check_tell,
    "POST /tell": _check_post_tell,
    "fail": _check_fail,
    "skip": _check_skip,
    "void": _check_void,
    "amend": _check_amend,
    "run": _check_run,
    "import": _check_import,
    "export": _check_export,
}
