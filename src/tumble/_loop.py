"""The loop of `tumble.minimize`: trials start, and are told when they end, until there is a reason to end."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any, TextIO

import numpy as np

from ._result import CALLBACK, FAILURES, GAIN, RUNNING, USED, Result, Status, result_of
from .core.budget import stop_reason
from .core.gain import is_too_little
from .errors import BudgetExhausted, BudgetReserved, TrialsExhausted
from .optimizer import Optimizer
from .outcomes import Reading
from .trials import Suggestion
from .workers import Workers, evaluate

Callback = Callable[[Result], object]


@dataclass(frozen=True)
class End:
    """Why no trial starts any more."""

    message: str
    status: Status


@dataclass
class Loop:
    """Runs the trials of one search.

    Parameters
    ----------
    opt
        The search.
    fun, args
        The function, and what it takes after the setting.
    first
        Settings to try first, one after the other.
    callback
        Called with the result so far after every trial; None for no call.
    bar
        Shows how far it is.
    min_gain
        The search ends where the trials left gain less; None to use all of them.
    """

    opt: Optimizer
    fun: Callable[..., Any]
    args: tuple[Any, ...]
    first: list[Any]
    callback: Callback | None
    bar: Bar
    min_gain: float | None = None
    end: End | None = None  # why no trial starts any more
    error: BaseException | None = None
    flying: dict[Future[Reading], Suggestion | Any] = field(default_factory=dict)

    def run(self, workers: Workers) -> End:
        """Run until there is a reason to stop. Trials that run by then are waited for, and told."""
        while True:
            while self._start(workers):
                pass
            if not self.flying:
                break
            done, _ = wait(self.flying, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=self._number):
                self._finish(future)
        if self.error is not None:
            raise self.error
        assert self.end is not None
        return self.end

    def withdraw(self) -> None:
        """Give back the trials that were asked for and have not ended."""
        for future, where in self.flying.items():
            future.cancel()
            self._skip(where)
        self.flying.clear()

    def _start(self, workers: Workers) -> bool:
        """Start one more trial; False where none may start now."""
        own = bool(self.first) or not all(isinstance(where, Suggestion) for where in self.flying.values())
        full = len(self.flying) >= (1 if own else workers.at_once)  # settings of one's own run one by one
        if full or self.end is not None or self.error is not None:
            return False
        where = self._next()
        if where is None:
            return False
        x = where.x if isinstance(where, Suggestion) else where
        x = dict(x) if isinstance(x, dict) else np.array(x)
        try:
            future = workers.executor.submit(evaluate, self.fun, x, self.args)
        except BaseException:  # the executor takes no more: the trial never ran
            self._skip(where)
            raise
        self.flying[future] = where
        return True

    def _next(self) -> Suggestion | Any | None:
        """The next trial; None where none may start: `end` says why, or one in flight must end first."""
        end = None if self.first else self._reason_to_end()
        try:
            self.opt.check_may_start()
            if end is None:
                return self.first.pop(0) if self.first else self.opt.ask()
            self.end = end
        except BudgetReserved:
            assert self.flying
        except BudgetExhausted as spent:
            hard = End("the budget of failures is spent", FAILURES)
            self.end = hard if self.opt.on_exhausted == "stop" else end or End(str(spent), FAILURES)
        except TrialsExhausted:
            self.end = End("all trials are used", USED)
        return None

    def _reason_to_end(self) -> End | None:
        """Why no trial should start although one may."""
        opt, gain = self.opt, self.opt.gain
        why = stop_reason(opt.n_failures, opt.max_failures, opt.best is not None)
        if why:
            return End(why, FAILURES)
        if gain is None or not is_too_little(gain.bound, self.min_gain):
            return None
        bound = f"the trials left gain at most {gain.bound:.3g} (90 %)"
        return End(f"{bound}, less than min_gain = {self.min_gain:g}", GAIN)

    def _number(self, future: Future[Reading]) -> int:
        where = self.flying[future]
        return where.number if isinstance(where, Suggestion) else 0

    def _finish(self, future: Future[Reading]) -> None:
        """Tell what came of a trial; one that raised is skipped, and its error is kept."""
        where = self.flying.pop(future)
        try:
            reading = future.result()
            self.opt.tell(
                where, reading.value, reading.constraints, failed=reading.failed, reason=reading.reason
            )
        except BaseException as error:
            self._skip(where)
            self.error = self.error or error
            if not isinstance(error, Exception):
                raise
            return
        self.bar.show(self.opt)
        if self.callback is not None and self.end is None and self._asks_to_stop(self.callback):
            self.end = End("stopped by the callback", CALLBACK)

    def _skip(self, where: Any) -> None:
        if isinstance(where, Suggestion) and any(
            t.pending and t.number == where.number for t in self.opt.trials
        ):
            self.opt.skip(where)

    def _asks_to_stop(self, callback: Callback) -> bool:
        """Call it, and say whether it raised StopIteration. One that `fun` raises never comes here."""
        try:
            callback(result_of(self.opt, "running", RUNNING))
        except StopIteration:
            return True
        return False


def by_position(callback: Callable[..., object]) -> Callback:
    """The callback as a function of one argument, also where it takes `intermediate_result` by name only."""
    try:
        parameters = inspect.signature(callback).parameters
    except (TypeError, ValueError):  # a builtin without a signature
        return callback
    named = parameters.get("intermediate_result")
    if named is not None and named.kind is inspect.Parameter.KEYWORD_ONLY:
        return lambda result: callback(intermediate_result=result)
    return callback


class Bar:
    """A line that is rewritten after each trial: trials done, failures, the best value, the time left."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total, self.start, self.done = total, time.monotonic(), 0
        self.stream = sys.stderr if stream is None else stream

    def show(self, opt: Optimizer) -> None:
        """Write the line again, after one more trial."""
        if not self.total:
            return
        self.done += 1
        seconds = (time.monotonic() - self.start) / self.done * (self.total - self.done)
        filled = "█" * (24 * self.done // self.total)
        best = "none safe yet" if opt.best is None else f"best {opt.best.value:.6g}"
        counts = f"{self.done}/{self.total}  failures {opt.n_failures}"
        line = f"\r{filled:░<24} {counts}  {best}  {seconds:.0f} s left  "
        self.stream.write(line)
        self.stream.flush()

    def close(self) -> None:
        """End the line."""
        if self.total and self.done:
            self.stream.write("\n")
