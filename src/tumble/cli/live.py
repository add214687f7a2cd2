"""`tumble run`: the live table, Ctrl-C, and many workers."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from types import FrameType
from typing import IO

from rich.console import Console
from rich.live import Live

from tumble.cli import show
from tumble.cli.view import live_view
from tumble.errors import BudgetExhausted, InputError, TrialsExhausted
from tumble.studies.edits import StudyFileWatch
from tumble.studies.ledger import Ledger
from tumble.studies.outages import Patience
from tumble.studies.ownership import this_runner
from tumble.studies.records import Entry
from tumble.studies.runner import End, Runner
from tumble.studies.surprise import SurpriseWatch
from tumble.trials import Suggestion

LOOK = 0.5  # seconds between two looks at the workers


def run_here(ledger: Ledger, quiet: bool) -> End:
    """One trial at a time, in this process."""
    with _stop_on_ctrl_c(quiet) as should_stop, _view(ledger, quiet) as view:
        runner = Runner(ledger, should_stop, view.started, view.told, view.look, view.notice)
        try:
            return runner.run()
        except KeyboardInterrupt:
            return End(
                "stopped", "stopped at once; run it again to go on: a trial that was not told runs again"
            )


def run_workers(ledger: Ledger, count: int, quiet: bool) -> End:
    """`count` trials at a time, each in a process of its own; a fault of one stops the others like Ctrl-C."""
    words = ["run", "--quiet", "--", str(ledger.config.path)]
    command = [sys.executable, "-P", "-m", "tumble.cli", *words]  # -P: no module of the folder of now
    with _stop_on_ctrl_c(quiet) as should_stop, _view(ledger, quiet) as view:
        workers = _started(command, count)
        told, storage, file = False, Patience(view.notice), StudyFileWatch(ledger, view.notice)
        while any(worker.process.poll() is None for worker in workers):
            fault = any(worker.process.poll() not in (None, 0) for worker in workers)
            try:
                if (should_stop() or fault) and not told:
                    workers.sort(key=lambda worker: worker.process.poll() in (None, 0))  # its fault is said
                    _signal(workers, signal.SIGINT)
                    told = True
                file.look()
                storage.attempt(view.look)
                time.sleep(LOOK)
            except KeyboardInterrupt:  # the second one
                _signal(workers, signal.SIGINT)
        file.look()  # an edit may have ended the workers since the last look
        storage.attempt(view.look)
        ends = [worker.end() for worker in workers]
        stopped = should_stop()
    faults = [end for end in ends if end.kind == "fault"]
    if faults:
        return faults[0]
    return End("stopped", "stopped; run it again to go on") if stopped else _all_done(ledger)


@dataclass(frozen=True)
class _Worker:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]

    @staticmethod
    def start(command: list[str]) -> _Worker:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker's end
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # Ctrl-C is passed on by us, once
            preexec_fn=_begin_worker,
        )
        return _Worker(process, errors)

    def end(self) -> End:
        with self.errors:
            self.errors.seek(0)
            text = self.errors.read().decode(errors="replace").strip()
        if self.process.returncode in (0, 4, 130, -signal.SIGINT):  # the last: at the end of its interpreter
            return End("done", "")
        first, _, rest = text.partition("\n")
        why = first.removeprefix("tumble: ") or f"a worker ended with code {self.process.returncode}"
        return End("fault", why, rest)


def _started(command: list[str], count: int) -> list[_Worker]:
    """The workers; where the machine has no room for all of them, those that were started end."""
    workers: list[_Worker] = []
    try:
        for _ in range(count):
            workers.append(_Worker.start(command))
    except OSError as error:
        _signal(workers, signal.SIGINT)
        for worker in workers:
            worker.process.wait()
            worker.end()
        raise InputError(
            f"only {len(workers)} of {count} workers could be started ({error.strerror}); ask for fewer, or "
            "raise what a user may have open at once (ulimit -n and -u)"
        ) from None
    return workers


def _all_done(ledger: Ledger) -> End:
    """The end of workers that found nothing left to run, with the reason why no trial may start."""
    try:
        ledger.check_may_start(this_runner())
    except (BudgetExhausted, TrialsExhausted) as end:
        return End("done", str(end))
    return End("done", "nothing is left to run")


def _signal(workers: list[_Worker], number: signal.Signals) -> None:
    for worker in workers:
        if worker.process.poll() is None:
            worker.process.send_signal(number)


def _begin_worker() -> None:
    """Ctrl-C waits until the worker hears it; on Linux one whose parent dies finishes its trial and ends."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG


@contextlib.contextmanager
def _stop_on_ctrl_c(quiet: bool) -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C asks to stop after the trial in hand; the second interrupts it.

    A terminal that is closed counts as the first one only: the shell and the system may both tell of it.
    """
    signals: list[int] = []

    def note(number: int, frame: object) -> None:
        is_second = number != signal.SIGHUP and any(one != signal.SIGHUP for one in signals)
        signals.append(number)
        if is_second:
            raise KeyboardInterrupt
        if not quiet and len(signals) == 1:
            print("\nfinishing the trial in hand; Ctrl-C again abandons it", file=sys.stderr)

    with _heard(note):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # of a worker: see `_begin_worker`
        yield lambda: bool(signals)


def one_ctrl_c() -> contextlib.AbstractContextManager[None]:
    """Inside the block a request to end, and a terminal that is closed, are a Ctrl-C."""
    return _heard(signal.default_int_handler)


@contextlib.contextmanager
def _heard(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Give `handler` what asks this process to end; `nohup` keeps the end of the terminal from it."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)


class _Silent:
    """No view: for workers."""

    def started(self, suggestion: Suggestion) -> None:
        """Nothing to show."""

    def told(self, entry: Entry) -> None:
        """Nothing to show."""

    def look(self) -> None:
        """Nothing to show."""

    def notice(self, text: str) -> None:
        """Nothing to show."""


class _Speaking(_Silent):
    """Says what someone who watches should read: notices, and values that are far from their prediction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._lock = ledger, threading.Lock()
        self._surprises = SurpriseWatch(ledger)

    def look(self) -> None:
        with self._lock:  # a beat may look at the same time
            for text in self._surprises.look():
                self.notice(text)

    def notice(self, text: str) -> None:
        print(f"tumble: {show.printable(text)}", file=sys.stderr, flush=True)


class _Lines(_Speaking):
    """One line for each trial that is over: for pipes and logs."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._seen = {e.trial for e in ledger.entries() if not e.is_running}

    def told(self, entry: Entry) -> None:
        self.look()

    def look(self) -> None:
        with self._lock:  # a beat may look at the same time
            for entry in self._ledger.entries():
                if entry.trial not in self._seen and not entry.is_running:
                    self._seen.add(entry.trial)
                    print(show.line(entry, self._ledger.config), flush=True)
        super().look()


class _LiveTable(_Speaking):
    """The latest trials and what is left, redrawn in place."""

    def __init__(self, ledger: Ledger, live: Live) -> None:
        super().__init__(ledger)
        self._live = live

    def started(self, suggestion: Suggestion) -> None:
        self.look()

    def told(self, entry: Entry) -> None:
        self.look()

    def look(self) -> None:
        size = self._live.console.size
        view = live_view(self._ledger, size.width, size.height, datetime.now())
        self._live.update(view, refresh=True)
        super().look()


@contextlib.contextmanager
def _view(ledger: Ledger, quiet: bool) -> Iterator[_Silent]:
    console = Console()
    if quiet:
        yield _Silent()
    elif not console.is_terminal:
        yield _Lines(ledger)
    else:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield _LiveTable(ledger, live)
