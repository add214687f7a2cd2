"""Mixed spaces: floats, logarithms, steps, integers and choices, with a choice that changes the landscape.

Two to five numbers and one or two choices (of two to five, and of two or three). Objective and limits are
draws of processes over the numbers. Each choice of the first categorical adds a draw of its own to the
objective and to each limit; each choice of the second adds a constant. The seed also draws the feasible share
between 3 and 50 %, the start, T and B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tumble.parameters import Categorical, Float, Int, Parameter
from tumble.space import Space

from .classic import draw_share
from .landscape import Array, Function, Landscape
from .limits import SAMPLE, levels
from .member import Drawn, draw_budget, poor_start
from .processes import draw_process

NAME = "mixed"
SHARES = (0.03, 0.5)
FEATURES = 100
Draw: TypeAlias = Callable[[np.random.Generator], Parameter]
_WORDS = ("steel", "brass", "oak", "glass", "cork")
_COATINGS = ("bare", "painted", "plated")


def draw(seed: int) -> Drawn:
    """The member of this seed."""
    rng = np.random.default_rng([4, seed])
    space = _draw_space(rng)
    count = int(rng.integers(1, 4))
    landscape = _draw_landscape(rng, space, count, draw_share(rng, SHARES))
    trials, failures = draw_budget(rng)
    kinds = ", ".join(type(parameter).__name__.lower() for parameter in space.parameters.values())
    return Drawn(
        NAME, seed, landscape, tuple(f"limit-{j + 1}" for j in range(count)),
        poor_start(landscape, rng, seed), trials, failures, np.zeros(1 + count), kinds,
    )  # fmt: skip


def _draw_space(rng: np.random.Generator) -> Space:
    if rng.random() < 0.2:
        numbers: list[Draw] = [_integer] * 4  # nothing continuous at all
    else:
        numbers = [_NUMBERS[int(k)] for k in rng.integers(len(_NUMBERS), size=int(rng.integers(2, 6)))]
    parameters = {f"x{j + 1}": number(rng) for j, number in enumerate(numbers)}
    parameters["material"] = Categorical(_WORDS[: int(rng.integers(2, 6))])
    if rng.random() < 0.5:
        parameters["coating"] = Categorical(_COATINGS[: int(rng.integers(2, 4))])
    return Space(parameters)


def _float(rng: np.random.Generator) -> Parameter:
    low = round(float(rng.uniform(-5.0, 5.0)), 2)
    return Float(low, low + round(float(rng.uniform(0.5, 20.0)), 2))


def _logarithm(rng: np.random.Generator) -> Parameter:
    low = float(10.0 ** rng.integers(-5, 0))
    return Float(low, low * float(10.0 ** rng.integers(2, 5)), log=True)


def _stepped(rng: np.random.Generator) -> Parameter:
    step = float(rng.choice([0.25, 0.5]))
    return Float(0.0, step * int(rng.integers(6, 40)), step=step)


def _integer(rng: np.random.Generator) -> Parameter:
    low = int(rng.integers(0, 5))
    return Int(low, low + int(rng.integers(4, 20)))


def _long_integer(rng: np.random.Generator) -> Parameter:
    return Int(1, int(rng.choice([64, 256, 1024])), log=True)


_NUMBERS: tuple[Draw, ...] = (
    _float, _float, _logarithm, _stepped, _integer, _long_integer,
)  # fmt: skip


def _draw_landscape(rng: np.random.Generator, space: Space, count: int, share: float) -> Landscape:
    frame = Landscape(space, lambda x: x[:, 0])
    outputs = [_draw_output(rng, space, frame) for _ in range(1 + count)]
    scales = 10.0 ** rng.uniform(-1.0, 3.0, 1 + count)
    sample = frame.points(rng.random((SAMPLE, len(space.names))))
    edge = levels(np.stack([output(sample) for output in outputs[1:]], axis=-1), share)

    def limits(x: Array) -> Array:
        return scales[1:] * (np.stack([output(x) for output in outputs[1:]], axis=-1) - edge)

    return Landscape(space, lambda x: scales[0] * outputs[0](x), limits)


def _draw_output(rng: np.random.Generator, space: Space, frame: Landscape) -> Function:
    """A draw that all choices share, one for each material, and a constant for each coating."""
    choices = [p for p in space.parameters.values() if isinstance(p, Categorical)]
    d = len(space.names) - len(choices)
    common, *own = (draw_process(rng, d, "SE", 0.4, FEATURES) for _ in range(1 + len(choices[0].choices)))
    materials = 0.7 * rng.standard_normal(len(own))
    coatings = 0.5 * rng.standard_normal(len(choices[1].choices) if len(choices) > 1 else 1)

    def output(x: Array) -> Array:
        numbers, material = frame.unit(x)[:, :d], x[:, d].astype(int)
        values = common(numbers) + materials[material]
        each = np.stack([process(numbers) for process in own])
        values = values + each[material, np.arange(len(x))]
        coating = x[:, d + 1].astype(int) if len(choices) > 1 else np.zeros(len(x), dtype=int)
        result: Array = values + coatings[coating]
        return result

    return output
