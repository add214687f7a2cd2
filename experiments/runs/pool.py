"""Runs side by side, in processes with one BLAS thread each or on a Dask cluster, with the time left."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

from tumble import problems
from tumble.errors import TumbleError

from . import machine, methods
from .records import Line, Spec
from .store import Store


@dataclass(frozen=True)
class Summary:
    """What a call of `run_all` did."""

    done: int
    already: int
    errors: tuple[str, ...]


def run_all(
    specs: Sequence[Spec],
    store: Store,
    *,
    jobs: int = 1,
    executor: str = "",
    fresh: bool = False,
    out: TextIO = sys.stderr,
) -> Summary:
    """Carry out every spec that has no line yet, and append its line when it is finished.

    With ``fresh`` a run of tumble's that another version of its code did is repeated.
    """
    todo, already = pending(specs, store, fresh=fresh)
    progress = Progress(todo, jobs, out)
    errors: list[str] = []
    if todo:
        progress.begin()
        _prepare(todo)
        with _executor(jobs, executor) as pool:
            for spec, answer in _answers(pool, todo):
                if isinstance(answer, str):
                    errors.append(f"{spec.describe()}\n{answer}")
                else:
                    store.append(answer)
                progress.advance(spec, answer["wall"] if isinstance(answer, dict) else 0.0)
    progress.close()
    return Summary(len(todo) - len(errors), already, tuple(errors))


def pending(specs: Sequence[Spec], store: Store, *, fresh: bool = False) -> tuple[list[Spec], int]:
    """The specs that have no line yet, each once, and how many have one."""
    known = store.keys()
    if fresh:
        current = store.keys(machine.code_hash())
        known = {
            spec.key for spec in specs if spec.key in (known if spec.method in methods.PEERS else current)
        }
    todo = list({spec.key: spec for spec in specs if spec.key not in known}.values())
    return todo, len({spec.key for spec in specs} & known)


def carry_out(spec: Spec) -> Line | str:
    """In a worker: the line of a spec, or the traceback where it raised."""
    module, _, name = spec.task.partition(":")
    begun, started = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds")
    try:
        task: Callable[[Spec], dict[str, Any]] = getattr(importlib.import_module(module), name)
        content = task(spec)
    except Exception:  # one run that breaks must not end the others: the caller reports it
        return traceback.format_exc()
    return {
        "key": spec.key,
        **asdict(spec),
        "family": spec.family,
        "settings_hash": spec.settings_hash,
        **content,
        **machine.description(),
        "started": started,
        "wall": round(time.perf_counter() - begun, 3),
    }


def exit_status(command: str, run: Callable[[], int]) -> int:
    """What `run` returns; 2 for bad input, which is said in a sentence, and 130 when interrupted."""
    try:
        return run()
    except TumbleError as error:
        print(f"{command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted: what is finished is kept; the same command goes on from here", file=sys.stderr)
        return 130


def _answers(pool: Executor, todo: Sequence[Spec]) -> Iterator[tuple[Spec, Line | str]]:
    with _ctrl_c_later():
        futures: dict[Future[Line | str], Spec] = {pool.submit(carry_out, spec): spec for spec in todo}
    for future in as_completed(futures):
        yield futures[future], future.result()


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Put Ctrl-C off, here until the end and for ever in the workers that are started meanwhile.

    Else those that still import would each print a traceback. Where there are no such masks, they do.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _executor(jobs: int, address: str) -> Iterator[Executor]:
    if address:
        from distributed import Client

        with Client(address.replace("dask://", "tcp://", 1)) as client:  # type: ignore[no-untyped-call]
            yield client.get_executor(pure=False)
        return
    machine.one_thread_each()
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent)
    try:
        yield pool
    except KeyboardInterrupt:  # else the end would wait for the runs in hand, and for the next in the queue
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """In a worker: end with the parent. Once it is killed, nobody would take the line of this run.

    Ctrl-C goes to every process of a terminal: it is the parent that ends the workers then.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _prepare(todo: Sequence[Spec]) -> None:
    """Fill the cache of in-model draws once, here, rather than in every worker at once."""
    for name in sorted({spec.problem for spec in todo if spec.family.startswith("in-model")}):
        problems.get(name)


class Progress:
    """A bar with the time left: each run to come takes the mean time of its kind, shared by the workers."""

    def __init__(self, todo: Sequence[Spec], jobs: int, out: TextIO) -> None:
        self._left: dict[tuple[str, str, str], int] = defaultdict(int)
        for spec in todo:
            self._left[_kind(spec)] += 1
        self._times: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        self._total, self._done, self._jobs, self._out = len(todo), 0, max(1, jobs), out
        self._last = 0.0

    def begin(self) -> None:
        """Say how many runs there are: the first may take minutes."""
        self._show(f"0/{self._total} runs, {self._jobs} at a time")

    def advance(self, spec: Spec, seconds: float) -> None:
        """One run is finished after so many seconds."""
        self._done += 1
        self._left[_kind(spec)] -= 1
        self._times[_kind(spec)].append(seconds)
        now = time.monotonic()
        if self._out.isatty() or self._done == self._total or now - self._last > 15.0:
            self._last = now
            self._show(f"{self._done}/{self._total} runs, {duration(self.left())} left; {spec.describe()}")

    def _show(self, text: str) -> None:
        filled = 24 * self._done // self._total
        line = f"{'█' * filled}{'·' * (24 - filled)} {text}"
        self._out.write(f"\r\033[K{line}" if self._out.isatty() else f"{line}\n")
        self._out.flush()

    def left(self) -> float:
        """Seconds left, estimated."""
        known = [t for times in self._times.values() for t in times]
        mean = sum(known) / len(known) if known else 0.0
        total = 0.0
        for kind, count in self._left.items():
            times = self._times.get(kind)
            total += count * (sum(times) / len(times) if times else mean)
        return total / self._jobs

    def close(self) -> None:
        """End the line."""
        if self._total and self._out.isatty():
            self._out.write("\n")


def _kind(spec: Spec) -> tuple[str, str, str]:
    return spec.family, spec.method, spec.block


def duration(seconds: float) -> str:
    """Seconds as "40 s", "12 min" or "3 h 05 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
