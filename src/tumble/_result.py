"""What `tumble.minimize` returns."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Literal

import numpy as np
from scipy.optimize import OptimizeResult

from . import describing, notebook
from .core.deprecation import warn_renamed
from .optimizer import Optimizer
from .shown import NOT_SEEN, safety

Status = Literal[0, 1, 2, 3, 4, -1]
USED: Status = 0  # every trial is used
CALLBACK: Status = 1  # the callback asked for it
FAILURES: Status = 2  # the budget of failures
INTERRUPTED: Status = 3  # an exception
GAIN: Status = 4  # the trials left gain less than min_gain
RUNNING: Status = -1


class Result(OptimizeResult):
    """What `minimize` found: a dict whose keys are attributes too, as in SciPy.

    Attributes
    ----------
    x, fun, constraints
        The best safe observation; None where nothing safe was seen.
    success : bool
        Whether a safe trial was seen.
    status : int
        Why the search ended: 0 all trials are used, 1 the callback stopped it, 2 the budget of failures ended
        it, 3 an exception did, 4 the trials left gain less than `min_gain`; -1 while it is running.
    message : str
        The same in words.
    nfev : int
        How many times `fun` gave an outcome.
    nit : int
        How many of these settings the search chose: all but `x0`.
    recommended : Recommended | None
        Where the model is lowest among the points that are safe with probability `rho_safe`; None while the
        search is running, and where nothing is known.
    n_told : int
        How many trials were told.
    n_failures : int
        How many of them failed.
    trials : tuple[Trial, ...]
        Every trial.
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

    def __repr__(self) -> str:
        """A dozen lines, however many trials there are."""
        shown = {
            "message": self.message,
            "success": self.success,
            "status": self.status,
            "fun": self.fun,
            "x": _setting(self.x),
            "constraints": None if self.constraints is None else _array(self.constraints),
            "recommended": _recommended(self.recommended),
            "nfev": self.nfev,
            "nit": self.nit,
            "n_failures": self.n_failures,
            "trials": f"{len(self.trials)}, in .trials",
        }
        return "\n".join(f"{name:>12}: {value}" for name, value in shown.items())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """The message, the recommendation and a figure, for a notebook."""
        lines = [self.message, f"{self.nfev} trials, {self.n_failures} failures"]
        if self.fun is not None:
            lines[1] += f", best {self.fun:.6g}"
        if self.recommended is not None:
            lines.append(f"Recommended: {_recommended(self.recommended)}")
        return describing.page(self.trials, lines)


def result_of(opt: Optimizer, message: str, status: Status) -> Result:
    """The result of a search as it stands."""
    best = opt.best
    told = [t for t in opt.trials if t.status == "told"]
    result = Result()
    result.update(
        x=None if best is None else copy(best.x),  # one's own, to work with
        fun=None if best is None else best.value,
        constraints=None if best is None else np.array(best.constraints, dtype=float),
        success=best is not None,
        status=status,
        message=message if best is not None else f"{message}; nothing safe was seen",
        nfev=len(told),
        nit=sum(t.suggestion is not None for t in told),
        recommended=None if status == RUNNING else opt.recommend(),
        n_told=opt.n_told,
        n_failures=opt.n_failures,
        trials=opt.trials,
    )
    return result


def _array(x: Any) -> str:
    """An array in one line."""
    return np.array2string(np.asarray(x), max_line_width=10**6, threshold=8, edgeitems=3, precision=6)


def _setting(x: Any) -> str:
    """A setting in one line."""
    if x is None:
        return "None"
    return notebook.in_line(x) if isinstance(x, Mapping) else _array(x)


def _recommended(found: Any) -> str:
    if found is None:
        return "None"
    value = f"{found.mean:.6g} ± {found.std:.2g}" if found.mean == found.mean else NOT_SEEN
    where = f"{_setting(found.x)}: {value}, {safety(found.p_safe)}"
    return where if found.reached else f"{where}, the safest that is known"
