"""Answers as JSON, and errors with the words of the command line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tumble.errors import BudgetExhausted, BudgetReserved, InputError, TrialsExhausted, TumbleError
from tumble.serialize import plain
from tumble.server.desk import Ending
from tumble.server.doors import Surprising
from tumble.studies.errors import StudyFileError
from tumble.studies.outages import sentence_for

UNUSABLE, FAULT, AWAY = 422, 500, 503
CODES: dict[type[TumbleError], int] = {  # the first that fits
    TrialsExhausted: 409,
    BudgetReserved: 409,
    BudgetExhausted: 409,
    Surprising: 409,
    StudyFileError: AWAY,
    Ending: AWAY,
    InputError: UNUSABLE,
    TumbleError: UNUSABLE,
}


class Json(Response):
    """JSON in UTF-8; what is not finite becomes null, and a lone surrogate is written out."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return json.dumps(plain(content), ensure_ascii=False).encode("utf-8", "backslashreplace")


def refusal(code: int, kind: str, text: str, headers: Mapping[str, str] | None = None) -> Json:
    """An error: its kind in a word, and its sentence."""
    return Json({"error": text, "kind": kind}, status_code=code, headers=dict(headers or {}))


async def explain(request: Request, error: Exception) -> Json:
    """The answer to a request that raised."""
    if isinstance(error, TumbleError):
        kind = next(kind for kind in CODES if isinstance(error, kind))
        return refusal(CODES[kind], kind.__name__, str(error))
    sentence = sentence_for(error)
    if sentence is not None:
        return refusal(AWAY, "StorageAway", sentence)
    text = f"a fault of the server ({type(error).__name__}); its terminal says more; nothing told is lost"
    return refusal(FAULT, "Fault", text)


async def explain_http(request: Request, error: HTTPException) -> Json:
    """A path or a method that is not there, or bytes that can't be read as JSON."""
    if error.status_code == 400:  # FastAPI could not read the body
        text = "the body must be JSON in UTF-8, nested no deeper than a request needs"
        return refusal(UNUSABLE, "InputError", text, error.headers)
    what = f"{request.method} {request.url.path[:100]!a}"
    text = f"there is no {what}; /docs lists what there is"
    return refusal(error.status_code, "NotFound", text, error.headers)


async def explain_body(request: Request, error: RequestValidationError) -> Json:
    """A body that can't be used, in a sentence for its first mistake."""
    first = error.errors()[0]
    return refusal(UNUSABLE, "InputError", _sentence(first, error.body))


KNOWN = ("trial", "results", "failed", "transient", "if_surprising", "reason", "never", "parameters", "n")
EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "value_type": "a number, text, or true or false",
    "dict_type": 'an object such as {"cost": 3.2}',
    "greater_than_equal": "at least 1",
    "less_than_equal": "at most 256",
    "literal_error": '"record" or "refuse"',
    "model_attributes_type": 'an object such as {"trial": 7}',
    "json_invalid": "JSON",
}


def _sentence(mistake: Mapping[str, Any], body: Any) -> str:
    place = [str(part) for part in mistake["loc"] if part != "body"]
    where = ".".join(place)[:100] if mistake["type"] != "json_invalid" else ""
    came = ascii(body if mistake["type"] == "json_invalid" else mistake.get("input"))[:100]
    if mistake["type"] == "missing":
        return f"{where or 'the body'} is missing"
    if mistake["type"] == "extra_forbidden":
        close = difflib.get_close_matches(where, KNOWN, n=1)
        return f"unknown key {where!a}" + (f"; did you mean {close[0]}?" if close else "; see /docs")
    if mistake["type"] == "empty":
        return str(mistake["msg"])
    expected = EXPECTED.get(mistake["type"], "something else")
    if where == "failed":
        expected += ", or true or false"
    return f"{ascii(where)[1:-1] or 'the body'} must be {expected}, but {came} came"
