"""Draws of processes: two to eight parameters, one to four limits, warped outputs, noise.

The seed draws kernel, lengthscales and warp (none, exponential, cubic, saturating) of each output, the
feasible share between 2 and 60 %, the noise (0, 1 or 5 % of each output's robust spread), the box, the start,
T and B.
"""

from __future__ import annotations

import numpy as np

from .classic import draw_box, draw_share
from .landscape import Array, Function, Landscape
from .limits import SAMPLE, levels
from .member import Drawn, draw_budget, poor_start
from .processes import KERNELS, WARPS, draw_process

NAME = "process"
SHARES = (0.02, 0.6)
NOISES = (0.0, 0.01, 0.05)
SHORTEST = (0.12, 0.5)  # lengthscale over sqrt(D)


def draw(seed: int) -> Drawn:
    """The member of this seed."""
    rng = np.random.default_rng([1, seed])
    dimension, count = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    outputs = [draw_output(rng, dimension) for _ in range(1 + count)]
    landscape = under_limits(rng, dimension, outputs, draw_share(rng, SHARES))
    level = float(rng.choice(NOISES))
    trials, failures = draw_budget(rng)
    names = tuple(f"process-{j + 1}" for j in range(count))
    return Drawn(
        NAME, seed, landscape, names, poor_start(landscape, rng, seed), trials, failures,
        level * robust_spreads(landscape, seed),
        f"a process in {dimension} parameters, noise {level:.0%}",
    )  # fmt: skip


def draw_output(rng: np.random.Generator, dimension: int) -> Function:
    """One warped draw over the unit cube."""
    shortest = float(np.exp(rng.uniform(*np.log(SHORTEST))))
    process = draw_process(rng, dimension, str(rng.choice(list(KERNELS))), shortest)
    warp = WARPS[str(rng.choice(list(WARPS)))]
    return lambda u: warp(process(u))


def under_limits(
    rng: np.random.Generator, dimension: int, outputs: list[Function], share: float
) -> Landscape:
    """The first output as objective, the others as limits that leave ``share``, in units of their own."""
    space, sample = draw_box(rng, dimension), rng.random((SAMPLE, dimension))
    edge = levels(np.stack([output(sample) for output in outputs[1:]], axis=-1), share)
    scales = 10.0 ** rng.uniform(-1.0, 3.0, len(outputs))
    frame = Landscape(space, lambda x: x[:, 0])

    def limits(x: Array) -> Array:
        u = frame.unit(x)
        return scales[1:] * (np.stack([output(u) for output in outputs[1:]], axis=-1) - edge)

    return Landscape(space, lambda x: scales[0] * outputs[0](frame.unit(x)), limits)


def robust_spreads(landscape: Landscape, seed: int) -> Array:
    """(1 + G,) the interquartile range over 1.35 of the objective and of each measured limit."""
    points = landscape.uniform(2048, seed)
    columns = [landscape.objective(points)]
    if landscape.limits is not None:
        columns += list(landscape.limits(points).T)
    low, high = np.quantile(np.stack(columns), [0.25, 0.75], axis=1)
    spreads: Array = (high - low) / 1.35
    return spreads
