"""The dashboard answers to the names of this machine alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

pytest.importorskip("optuna_dashboard")

from tumble.studies.dashboard import for_this_machine


def ask_for(host: str | None) -> tuple[str, bytes]:
    """The status and the body for a request with this Host header."""
    statuses: list[str] = []

    def pages(environ: Any, start: Any) -> Iterable[bytes]:
        start("200 OK", [])
        return [b"the study"]

    environ = {} if host is None else {"HTTP_HOST": host}
    body = for_this_machine(pages)(environ, lambda status, headers: statuses.append(status))  # type: ignore[arg-type]
    return statuses[0], b"".join(body)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080"])
def test_the_names_of_this_machine_are_answered(host: str) -> None:
    assert ask_for(host) == ("200 OK", b"the study")


@pytest.mark.parametrize("host", ["evil.example:8080", "127.0.0.1.evil.example", "localhost:1:2x", "", None])
def test_other_names_are_refused(host: str | None) -> None:
    status, body = ask_for(host)
    assert status == "403 Forbidden"
    assert b"the study" not in body
