"""`tumble.minimize`: the SciPy-shaped front door."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds

from . import checks
from ._loop import Bar, Callback, Loop, by_position
from ._result import INTERRUPTED, Result, result_of
from .core.settings import Settings
from .errors import InputError
from .methods import MethodName
from .optimizer import Optimizer
from .scipy_arguments import TEXTS, Objects, as_box, read_constraints
from .space import Space
from .starting import NO_TRIAL
from .trials import OnExhausted
from .workers import open_workers

__all__ = ["Result", "minimize"]


def minimize(
    fun: Callable[..., Any], bounds: ArrayLike | Bounds | Space, trials: int = 100,
    failures: int | None = None, x0: Any = None, seed: int | np.random.Generator | None = None,
    method: MethodName | None = None, settings: str | Settings = "default",
    on_exhausted: OnExhausted = "safe", progress: bool = False, callback: Callback | None = None,
    min_gain: float | None = None, *, args: Any = (), known: str | Objects | Sequence[Any] = (),
    constraints: Objects | Sequence[Any] = (), workers: Any = 1, parallel: int | None = None,
    disp: bool = False, noise: Mapping[str, float] | None = None, boldness: float | None = None,
) -> Result:  # fmt: skip
    """Minimise a function over a box within `trials` trials and `failures` failures.

    There are two kinds of constraints. What a trial measures is returned by `fun`, and breaking it is a
    failure. What is known beforehand is given as `known` or `constraints`: it is worked out without a trial,
    often thousands of times for one suggestion, and only settings that keep it are tried.

    Parameters
    ----------
    fun
        Takes an array (D,), or a dict by name where `bounds` is a `Space`, and then `args`. It returns a
        value, a pair (value, constraints) or an `Outcome`; a constraint g <= 0 is safe. It raises
        `Failure("why")` where the trial failed. A result that is not finite is a failure, too.
    bounds
        The box, (D, 2): a lower and an upper bound for each dimension. Or SciPy's `Bounds`, or a
        `tumble.space.Space`. `Bounds` of single numbers are those of every dimension of `x0`.
    trials
        T, how many trials there are.
    failures
        B, how many of them may fail; None for no limit.
    x0
        A point, or a list of points, to try first, one after the other, as an array or a dict by name
        ("x0", "x1", … for bounds). They are billed like any trial.
    seed
        A whole number: the same one gives the same search. None, or a `Generator`, draws one. With several
        trials at once the order in which they end matters, too.
    method
        A key of `tumble.methods.METHODS`. None is "tumble" where there are constraints or a budget,
        else "ei"; with settings="paper" it is "xsf", or "xs".
    settings
        "default", "paper", or a `tumble.Settings`.
    on_exhausted
        What happens when no failure is left: "safe" goes on where P(safe) is high, "stop" ends.
    progress
        Whether to show a bar on the standard error.
    callback
        Called as callback(intermediate_result) with the result so far after every trial. It raises
        StopIteration to end the search; trials that still run are waited for.
    min_gain
        End the search once the trials left lower the best safe value by less than this, in the units of
        `fun`, with a probability of 90 % (`Suggestion.gain_bound`). None to use all trials.
    args
        What `fun` takes after the setting; a tuple, or a single thing.
    known
        Constraints that are known beforehand, as text (``"x0 + x1 <= 1"``; see `tumble.space.Space`), or as
        SciPy's objects.
    constraints
        The same for SciPy's objects: `LinearConstraint`, `NonlinearConstraint`, whose function takes the
        same setting as `fun`, or ``{"type": "ineq", "fun": ...}``. They are known, not measured.
    workers
        How many processes run trials at once; -1 for one on each CPU. Or any `concurrent.futures.Executor`:
        that of a cluster, too. `fun` must be one that can be sent there.
    parallel
        How many trials run at once, at most as many as there are processes; None for as many as there are
        processes, and for an executor as many as this machine has CPUs. More than one needs `workers`.
    disp
        Whether to print the result.
    boldness
        From 0, cautious, to 1: how much risk the search takes while failures are left, as for
        `tumble.Optimizer`. None for the default.
    noise
        Standard deviations of what `fun` returns, where they are known: of its "value", and of its
        constraints by name.

    Returns
    -------
    Result
        The best safe trial, the recommendation, and the record.

    Raises
    ------
    InputError
        If an argument, or what `fun` returned, cannot be used.
    Exception
        Whatever `fun` raises other than `Failure`, with the result so far as its attribute `result`. Trials
        that still run are waited for, and told.

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
    bar = Bar(trials if checks.truth(progress, "progress") else 0)
    disp = checks.truth(disp, "disp")
    least = None if min_gain is None else checks.above_zero(min_gain, "min_gain")
    box = as_box(bounds, x0)
    rules = _known(known, constraints, box)
    opt = Optimizer(
        box, trials, failures, None, seed, method, settings, on_exhausted, known=rules, noise=noise,
        boldness=boldness,
    )  # fmt: skip
    if (opt.max_failures, opt.on_exhausted) == (0, "stop"):
        raise InputError(NO_TRIAL)
    call = None if callback is None else by_position(callback)
    loop = Loop(opt, fun, args if isinstance(args, tuple) else (args,), _points(x0, opt), call, bar, least)
    try:
        with open_workers(workers, parallel, (fun, args)) as open_:
            end = loop.run(open_)
    except BaseException as error:
        loop.withdraw()
        with suppress(AttributeError):  # an exception that takes no attribute goes on without it
            message = f"interrupted by {type(error).__name__}"
            error.result = result_of(opt, message, INTERRUPTED)  # type: ignore[attr-defined]
        raise
    finally:
        bar.close()
    result = result_of(opt, end.message, end.status)
    if disp:
        print(result)
    return result


def _known(known: Any, constraints: Any, box: ArrayLike | Space) -> list[Any]:
    """The texts, and SciPy's objects as known constraints."""
    space = box if isinstance(box, Space) else Space.from_bounds(box)
    items = [known] if isinstance(known, str) or not isinstance(known, list | tuple) else list(known)
    texts = [item for item in items if isinstance(item, str)]
    objects = [item for item in items if not isinstance(item, str)]
    boxed = not isinstance(box, Space)
    given = read_constraints(objects, space, boxed, TEXTS)
    return [*texts, *given, *read_constraints(constraints, space, boxed)]


def _points(x0: Any, opt: Optimizer) -> list[Any]:
    """The settings to try first, checked."""
    points: list[Any]
    x0 = [_labelled(x, opt) for x in x0] if isinstance(x0, list | tuple) else _labelled(x0, opt)
    if x0 is None:
        return []
    if isinstance(x0, Mapping) or (isinstance(x0, list | tuple) and any(isinstance(x, Mapping) for x in x0)):
        points = [x0] if isinstance(x0, Mapping) else list(x0)
    elif checks.is_masked(x0):
        checks.refuse("x0", "numbers", x0, "a masked value is none")
    else:
        points = list(np.atleast_2d(np.asarray(x0, dtype=object)))
    for point in points:
        opt.space.check_known(point)
    if len(points) > opt.max_trials:
        raise InputError(
            f"x0 holds {len(points)} points, and trials is {opt.max_trials}; "
            "give more trials, or fewer points"
        )
    if opt.takes_names:
        return [opt.space.decode(opt.space.encode(point)) for point in points]
    ordered = [[p[n] for n in opt.space.names] if isinstance(p, Mapping) else p for p in points]
    return [np.asarray(p, dtype=float) for p in ordered]


def _labelled(x0: Any, opt: Optimizer) -> Any:
    """A row or a table with labels by its labels. Those of a box count only where they are its own names."""
    found = checks.by_label(x0)
    rows = found if isinstance(found, list) else [found]
    meant = bool(rows) and all(isinstance(row, Mapping) and set(row) == set(opt.space.names) for row in rows)
    return found if opt.takes_names or meant else x0
