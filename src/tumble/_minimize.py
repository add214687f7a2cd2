"""`tumble.minimize`: the SciPy-shaped front door."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult

from . import checks
from .core.arrays import Array
from .core.budget import stop_reason
from .core.deprecation import warn_renamed
from .core.gain import is_too_little
from .core.settings import Settings
from .errors import BudgetExhausted, Failure, InputError
from .methods import MethodName
from .optimizer import NO_TRIAL, Optimizer
from .outcomes import read_failure, read_outcome
from .trials import OnExhausted, Suggestion


class Result(OptimizeResult):
    """What `minimize` found: a dict whose keys are attributes too, as in SciPy.

    Attributes
    ----------
    x, fun, constraints
        The best safe observation; None where nothing safe was seen.
    success : bool
        Whether a safe trial was seen.
    recommended : Recommended | None
        Where the model is lowest among the points that are safe with probability `rho_safe`; None while the
        search is running, and where nothing is known.
    n_told : int
        How many trials were told.
    n_failures : int
        How many of them failed.
    trials : tuple[Trial, ...]
        Every trial.
    message : str
        Why the search ended.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "n_trials":
            warn_renamed("result.n_trials", "n_told", stacklevel=2)
            name = "n_told"
        return super().__getattr__(name)

    def __missing__(self, key: str) -> Any:
        if key != "n_trials":
            raise KeyError(key)
        warn_renamed("result['n_trials']", "n_told", stacklevel=2)
        return self["n_told"]


Callback = Callable[[Result], object]


def minimize(
    fun: Callable[[Array], Any], bounds: ArrayLike, trials: int = 100, failures: int | None = None,
    x0: ArrayLike | None = None, seed: int | np.random.Generator | None = None,
    method: MethodName | None = None, settings: str | Settings = "default",
    on_exhausted: OnExhausted = "safe", progress: bool = False, callback: Callback | None = None,
    min_gain: float | None = None,
) -> Result:  # fmt: skip
    """Minimise a function over a box within `trials` trials and `failures` failures.

    Parameters
    ----------
    fun
        Takes an array (D,) and returns a value, a pair (value, constraints) or an `Outcome`; a constraint
        g <= 0 is safe. It raises `Failure("why")` where the trial failed. A result that is not finite is a
        failure, too.
    bounds
        The box, (D, 2): a lower and an upper bound for each dimension.
    trials
        T, how many trials there are.
    failures
        B, how many of them may fail; None for no limit.
    x0
        A point, or a list of points, to try first. They are billed like any trial.
    seed
        A whole number: the same one gives the same search. None, or a `Generator`, draws one.
    method
        A key of `tumble.methods.METHODS`. None is "xsf" where there are constraints or a budget, else "xs".
    settings
        "default", "paper", or a `tumble.Settings`.
    on_exhausted
        What happens when no failure is left: "safe" goes on where P(safe) is high, "stop" ends.
    progress
        Whether to show a bar on the standard error.
    callback
        Called with the result so far after every trial. It raises StopIteration to end the search.
    min_gain
        End the search once the trials left lower the best safe value by less than this, in the units of
        `fun`, with a probability of 90 % (`Suggestion.gain_bound`). None to use all trials.

    Returns
    -------
    Result
        The best safe trial, the recommendation, and the record.

    Raises
    ------
    InputError
        If an argument, or what `fun` returned, cannot be used.
    Exception
        Whatever `fun` raises other than `Failure`, with the result so far as its attribute `result`.

    Examples
    --------
    >>> import tumble
    >>> result = tumble.minimize(lambda x: (x[0] - 0.3) ** 2, [(0.0, 1.0)], trials=12, seed=0)
    >>> result.success, result.n_told, bool(abs(result.x[0] - 0.3) < 0.05)
    (True, 12, True)
    """
    if not callable(fun):
        raise InputError(f"fun must be callable, not {fun!r}")
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be callable or None, not {callback!r}")
    if failures == 0 and on_exhausted == "stop":
        raise InputError(NO_TRIAL)
    least = None if min_gain is None else checks.above_zero(min_gain, "min_gain")
    opt = Optimizer(bounds, trials, failures, None, seed, method, settings, on_exhausted)
    first = _points(x0, opt)
    bar = _Bar(trials if progress else 0, sys.stderr)
    try:
        message = _run_all(opt, fun, first, bar, callback, least)
    except BaseException as error:
        with suppress(AttributeError):  # an exception that takes no attribute goes on without it
            error.result = _result(opt, f"interrupted by {type(error).__name__}")  # type: ignore[attr-defined]
        raise
    finally:
        bar.close()
    return _result(opt, message)


def _run_all(
    opt: Optimizer, fun: Callable[[Array], Any], first: list[Array], bar: "_Bar", callback: Callback | None,
    min_gain: float | None,
) -> str:  # fmt: skip
    """Run trials until there is a reason to stop, and return the reason."""
    while opt.trials_left > 0:
        try:
            opt.check_may_start()
        except BudgetExhausted:
            return "the budget of failures is spent"
        why = "" if first else stop_reason(opt.n_failures, opt.max_failures, opt.best is not None)
        if why:
            return why
        if opt.gain is not None and is_too_little(opt.gain.bound, min_gain):
            return (
                f"the trials left gain at most {opt.gain.bound:.3g} (90 %), less than min_gain = {min_gain:g}"
            )
        _run(opt, fun, first.pop(0) if first else opt.ask())
        bar.show(opt)
        if callback is not None and _asks_to_stop(callback, opt):
            return "stopped by the callback"
    return "all trials are used"


def _asks_to_stop(callback: Callback, opt: Optimizer) -> bool:
    """Call it, and say whether it raised StopIteration. One that `fun` raises never comes here."""
    try:
        callback(_result(opt, "running"))
    except StopIteration:
        return True
    return False


def _points(x0: ArrayLike | None, opt: Optimizer) -> list[Array]:
    """The points to try first, checked."""
    if x0 is None:
        return []
    points = np.atleast_2d(np.asarray(x0, dtype=object))
    for point in points:
        opt.space.encode(point)
    if len(points) > opt.max_trials:
        raise InputError(f"x0 holds {len(points)} points but there are only {opt.max_trials} trials")
    return [np.asarray(p, dtype=float) for p in points]


def _run(opt: Optimizer, fun: Callable[[Array], Any], where: Suggestion | Array) -> None:
    """Evaluate one trial and tell what came of it."""
    x = where.x if isinstance(where, Suggestion) else where
    try:
        returned = fun(np.array(x))
    except Failure as failure:
        reading = read_failure(failure)
    except BaseException:
        if isinstance(where, Suggestion):
            opt.skip(where)
        raise
    else:
        reading = read_outcome(returned)
    opt.tell(where, reading.value, reading.constraints, failed=reading.failed, reason=reading.reason)


def _result(opt: Optimizer, message: str) -> Result:
    best = opt.best
    result = Result()
    result.update(
        x=None if best is None else best.x,
        fun=None if best is None else best.value,
        constraints=None if best is None else np.array(best.constraints, dtype=float),
        success=best is not None,
        recommended=None if message == "running" else opt.recommend(),
        n_told=opt.n_told,
        n_failures=opt.n_failures,
        trials=opt.trials,
        message=message if best is not None else f"{message}; nothing safe was seen",
    )
    return result


class _Bar:
    """A line that is rewritten after each trial: trials done, failures, the best value, the time left."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self.total, self.stream, self.start, self.done = total, stream, time.monotonic(), 0

    def show(self, opt: Optimizer) -> None:
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
        if self.total and self.done:
            self.stream.write("\n")
