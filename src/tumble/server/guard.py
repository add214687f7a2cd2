"""Who may come in: the right host, no foreign origin, the token where there is one, no odd body, no crowd.

A page from elsewhere can send requests to this machine from the browser of a person who is near it.  The
browser then names the page in `Origin` and `Sec-Fetch-Site`.  A page can also make its own name point here;
then that name stands in `Host`.  Both are refused before anything is read.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import re
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tumble.server.answers import refusal
from tumble.shown import count

LOOPBACK = ("127.0.0.1", "::1", "localhost")
OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
LARGEST_BODY = 64 * 1024
MOST_AT_ONCE = 100  # requests and listeners
PUBLIC = ("/", "/docs", "/openapi.json")  # without a token: they say nothing of the study
PUBLIC_FOLDER = "/assets/"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class _Refused(Exception):
    code: int
    kind: str
    text: str


class Guard:
    """An ASGI application around another one.

    Parameters
    ----------
    app
        What is guarded.
    token
        What a request must show; None where the server is on the loopback address and needs none.
    is_loopback
        Whether only this machine can reach the server; then only its own names are answered.
    """

    def __init__(self, app: ASGIApp, token: str | None, is_loopback: bool) -> None:
        self._app, self._token, self._is_loopback = app, token, is_loopback
        self._inside = 0  # requests and listeners that are being answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope, Headers(scope=scope))
            await self._let_in(scope, receive, send)
        except _Refused as refused:
            answer = refusal(refused.code, refused.kind, refused.text)
            await answer(scope, receive, _with_headers(send))

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and count it meanwhile.  A connection on which nothing is asked for does not count."""
        asks = scope["method"] in ("GET", "HEAD")
        self._inside += 1
        try:
            body = None if asks else await _whole_body(Headers(scope=scope), receive)
            again = receive if body is None else _replay(body, receive)
            await self._app(scope, again, _with_headers(send))
        finally:
            self._inside -= 1

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "").lower()
        if self._is_loopback and re.sub(r":\d{1,5}$", "", host) not in OWN_NAMES:
            raise _Refused(
                403, "ForeignHost", "this study is served to this machine only; open it under 127.0.0.1"
            )
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "none")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            raise _Refused(403, "ForeignOrigin", "a page from elsewhere may not use this study")
        if site not in ("none", "same-origin") and not _is_a_visit(scope, headers):
            raise _Refused(403, "ForeignOrigin", "a page from elsewhere may not use this study")
        if not self._is_known(scope["path"], headers):
            raise _Refused(
                401, "Unknown", "this needs the token: send the header Authorization: Bearer TOKEN"
            )
        if self._inside >= MOST_AT_ONCE:
            why = f"{MOST_AT_ONCE} requests and pages are open at once, and no more may be"
            raise _Refused(503, "TooMany", f"{why}; close pages that nobody looks at, and send this again")

    def _is_known(self, path: str, headers: Headers) -> bool:
        if self._token is None or path in PUBLIC or path.startswith(PUBLIC_FOLDER):
            return True
        kind, _, shown = headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(shown.strip().encode("latin-1", "replace"), self._token.encode())
        return right and kind.lower() == "bearer"


def _is_a_visit(scope: Scope, headers: Headers) -> bool:
    """Whether a person follows a link to the page: it shows the page, and reads nothing into another one."""
    return (scope["method"], scope["path"], headers.get("sec-fetch-mode")) == ("GET", "/", "navigate")


async def _whole_body(headers: Headers, receive: Receive) -> bytes:
    length = headers.get("content-length")
    if length is not None and (not length.isdecimal() or len(length) > 12 or int(length) > LARGEST_BODY):
        raise _too_large()
    body = await _every_piece(receive)
    if length is not None and len(body) != int(length):
        raise _Refused(400, "NotWhole", f"{len(body)} of {count(int(length), 'byte')} of the body came")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind != "application/json":
        raise _Refused(415, "NotJson", "a body must be JSON: send the header Content-Type: application/json")
    with contextlib.suppress(ValueError, RecursionError):  # what is no JSON is refused where it is read
        json.loads(body, object_pairs_hook=_check_once)
    return body


async def _every_piece(receive: Receive) -> bytes:
    """The pieces of a body, up to its end.

    Of a client that goes away it is not known what it asked for: its body may be empty, or not have come.
    """
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Refused(400, "NotWhole", "the client went away before the whole request was read")
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise _too_large()
        if not message.get("more_body", False):
            return bytes(body)


def _too_large() -> _Refused:
    return _Refused(413, "TooLarge", f"a request may have {LARGEST_BODY} bytes, and this one has more")


def _check_once(pairs: list[tuple[str, Any]]) -> None:
    """Refuse an object that names a key twice: one of the two values would be lost."""
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            raise _Refused(422, "InputError", f"{ascii(name)[1:-1][:100]} is given twice; give it once")
        names.add(name)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read, and then what comes."""
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return sending
