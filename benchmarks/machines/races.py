"""Many workers at one study with a hard budget, some of them killed."""

from __future__ import annotations

import math
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import optuna
from threadpoolctl import threadpool_limits

from tumble.studies.ledger import Ledger
from tumble.studies.runner import Runner
from tumble.studies.study_file import read_study_file


@dataclass(frozen=True)
class Race:
    """What `workers` did to one study with a hard budget."""

    workers: int
    budget: int
    told: int
    failures: int
    peak: int  # the most failures and trials in flight that there were at any start
    killed: int
    left_running: int
    seconds: float


def race(file: Path, workers: int, kills: int = 0, seed: int = 0) -> Race:
    """Run a study by `workers` processes; kill (and replace) `kills` of them at random moments."""
    rng, start = random.Random(seed), time.monotonic()
    Ledger(read_study_file(file)).close()  # the tables are there before anyone starts
    fork = multiprocessing.get_context("fork")
    crew = [fork.Process(target=_work, args=(str(file),)) for _ in range(workers)]
    for process in crew:
        process.start()
    killed = 0
    while any(process.is_alive() for process in crew):
        if killed < kills:
            time.sleep(rng.uniform(0.2, 1.0))
            alive = [i for i, process in enumerate(crew) if process.is_alive()]
            if alive:
                i = rng.choice(alive)
                os.kill(crew[i].pid or 0, signal.SIGKILL)
                killed += 1
                crew[i].join()
                crew[i] = fork.Process(target=_work, args=(str(file),))
                crew[i].start()
        time.sleep(0.02)
    for process in crew:
        process.join()
    with Ledger(read_study_file(file)) as ledger:
        status, told = ledger.status(), told_at(ledger)
    return Race(
        workers=workers,
        budget=ledger.config.failures or 0,
        told=status.trials,
        failures=status.failures,
        peak=peak_of(file.parent / "events.log", told),
        killed=killed,
        left_running=status.pending,
        seconds=round(time.monotonic() - start, 2),
    )


def _work(file: str) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    threadpool_limits(1, user_api="blas")
    with Ledger(read_study_file(file)) as ledger:
        Runner(ledger).run()


def told_at(ledger: Ledger) -> dict[int, float]:
    """When each trial that is over ended in the storage, in seconds since the epoch."""
    ends = {entry.trial: entry.stored.datetime_complete for entry in ledger.entries()}
    return {trial: end.timestamp() for trial, end in ends.items() if end is not None}


def peak_of(log: Path, told: Mapping[int, float], *, safe: bool = False) -> int:
    """Replay the rig's own log: at each start, failures so far plus trials in flight.

    A trial whose runner died before it told is run again: what it did the first time is not known to anyone.
    It may also be `told` meanwhile, by whoever finds the result that its runner had kept; from then on it is
    not in flight, though the rig moves once more.  Where the limit is `safe`, what the rig calls broken is no
    failure.
    """
    flying, failed, peak = dict[int, float](), set[int](), 0
    for line in log.read_text().splitlines():
        kind, word, at, *broke = line.split()
        number, now = int(word), float(at)
        flying = {trial: end for trial, end in flying.items() if end > now}
        if kind == "start":
            if told.get(number, math.inf) > now:
                flying[number] = told.get(number, math.inf)
                failed.discard(number)
            peak = max(peak, len(failed) + len(flying))
        else:
            flying.pop(number, None)
            failed |= {number} if broke == ["1"] and not safe else set()
    return peak
