"""The study that every case starts from, and what is done to it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tumble.studies import undo
from tumble.studies.csv_io import import_csv
from tumble.studies.exporting import export_csv
from tumble.studies.ledger import Ledger
from tumble.studies.outages import StorageAway
from tumble.studies.runner import Runner
from tumble.studies.whole_files import replacing

from .. import http_client

TRIALS, FAILURES = 12, 5
KEY = "4f1c"  # of the request to the HTTP door
PENDING = 2  # the trial that a person holds
KNOWN = {0: {"cost": 1.0, "load": -1.0}, 1: {"cost": 2.0, "load": 1.0}}  # told before; trial 1 failed
RESULTS = {"cost": 3.5, "load": 0.5}  # what a person tells: a failure
MEASURED = {"cost": 2.5, "load": 1.5}  # what the rig measures: a failure
TRIED = {"x": 0.25, "y": 0.75}  # a setting of one's own
VOIDED, AMENDED = 1, 0  # the told trials that are taken out, or changed
CORRECTED = {"cost": 1.5, "load": 0.25}  # what the amended trial becomes: a failure
OLD = [(0.1, 0.9, 4.0, -0.5), (0.3, 0.8, 5.0, -0.25), (0.9, 0.9, 6.0, 0.75)]  # x, y, cost, load
BEFORE = "what stood here before\n"
RIG = f"echo $1 >> runs.log\necho '{json.dumps(MEASURED)}'\n"


def write_study(folder: Path, storage: str) -> Path:
    """The study file, its rig, a table to import, and a file that an export replaces."""
    (folder / "rig.sh").write_text(RIG)
    rows = "".join(",".join(map(str, row)) + "\n" for row in OLD)
    (folder / "old.csv").write_text("x,y,cost,load\n" + rows)
    (folder / "out.csv").write_text(BEFORE)
    file = folder / "faults.toml"
    file.write_text(
        f'name = "faults"\nobjective = "cost"\ntrials = {TRIALS}\nfailures = {FAILURES}\n'
        f'on_exhausted = "stop"\nstorage = "{storage}"\n'
        'command = ["sh", "rig.sh", "{trial}", "{x}", "{y}"]\n'
        "[parameters]\nx = { low = 0.0, high = 1.0 }\ny = { low = 0.0, high = 1.0 }\n"
        '[constraints]\nload = "<= 0"\n'
    )
    return file


def fill(ledger: Ledger) -> None:
    """Two trials that are told, one of them a failure, and one that a person holds."""
    for number, results in KNOWN.items():
        assert ledger.ask().number == number
        ledger.tell(number, results)
    assert ledger.ask().number == PENDING


def open_(ledger: Ledger, folder: Path) -> int:
    """Nothing: every operation begins with opening the study, which is tried once for all of them."""
    return 0


def ask(ledger: Ledger, folder: Path) -> int:
    """Ask by hand."""
    return ledger.ask().number


def try_(ledger: Ledger, folder: Path) -> int:
    """Try a setting of one's own, by hand."""
    return ledger.try_(TRIED).number


def tell(ledger: Ledger, folder: Path) -> int:
    """Tell a failure."""
    return ledger.tell(PENDING, RESULTS).trial


def fail(ledger: Ledger, folder: Path) -> int:
    """Tell a crash."""
    return ledger.fail(PENDING, "bit broke", {"load": 0.5}).trial


def skip(ledger: Ledger, folder: Path) -> int:
    """Withdraw a trial."""
    return ledger.skip(PENDING).trial


def void(ledger: Ledger, folder: Path) -> int:
    """Take a told failure out."""
    return undo.void(ledger, VOIDED, "the sensor was loose").trial


def amend(ledger: Ledger, folder: Path) -> int:
    """Give a told trial other results."""
    return undo.amend(ledger, AMENDED, CORRECTED).trial


def run(ledger: Ledger, folder: Path) -> int:
    """Run one trial."""
    told: list[int] = []
    end = Runner(ledger, lambda: bool(told), on_told=lambda entry: told.append(entry.trial)).run()
    assert told, end
    return told[0]


def import_(ledger: Ledger, folder: Path) -> int:
    """Read old data."""
    return import_csv(ledger, folder / "old.csv").read


def export(ledger: Ledger, folder: Path) -> int:
    """Write every trial over a file that is there."""
    with replacing(folder / "out.csv") as file:
        return export_csv(ledger, file)


def post_tell(ledger: Ledger, folder: Path) -> int:
    """Tell a failure through the HTTP door, under a key."""
    body = {"trial": PENDING, "results": RESULTS}
    with http_client.Client(folder / "faults.toml") as client:
        answer = client.send(http_client.request("POST", "/tell", body, KEY))
    if answer.code == 503:
        raise StorageAway(answer.json()["error"])
    assert answer.code == 200, answer
    return int(answer.json()["trial"])


OPERATIONS: dict[str, Callable[[Ledger, Path], int]] = {
    "open": open_,
    "ask": ask,
    "try": try_,
    "tell": tell,
    "POST /tell": post_tell,
    "fail": fail,
    "skip": skip,
    "void": void,
    "amend": amend,
    "run": run,
    "import": import_,
    "export": export,
}


def read_exported(folder: Path) -> list[dict[str, Any]] | None:
    """The rows of the exported file; None where the old file is still there."""
    text = (folder / "out.csv").read_text()
    return None if text == BEFORE else list(csv.DictReader(text.splitlines()))
