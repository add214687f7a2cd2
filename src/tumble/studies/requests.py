"""Requests that carry a key: the study remembers which trial each one began, ended or changed.

A client that got no answer sends its request again under the same key.  The mark of a request is stored in
the same transaction as what it did, or, where a trial ends, under the study's lock before the end.  So a
repeated request finds its own mark, after a restart too, and does nothing a second time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from tumble.errors import InputError
from tumble.studies.ledger import Ledger
from tumble.studies.store import ASKED_BY, ENDED_BY

LONGEST_KEY = 255


@dataclass(frozen=True)
class Request:
    """One request with a key.

    Parameters
    ----------
    key
        The digest of the key.
    body
        The digest of what is asked for: the same key may not ask for something else.
    """

    key: str
    body: str

    @classmethod
    def of(cls, key: str, what: str, body: dict[str, Any]) -> Request:
        """A request from its key, its name and its body.

        Raises
        ------
        InputError
            If the key is empty, too long, or not of printable ASCII characters.
        """
        if not 0 < len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
            raise InputError(
                f"Idempotency-Key must be 1 to {LONGEST_KEY} printable ASCII characters, not {key[:60]!a}; "
                "a random UUID is a good one"
            )
        return cls(_digest(key), _digest(f"{what} {json.dumps(body, sort_keys=True)}"))


@contextlib.contextmanager
def marking(ledger: Ledger, request: Request | None) -> Iterator[None]:
    """Mark what is done inside with a request."""
    ledger.store.mark = None if request is None else asdict(request)
    try:
        yield
    finally:
        ledger.store.mark = None


def trials_of(ledger: Ledger, request: Request) -> list[int]:
    """The trials that this request began, ended or changed, in the order of their numbers.

    A trial that was over before it had a setting was never handed out: its asking is not done yet.

    Raises
    ------
    InputError
        If the key came with another request before.
    """
    found = []
    for entry in ledger.entries():
        if entry.outcome == "unstarted":  # withdrawn, as if it had never been asked for
            continue
        attributes = entry.stored.system_attrs
        asked = [attributes.get(ASKED_BY)]
        done = asked if entry.is_running or entry.parameters else []
        ends = [None if entry.is_running else attributes.get(ENDED_BY)]
        ends += [change.request for change in entry.changes]
        mine = [mark for mark in (*asked, *ends) if mark and mark["key"] == request.key]
        if any(mark["body"] != request.body for mark in mine):
            raise InputError(
                "this Idempotency-Key came with another request before; give each request a key of its own"
            )
        found += [entry.trial] if any(mark in mine for mark in (*done, *ends)) else []
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
