"""Workers that are forked from a process with everything imported: real processes that start within a moment.

They take random settings: the search is not what is looked at here, and with thousands of trials it would
take all the time.  Everything else is `tumble run`: the ledger, the runner, the gate, the rig in a process of
its own, the heartbeats, and the files of results that are kept.
"""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import signal
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial
from threadpoolctl import threadpool_limits

from tumble.integrations.optuna.sampler import TumbleSampler
from tumble.studies.errors import StudyFileError
from tumble.studies.ledger import Ledger
from tumble.studies.outages import is_outage
from tumble.studies.records import Entry
from tumble.studies.runner import Runner
from tumble.studies.sampler import StudySampler
from tumble.studies.study_file import read_study_file
from tumble.trials import Suggestion

FORK = multiprocessing.get_context("fork")


def warm_up(file: Path) -> None:
    """Import and compile what every worker needs, once; make the study."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    threadpool_limits(1, user_api="blas")
    StudySampler.infer_relative_search_space = _nothing_to_search  # type: ignore[method-assign]
    with Ledger(read_study_file(file)) as ledger:
        ledger.status()
    gc.collect()
    gc.freeze()


def start_worker(file: Path, log: Path | None = None) -> BaseProcess:
    """A process that runs the study until it is interrupted; it notes its times in `log`."""
    process = FORK.Process(target=_work, args=(file, log))
    process.start()
    return process


def _nothing_to_search(
    self: TumbleSampler, study: optuna.Study, trial: FrozenTrial
) -> dict[str, BaseDistribution]:
    return {}


def _work(file: Path, log: Path | None) -> None:
    stop: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: stop.append(number))
    clock = _Clock(log)
    while not stop:
        try:
            ledger = Ledger(read_study_file(file))
        except Exception as error:
            if not isinstance(error, StudyFileError) and not is_outage(error):
                raise
            time.sleep(0.2)  # the server is away; `tumble run` says so, and has to be started again
            continue
        with ledger:
            Runner(ledger, lambda: bool(stop), on_start=clock.start, on_told=clock.told).run()
        return


class _Clock:
    """Notes, for each trial of a worker, how long it was waited for and how long it took."""

    def __init__(self, log: Path | None) -> None:
        self._log, self._last = log, time.monotonic()
        self._waited = 0.0

    def start(self, suggestion: Suggestion) -> None:
        """A trial has its setting and its place."""
        now = time.monotonic()
        self._waited, self._last = now - self._last, now

    def told(self, entry: Entry) -> None:
        """A trial is over and told."""
        now = time.monotonic()
        line = {"trial": entry.trial, "asked": self._waited, "ran": now - self._last, "at": time.time()}
        self._last = now
        if self._log is not None:
            with contextlib.suppress(OSError), self._log.open("a") as file:
                file.write(json.dumps(line) + "\n")
