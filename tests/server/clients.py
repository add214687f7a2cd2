"""A client of the HTTP door, without a socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.study_files import write_study
from tumble.server.app import make_app

TOKEN = "a-token-of-the-tests"


class Client:
    """Sends requests to an application in this process."""

    def __init__(self, app: Any, headers: dict[str, str] | None = None) -> None:
        self.app, self.headers = app, {"host": "127.0.0.1:8000", **(headers or {})}

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        return asyncio.run(self.send_on(method, path, **options))

    def get(self, path: str, **options: Any) -> Any:
        return self.send("GET", path, **options).json()

    def post(self, path: str, body: Any = None, key: str | None = None) -> httpx.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.send("POST", path, json={} if body is None else body, headers=headers)

    async def send_on(self, method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        headers = {**self.headers, **options.pop("headers", {})}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await client.request(method, path, headers=headers, **options)


@contextlib.contextmanager
def served(file: Path, **options: Any) -> Iterator[Client]:
    """A client of a study file."""
    app, study = make_app(file, **options)
    try:
        yield Client(app)
    finally:
        study.close()


def study_by_hand(folder: Path, **options: Any) -> Path:
    return write_study(folder, command="", **options)


def measure(x: dict[str, float]) -> dict[str, float]:
    return {"cost": (x["x"] - 0.4) ** 2 + (x["y"] - 0.6) ** 2, "load": x["x"] + x["y"] - 1.2}
