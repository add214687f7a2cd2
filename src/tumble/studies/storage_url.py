"""The URL of a storage: what of it may be shown, and what must be taken out of the words of others.

Whoever reads a message, a log or a report may not learn any part of a password.  A URL is shown only where
nothing in it is in doubt; otherwise its scheme has to do.  Databases and drivers quote what they were given,
in pieces and decoded, so their messages lose every piece of what may be a password.
"""

from __future__ import annotations

import difflib
import os
import re
from urllib.parse import unquote, unquote_plus

HIDDEN = "***"
PIECE = 4  # so many characters in a row of a password are no coincidence
VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
DIALECTS = ("sqlite", "postgres", "postgresql", "mysql", "mariadb", "mssql", "oracle")
SCHEME = re.compile(rf"\s*((?:{'|'.join(DIALECTS)})(?:\+[a-z0-9_]{{1,20}})?)://", re.IGNORECASE)
MISSPELT = re.compile(r"\s*([A-Za-z0-9]{1,20})(?:\+[A-Za-z0-9_]{1,20})?://")
CLEAR = re.compile(
    r"(?:(?P<user>[^:@/?#\s\[\]]*)(?::(?P<password>[^:@/?#\s\[\]]*))?@)?"
    r"(?P<place>(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?(?:/[A-Za-z0-9._-]*)?)"
    r"(?:\?(?P<query>[^@\s]*))?"
)


def shown(url: str) -> str:
    """A storage URL without user, password and options; only its scheme where any of it is in doubt.

    Parameters
    ----------
    url
        As it was given, good or bad.

    Examples
    --------
    >>> shown("postgresql://drill:secret@db.example.org:5432/rig?sslmode=require")
    'postgresql://***@db.example.org:5432/rig'
    >>> shown("postgresql://drill:sec@ret@db.example.org/rig")
    'postgresql://***'
    >>> shown("sqlite:///drill.db")
    'sqlite:///drill.db'
    >>> shown("mysqlx://drill:secret@db.example.org/rig")
    'mysqlx://***'
    """
    scheme = SCHEME.match(url)
    if scheme is None:
        return _misspelt(url)
    if _is_path(url):
        return url.strip().partition("?")[0]
    clear = CLEAR.fullmatch(url[scheme.end() :])
    if clear is None:
        return f"{scheme[1].lower()}://{HIDDEN}"
    user = "" if clear["user"] is None else f"{HIDDEN}@"
    return f"{scheme[1].lower()}://{user}{scrub(clear['place'], url)}"


def scrub(text: str, url: str) -> str:
    """A message of someone else, without any piece of what may be a password in the URL.

    Examples
    --------
    >>> scrub("could not resolve 'word@db'", "postgresql://me:pass@word@db/rig")
    "could not resolve '***'"
    """
    folded, hide = _folded(text), [False] * len(text)
    for secret in map(_folded, _secrets(url)):
        size = min(PIECE, len(secret))
        pieces = {secret[i : i + size] for i in range(len(secret) - size + 1)}
        for i in range(len(text) - size + 1):
            if folded[i : i + size] in pieces:
                hide[i : i + size] = [True] * size
    shown_runs = re.split(r"(\0+)", "".join("\0" if h else c for c, h in zip(text, hide, strict=True)))
    return "".join(HIDDEN if run.startswith("\0") else run for run in shown_runs)


def resolve(storage: str) -> str:
    """The URL that a study file gives: itself, or what the environment variable in ``env:NAME`` holds.

    Raises
    ------
    LookupError
        If there is no such variable, or it is empty; the message says which.
    """
    named = VARIABLE.fullmatch(storage)
    if named is None:
        return storage
    url = os.environ.get(named[1], "")
    if not url.strip():
        raise LookupError(f"the environment variable {named[1]} is not set")
    return url


def _misspelt(url: str) -> str:
    """What comes before the slashes where it is nearly the name of a database, and no password for that."""
    found = MISSPELT.match(url)
    close = found is not None and difflib.get_close_matches(found[1].lower(), DIALECTS, n=1, cutoff=0.8)
    return f"{found[1].lower()}://{HIDDEN}" if found is not None and close else HIDDEN


def _is_path(url: str) -> bool:
    """Whether it names a file: no server, no password."""
    return url.strip().lower().startswith("sqlite:///")


def _secrets(url: str) -> set[str]:
    """All that may be a password in a URL, as it stands and decoded; at least three characters of it."""
    scheme = SCHEME.match(url)
    rest = url if scheme is None else url[scheme.end() :]
    clear = CLEAR.fullmatch(rest)
    before, _, query = rest.partition("?")
    if scheme is None:
        found = [rest]
    elif _is_path(url):
        found = []
    elif clear is not None:
        found = [clear["password"] or _coded(clear["user"] or "")]
    else:
        found = [before.partition(":")[2], rest.rpartition("@")[0].partition(":")[2], _coded(before)]
    found += [option.partition("=")[2] or option for option in re.split("[&;]", query)]
    decoded = {decode(text) for text in found for decode in (str, unquote, unquote_plus)}
    return {text for text in decoded if len(text) >= PIECE - 1}


def _coded(user: str) -> str:
    """A user that has a colon in it, written as %3A, has a password behind it."""
    return re.split("%3a", user, maxsplit=1, flags=re.IGNORECASE)[1] if "%3a" in user.lower() else ""


def _folded(text: str) -> str:
    """Small letters, one for each letter: the name of a host is quoted that way."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
