"""What the doors search: plain formulas, the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tumble.space import Categorical, Float, Int, Parameter

Outcome: TypeAlias = tuple[float | None, list[float] | None]  # value (None: it crashed), constraints

BOX = [(0.0, 1.0), (-0.5, 1.5)]
START = [0.3, 0.2]  # a safe setting of the box


def bowl(x: Sequence[float]) -> float:
    """Two basins in any dimension, below 0 as the paper's settings expect of a minimum."""
    return sum((v - 0.3 - 0.2 * i) ** 2 for i, v in enumerate(x)) + 0.2 * math.sin(7.0 * x[0]) - 0.5


def limits(x: Sequence[float]) -> list[float]:
    """Three limits, each of which cuts off a part of the box; START is safe."""
    return [x[0] + x[1] - 0.9, 0.15 - x[0], math.sin(5.0 * x[0]) * math.cos(3.0 * x[1]) - 0.95]


def plain(x: Sequence[float]) -> Outcome:
    """A value alone."""
    return bowl(x), None


def limited(x: Sequence[float], count: int = 1) -> Outcome:
    """A value and `count` limits."""
    return bowl(x), limits(x)[:count]


def brittle(x: Sequence[float]) -> Outcome:
    """A value, or a crash in one corner."""
    return (None if x[0] + x[1] > 1.1 else bowl(x)), None


MIXED: dict[str, Parameter] = {
    "speed": Float(0.2, 2.0),
    "rate": Float(1e-4, 1.0, log=True),
    "flutes": Int(2, 7),
    "bit": Categorical(("hss", "carbide", "cobalt")),
}


def drill(x: Mapping[str, Any]) -> Outcome:
    """Parameters of every kind, two limits."""
    wear = {"hss": 0.3, "carbide": 0.0, "cobalt": 0.2}[x["bit"]]
    value = (x["speed"] - 1.3) ** 2 + (math.log10(x["rate"]) + 2.0) ** 2 + 0.1 * (x["flutes"] - 4) ** 2 + wear
    return value, [x["speed"] - 1.5 + wear, 0.1 * math.log10(x["rate"]) + 0.1 * x["flutes"] - 0.5]
