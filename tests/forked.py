"""The command line in a process of its own, forked from one that has imported it already.

Such a process is killed, interrupted and waited for as any other; only its imports, a second or two, are made
once for all of them. What is about that start needs `python -m tumble` itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from tumble.cli import main

NOT_STARTED = "the process did not start"
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "tumble.cli.app",
        "tumble.studies.ledger",
        "tumble.studies.runner",
        "tumble.server.serving",
        "alembic.command",
        "sqlalchemy.dialects.sqlite",
        "pytest",
    ]
)


class Forked:
    """`tumble` with these words, its output and its errors.

    Parameters
    ----------
    words
        What is typed after `tumble`.
    variables
        Of its environment, beside those of this process.
    """

    def __init__(self, *words: object, **variables: str) -> None:
        (output, out), (errors, err) = CONTEXT.Pipe(duplex=False), CONTEXT.Pipe(duplex=False)
        texts = [str(word) for word in words]
        self._process = CONTEXT.Process(target=_run, args=(texts, out, err, {**os.environ, **variables}))
        self._process.start()
        out.close()
        err.close()
        with output, errors:
            self.stdout, self.stderr = (os.fdopen(os.dup(one.fileno())) for one in (output, errors))

    @property
    def returncode(self) -> int | None:
        """Its exit code once it has ended."""
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process.pid is not None, NOT_STARTED
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def wait(self, seconds: float = 60.0) -> int:
        """Wait for its end; its exit code."""
        self._process.join(seconds)
        assert self.returncode is not None, "it has not ended"
        return self.returncode

    def communicate(self, timeout: float = 60.0) -> tuple[str, str]:
        """Wait for its end; what it printed, and its errors."""
        self.wait(timeout)
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()

    def close(self) -> None:
        """End it, and read no more of it."""
        self.kill()
        self.wait()
        self.stdout.close()
        self.stderr.close()


def _run(words: list[str], out: Connection, err: Connection, variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    out.close()
    err.close()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run under nohup
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    main(words)


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until a condition holds; an AssertionError where it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
