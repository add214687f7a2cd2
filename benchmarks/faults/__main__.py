"""`python -m benchmarks.faults`: every case, or a sample, and a table of what became of them."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import logging
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import optuna
from threadpoolctl import threadpool_limits

from benchmarks.attacks import Line, fault_table, store_lines
from benchmarks.machines.rough import postgres

from .cases import Case, Verdict, find_cases, try_case, warm_up
from .operations import OPERATIONS
from .places import Places
from .points import FAULTS
from .progress import Progress

MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None  # a kill needs no disk


@contextlib.contextmanager
def places_on(storage: str) -> Iterator[Places]:
    """A place for every case, with the study that is copied."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # it says what we did to its connections
    threadpool_limits(1, user_api="blas")
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=MEMORY)))
        server = stack.enter_context(postgres(home, fsync="off")) if storage == "postgresql" else ""
        places = Places(home, server)
        places.prepare()
        yield places


def try_cases(places: Places, cases: Sequence[Case], jobs: int = 1) -> Iterator[Verdict]:
    """The verdicts, in any order."""
    with multiprocessing.get_context("fork").Pool(jobs, warm_up, (places,)) as pool:
        yield from pool.imap_unordered(partial(try_case, places), cases)


def lines_of(cases: Sequence[Case], verdicts: Sequence[Verdict], storage: str) -> list[Line]:
    """What became of the cases, by operation and fault; a case that did not reach its point is not tried."""
    lines: list[Line] = []
    for operation, fault in itertools.product(OPERATIONS, FAULTS):
        whole = sum((case.operation, case.fault) == (operation, fault) for case in cases)
        ours = [v for v in verdicts if (v.case.operation, v.case.fault) == (operation, fault)]
        lost = sum(bool(v.problems) for v in ours if v.was_reached)
        tried = sum(v.was_reached for v in ours)
        if whole:
            keys = {"attack": "fault", "storage": storage, "operation": operation, "fault": fault}
            counts = {"cases": whole, "unreached": len(ours) - tried, "tried": tried}
            ends = {"survived": tried - lost, "lost": lost}
            lines.append(
                keys | counts | ends | {"command": f"python -m benchmarks.faults --storage {storage}"}
            )
    return lines


def main() -> int:
    """Every case; 1 where anything was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--storage", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--operation", choices=tuple(OPERATIONS), action="append", help="only this one")
    parser.add_argument("--sample", type=int, help="only so many cases")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after that")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--progress", type=Path, help="keep what was tried in this file, and go on with it")
    parser.add_argument("--store", action="store_true", help="keep the counts for the page of guarantees")
    options = parser.parse_args()
    begin, progress = time.monotonic(), Progress(options.progress)
    with places_on(options.storage) as places:
        cases = find_cases(places, options.operation or tuple(OPERATIONS))
        random.Random(options.seed).shuffle(cases)  # so that a part of them is a fair sample
        verdicts = progress.known(cases)
        tried = {verdict.case for verdict in verdicts}
        left = [case for case in cases if case not in tried]
        for verdict in try_cases(places, left[: options.sample], options.jobs):
            verdicts.append(verdict)
            progress.add(verdict)
            if verdict.problems:
                print(verdict.case, *verdict.problems, sep="\n    ", flush=True)
            if time.monotonic() - begin > options.seconds:
                break
    lines = lines_of(cases, verdicts, options.storage)
    if options.store:
        store_lines(lines)
    print(fault_table(lines))
    unreached = sum(not v.was_reached for v in verdicts)
    print(
        f"{options.storage}: {len(cases)} cases in all; {len(verdicts)} tried, {unreached} of them did not "
        f"reach their point; {time.monotonic() - begin:.0f} s"
    )
    return int(any(v.problems for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
