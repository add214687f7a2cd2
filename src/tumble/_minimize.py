"""`tumble.minimize`: the SciPy-shaped front door."""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from numbers import Real
from typing import Any, TextIO

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult

from .core.arrays import Array
from .core.budget import stop_reason
from .core.deprecation import warn_renamed
from .core.settings import Settings
from .errors import BudgetExhausted, Failure, InputError
from .optimizer import NO_TRIAL, Optimizer
from .trials import OnExhausted, Outcome, Suggestion


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
    x0: ArrayLike | None = None, seed: int | np.random.Generator | None = None, method: str | None = None,
    settings: str | Settings = "default", on_exhausted: OnExhausted = "safe", progress: bool = False,
    callback: Callback | None = None,
) -> Result:  # fmt: skip
    """Minimise `fun` over a box within `trials` trials and `failures` failures.

    fun(x) returns a value, a pair (value, constraints) or an `Outcome`, where a constraint g <= 0 is safe;
    it raises `Failure("why")` when the trial failed. A value that is not finite is a failure too.
    x0: one point or a list of points to try first. callback(result so far) may raise StopIteration to end.

    Returns an OptimizeResult with x, fun, constraints (of the best safe observation, None where there is
    none), success, recommended, n_told, n_failures, trials, message. An exception of `fun` other than
    `Failure` propagates with the result so far as its attribute `result`.
    """
    if not callable(fun):
        raise InputError(f"fun must be callable, not {fun!r}")
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be callable or None, not {callback!r}")
    if failures == 0 and on_exhausted == "stop":
        raise InputError(NO_TRIAL)
    opt = Optimizer(bounds, trials, failures, None, seed, method, settings, on_exhausted)
    first = _points(x0, opt)
    bar = _Bar(trials if progress else 0, sys.stderr)
    message = "all trials are used"
    try:
        while opt.trials_left > 0:
            try:
                opt.check_may_start()
            except BudgetExhausted:
                message = "the budget of failures is spent"
                break
            if not first and (why := stop_reason(opt.n_failures, opt.max_failures, opt.best is not None)):
                message = why
                break
            _run(opt, fun, first.pop(0) if first else opt.ask())
            bar.show(opt)
            if callback is not None and _stops(callback, opt):
                message = "stopped by the callback"
                break
    except BaseException as error:
        with suppress(AttributeError):  # an exception that takes no attribute goes on without it
            error.result = _result(opt, f"interrupted by {type(error).__name__}")  # type: ignore[attr-defined]
        raise
    finally:
        bar.close()
    return _result(opt, message)


def _stops(callback: Callback, opt: Optimizer) -> bool:
    """Call it, and say whether it asked to stop. A StopIteration of `fun` is not this one's."""
    try:
        callback(_result(opt, "running"))
    except StopIteration:
        return True
    return False


def _points(x0: ArrayLike | None, opt: Optimizer) -> list[Array]:
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
        opt.tell(where, constraints=_measured(failure.constraints), failed=True, reason=failure.reason)
        return
    except BaseException:
        if isinstance(where, Suggestion):
            opt.skip(where)
        raise
    value, constraints = _unpack(returned)
    bad = [v for v in map(_not_finite, (value, *_values(constraints))) if v is not None]
    if bad:
        opt.tell(where, constraints=_measured(constraints), failed=True, reason=f"returned {bad[0]}")
    else:
        opt.tell(where, value, constraints=constraints)


def _unpack(returned: Any) -> tuple[Any, Any]:
    if isinstance(returned, Outcome):
        return returned.value, returned.constraints
    if isinstance(returned, tuple) and len(returned) == 2:
        value, constraints = returned
        if value is None or _is_number(value):
            return value, constraints
    elif _is_number(returned):
        return returned, None
    came = f"{len(returned)} values" if isinstance(returned, tuple) and len(returned) != 2 else repr(returned)
    raise InputError(
        f"fun must return a number, a pair (value, constraints) or a tumble.Outcome, not {came}; "
        'raise tumble.Failure("why") where a trial failed'
    )


def _is_number(value: Any) -> bool:
    single = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
    return isinstance(single, Real) and not isinstance(single, bool)


def _values(constraints: Any) -> list[Any]:
    if constraints is None:
        return []
    return list(constraints.values() if isinstance(constraints, Mapping) else np.atleast_1d(constraints))


def _measured(constraints: Any) -> Any:
    """The same constraints, None where a value is not finite."""
    known = [g if _not_finite(g) is None else None for g in _values(constraints)]
    if isinstance(constraints, Mapping):
        return dict(zip(constraints, known, strict=True))
    return None if constraints is None else known


def _not_finite(value: Any) -> float | None:
    """`value` where it is NaN or infinite, else None."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    bad = isinstance(value, float | np.floating) and not np.isfinite(value)
    return float(value) if bad else None


def _result(opt: Optimizer, message: str) -> Result:
    best = opt.best
    running = message == "running"
    fields: dict[str, Any] = {
        "x": None if best is None else best.x,
        "fun": None if best is None else best.value,
        "constraints": None if best is None else np.array(best.constraints, dtype=float),
        "success": best is not None,
        "recommended": None if running else opt.recommend(),
        "n_told": opt.n_told,
        "n_failures": opt.n_failures,
        "trials": opt.trials,
        "message": message if best is not None else f"{message}; nothing safe was seen",
    }
    result = Result()
    result.update(fields)
    return result


class _Bar:
    """A line that is written over: trials done, failures, the best so far, the time left."""

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
