"""Doors that need NumPy and SciPy only: `Optimizer` in all its uses, and `minimize`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import tumble
from benchmarks.fingerprint.defaults import named
from benchmarks.fingerprint.problems import (
    BOX,
    MIXED,
    START,
    Outcome,
    bowl,
    brittle,
    drill,
    limited,
    plain,
)
from benchmarks.fingerprint.rows import Door, Row, recommended, row, suggested
from tumble.space import Space

Evaluate: TypeAlias = Callable[[Any], Outcome]

FREE = ("xs", "ei", "pi", "ucb", "mes")
LIMITED = {"xsf": 20, "eic": 16, "safe-set": 14, "pesc": 8}  # method -> suggestions


def tell(opt: tumble.Optimizer, where: Any, outcome: Outcome, **more: Any) -> None:
    """Tell what came of a trial; a value of None is a crash."""
    value, constraints = outcome
    opt.tell(where, value, constraints, failed=value is None, reason="" if value else "stalled", **more)


def search(opt: tumble.Optimizer, evaluate: Evaluate, most: int) -> list[Row]:
    """The rows of the next `most` suggestions, or of as many as there are."""
    rows = []
    for _ in range(most):
        try:
            s = opt.ask()
        except (tumble.TrialsExhausted, tumble.BudgetExhausted):
            break
        rows.append(suggested(s))
        tell(opt, s, evaluate(s.x))
    return rows


def free(seed: int, method: Any, settings: str) -> list[Row]:
    """A box without limits."""
    return search(tumble.Optimizer(BOX, 20, seed=seed, method=method, settings=named(settings)), plain, 18)


def under_limit(seed: int, method: Any, settings: str) -> list[Row]:
    """A box with one limit, from a safe start."""
    opt = tumble.Optimizer(BOX, 24, 5, 1, seed, method, named(settings))
    tell(opt, START, limited(START))
    return search(opt, limited, LIMITED[method])


def box(seed: int) -> list[Row]:
    """Three dimensions of unlike size, no method named."""
    opt = tumble.Optimizer([(-1.0, 2.0), (0.0, 0.01), (10.0, 500.0)], 12, seed=seed, settings=named())
    return search(opt, lambda x: plain([x[0], 100.0 * x[1], x[2] / 500.0]), 10)


def long(seed: int) -> list[Row]:
    """So many trials that hyperparameters are no longer learned at each of them."""
    opt = tumble.Optimizer([*BOX, (0.0, 1.0)], 60, 8, 2, seed, settings=named())
    return search(opt, partial(limited, count=2), 56)


def mixed(seed: int) -> list[Row]:
    """Float, logarithmic float, int and categorical under two limits."""
    return search(tumble.Optimizer(Space(MIXED), 20, 4, 2, seed, settings=named()), drill, 12)


def crashes(seed: int) -> list[Row]:
    """Trials that return nothing."""
    return search(tumble.Optimizer(BOX, 14, 5, seed=seed, settings=named()), brittle, 12)


def several_limits(seed: int) -> list[Row]:
    """Three limits, one old trial as evidence."""
    opt = tumble.Optimizer(BOX, 14, 5, ["load", "heat", "play"], seed, settings=named())
    tell(opt, START, limited(START, 3), billed=False)
    return search(opt, partial(limited, count=3), 11)


def pending(seed: int) -> list[Row]:
    """Two trials in flight at a time, told in the other order; every third pair loses one."""
    opt = tumble.Optimizer(BOX, 16, 5, 1, seed, settings=named())
    rows = []
    for k in range(6):
        first, second = opt.ask(), opt.ask()
        rows += [suggested(first), suggested(second)]
        tell(opt, second, limited(second.x))
        if k % 3 == 2:
            opt.skip(first)
        else:
            tell(opt, first, limited(first.x))
    return rows


def resume(seed: int) -> list[Row]:
    """Saved and restored after every second trial, once with a trial in flight."""
    opt = tumble.Optimizer(BOX, 14, 4, 1, seed, settings=named())
    rows = []
    for _ in range(5):
        rows += search(opt, limited, 2)
        opt = tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict())))
    rows.append(suggested(opt.ask()))
    opt = tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict())))
    return [*rows, *search(opt, limited, 1)]


def recommend(seed: int) -> list[Row]:
    """The recommendation after each trial, with the best one."""
    opt = tumble.Optimizer(BOX, 12, 4, 1, seed, settings=named())
    rows = []
    for _ in range(8):
        rows += search(opt, limited, 1) + recommended(opt.recommend())
        rows += [] if opt.best is None else [row(opt.best.x, opt.best.value)]
    return rows


def spent(seed: int) -> list[Row]:
    """The only failure is spent at once: careful from there on; without a safe trial, the safest."""
    opt = tumble.Optimizer(BOX, 14, 1, 1, seed, settings=named())
    tell(opt, START, limited(START))
    tell(opt, [0.9, 0.9], limited([0.9, 0.9]))
    rows = search(opt, limited, 8)
    opt = tumble.Optimizer(BOX, 8, 2, 1, seed, settings=named())
    for x in ([0.9, 0.9], [0.7, 1.2]):
        tell(opt, x, limited(x))
    return [*rows, *search(opt, lambda x: (bowl(x), [-0.1]), 4)]


def stop(seed: int) -> list[Row]:
    """Every fifth trial crashes under a hard cap, which ends the search."""
    opt = tumble.Optimizer(BOX, 30, 4, 1, seed, on_exhausted="stop", settings=named())
    numbers = count(1)
    return search(opt, lambda x: limited(x) if next(numbers) % 5 else (None, None), 30)


def minimize(seed: int) -> list[Row]:
    """Every setting that the function was called with, and the result."""
    rows: list[Row] = []

    def fun(x: Any) -> Any:
        rows.append(row(x))
        if x[0] > 0.9:
            raise tumble.Failure("stalled")
        return limited(x, 2)

    found = tumble.minimize(fun, BOX, trials=12, failures=4, x0=[START], seed=seed, settings=named())
    return [*rows, row(found.x, found.fun), *recommended(found.recommended)]


DOORS: dict[str, Door] = {
    **{f"{m}, {s}": partial(free, method=m, settings=s) for m in FREE for s in ("default", "paper")},
    **{
        f"{m}, {s}": partial(under_limit, method=m, settings=s) for m in LIMITED for s in ("default", "paper")
    },
    "box": box,
    "long": long,
    "mixed space": mixed,
    "crashes": crashes,
    "several limits": several_limits,
    "pending": pending,
    "resume": resume,
    "recommend": recommend,
    "budget spent": spent,
    "stop": stop,
    "minimize": minimize,
}
