"""Runs in lockstep: each is a process of its own, and their trials are carried out together.

A run asks for a trial and waits; when every live run waits, all the trials are carried out in one call (on a
GPU side by side), kept on disk, and handed back. Searches are deterministic, so a run that is started again
asks for the same trials and finds them on disk: that is how an interrupted experiment goes on.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TextIO

from ..runs import machine, pool
from ..runs.records import Line, Spec
from ..runs.store import Store
from .problem import Setting, Training

Trainings = Callable[[Sequence[Setting]], list[Training]]

_line_to_parent: list[Connection] = []  # in a worker: its end of the pipe


class Kept:
    """Trainings on disk, one JSON object a line, by protocol and setting."""

    def __init__(self, path: Path, protocol: str) -> None:
        self.path, self.protocol = path, protocol
        self._found: dict[Setting, Training] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            done = _training(text)
            if done is not None and done.protocol == protocol:
                self._found[done.setting] = done

    def __len__(self) -> int:
        return len(self._found)

    def all(self, settings: Sequence[Setting], carry_out: Trainings) -> list[Training]:
        """The trainings of the settings, those that are not kept carried out in one call and kept."""
        missing = [s for s in dict.fromkeys(settings) if s not in self._found]
        if missing:
            done = carry_out(missing)
            with self.path.open("a", encoding="utf-8") as file:
                for training in done:
                    file.write(json.dumps(asdict(training)) + "\n")
                    self._found[training.setting] = training
        return [self._found[s] for s in settings]


def _training(text: str) -> Training | None:
    try:
        content = json.loads(text)
    except json.JSONDecodeError:  # cut short by a kill: carried out again
        return None
    return Training(**{**content, "setting": Setting(**content["setting"])})


def ask_parent(setting: Setting) -> Training | None:
    """In a worker: have the trial carried out with the others; None outside of a lockstep."""
    if not _line_to_parent:
        return None
    _line_to_parent[0].send(setting)
    answer: Training = _line_to_parent[0].recv()
    return answer


def _work(spec: Spec, connection: Connection) -> None:
    _line_to_parent.append(connection)
    connection.send(pool.carry_out(spec))


def run_all(
    specs: Sequence[Spec], store: Store, kept: Kept, trainings: Trainings,
    *, minutes: float | None = None, fresh: bool = False, out: TextIO = sys.stderr,
) -> pool.Summary:  # fmt: skip
    """Carry out every spec that has no line yet; stop after a lockstep that ends beyond ``minutes``."""
    todo, already = pool.pending(specs, store, fresh=fresh)
    machine.one_thread_each()
    context = multiprocessing.get_context("spawn")
    workers: dict[Connection, tuple[Spec, Any]] = {}
    for spec in todo:
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(spec, theirs), daemon=True)
        process.start()
        theirs.close()
        workers[ours] = (spec, process)
    begun, done, errors = time.monotonic(), 0, list[str]()
    try:
        while workers and (minutes is None or time.monotonic() - begun < 60.0 * minutes):
            waiting = _listen(workers, store, errors)
            done = len(todo) - len(workers) - len(errors)
            if waiting:
                before = time.monotonic()
                answers = kept.all(list(waiting.values()), trainings)
                for connection, answer in zip(waiting, answers, strict=True):
                    connection.send(answer)
                out.write(_progress(len(waiting), before, begun, len(kept), done, len(todo)))
                out.flush()
    finally:
        for _, process in workers.values():
            process.terminate()
            process.join()
    return pool.Summary(done, already, tuple(errors))


def _listen(
    workers: dict[Connection, tuple[Spec, Any]], store: Store, errors: list[str]
) -> dict[Connection, Setting]:
    """Hear from every live run: what it asks for, or its line, with which it leaves."""
    waiting: dict[Connection, Setting] = {}
    for connection, (spec, process) in list(workers.items()):
        try:
            message: Setting | Line | str = connection.recv()
        except EOFError:
            message = "its process ended without an answer"
        if isinstance(message, Setting):
            waiting[connection] = message
            continue
        if isinstance(message, str):
            errors.append(f"{spec.describe()}\n{message}")
        else:
            store.append(message)
        del workers[connection]
        process.join()
    return waiting


def _progress(n: int, before: float, begun: float, kept: int, done: int, total: int) -> str:
    now = time.monotonic()
    return (
        f"{n} trials in {now - before:.1f} s; {kept} trainings kept, {done}/{total} runs finished, "
        f"{pool.duration(now - begun)} so far\n"
    )
