"""Numbers of the limits: how far each trial stayed from each of them, and what was predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tumble import counting
from tumble.optimizer import Optimizer


@dataclass(frozen=True)
class Margins:
    """The distance from one limit, one item for each told trial.

    Parameters
    ----------
    name
        The constraint.
    number
        The number of the trial.
    margin
        -g in the user's units: above 0 the limit was kept, below 0 broken; None where it was not measured.
    predicted, std
        What was predicted before the trial, and its standard deviation; None where nothing was.
    failed
        Whether the trial failed, by this limit or another.
    """

    name: str
    number: list[int]
    margin: list[float | None]
    predicted: list[float | None]
    std: list[float | None]
    failed: list[bool]


def margins_data(opt: Optimizer) -> list[Margins]:
    """The distance from each limit over trials.

    Parameters
    ----------
    opt
        The search.

    Returns
    -------
    list[Margins]
        One for each constraint.

    Examples
    --------
    >>> opt = Optimizer([(0.0, 1.0)], trials=3, failures=1, constraints=["torque"], seed=0)
    >>> trial = opt.tell([0.5], 1.0, constraints=[-2.0])
    >>> margins_data(opt)[0].margin
    [2.0]
    """
    told = counting.told(opt.trials)
    found = []
    for i, name in enumerate(opt.constraint_names):
        suggested = [trial.suggestion for trial in told]
        means = [None if s is None else _item(s.constraint_means, i) for s in suggested]
        stds = [None if s is None else _item(s.constraint_stds, i) for s in suggested]
        g = [_item(trial.constraints, i) for trial in told]
        found.append(
            Margins(
                name=name,
                number=[trial.number for trial in told],
                margin=[None if value is None else -value for value in g],
                predicted=[None if value is None else -value for value in means],
                std=stds,
                failed=[trial.failed for trial in told],
            )
        )
    return found


def nearer_side(high: Margins, low: Margins) -> Margins:
    """The distance from a limit with two sides: that from the nearer one.

    Parameters
    ----------
    high, low
        The distances from the two sides, of the same trials. The limit has the name of `high`.
    """
    nearer = [_smaller(*pair) for pair in zip(high.predicted, low.predicted, strict=True)]
    is_high = [a == b for a, b in zip(nearer, high.predicted, strict=True)]
    return Margins(
        name=high.name,
        number=high.number,
        margin=[_smaller(*pair) for pair in zip(high.margin, low.margin, strict=True)],
        predicted=nearer,
        std=[a if first else b for first, a, b in zip(is_high, high.std, low.std, strict=True)],
        failed=high.failed,
    )


def _smaller(one: float | None, other: float | None) -> float | None:
    return min((value for value in (one, other) if value is not None), default=None)


def _item(values: Sequence[float | None], i: int) -> float | None:
    """None for what is missing."""
    value = values[i] if i < len(values) else None
    return None if value is None or not np.isfinite(value) else float(value)
