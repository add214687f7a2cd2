"""A storage that goes away for a while: what counts as that, and going on until it is back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy.exc
from optuna.exceptions import StorageInternalError

from tumble.errors import TumbleError
from tumble.studies.locking import LockHeld

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0  # seconds before a storage is tried again
AWAY = (
    sqlalchemy.exc.OperationalError,
    sqlalchemy.exc.InterfaceError,
    sqlalchemy.exc.TimeoutError,
    sqlalchemy.exc.DisconnectionError,
    sqlalchemy.exc.PendingRollbackError,
    LockHeld,
)

DAMAGED = ("malformed", "not a database")  # what SQLite says of a file that it can't read
AGAIN = ", then try again"  # the end of a remedy after which the same call works
REMEDIES = {
    DAMAGED: "the file is damaged, or no database: restore a copy of it, or correct storage in the study "
    "file",
    ("is gone",): "try again when it is back",
    ("locked",): "another program has opened it for writing (a backup, a shell of sqlite3, a viewer of "
    "databases, a runner that is suspended); close that" + AGAIN,
    (
        "disk is full",
        "no space left",
        "disk i/o error",
    ): "make room on the disk, or let files grow larger (ulimit -f)" + AGAIN,
    ("readonly", "read-only"): "check the rights of the file and its folder",
    (
        "connection",
        "server",
        "could not translate host",
    ): "check that the server runs and can be reached from here" + AGAIN,
}


class StorageAway(TumbleError):
    """Raised where the storage is away and the user wants to stop."""


def is_outage(error: BaseException) -> bool:
    """Whether an error says that the storage is away, locked or full: the same call may work later."""
    cause = error.__cause__ if isinstance(error, StorageInternalError) else error
    lost = isinstance(cause, sqlalchemy.exc.DBAPIError) and cause.connection_invalidated
    return isinstance(cause, AWAY) or lost


def cause_of(error: BaseException) -> str:
    """What the database said, in one line."""
    cause = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ else error
    return str(getattr(cause, "orig", None) or cause).strip().partition("\n")[0]


def remedy_for(error: BaseException) -> str:
    """What to do about an error of the storage, in a sentence."""
    text = cause_of(error).lower()
    for words, remedy in REMEDIES.items():
        if any(word in text for word in words):
            return remedy
    return "check that the folder or server exists and may be written to, and that a file is a study's"


def sentence_for(error: BaseException) -> str | None:
    """What is said to a person whose command met an error of the storage; None for any other error."""
    if not type(error).__module__.startswith(("sqlalchemy.", "optuna.", "psycopg.")):
        return None
    why = f"the storage can't be used any more ({cause_of(error)})"
    is_damaged = any(word in cause_of(error).lower() for word in DAMAGED)
    return f"{why}; {'' if is_damaged else 'nothing told is lost: '}{remedy_for(error)}"


class Patience:
    """Tries again while the storage is away; says so once, and once more when it is back.

    Parameters
    ----------
    say
        Called with a sentence; more than one thread may do so.
    should_stop
        Whether to give up.
    """

    def __init__(self, say: Callable[[str], None], should_stop: Callable[[], bool] = lambda: False) -> None:
        self._say, self._should_stop = say, should_stop
        self._is_away = False
        self._lock = threading.Lock()

    def insist(self, call: Callable[[], T]) -> T:
        """What `call` returns, at last.

        Raises
        ------
        StorageAway
            If the storage is away and we are to stop.
        """
        pause, last = FIRST_PAUSE, False
        while True:
            try:
                found = call()
            except Exception as error:
                if not is_outage(error):
                    raise
                self._note_outage(error)
                if last:
                    raise StorageAway(f"the storage does not answer ({cause_of(error)})") from error
                last = self._sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                self._note_answer()
                return found

    def attempt(self, call: Callable[[], object]) -> bool:
        """Try once; whether the storage was there."""
        try:
            call()
        except Exception as error:
            if not is_outage(error):
                raise
            self._note_outage(error)
            return False
        self._note_answer()
        return True

    def _sleep(self, seconds: float) -> bool:
        """Wait; True at once where we are to stop, after one more try."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._should_stop():
                return True
            time.sleep(0.1)
        return self._should_stop()

    def _note_outage(self, error: Exception) -> None:
        with self._lock:
            first, self._is_away = not self._is_away, True
        if first:
            remedy = remedy_for(error)
            helps = f": {remedy.removesuffix(AGAIN)}" if remedy.endswith(AGAIN) else ""
            self._say(
                f"the storage does not answer ({cause_of(error)}); a trial that runs goes on, its result is "
                f"kept, and the storage is tried again until it answers{helps}"
            )

    def _note_answer(self) -> None:
        with self._lock:
            back, self._is_away = self._is_away, False
        if back:
            self._say("the storage answers again")
