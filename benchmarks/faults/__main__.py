"""`python -m benchmarks.faults`: every case, or a sample, and a table of what became of them."""

from __future__ import annotations

import argparse
import contextlib
import logging
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import optuna
from threadpoolctl import threadpool_limits

from benchmarks.machines.rough import postgres

from .cases import Case, Verdict, find_cases, try_case, warm_up
from .operations import OPERATIONS
from .places import Places
from .points import FAULTS


@contextlib.contextmanager
def places_on(storage: str) -> Iterator[Places]:
    """A place for every case, with the study that is copied."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # it says what we did to its connections
    threadpool_limits(1, user_api="blas")
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(postgres()) if storage == "postgresql" else ""
        places = Places(home, server)
        places.prepare()
        yield places


def try_cases(places: Places, cases: Sequence[Case], jobs: int = 1) -> Iterator[Verdict]:
    """The verdicts, in any order."""
    with multiprocessing.get_context("fork").Pool(jobs, warm_up, (places,)) as pool:
        yield from pool.imap_unordered(partial(try_case, places), cases)


def table_of(verdicts: Sequence[Verdict]) -> str:
    """A table in Markdown: operations by faults, how many were tried, survived and lost."""
    lines = [
        "| operation | " + " | ".join(FAULTS) + " | tried | survived | lost |",
        "|---" * (len(FAULTS) + 4) + "|",
    ]
    for operation in (*OPERATIONS, "all"):
        ours = [v for v in verdicts if v.was_reached and operation in (v.case.operation, "all")]
        counts = [sum(v.case.fault == fault for v in ours) for fault in FAULTS]
        lost = sum(bool(v.problems) for v in ours)
        cells = [operation, *counts, len(ours), len(ours) - lost, lost]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main() -> int:
    """Every case; 1 where anything was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--storage", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--sample", type=int, help="only so many cases")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after that")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    options = parser.parse_args()
    begin = time.monotonic()
    with places_on(options.storage) as places:
        cases = find_cases(places)
        random.Random(options.seed).shuffle(cases)  # so that a part of them is a fair sample
        verdicts = []
        for verdict in try_cases(places, cases[: options.sample], options.jobs):
            verdicts.append(verdict)
            if verdict.problems:
                print(verdict.case, *verdict.problems, sep="\n    ", flush=True)
            if time.monotonic() - begin > options.seconds:
                break
    unreached = sum(not v.was_reached for v in verdicts)
    print(table_of(verdicts))
    print(
        f"{options.storage}: {len(cases)} cases in all; {len(verdicts)} tried, {unreached} of them did not "
        f"reach their point; {time.monotonic() - begin:.0f} s"
    )
    return int(any(v.problems for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
