"""A study and the one thread that works on it, so that the event loop never waits for a suggestion."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from tumble.errors import TumbleError
from tumble.studies.beginning import open_or_begin
from tumble.studies.ledger import Ledger
from tumble.studies.ownership import this_runner
from tumble.studies.study_file import read_study_file

T = TypeVar("T")


class Ending(TumbleError):
    """The server ends before a job is done."""


class Desk:
    """One ledger, used by one thread, one job after the other.

    The study file is read before each job, as every command of the terminal does.

    Parameters
    ----------
    file
        The study file.
    reading
        Whether the study is only looked at; it must exist then.
    say
        Called with what became of results that a killed runner had kept.
    """

    def __init__(
        self, file: Path, *, reading: bool = False, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self._file, self._reading, self._say = file, reading, say
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tumble-desk")
        self._ledger: Ledger | None = None

    async def do(self, job: Callable[[Ledger], T]) -> T:
        """What the job returns; it may take its time.

        `Ending` where the server does not wait for it: a request is cancelled only when the server ends, and
        its client is told so.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, job)
        except asyncio.CancelledError:
            raise Ending("the server is being ended; send this again when it is back") from None

    def do_now(self, job: Callable[[Ledger], T]) -> T:
        """The same, for a caller that is no coroutine and may wait."""
        return self._thread.submit(self._do, job).result()

    def close(self) -> None:
        """Finish the job in hand, and give the study back."""
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _do(self, job: Callable[[Ledger], T]) -> T:
        return job(self._current())

    def _current(self) -> Ledger:
        config = read_study_file(self._file)
        if self._ledger is not None and config == self._ledger.written:
            return self._ledger
        if self._ledger is not None and not self._reading:
            self._ledger.follow(config)
            return self._ledger
        self._close()
        self._ledger = open_or_begin(config, reading=self._reading)
        self._ledger.asker = this_runner()
        self._ledger.kept.say = self._say
        return self._ledger

    def _close(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
        self._ledger = None
