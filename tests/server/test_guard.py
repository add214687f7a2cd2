"""Who may come in: host, origin, token, size and kind of a body."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi")

from tests.server.clients import TOKEN, Client, served, study_by_hand
from tumble.server import guard
from tumble.server.guard import LARGEST_BODY

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(study_by_hand(tmp_path_factory.mktemp("here"))) as client:
        yield client


@pytest.fixture(scope="module")
def open_(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Served to the network, with a token."""
    file = study_by_hand(tmp_path_factory.mktemp("open"))
    with served(file, token=TOKEN, is_loopback=False) as client:
        yield client


def code(client: Client, path: str = "/status", method: str = "GET", **headers: str) -> int:
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.send(method, path, headers=shown).status_code


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8000"])
def test_the_names_of_this_machine_are_answered(here: Client, host: str) -> None:
    assert code(here, host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1:8000@evil", "localhost:1:2", "", "0.0.0.0"]
)
def test_a_foreign_host_is_refused_on_the_loopback_address(here: Client, host: str) -> None:
    assert code(here, host=host) == 403
    assert code(here, "/", host=host) == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8000", ""]
)
@pytest.mark.parametrize("path", ["/status", "/ask"])
def test_a_foreign_origin_is_refused(here: Client, open_: Client, path: str, origin: str) -> None:
    method = "POST" if path == "/ask" else "GET"
    assert code(here, path, method, origin=origin) == 403
    assert code(open_, path, method, origin=origin, authorization=f"Bearer {TOKEN}") == 403


def test_the_own_origin_may_do_everything(here: Client) -> None:
    assert code(here, origin="http://127.0.0.1:8000", sec_fetch_site="same-origin") == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_sends_for_another_page_is_refused_but_a_link_may_be_followed(
    here: Client, site: str
) -> None:
    assert code(here, sec_fetch_site=site) == 403
    assert code(here, "/ask", "POST", sec_fetch_site=site) == 403
    assert code(here, "/", sec_fetch_site=site, sec_fetch_mode="navigate") == 200
    assert code(here, "/status", sec_fetch_site=site, sec_fetch_mode="navigate") == 403


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
    ],
)
def test_without_the_token_nothing_of_the_study_is_said(open_: Client, shown: str) -> None:
    for path in ("/status", "/best", "/trials", "/study", "/events", "/nothing"):
        answer = open_.send("GET", path, headers={"authorization": shown})
        assert answer.status_code == 401
        assert TOKEN not in answer.text
    assert code(open_, "/ask", "POST", authorization=shown) == 401


def test_with_the_token_any_host_is_answered_and_the_page_needs_none(open_: Client) -> None:
    assert code(open_, host="rig.local:8000", authorization=f"bearer {TOKEN}") == 200
    assert code(open_, "/", host="rig.local:8000") == 200
    assert "bowl" not in open_.send("GET", "/").text


def test_a_token_in_the_address_does_not_count(open_: Client) -> None:
    assert code(open_, f"/status?token={TOKEN}") == 401


def test_a_body_that_is_too_large_is_refused_however_it_is_sent(here: Client) -> None:
    large = b'{"trial": 0, "failed": "' + b"x" * LARGEST_BODY + b'"}'

    async def pieces():
        for i in range(0, len(large), 1000):
            yield large[i : i + 1000]

    assert here.send("POST", "/tell", content=large, headers=JSON).status_code == 413
    assert here.send("POST", "/tell", content=pieces(), headers=JSON).status_code == 413
    wrong = {**JSON, "content-length": "-1"}
    assert here.send("POST", "/tell", content=b"{}", headers=wrong).status_code == 413


def test_beyond_as_many_as_may_be_inside_at_once_the_answer_is_a_sentence_and_later_all_is_well(
    here: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_AT_ONCE", 2)
    answers: list[httpx.Response] = []

    async def pieces() -> AsyncIterator[bytes]:
        """While this body comes, and so is inside, one and two more are sent."""
        yield b"{"
        answers.append(await here.send_on("GET", "/status"))
        if len(answers) == 1:
            await here.send_on("POST", "/tell", content=pieces(), headers=JSON)
        yield b"}"

    assert here.send("POST", "/tell", content=pieces(), headers=JSON).json()["error"] == "trial is missing"
    assert [answer.status_code for answer in answers] == [200, 503]
    assert answers[1].json()["kind"] == "TooMany"
    assert answers[1].json()["error"].startswith("2 requests and pages are open at once")
    assert code(here) == 200


def carried_out(
    client: Client, messages: list[dict[str, Any]], *more: tuple[bytes, bytes]
) -> tuple[int, bytes]:
    """The answer of POST /ask under the key k to these messages of the server below."""
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), (b"idempotency-key", b"k")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/ask",
        "query_string": b"",
        "headers": [*headers, *more],
    }
    answers: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        answers.append(message)

    asyncio.run(client.app(scope, receive, send))
    return answers[0]["status"], answers[1]["body"]


@pytest.mark.parametrize("begun", [[], [b""], [b'{"n": 2}'], [b"{", b'"n": 2}']])
def test_a_client_that_goes_away_before_its_body_is_whole_changes_nothing(
    tmp_path: Path, begun: list[bytes]
) -> None:
    pieces = [{"type": "http.request", "body": piece, "more_body": True} for piece in begun]
    with served(study_by_hand(tmp_path)) as client:
        code, body = carried_out(client, pieces)
        assert (code, b"went away" in body) == (400, True)
        assert client.get("/trials") == []
        again = client.post("/ask", {"n": 3}, "k")
        assert (again.status_code, len(again.json()["trials"])) == (200, 3)


@pytest.mark.parametrize(
    ("length", "code", "words"),
    [(b"9", 400, b"2 of 9 bytes"), (b"1", 400, b"2 of 1 byte"), (b"\xb2", 413, b"has more")],
)
def test_a_body_of_another_length_than_announced_changes_nothing(
    tmp_path: Path, length: bytes, code: int, words: bytes
) -> None:
    with served(study_by_hand(tmp_path)) as client:
        found, body = carried_out(
            client, [{"type": "http.request", "body": b"{}"}], (b"content-length", length)
        )
        assert (found, words in body) == (code, True)
        assert client.get("/trials") == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "text/json", ""])
def test_a_body_that_a_form_can_send_is_refused(here: Client, kind: str) -> None:
    answer = here.send("POST", "/skip", content=b'{"trial": 0}', headers={"content-type": kind})
    assert answer.status_code == 415


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 5000, b'{"a":' * 5000, b"\x00", b"nul"])
def test_a_body_that_is_no_json_is_refused_in_a_sentence(here: Client, content: bytes) -> None:
    answer = here.send("POST", "/tell", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["kind"]) == (422, "InputError")
    assert answer.json()["error"].startswith("the body must be JSON")


def test_every_answer_forbids_scripts_from_elsewhere_frames_and_guesses(here: Client) -> None:
    for path in ("/", "/status", "/nothing", "/docs"):
        headers = here.send("GET", path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_text_of_a_client_is_never_taken_for_a_template_or_a_page(here: Client) -> None:
    trial = here.post("/ask").json()["trial"]
    text = "<script>alert(1)</script>{{7*7}}{0.__class__}%s\x1b[2J\u2028"
    answer = here.post("/skip", {"trial": trial, "reason": text})
    assert answer.headers["content-type"].startswith("application/json")
    assert "{{7*7}}{0.__class__}%s" in answer.json()["reason"]
    assert "49" not in answer.json()["reason"]
    assert "\x1b" not in answer.json()["reason"]
