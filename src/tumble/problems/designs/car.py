"""A car hit from the side: weight under limits of what its passenger suffers."""

from __future__ import annotations

import numpy as np

from ...space import Categorical, Float, Space
from .._problem import Array
from ._design import Design, columns, rows

_CAR_LIMITS: Array = np.array([1.0, 0.32, 0.32, 0.32, 32.0, 32.0, 32.0, 4.0, 9.9, 15.7])


def _car_weight(x: Array) -> Array:
    a, b, c, d, e, _, g = columns(x)[:7]
    return 1.98 + 4.90 * a + 6.67 * b + 6.98 * c + 4.01 * d + 1.78 * e + 2.73 * g


def _car_limits(x: Array) -> Array:
    a, b, c, d, e, f, g, h, i, height, hit = columns(x)
    h, i = 0.192 + 0.153 * h, 0.192 + 0.153 * i
    load = 1.16 - 0.3717 * b * d - 0.00931 * b * height - 0.484 * c * i + 0.01343 * f * height
    upper_viscous = (
        0.261 - 0.0159 * a * b - 0.188 * a * h - 0.019 * b * g + 0.0144 * c * e + 0.0008757 * e * height
        + 0.080405 * f * i + 0.00139 * h * hit + 0.00001575 * height * hit
    )  # fmt: skip
    middle_viscous = (
        0.214 + 0.00817 * e - 0.131 * a * h - 0.0704 * a * i + 0.03099 * b * f - 0.018 * b * g
        + 0.0208 * c * h + 0.121 * c * i - 0.00364 * e * f + 0.0007715 * e * height
        - 0.0005354 * f * height + 0.00121 * h * hit
    )  # fmt: skip
    lower_viscous = 0.74 - 0.61 * b - 0.163 * c * h + 0.001232 * c * height - 0.166 * g * i + 0.227 * b**2
    upper_rib = (
        28.98 + 3.818 * c - 4.2 * a * b + 0.0207 * e * height + 6.63 * f * i - 7.7 * g * h + 0.32 * i * height
    )
    middle_rib = (
        33.86 + 2.95 * c + 0.1792 * height - 5.057 * a * b - 11.0 * b * h - 0.0215 * e * height
        - 9.98 * g * h + 22.0 * h * i
    )  # fmt: skip
    lower_rib = 46.36 - 9.9 * b - 12.9 * a * h + 0.1107 * c * height
    pubic = 4.72 - 0.5 * d - 0.19 * b * c - 0.0122 * d * height + 0.009325 * f * height + 0.000191 * hit**2
    pillar = 10.58 - 0.674 * a * b - 1.95 * b * h + 0.02054 * c * height - 0.0198 * d * height
    pillar = pillar + 0.028 * f * height
    door = 16.45 - 0.489 * c * g - 0.843 * e * f + 0.0432 * i * height - 0.0556 * i * hit - 0.000786 * hit**2
    loads = (load, upper_viscous, middle_viscous, lower_viscous, upper_rib, middle_rib, lower_rib)
    return rows(*loads, pubic, pillar, door) / _CAR_LIMITS - 1.0


def _sheet_limits(x: Array) -> Array:
    """The limits at a high-strength b-pillar, a mild floor, and a barrier in the middle."""
    others = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*np.shape(x)[:-1], 4))
    return _car_limits(np.concatenate([x, others], axis=-1))


_STEELS = ("mild", "high-strength")  # 0.192 and 0.345 in the source
_SHEETS = ("b-pillar", "b-reinforcement", "floor", "cross-members", "door-beam", "belt-line", "roof-rail")
_RANGES = ((0.5, 1.5), (0.45, 1.35), (0.5, 1.5), (0.5, 1.5), (0.875, 2.625), (0.4, 1.2), (0.4, 1.2))
_LOADS = (
    "abdomen", "viscous-upper", "viscous-middle", "viscous-lower", "rib-upper", "rib-middle", "rib-lower",
    "pubic", "b-pillar-velocity", "door-velocity",
)  # fmt: skip

CAR_SIDE_IMPACT = Design(
    name="car-side-impact",
    space=Space(
        {
            **{name: Float(0.5, 1.5) for name in _SHEETS},
            "b-pillar-steel": Categorical(_STEELS),
            "floor-steel": Categorical(_STEELS),
            "barrier-height": Float(-30.0, 30.0),
            "hitting-position": Float(-30.0, 30.0),
        }
    ),
    objective=_car_weight,
    limits=_car_limits,
    limit_names=_LOADS,
    published=22.84298,
    source="Gu et al. 2001; Gandomi et al. 2011.",
    f_min=22.842969199882397,
    x_min=(0.5, 1.11636557354, 0.5, 1.30219721306, 0.5, 1.5, 0.5, 1.0, 0.0, -19.5615324704, -7.8e-07),
    start=(1.49, 1.43, 1.34, 1.47, 1.49, 0.71, 1.34, 1.0, 1.0, 15.0, 25.8),
    trials=60,
    failures=10,
    note="Eleven parameters, two of them one of two steels, and ten nearly bilinear limits.",
)  # fmt: skip

CAR_SHEETS = Design(
    name="car-sheets",
    space=Space({name: Float(*ends) for name, ends in zip(_SHEETS, _RANGES, strict=True)}),
    objective=_car_weight,
    limits=_sheet_limits,
    limit_names=_LOADS,
    published=23.5857,
    source="Deb et al. 2009.",
    f_min=23.5856491389,
    x_min=(0.5, 1.2257323233, 0.5, 1.2071108586, 0.875, 1.18611098, 0.4),
    start=(1.49, 1.29, 1.34, 1.47, 2.61, 0.57, 1.07),
    trials=60,
    failures=9,
    note="The sheets of the car alone: seven parameters, and ten limits that are nearly bilinear.",
)  # fmt: skip
