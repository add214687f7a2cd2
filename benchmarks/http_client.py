"""Raw HTTP requests to the application of a study, in this process: parsed as its server would, no socket."""

from __future__ import annotations

import asyncio
import json
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import h11

from tumble.server.app import Study, make_app

HOST = "127.0.0.1:8000"


@dataclass(frozen=True)
class Answer:
    """The code, the headers and the body of an answer; a code of 0 where the request is no HTTP."""

    code: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Client:
    """A study file, served to this process.

    Parameters
    ----------
    file
        The study file.
    """

    def __init__(self, file: Path) -> None:
        self._app, self._study = make_app(file)
        self._runner = asyncio.Runner()
        self._end = weakref.finalize(self, _give_back, self._study, self._runner)
        self._end.atexit = False  # its threads are gone by then

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Give the study back."""
        self._end()

    def send(self, data: bytes) -> Answer:
        """The answer to the bytes of a request."""
        connection = h11.Connection(h11.SERVER)
        try:
            connection.receive_data(data)
            request = connection.next_event()
            if not isinstance(request, h11.Request):
                return Answer(0, {}, b"")
            body = b""
            while isinstance(event := connection.next_event(), h11.Data):
                body += event.data
        except h11.RemoteProtocolError:
            return Answer(0, {}, b"")
        whole = isinstance(event, h11.EndOfMessage)
        return self._runner.run(self._call(request, body)) if whole else Answer(0, {}, b"")

    async def _call(self, request: h11.Request, body: bytes) -> Answer:
        path, _, query = request.target.partition(b"?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": request.http_version.decode(),
            "method": request.method.decode(),
            "scheme": "http",
            "path": path.decode("latin-1"),
            "raw_path": path,
            "query_string": query,
            "headers": [(name.lower(), value) for name, value in request.headers],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], headers, b"".join(m.get("body", b"") for m in sent[1:]))


def _give_back(study: Study, runner: asyncio.Runner) -> None:
    """Close a study and the loop that served it."""
    study.close()
    runner.close()


def request(method: str, path: str, body: dict[str, Any] | None = None, key: str = "") -> bytes:
    """The bytes of a request."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", f"Content-Length: {len(content)}"]
    lines += ["Content-Type: application/json"] if content else []
    lines += [f"Idempotency-Key: {key}"] if key else []
    return "\r\n".join([*lines, "", ""]).encode() + content
