"""Threads: one of BLAS while a suggestion is worked out, and one of the user's at a time inside an optimiser.

The matrices are small: waking a second thread of BLAS costs more than it saves, and on a machine that is
shared with the trials themselves it costs a factor of ten.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _libraries() -> list[Any]:
    """Every BLAS that is loaded; NumPy and SciPy may bring one each."""
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _Limit:
    """BLAS is limited from the first thread that comes in to the last one that leaves.

    All threads share the limit. Were each to restore what it found, the first to leave would lift it for the
    others, and the last one would put it back for good.
    """

    def __init__(self) -> None:
        self._before: list[int] = []  # how many threads each library had; empty where nobody is inside
        self.open()

    def open(self) -> None:
        """Nobody is inside."""
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = self._before or [library.get_num_threads() for library in _libraries()]
                for library in _libraries():
                    library.set_num_threads(1)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, count in zip(_libraries(), self._before, strict=True):
                    library.set_num_threads(count)
                self._before = []


_LIMIT = _Limit()


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread inside the block, and restore what was set when no thread is inside one."""
    return _LIMIT


@contextmanager
def own_numerics() -> Iterator[None]:
    """`one_blas_thread`, and NumPy's own answers to an underflow and the like, whatever `np.seterr` says."""
    with one_blas_thread(), np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        yield


class Turn:
    """A lock that one thread holds at a time, and may take again; a copy of it is another, open lock."""

    def __init__(self) -> None:
        self.open()
        _TURNS.add(self)

    def open(self) -> None:
        """Nobody holds it."""
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        """Wait until no other thread holds it."""
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        """Let the next thread in."""
        self._lock.release()

    def __reduce__(self) -> tuple[type["Turn"], tuple[()]]:
        """Who is inside is not part of what is copied or stored."""
        return Turn, ()


_TURNS: WeakSet[Turn] = WeakSet()


def _open_all() -> None:
    """In a process that was forked nobody is inside: the threads that were stayed behind."""
    _LIMIT.open()
    for turn in _TURNS:
        turn.open()


if hasattr(os, "register_at_fork"):  # not on Windows, which knows no fork
    os.register_at_fork(after_in_child=_open_all)


class HasTurn(Protocol):
    """An object with a lock of its own."""

    _turn: Turn


Owner = TypeVar("Owner", bound=HasTurn)


def in_turn(method: Callable[Concatenate[Owner, P], T]) -> Callable[Concatenate[Owner, P], T]:
    """A method that lets one thread at a time into its object."""

    @wraps(method)
    def waiting(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._turn:
            return method(self, *args, **kwargs)

    return waiting
