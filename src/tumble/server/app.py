"""The application: every path of the HTTP door, and the page."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from fastapi import FastAPI, Header
from fastapi.exceptions import RequestValidationError
from optuna.exceptions import OptunaError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp

from tumble import __version__
from tumble.errors import TumbleError
from tumble.server import answers, bodies, doors, pages, reading
from tumble.server.desk import Desk
from tumble.server.guard import Guard
from tumble.server.watching import Watch

Key: TypeAlias = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="A name for this request: sent again under the same one, it is not carried out again.",
    ),
]
ERRORS: dict[int | str, dict[str, Any]] = {
    409: {"description": "Nothing is left to ask for, or a value is surprising."},
    422: {"description": 'The input can\'t be used: {"error": sentence, "kind": word}. Nothing was changed.'},
    503: {"description": "The study or its storage can't be used now. Nothing told is lost; send it again."},
}


class Study:
    """The study that is served: a desk that writes, one that reads, one that predicts, and the watch.

    Parameters
    ----------
    file
        The study file.
    say
        As for `Desk`.
    """

    def __init__(self, file: Path, say: Callable[[str], None] = lambda text: None) -> None:
        self.writer = Desk(file, say=say)
        self.writer.do_now(lambda ledger: None)  # it is created here, so that the others can read it
        self.reader, self.predictor = Desk(file, reading=True), Desk(file, reading=True)
        self.memory = doors.Memory()
        self.watch = Watch(self.reader)

    async def change(self, door: Callable[..., doors.Table], body: Any, key: str | None) -> answers.Json:
        """Carry a request out, and let the listeners know."""
        try:
            found = await self.writer.do(lambda ledger: self.memory.carry_out(ledger, door, body, key))
        finally:
            self.watch.nudge()
        return answers.Json(found)

    def close(self) -> None:
        """End the streams, finish the jobs in hand, and give the study back."""
        self.watch.close()
        for desk in (self.writer, self.reader, self.predictor):
            desk.close()


def make_app(
    file: Path,
    *,
    token: str | None = None,
    is_loopback: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[ASGIApp, Study]:
    """The application for a study file.

    Parameters
    ----------
    file
        The study file.
    token
        What a request must show; None for none, on the loopback address only.
    is_loopback
        Whether only this machine can reach it.
    say
        As for `Desk`.

    Returns
    -------
    tuple
        The application, and the study behind it.
    """
    assert token is not None or is_loopback
    study = Study(file, say)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        study.close()

    app = FastAPI(
        title="tumble",
        summary="A study with a budget of failures: ask for the next trial, tell what came of it.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirection would repeat the client's Host
        lifespan=lifespan,
        exception_handlers={
            HTTPException: answers.explain_http,
            RequestValidationError: answers.explain_body,
            **dict.fromkeys((TumbleError, SQLAlchemyError, OptunaError, Exception), answers.explain),
        },
    )
    _add_changes(app, study)
    _add_reading(app, study)
    pages.add(app)
    return Guard(app, token, is_loopback), study


def _add_changes(app: FastAPI, study: Study) -> None:
    @app.post("/ask", responses=ERRORS, summary="Ask for the next trial.")
    async def ask(body: bodies.Ask | None = None, key: Key = None) -> Any:
        return await study.change(doors.ask, body or bodies.Ask(), key)

    @app.post("/try", responses=ERRORS, summary="Try a setting of your own: a trial like any other.")
    async def try_(body: bodies.Try, key: Key = None) -> Any:
        return await study.change(doors.try_, body, key)

    @app.post("/tell", responses=ERRORS, summary="Tell what came of a trial: its results, or that it failed.")
    async def tell(body: bodies.Tell, key: Key = None) -> Any:
        return await study.change(doors.tell, body, key)

    @app.post(
        "/skip",
        responses=ERRORS,
        summary="Withdraw a trial: nothing is charged, and nothing is learned. "
        'With "never": true the search learns to keep away from its setting.',
    )
    async def skip(body: bodies.Skip, key: Key = None) -> Any:
        return await study.change(doors.skip, body, key)

    @app.post("/void", responses=ERRORS, summary="Take a told trial out: it teaches and charges nothing.")
    async def void(body: bodies.Void, key: Key = None) -> Any:
        return await study.change(doors.void, body, key)

    @app.post(
        "/amend", responses=ERRORS, summary="Replace results of a told trial, or say that it failed or not."
    )
    async def amend(body: bodies.Amend, key: Key = None) -> Any:
        return await study.change(doors.amend, body, key)


def _add_reading(app: FastAPI, study: Study) -> None:
    @app.get("/status", summary="Where the study stands.")
    async def status() -> Any:
        return answers.Json(await study.reader.do(reading.status))

    @app.get("/best", summary="The best safe trial, and the setting that is recommended.")
    async def best() -> Any:
        return answers.Json(await study.predictor.do(reading.best))

    @app.get("/trials", summary="Every trial.")
    async def trials() -> Any:
        return answers.Json(await study.reader.do(reading.trials))

    @app.get("/study", summary="What the study file says.")
    async def about() -> Any:
        return answers.Json(await study.reader.do(reading.study))

    @app.get("/figures", summary="The numbers of every figure.")
    async def figures() -> Any:
        return answers.Json(await study.predictor.do(reading.numbers))

    @app.get("/events", summary="A stream of changes, as server-sent events.")
    async def events() -> Any:
        return StreamingResponse(study.watch.listen(), media_type="text/event-stream")
