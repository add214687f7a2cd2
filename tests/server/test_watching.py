"""The stream of changes: those of this server, and those that others make."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from tests.server.clients import study_by_hand
from tumble.errors import TumbleError
from tumble.server import bodies, doors, reading, watching
from tumble.server.app import Study
from tumble.server.desk import Ending
from tumble.server.watching import Watch
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(watching, "LOOK", 0.02)
    return study_by_hand(tmp_path)


def read(text: str) -> list[tuple[str, Any]]:
    """The events of a piece of the stream."""
    found = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n", 1)
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


async def next_of(stream: AsyncIterator[str]) -> list[tuple[str, Any]]:
    return read(await asyncio.wait_for(anext(stream), 30))


async def heard_of(stream: AsyncIterator[str], outcome: str) -> dict[str, Any]:
    """The status with the first event in which trial 0 has its setting and an outcome."""
    while True:
        *trials, (name, status) = await next_of(stream)
        assert name == "status"
        if any(trial["outcome"] == outcome and trial["parameters"] for _, trial in trials):
            return dict(status)


def test_a_listener_hears_of_changes_here_and_elsewhere(file: Path) -> None:
    study = Study(file)

    async def listen() -> None:
        stream = study.watch.listen()
        ((name, status),) = await next_of(stream)
        assert (name, status["pending"]) == ("status", 0)
        waiting = asyncio.create_task(heard_of(stream, "running"))
        await asyncio.sleep(0.3)  # it has looked once
        await study.change(doors.ask, bodies.Ask(), None)
        assert (await waiting)["pending"] == 1
        elsewhere = Ledger(read_study_file(file))
        elsewhere.tell(0, {"cost": 1.0, "load": -1.0})
        assert (await heard_of(stream, "safe"))["trials"] == 1
        file.write_text("name = ")
        name, data = (await next_of(stream))[-1]
        assert (name, "bowl.toml" in data["error"]) == ("error", True)

    asyncio.run(listen())
    study.close()


def test_a_silent_stream_says_that_it_lives_and_ends_with_the_server(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "STILL_HERE", 0.05)
    study = Study(file)

    async def listen() -> None:
        stream = study.watch.listen()
        await anext(stream)
        assert await anext(stream) == ": still here\n\n"
        study.watch.close()
        assert {text async for text in stream} <= {": still here\n\n"}

    asyncio.run(listen())
    study.close()


class Stand:
    """A desk whose study is a number of trials, or an error."""

    def __init__(self) -> None:
        self.trials, self.looks = 0, 0
        self.error: Exception | None = None

    async def do(self, job: Any) -> dict[str, Any]:
        self.looks += 1
        if self.error is not None:
            raise self.error
        status = {"trials": self.trials}
        if job is reading.status:
            return status
        return {"trials": [{"trial": n} for n in range(self.trials)], "status": status, "study": {}}

    async def is_looked_at(self, times: int = 3) -> None:
        """Wait for so many looks."""
        until = self.looks + times
        async with asyncio.timeout(30):
            while self.looks < until:
                await asyncio.sleep(0.005)


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Stand:
    monkeypatch.setattr(watching, "LOOK", 0.01)
    return Stand()


def test_what_changes_before_the_first_look_is_heard_of(stand: Stand) -> None:
    async def listen() -> None:
        watch = Watch(stand)  # type: ignore[arg-type]
        stream = watch.listen()
        assert await next_of(stream) == [("status", {"trials": 0})]
        stand.trials = 1
        assert await next_of(stream) == [("trial", {"trial": 0}), ("status", {"trials": 1})]
        other = watch.listen()
        assert await next_of(other) == [("status", {"trials": 1})]
        stand.trials = 2
        assert await next_of(other) == [("trial", {"trial": 1}), ("status", {"trials": 2})]
        watch.close()

    asyncio.run(listen())


def test_what_changes_while_a_listener_joins_is_heard_of(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look that finds it comes between the reading of the first status and its arrival."""
    monkeypatch.setattr(watching, "LOOK", 60.0)

    async def listen() -> None:
        watch = Watch(stand)  # type: ignore[arg-type]
        first = watch.listen()
        await anext(first)
        await stand.is_looked_at(1)
        look, free = stand.do, asyncio.Event()

        async def slow(job: Any) -> dict[str, Any]:
            found = await look(job)
            await free.wait()
            return found

        monkeypatch.setattr(stand, "do", slow)
        second = watch.listen()
        waiting = asyncio.create_task(next_of(second))
        await stand.is_looked_at(1)
        monkeypatch.setattr(stand, "do", look)
        stand.trials = 1
        watch.nudge()
        assert await next_of(first) == [("trial", {"trial": 0}), ("status", {"trials": 1})]
        free.set()
        assert await waiting == [("status", {"trials": 0})]
        assert await next_of(second) == [("trial", {"trial": 0}), ("status", {"trials": 1})]
        watch.close()

    asyncio.run(listen())


def test_a_watch_that_is_cancelled_as_it_looks_ends_every_stream(stand: Stand) -> None:
    async def listen() -> None:
        watch = Watch(stand)  # type: ignore[arg-type]
        stream = watch.listen()
        await anext(stream)
        stand.error = Ending("the server is being ended")
        assert await asyncio.wait_for(anext(stream, "the end"), 30) == "the end"

    asyncio.run(listen())


def test_the_stream_of_a_listener_that_fell_behind_ends(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "BEHIND", 3)

    async def listen() -> None:
        watch = Watch(stand)  # type: ignore[arg-type]
        slow, quick = watch.listen(), watch.listen()
        await anext(slow)
        await anext(quick)
        waiting = asyncio.create_task(next_of(slow))
        for _ in range(8):
            stand.trials += 1
            watch.nudge()
            await next_of(quick)
        assert (await waiting)[-1] == ("status", {"trials": 1})
        assert await asyncio.wait_for(anext(slow, "the end"), 30) == "the end"
        assert await next_of(watch.listen()) == [("status", {"trials": 8})]
        watch.close()

    asyncio.run(listen())


def test_an_error_is_told_once_and_a_status_when_it_is_over(stand: Stand) -> None:
    async def listen() -> None:
        watch = Watch(stand)  # type: ignore[arg-type]
        stream = watch.listen()
        await anext(stream)
        heard: list[tuple[str, Any]] = []
        for text in ("away", "still away"):
            stand.error = TumbleError(text)
            heard += await next_of(stream)
            await stand.is_looked_at()
        stand.error = None
        heard += await next_of(stream)
        stand.error = TumbleError("still away")
        heard += await next_of(stream)
        assert heard == [
            ("error", {"error": "away"}),
            ("error", {"error": "still away"}),
            ("status", {"trials": 0}),
            ("error", {"error": "still away"}),
        ]
        watch.close()

    asyncio.run(listen())


def test_a_listener_that_comes_while_an_error_is_over_hears_of_the_next_one(stand: Stand) -> None:
    async def listen() -> None:
        watch = Watch(stand)  # type: ignore[arg-type]
        first = watch.listen()
        await anext(first)
        stand.error = TumbleError("away")
        assert await next_of(first) == [("error", {"error": "away"})]
        stand.error = None
        second = watch.listen()
        assert await next_of(second) == [("status", {"trials": 0})]
        assert await next_of(first) == [("status", {"trials": 0})]
        stand.error = TumbleError("away")
        heard: list[tuple[str, Any]] = []
        while not heard or heard[-1][0] == "status":
            heard += await next_of(second)
        assert heard[-1] == ("error", {"error": "away"})
        watch.close()

    asyncio.run(listen())


def test_a_listener_that_comes_while_the_study_can_not_be_read_hears_why_and_its_stream_ends(
    stand: Stand,
) -> None:
    stand.error = TumbleError("away")

    async def listen() -> None:
        watch = Watch(stand)  # type: ignore[arg-type]
        assert [read(text) async for text in watch.listen()] == [[("error", {"error": "away"})]]

    asyncio.run(listen())


def test_a_fault_of_the_watch_ends_every_stream_and_is_not_hidden(stand: Stand) -> None:
    async def listen() -> None:
        watch = Watch(stand)  # type: ignore[arg-type]
        stream = watch.listen()
        await anext(stream)
        stand.error = KeyError("a fault")
        assert await asyncio.wait_for(anext(stream, "the end"), 30) == "the end"

    async def main() -> None:
        said: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: said.append(context))
        await listen()
        stand.error = None  # its traceback would keep the task
        gc.collect()
        assert [str(context["exception"]) for context in said] == ["'a fault'"]

    asyncio.run(main())
