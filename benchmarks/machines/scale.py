"""Many workers at one study, and many studies in one database: how fast, and where it bends."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import optuna
import sqlalchemy

from tumble.studies.csv_io import old_trial
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

from .crew import start_worker, warm_up
from .races import peak_of, told_at
from .rough import write_rough_study

PARTS = 4  # of a run, to see whether later trials are slower


@dataclass(frozen=True)
class Scale:
    """What `workers` processes did at one study; times in seconds."""

    workers: int
    trials: int
    pause: float  # of the rig
    seconds: float
    throughput: float  # trials a second
    most_possible: float  # workers that may run at once, divided by the pause
    budget: int
    peak: int  # the most failures and trials in flight that there were at any start
    told: int
    ask_median: float  # from the end of a trial to the start of the worker's next one, waiting included
    ask_95: float
    ask_by_part: list[float]  # its median in each part of the run, in the order of the trials
    tell_median: float  # what a trial took beyond the pause of its rig


def run_scale(folder: Path, storage: str, workers: int, trials: int, budget: int, pause: float) -> Scale:
    """Run a study of `trials` by `workers` processes under a hard cap of `budget`; no trial fails."""
    file = write_rough_study(
        folder, storage, trials=trials, failures=budget, stop=True, pause=pause, safe=True
    )
    warm_up(file)
    begin = time.monotonic()
    logs = [folder / f"times-{i}.jsonl" for i in range(workers)]
    crew = [start_worker(file, log) for log in logs]
    for process in crew:
        process.join()
    seconds = time.monotonic() - begin
    with Ledger(read_study_file(file)) as ledger:
        told, ends = ledger.status().trials, told_at(ledger)
    lines = [json.loads(text) for log in logs if log.exists() for text in log.read_text().splitlines()]
    lines.sort(key=lambda line: line["at"])
    asked = [line["asked"] for line in lines]
    return Scale(
        workers=workers,
        trials=trials,
        pause=pause,
        seconds=round(seconds, 1),
        throughput=round(told / seconds, 2),
        most_possible=round(min(workers, budget) / pause, 1),
        budget=budget,
        peak=peak_of(folder / "events.log", ends, safe=True),
        told=told,
        ask_median=round(statistics.median(asked), 2),
        ask_95=round(statistics.quantiles(asked, n=20)[-1], 2),
        ask_by_part=[round(statistics.median(part), 2) for part in _parts(asked)],
        tell_median=round(statistics.median(line["ran"] for line in lines) - pause, 2),
    )


def _parts(times: Sequence[float]) -> list[Sequence[float]]:
    size = max(len(times) // PARTS, 1)
    return [times[i * size : (i + 1) * size] for i in range(PARTS)]


@dataclass(frozen=True)
class Studies:
    """Medians in seconds of what one command does, with `studies` studies in the database."""

    studies: int
    open: float
    ask: float
    status: float


def measure_studies(folder: Path, storage: str, counts: Sequence[int], repeats: int = 7) -> list[Studies]:
    """Fill a database with studies of two trials each, and look at one of them now and then."""
    file = write_rough_study(folder, storage, trials=1000, failures=1000, stop=False)
    warm_up(file)
    config, found, there = read_study_file(file), [], 1
    trials = [old_trial(config, {"x": 0.1, "y": y}, {"cost": y, "load": -1.0}, None) for y in (0.2, 0.7)]
    database = optuna.storages.RDBStorage(storage)
    for count in counts:
        for number in range(there, count):
            optuna.create_study(storage=database, study_name=f"neighbour-{number}").add_trials(trials)
        there = max(there, count)
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sqlalchemy.text("ANALYZE"))  # as a server does by itself after a while
        found.append(Studies(count, *_times(file, repeats)))
    database.engine.dispose()
    return found


def _times(file: Path, repeats: int) -> list[float]:
    rows = []
    for _ in range(repeats):
        begin = time.perf_counter()
        with Ledger(read_study_file(file)) as ledger:
            opened = time.perf_counter()
            ledger.skip(ledger.ask().number)
            asked = time.perf_counter()
            ledger.status()
            rows.append((opened - begin, asked - opened, time.perf_counter() - asked))
    return [round(statistics.median(column), 4) for column in zip(*rows, strict=True)]
