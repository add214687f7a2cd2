"""The stream of changes: what this server, the command line and other machines do to the study."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from tumble.errors import TumbleError
from tumble.serialize import plain
from tumble.server import reading
from tumble.server.desk import Desk, Ending
from tumble.studies.ledger import Ledger
from tumble.studies.outages import sentence_for
from tumble.studies.records import to_status
from tumble.studies.tables import entry_table, status_table

LOOK = 1.0  # seconds between two looks at the storage, while someone listens
STILL_HERE = 10.0  # seconds until a listener is told that the server lives
BEHIND = 1000  # events that a listener may be behind

Events = list[tuple[str, Any]]


class Watch:
    """Looks at the study while someone listens, and tells every listener what changed.

    Parameters
    ----------
    desk
        Where the study is looked at.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._queues: set[asyncio.Queue[Events | None]] = set()
        self._seen: dict[str, Any] = {}
        self._error: str | None = None  # that the listeners know of
        self._nudge = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def listen(self) -> AsyncIterator[str]:
        """Events as text: `status` first, then `trial` and `status` for what changes, and `error`.

        It ends with the server; where the study can't be read at first; and for a listener that falls behind.
        """
        queue: asyncio.Queue[Events | None] = asyncio.Queue(BEHIND)
        self._queues.add(queue)  # before the study is read: what changes from then on is heard of
        try:
            try:
                now = await self._desk.do(_snapshot)
            except Exception as error:
                yield _text("error", {"error": _sentence(error)})
                return
            self._start(now)
            yield _text("status", now["status"])
            while not self._closed:
                try:
                    events = await asyncio.wait_for(queue.get(), STILL_HERE)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if events is None:
                    return
                yield "".join(_text(name, data) for name, data in events)
        finally:
            self._queues.discard(queue)

    def nudge(self) -> None:
        """Look now: this server has changed something."""
        self._nudge.set()

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        self._end_streams()
        self._nudge.set()

    def _start(self, now: dict[str, Any]) -> None:
        """Look on, from what the study is now, unless someone listens already."""
        if self._task is None or self._task.done():
            self._seen, self._error = now, None
            self._task = asyncio.create_task(self._watch())
        elif self._error is not None:  # it is over, and whoever comes now would not hear that it begins again
            self._error = None
            self._tell([("status", now["status"])])

    def _tell(self, events: Events) -> None:
        for queue in tuple(self._queues):
            if queue.full():  # what it missed is lost: it comes again and hears how things stand
                self._queues.discard(queue)
                _end(queue)
            else:
                queue.put_nowait(events)

    async def _watch(self) -> None:
        try:
            while self._queues and not self._closed:
                events = await self._news()
                if events:
                    self._tell(events)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._nudge.wait(), LOOK)
                self._nudge.clear()
        except Ending:  # it is cancelled, as everything that is left when the server ends
            return
        finally:  # a listener to whom nobody speaks must not believe that nothing changes
            self._end_streams()

    async def _news(self) -> Events:
        """What changed since the last look; an error when it comes, and the status when it is over."""
        before = self._error
        try:
            events, self._error = await self._look(), None
        except Ending:
            raise
        except Exception as error:
            self._error = _sentence(error)
            return [] if self._error == before else [("error", {"error": self._error})]
        return events if before is None or events else [("status", self._seen["status"])]

    async def _look(self) -> Events:
        now = await self._desk.do(_snapshot)
        seen, self._seen = self._seen, now
        if seen == now:
            return []
        old = {trial["trial"]: trial for trial in seen["trials"]}
        changed = [trial for trial in now["trials"] if old.get(trial["trial"]) != trial]
        return [*(("trial", trial) for trial in changed), ("status", now["status"])]

    def _end_streams(self) -> None:
        for queue in self._queues:
            _end(queue)


def _snapshot(ledger: Ledger) -> dict[str, Any]:
    """The trials and the status of one moment."""
    entries, config = ledger.entries(), ledger.config
    found: dict[str, Any] = {
        "trials": [entry_table(entry, config) for entry in entries],
        "status": status_table(to_status(entries, config)),
        "study": reading.study(ledger),
    }
    return dict(plain(found))  # NaN differs from itself


def _end(queue: asyncio.Queue[Events | None]) -> None:
    """End a stream, whatever its listener has not heard yet."""
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(None)


def _sentence(error: Exception) -> str:
    """Why the study can't be read; a fault is raised again."""
    text = str(error) if isinstance(error, TumbleError) else sentence_for(error)
    if text is None:
        raise error
    return text


def _text(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(plain(data))}\n\n"
