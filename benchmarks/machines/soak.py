"""A soak: workers that are killed and a server that is restarted, again and again, under a hard cap."""

from __future__ import annotations

import math
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tumble.studies.ledger import Ledger
from tumble.studies.records import Entry
from tumble.studies.study_file import read_study_file

from .crew import start_worker, warm_up
from .races import peak_of, told_at

SHORTEST, LONGEST = 0.05, 0.45  # seconds between two kills
LONGEST_WAIT = 20.0  # seconds for the next start of the rig
AWAY = 1.0  # seconds that the server is away, at most
LAST_WAIT = 180.0  # seconds that the trials of the dead may take at the end


@dataclass(frozen=True)
class Soak:
    """What became of a study after `kills` and `restarts`."""

    workers: int
    kills: int
    restarts: int
    died: int  # workers that ended by themselves
    told: int
    lost: int  # told trials that were gone or had other results later, and ended ones that nobody told
    twice: int  # trials that stand in the ledger beyond those told
    stuck: int  # trials still in flight at the end
    wrong: int  # told results that are not what the rig measures there
    budget: int
    peak: int  # the most failures and trials in flight that there were at any start
    rerun: int  # times that the rig ran a trial again, since its runner was killed
    seconds: float


def soak(
    file: Path,
    server: Any,
    workers: int,
    kills: int,
    restarts: int,
    seed: int = 0,
    seconds: float = math.inf,
) -> Soak:
    """Run a study by `workers` processes; kill and replace them, and restart the server meanwhile.

    Parameters
    ----------
    file
        The study file; it should have more trials than can be run meanwhile.
    server
        The server, with `start` and `stop`.
    workers, kills, restarts
        How many of each; the restarts are spread over the kills.
    seed
        Of the moments and the victims.
    seconds
        After that nobody is killed any more.
    """
    rng, begin, known = random.Random(seed), time.monotonic(), dict[int, dict[str, float]]()
    warm_up(file)
    crew = [start_worker(file) for _ in range(workers)]
    died = lost = restarted = done = 0
    while done < kills and time.monotonic() - begin < seconds:
        done += 1
        _wait(rng.uniform(SHORTEST, LONGEST), file.parent / "events.log", done)
        victim = rng.randrange(workers)
        died += not _kill(crew[victim])
        crew[victim] = start_worker(file)
        if done * restarts // kills > restarted:
            _restart(server, rng.uniform(0.0, AWAY))
            restarted += 1
            lost += _compare(known, file)
    died += _end(crew, file)
    lost += _compare(known, file)
    return _judge(file, workers, done, restarted, died, lost, time.monotonic() - begin)


def _wait(seconds: float, log: Path, starts: int) -> None:
    """So many seconds, and longer where the rig has started less often: a slow machine gets on as well."""
    time.sleep(seconds)
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end and (not log.exists() or log.read_text().count("start") < starts):
        time.sleep(0.02)


def _kill(process: BaseProcess) -> bool:
    """Kill a worker; whether it was still there."""
    alive = process.is_alive()
    process.kill()
    process.join()
    return alive


def _restart(server: Any, seconds: float) -> None:
    server.stop()
    time.sleep(seconds)
    server.start()


def _end(crew: list[BaseProcess], file: Path) -> int:
    """Let the crew run what the dead left, then ask it to stop; how many had ended by themselves."""
    last, end = max(_numbers(file), default=-1), time.monotonic() + LAST_WAIT
    while any(e.is_running and e.trial <= last for e in _entries(file)) and time.monotonic() < end:
        time.sleep(0.5)
    died = sum(not process.is_alive() for process in crew)
    for process in crew:
        if process.is_alive():
            os.kill(process.pid or 0, signal.SIGINT)
    for process in crew:
        process.join()
    return died


def _entries(file: Path) -> list[Entry]:
    with Ledger(read_study_file(file)) as ledger:
        return ledger.entries()


def _numbers(file: Path) -> list[int]:
    return [entry.trial for entry in _entries(file)]


def _compare(known: dict[int, dict[str, float]], file: Path) -> int:
    """Add what is told now to what was known; how much of what was known is gone."""
    now = {e.trial: e.results for e in _entries(file) if e.reading.phase == "told"}
    gone = sum(now.get(number) != results for number, results in known.items())
    known.update(now)
    return gone


def _judge(file: Path, workers: int, kills: int, restarts: int, died: int, lost: int, seconds: float) -> Soak:
    log = file.parent / "events.log"
    with Ledger(read_study_file(file)) as ledger:
        entries, ends = ledger.entries(), told_at(ledger)
    told = {e.trial: e for e in entries if e.reading.phase == "told"}
    running = [e for e in entries if e.is_running]
    lines = [line.split() for line in log.read_text().splitlines()]
    starts = Counter(int(words[1]) for words in lines if words[0] == "start")
    ended = {int(words[1]) for words in lines if words[0] == "end"}
    unstarted = [e for e in entries if e.outcome == "unstarted"]
    return Soak(
        workers=workers,
        kills=kills,
        restarts=restarts,
        died=died,
        told=len(told),
        lost=lost + len(ended - told.keys()),
        twice=len(entries) - len(told) - len(running) - len(unstarted),
        stuck=len(running),
        wrong=sum(not _is_right(e) for e in told.values()),
        budget=read_study_file(file).failures or 0,
        peak=peak_of(log, ends, safe=True),
        rerun=sum(count - 1 for count in starts.values()),
        seconds=round(seconds, 1),
    )


def _is_right(entry: Entry) -> bool:
    """Whether a told result is that of its own setting."""
    x, y = (float(str(entry.parameters[name])) for name in ("x", "y"))
    cost = (x - 0.4) ** 2 + (y - 0.6) ** 2 + 0.1 * math.sin(40 * x)
    return math.isclose(entry.results["cost"], cost, abs_tol=1e-9)
