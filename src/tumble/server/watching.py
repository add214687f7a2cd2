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
from tumble.server.desk import Desk
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
        self._seen: dict[str, Any] | None = None
        self._nudge = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def listen(self) -> AsyncIterator[str]:
        """Events as text: `status` first, then `trial` and `status` for what changes, and `error`."""
        queue: asyncio.Queue[Events | None] = asyncio.Queue(BEHIND)
        yield _text("status", await self._desk.do(reading.status))
        self._queues.add(queue)
        self._start()
        try:
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
        for queue in self._queues:
            _put(queue, None)
        self._nudge.set()

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._seen = None
            self._task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while self._queues and not self._closed:
            try:
                events = await self._look()
            except Exception as error:
                text = str(error) if isinstance(error, TumbleError) else sentence_for(error)
                if text is None:
                    raise
                events = [("error", {"error": text})]
            if events:
                for queue in tuple(self._queues):
                    if not _put(queue, events):
                        self._queues.discard(queue)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._nudge.wait(), LOOK)
            self._nudge.clear()

    async def _look(self) -> Events:
        now = await self._desk.do(_snapshot)
        seen, self._seen = self._seen, now
        if seen is None or seen == now:
            return []
        old = {trial["trial"]: trial for trial in seen["trials"]}
        changed = [trial for trial in now["trials"] if old.get(trial["trial"]) != trial]
        return [*(("trial", trial) for trial in changed), ("status", now["status"])]


def _snapshot(ledger: Ledger) -> dict[str, Any]:
    """The trials and the status of one moment."""
    entries, config = ledger.entries(), ledger.config
    found: dict[str, Any] = {
        "trials": [entry_table(entry, config) for entry in entries],
        "status": status_table(to_status(entries, config)),
        "study": reading.study(ledger),
    }
    return dict(plain(found))  # NaN differs from itself


def _put(queue: asyncio.Queue[Events | None], events: Events | None) -> bool:
    """Whether there was room."""
    try:
        queue.put_nowait(events)
    except asyncio.QueueFull:
        return False
    return True


def _text(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(plain(data))}\n\n"
