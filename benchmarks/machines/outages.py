"""A storage that goes away: workers on a PostgreSQL that is stopped and started again and again."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

from .rough import Started, start_tumble


@dataclass(frozen=True)
class Outage:
    """What became of a study whose server was restarted `restarts` times."""

    workers: int
    restarts: int
    died: int  # workers that ended in another way than they were asked to
    told: int
    lost: int  # trials that the rig ended, and neither told nor kept
    rerun: int  # trials that the rig ran more than once
    kept: int  # results that wait beside the study for the next run
    seconds: float


def restart_server(
    file: Path,
    server: Any,
    workers: int,
    restarts: int,
    seed: int = 0,
    longest: float = 2.0,
    start_command: Callable[..., Started] = start_tumble,
) -> Outage:
    """Run a study by `workers` commands; stop and start its server meanwhile, then ask the workers to end.

    Parameters
    ----------
    file
        The study file; it should have more trials than can be run meanwhile.
    server
        The server, with `start` and `stop`.
    workers, restarts
        How many of each.
    seed
        Of the moments.
    longest
        Seconds between two restarts, and seconds that the server is away, at most.
    start_command
        Starts the command `tumble` with these words.
    """
    rng, begin = random.Random(seed), time.monotonic()
    Ledger(read_study_file(file)).close()  # the tables are there before anyone starts
    crew = [start_command("run", file, "--quiet") for _ in range(workers)]
    _wait_for_first_trial(file)
    for _ in range(restarts):
        time.sleep(rng.uniform(0.2, longest))
        server.stop()
        time.sleep(rng.uniform(0.0, longest))
        server.start()
    time.sleep(longest)
    died = sum(worker.poll() not in (None, 0) for worker in crew)
    for worker in crew:
        if worker.poll() is None:
            worker.send_signal(signal.SIGINT)
    codes = [worker.wait() for worker in crew]
    died = max(died, sum(code not in (0, 130) for code in codes))
    return _judge(file, workers, restarts, died, time.monotonic() - begin)


def _wait_for_first_trial(file: Path) -> None:
    while not (file.parent / "events.log").exists():
        time.sleep(0.05)


def _judge(file: Path, workers: int, restarts: int, died: int, seconds: float) -> Outage:
    with Ledger(read_study_file(file)) as ledger:
        told = {e.trial for e in ledger.entries() if e.reading.phase == "told"}
        kept = {result.trial for result in ledger.kept.results()}
    lines = [line.split() for line in (file.parent / "events.log").read_text().splitlines()]
    starts = [int(words[1]) for words in lines if words[0] == "start"]
    ended = {int(words[1]) for words in lines if words[0] == "end"}
    return Outage(
        workers=workers,
        restarts=restarts,
        died=died,
        told=len(told),
        lost=len(ended - told - kept),
        rerun=len(starts) - len(set(starts)),
        kept=len(kept),
        seconds=round(seconds, 1),
    )
