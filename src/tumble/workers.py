"""Where trials run: here, one after the other; in processes of one's own; or in any executor."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import parent_process
from numbers import Real
from typing import Any

from . import checks
from .errors import Failure, InputError
from .outcomes import Reading, read_failure, read_outcome

MOST = 1024  # trials at once


@dataclass(frozen=True)
class Workers:
    """Who runs trials, and how many at once."""

    executor: Executor
    at_once: int


class Here(Executor):
    """Runs a trial at once, in the thread that submits it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it; the future that comes back has ended. Whatever it raises goes on through its result."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


def evaluate(fun: Callable[..., Any], x: Any, args: tuple[Any, ...]) -> Reading:
    """What came of fun(x, *args): a value with constraints, or a failure.

    Raises
    ------
    RuntimeError
        With the type and the words of an exception that another process could not send back.
    """
    try:
        returned = fun(x, *args)
    except Failure as failure:
        return read_failure(failure)
    except Exception as error:
        if parent_process() is None or _can_be_sent(error):
            raise
        said = f"fun raised {type(error).__name__}: {error}"
    else:
        return read_outcome(returned)
    raise RuntimeError(said)  # out here, so that it does not carry the other one along


def _can_be_sent(error: Exception) -> bool:
    """Whether an exception can leave this process; one that can not looks like the death of the process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its own code raises
        return False
    return True


@contextmanager
def open_workers(given: object, parallel: object, carried: object = None) -> Iterator[Workers]:
    """The workers that were asked for.

    Parameters
    ----------
    given
        A number of processes, -1 for one on each CPU, or an executor, which is left open.
    parallel
        How many trials run at once; None for as many as there are processes, or CPUs.
    carried
        What every process of its own is given: the function and its arguments.

    Raises
    ------
    InputError
        If `given` is something else, or a process can't be given what it must carry.
    """
    at_once = None if parallel is None else checks.whole(parallel, "parallel", 1, MOST)
    cpus = os.cpu_count() or 1
    if isinstance(given, Executor):
        yield Workers(given, at_once or cpus)
        return
    is_all = isinstance(given, Real) and not isinstance(given, bool) and given == -1
    count = cpus if is_all else _count(given)
    if count == 1:
        if at_once is not None and at_once > 1 and not is_all:
            raise InputError(
                f"parallel = {at_once} needs as many workers, and workers is 1; give workers={at_once}, "
                "or an executor such as concurrent.futures.ThreadPoolExecutor()"
            )
        yield Workers(Here(), 1)
        return
    _check_carried(carried)
    with ProcessPoolExecutor(count) as pool:
        yield Workers(pool, min(at_once or count, count))


def _check_carried(carried: object) -> None:
    try:
        pickle.dumps(carried)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"another process can't be given fun and args ({error}): fun must stand at the top of a module, "
            "not inside another function or as a lambda; or give workers a ThreadPoolExecutor"
        ) from None


def _count(given: object) -> int:
    try:
        return checks.whole(given, "workers", 1, MOST)
    except InputError:
        raise InputError(
            f"workers must be a number of processes from 1 to {MOST}, -1 for one on each CPU, or an executor "
            f"such as concurrent.futures.ProcessPoolExecutor(4), not {checks.show(given)}"
        ) from None
