"""The stream of changes: those of this server, and those that others make."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from tests.server.clients import study_by_hand
from tumble.server import bodies, doors, watching
from tumble.server.app import Study
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
