"""The processes of one trial: waited for by the clock, and ended together.

A command and all that it starts share a process group, and carry a mark in their environment.  The group ends
with the trial.  The mark finds what a runner that was killed left behind, also what has left the group.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

MARK = "TUMBLE_RUN"  # the environment variable that holds the mark of a run
PATIENCE = 5.0  # seconds from the polite signal to the other one
SHORTEST_POLL, LONGEST_POLL = 0.0005, 0.05  # seconds between two looks at a command
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # before there are threads


def start(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a command in a session and process group of its own, without an input."""
    return subprocess.Popen(
        words,
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        start_new_session=True,
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,
    )


def wait(
    process: subprocess.Popen[bytes], timeout: float | None, beat: Callable[[], None], every: float
) -> bool:
    """Wait for the end of a command, and end all that it started.

    Parameters
    ----------
    process
        The command.
    timeout
        Seconds after which it is ended; None for no limit.  Nothing that `beat` does delays that.
    beat
        Called every `every` seconds in a thread of its own.  If it raises, the command is ended, and what it
        raised is raised here.

    Returns
    -------
    bool
        Whether the time limit ended it.
    """
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    with _Pulse(beat, every) as pulse:
        try:
            return not _wait_until(deadline, process, pulse)
        finally:
            _end_whatever_comes(process)


def _end_whatever_comes(process: subprocess.Popen[bytes]) -> None:
    """End a command; a Ctrl-C meanwhile takes away its patience, and leaves nothing running."""
    try:
        end(process)
    except KeyboardInterrupt:
        end(process, patience=0.0)
        raise


def end(process: subprocess.Popen[bytes], patience: float | None = None) -> None:
    """End a command and its group: with SIGTERM, and after `patience` seconds with SIGKILL.

    The command itself is waited for last, so that nobody else can get the number of its group meanwhile.
    """
    for how in (signal.SIGTERM, signal.SIGKILL):
        if not _group_lives(process):
            break
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, how)
        give_up = time.monotonic() + (PATIENCE if patience is None else patience)
        while _group_lives(process) and time.monotonic() < give_up:
            time.sleep(0.01)
    if not _has_proc():  # who else is in the group can't be seen
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end_marked(mark: str, patience: float | None = None) -> int:
    """End every process of this machine that carries a mark; how many there were.

    Only Linux shows the environment of a process; elsewhere nothing is found.
    """
    found: set[int] = set()
    for how in (signal.SIGTERM, signal.SIGKILL):
        give_up = time.monotonic() + (PATIENCE if patience is None else patience)
        while (living := _marked(mark)) and time.monotonic() < give_up:
            for pid in living - (found if how == signal.SIGTERM else set()):
                _send(pid, mark, how)
            found |= living
            time.sleep(0.05)
    return len(found)


class _Pulse:
    """A thread that calls a function again and again, and keeps what it raised."""

    def __init__(self, beat: Callable[[], None], every: float) -> None:
        self._beat, self._every = beat, every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._raised: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join(1.0)  # a storage that hangs must not hold us up

    def check(self) -> None:
        """Raise what the function raised."""
        if self._raised is not None:
            raise self._raised

    def _run(self) -> None:
        while not self._over.wait(self._every):
            try:
                self._beat()
            except BaseException as error:
                self._raised = error
                return


def _wait_until(deadline: float, process: subprocess.Popen[bytes], pulse: _Pulse) -> bool:
    """Whether the command ended before the deadline."""
    pause = SHORTEST_POLL
    while not _has_ended(process):
        pulse.check()
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(2 * pause, LONGEST_POLL)
    return True


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a command has ended; it keeps its number until `process.wait`."""
    if process.returncode is not None or not hasattr(os, "waitid"):  # macOS has none
        return process.poll() is not None
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, how) is not None


def _group_lives(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process of the group is alive; without /proc only the command itself is looked at."""
    if not _has_proc():
        return not _has_ended(process)
    fields = (_fields(pid) for pid in _pids())
    return any(f is not None and f[2] == str(process.pid) and f[0] not in "ZX" for f in fields)


def _has_proc() -> bool:
    return Path("/proc/self").exists()


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _fields(pid: int) -> list[str] | None:
    """State, parent, group and session of a process; None where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _marked(mark: str) -> set[int]:
    if not _has_proc():
        return set()
    return {pid for pid in _pids() if pid != os.getpid() and _carries(pid, mark)}


def _carries(pid: int, mark: str) -> bool:
    try:
        return f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _send(pid: int, mark: str, how: signal.Signals) -> None:
    """Signal a process, unless its number has gone to another one meanwhile."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if _carries(pid, mark):
            signal.pidfd_send_signal(handle, how)
    except OSError:
        return
    finally:
        os.close(handle)


def _die_with_parent() -> None:
    """Make Linux end the command when its runner is killed, so that a restart never finds the rig moving."""
    assert _LIBC is not None
    _LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
