"""Crashes: limits that fail a trial without a value, cliffs, and limits measured only where nothing crashed.

Classical functions in two to six parameters. The seed draws one of three kinds: "hidden", where nothing is
measured of any limit; "cliff", where a limit is calm on the safe side and jumps behind it; "both", where
limits are measured, but only where a hidden one holds. The start never crashes.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .classic import draw_shape, draw_share, in_units
from .landscape import Array, Function, Landscape
from .member import Drawn, draw_budget, poor_start

NAME = "crash"
SHARES = (0.05, 0.6)
KINDS = ("hidden", "cliff", "both")


def draw(seed: int) -> Drawn:
    """The member of this seed."""
    rng = np.random.default_rng([5, seed])
    kind = str(rng.choice(KINDS))
    shape = draw_shape(
        rng,
        forbid=bool(rng.random() < 0.7),
        share=draw_share(rng, SHARES),
        largest=6,
        fewest_limits=2 if kind == "both" else 1,
    )
    plain, names = in_units(rng, shape), shape.limits.names
    landscape, measured = _with_crashes(plain, names, kind)
    trials, failures = draw_budget(rng)
    return Drawn(
        NAME, seed, landscape, measured, poor_start(landscape, rng, seed), trials, failures,
        np.zeros(1 + len(measured)), f"{shape.name}, {kind}",
    )  # fmt: skip


def _with_crashes(plain: Landscape, names: tuple[str, ...], kind: str) -> tuple[Landscape, tuple[str, ...]]:
    """The landscape and the names of what is measured."""
    limits = plain.limits
    assert limits is not None
    if kind == "cliff":
        return dataclasses.replace(plain, limits=_cliff(limits), smooth=limits), names
    if kind == "hidden":
        return dataclasses.replace(plain, limits=None, hidden=limits), ()
    measured = dataclasses.replace(
        plain, limits=lambda x: limits(x)[..., 1:], hidden=lambda x: limits(x)[..., :1]
    )
    return measured, names[1:]


def _cliff(limits: Function) -> Function:
    """Calm at −0.3 on the safe side, above 1 behind the edge."""

    def jump(x: Array) -> Array:
        g = limits(x)
        return np.where(g <= 0.0, -0.3, 1.0 + np.arcsinh(np.maximum(g, 0.0)))

    return jump
