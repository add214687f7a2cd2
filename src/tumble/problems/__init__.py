"""Problems to measure with: those of the paper's §5 and App. E, and constrained classics with a budget.

``get(name)`` returns a frozen `Problem`; ``names()`` lists what there is. In-model draws are numbered:
``get("in-model:7")`` is the seventh pair of objective and constraint, ``get("in-model-free:7")`` the
objective alone, and ``get("in-model@500:7")`` a cheap relative on 500 points. A name with "!"
behind it is the same problem with crashes instead of measured constraints; with "?:7" behind it, it is the
same problem from another safe start, the seventh. `noisy`, `rescaled`, `crashing` and `started` wrap any
problem.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..errors import InputError
from . import classics, engineering, figure1, misspecified, synthetic
from ._problem import Evaluation, Optimum, Problem, numeric_bounds
from .designs import DESIGNS
from .inmodel import in_model
from .wrappers import crashing, noisy, rescaled, started

__all__ = [
    "Evaluation",
    "Optimum",
    "Problem",
    "crashing",
    "get",
    "in_model",
    "names",
    "noisy",
    "numeric_bounds",
    "rescaled",
    "started",
]

_REGISTRY: dict[str, Callable[[], Problem]] = {
    "hartmann6": partial(synthetic.hartmann, constrained=False),
    "hartmann6-constrained": partial(synthetic.hartmann, constrained=True),
    "michalewicz10": partial(synthetic.michalewicz, constrained=False),
    "michalewicz10-constrained": partial(synthetic.michalewicz, constrained=True),
    "figure1": figure1.figure1,
    "gardner-cosine": classics.gardner_cosine,
    "gardner-sine": classics.gardner_sine,
    "branin-disk": classics.branin_disk,
    "gramacy": classics.gramacy,
    "pressure-vessel": engineering.pressure_vessel,
    "tension-spring": engineering.tension_spring,
    "welded-beam": engineering.welded_beam,
    "speed-reducer": engineering.speed_reducer,
    "cliff": misspecified.cliff,
    "staircase": misspecified.staircase,
    "chirp": misspecified.chirp,
    "stalling": misspecified.stalling,
    **{name: design.problem for name, design in DESIGNS.items()},
}


def names() -> tuple[str, ...]:
    """The names `get` knows, without the numbered in-model draws."""
    return tuple(_REGISTRY)


def get(name: str) -> Problem:
    """Return the problem of that name; ``in-model:N`` and ``in-model-free:N`` are draws by number."""
    if name in _REGISTRY:
        return _REGISTRY[name]()
    if name.endswith("!"):
        return crashing(get(name[:-1]))
    family, _, number = name.partition(":")
    if family.endswith("?") and number.isdigit():
        return started(get(family[:-1]), seed=int(number))
    if family == "cartpole" and number.isdigit():
        from .cartpole import cartpole  # needs MuJoCo's model file: only when asked for

        return cartpole(int(number))
    kind, _, n_points = family.partition("@")
    if kind in ("in-model", "in-model-free") and number.isdigit() and (n_points.isdigit() or not n_points):
        size = {"n_points": int(n_points)} if n_points else {}
        return in_model(int(number), constrained=kind == "in-model", **size)
    raise InputError(
        f"unknown problem {name!r}; choose one of {', '.join(_REGISTRY)}, "
        "or in-model:N, in-model-free:N for the N-th in-model draw, cartpole:N for the N-th start"
    )
