"""One thread works on a study, and the event loop never waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from tests.server.clients import study_by_hand
from tumble.server.desk import Desk, Ending
from tumble.studies.kept import KeptResult
from tumble.studies.ledger import Ledger
from tumble.studies.ownership import this_runner
from tumble.studies.study_file import read_study_file


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(study_by_hand(tmp_path))
    yield desk
    desk.close()


def test_jobs_are_done_one_after_the_other_on_one_thread(desk: Desk) -> None:
    async def both() -> tuple[tuple[int, str], ...]:
        def job(ledger: Ledger) -> tuple[int, str]:
            return ledger.status().trials, threading.current_thread().name

        return tuple(await asyncio.gather(desk.do(job), desk.do(job)))

    assert asyncio.run(both()) == ((0, "tumble-desk_0"), (0, "tumble-desk_0"))


def test_an_error_of_a_job_reaches_its_caller_and_the_desk_goes_on(desk: Desk) -> None:
    def bad(ledger: Ledger) -> None:
        raise KeyError("of the job")

    with pytest.raises(KeyError, match="of the job"):
        asyncio.run(desk.do(bad))
    assert desk.do_now(lambda ledger: ledger.status().trials) == 0


def test_a_client_whose_request_is_cancelled_hears_that_the_server_ends(desk: Desk) -> None:
    free = threading.Event()

    async def cancelled() -> str:
        task = asyncio.create_task(desk.do(lambda ledger: free.wait(10)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(Ending) as said:
            await task
        free.set()
        return str(said.value)

    assert asyncio.run(cancelled()) == "the server is being ended; send this again when it is back"


def test_what_became_of_a_result_that_a_killed_runner_kept_is_said(tmp_path: Path) -> None:
    file = study_by_hand(tmp_path)
    dead = replace(this_runner(), pid=2**22 + 1, born="gone")
    with Ledger(read_study_file(file)) as ledger:
        asked = ledger.ask(dead)
        ledger.kept.keep(KeptResult(asked.number, dict(asked.x), {"cost": 1.0, "load": -0.5}, None, dead))
    said: list[str] = []
    desk = Desk(file, say=said.append)
    desk.do_now(lambda ledger: ledger.ask())
    desk.close()
    assert said == ["the result of trial 0, which a killed runner had kept, is told"]
