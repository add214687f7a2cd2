"""Plants: a gas compressor, an alkylation process and a refrigeration system."""

from __future__ import annotations

import numpy as np

from ...space import Float, Space
from .._problem import Array
from ._design import Design, columns, rows


def _compressor_cost(x: Array) -> Array:
    length, ratio, diameter, rate = columns(x)
    return (
        8.61e5 * np.sqrt(length) * ratio * diameter ** (-2.0 / 3.0) / np.sqrt(rate)
        + 3.69e4 * diameter
        + 7.72e8 / length * ratio**0.219
        - 765.43e6 / length
    )


def _compressor_limits(x: Array) -> Array:
    _, ratio, _, rate = columns(x)
    return rows((rate + 1.0) / ratio**2 - 1.0)


GAS_COMPRESSOR = Design(
    name="gas-compressor",
    space=Space(
        {
            "length": Float(20.0, 50.0),
            "ratio": Float(1.0, 10.0),
            "diameter": Float(20.0, 50.0),
            "rate": Float(0.1, 60.0),
        }
    ),
    objective=_compressor_cost,
    limits=_compressor_limits,
    limit_names=("flow",),
    published=2964895.4173,
    source="Beightler and Phillips 1976; Pant et al. 2009.",
    f_min=2964895.4173462093,
    x_min=(50.0, 1.17828360964, 24.5926013357, 0.388352264743),
    start=(30.0, 8.0, 40.0, 20.0),
    trials=60,
    failures=5,
    note="A gas transmission compressor: costs in millions, a corner of the box, one limit over two decades.",
)


def _alkylation_loss(x: Array) -> Array:
    olefin, acid, alkylate, _, octane, ratio, _ = columns(x)
    costs = 1.715 * olefin + 0.035 * olefin * ratio + 10.0 * acid + 4.0565 * alkylate
    return costs - 0.063 * alkylate * octane


def _alkylation_limits(x: Array) -> Array:
    a, b, c, d, e, f, g = columns(x)
    return (
        rows(
            (0.0059553571 * f**2 * a + 0.88392857 * c) / (0.1175625 * f * a + a),
            (1.1088 * a + 0.1303533 * a * f) / (0.0066033 * a * f**2 + c),
            (6.66173269 * f**2 + 172.39878 * e) / (56.596669 * d + 191.20592 * f + 10_000.0),
            (1.08702 * f + 0.32175 * d + 56.85075) / (0.03762 * f**2 + e),
            (0.006198 * g * d * c + 2462.3121 * b) / (25.125634 * b * d + c * d),
            (161.18996 * c * d + 5000.0 * b * d) / (489_510.0 * b + c * d * g),
            (0.33 * g + 44.333333) / e,
            0.022556 * e / (1.0 + 0.007595 * g),
            0.00061 * c / (1.0 + 0.0005 * a),
            0.819672 * (a + 1.0) / c,
            24_500.0 * b / (250.0 * b * d + c * d),
            (1020.4082 * d * b + 1.2244898 * c * d) / (100_000.0 * b),
            6.25 * a * (f + 1.0) / (7.625 * c + 100_000.0),
            (1.22 * c + 1.0) / (a * (f + 1.0)),
        )
        - 1.0
    )


ALKYLATION = Design(
    name="alkylation",
    space=Space(
        {
            "olefin": Float(1500.0, 2000.0),
            "acid": Float(1.0, 120.0),
            "alkylate": Float(3000.0, 3500.0),
            "strength": Float(85.0, 93.0),
            "octane": Float(90.0, 95.0),
            "ratio": Float(3.0, 12.0),
            "performance": Float(145.0, 162.0),
        }
    ),
    objective=_alkylation_loss,
    limits=_alkylation_limits,
    limit_names=(
        "yield-max", "yield-min", "octane-max", "octane-min", "dilution-max", "dilution-min",
        "performance-max", "performance-min", "isobutane-max", "isobutane-min", "acid-max", "acid-min",
        "ratio-max", "ratio-min",
    ),
    published=-1766.36,
    source="Bracken and McCormick 1968; Sauer et al. 1964.",
    f_min=-1766.365178709133,
    x_min=(1698.25611208, 54.2743787398, 3031.35746889, 90.190221419, 95.0, 10.504131284, 153.535354543),
    start=(1691.82, 93.36, 3004.0, 90.1, 93.93, 10.506, 149.15),
    trials=60,
    failures=15,
    note="Seven parameters and fourteen limits in pairs that nearly are equations.",
    slack=0.0035,
)  # fmt: skip


def _refrigeration_cost(x: Array) -> Array:
    a, b, c, d, e, f, g, h, i, j, k, m, _, p = columns(x)
    return (
        63098.88 * b * d * m + 5441.5 * b**2 * m + 115055.5 * b**1.664 * f + 6172.27 * b**2 * f
        + 63098.88 * a * c * k + 5441.5 * a**2 * k + 115055.5 * a**1.664 * e + 6172.27 * a**2 * e
        + 140.53 * a * k + 281.29 * c * k + 70.26 * a**2 + 281.29 * a * c + 281.29 * c**2
        + 14437.0 * h**1.8812 * m**0.3424 * j / p * a**2 * g / i
        + 20470.2 * g**2.893 * k**0.316 * a**2
    )  # fmt: skip


def _refrigeration_limits(x: Array) -> Array:
    a, b, c, d, e, f, g, h, i, j, k, m, n, p = columns(x)
    exchange = 47.136 * b**0.333 / j * m - 1.333 * h * n**2.1195 + 62.08 * n**2.1195 * h**0.2 / (m * j)
    return (
        rows(
            1.524 / g,
            1.524 / h,
            0.07789 * a - 2.0 * i / g,
            7.05305 / i * a**2 * j / (h * b * p),
            0.0833 / n * p,
            exchange,
            0.04771 * j * h**1.8812 * m**0.3424,
            0.0488 * i * g**1.893 * k**0.316,
            0.0099 * a / c,
            0.0193 * b / d,
            0.0298 * a / e,
            0.056 * b / f,
            2.0 / i,
            2.0 / j,
            m / k,
        )
        - 1.0
    )


REFRIGERATION = Design(
    name="refrigeration",
    space=Space({f"x{i}": Float(0.001, 5.0, log=True) for i in range(1, 15)}),
    objective=_refrigeration_cost,
    limits=_refrigeration_limits,
    limit_names=tuple(f"limit-{i}" for i in range(1, 16)),
    published=0.032213,
    source="Paul and Tay 1987; Andrei 2013; Kumar et al. 2020.",
    f_min=0.03221300088424589,
    x_min=(
        0.001,
        0.001,
        0.001,
        0.001,
        0.001,
        0.001,
        1.524,
        1.524,
        5.0,
        2.00000000001,
        0.00100000000001,
        0.001,
        0.00729340078098,
        0.0875558317039,
    ),
    start=(0.0083, 0.0034, 0.33, 0.0098, 0.0028, 0.039, 4.8, 3.3, 3.6, 3.7, 0.0082, 0.0016, 0.0082, 0.07),
    trials=100,
    failures=15,
    note="Fourteen logarithmic parameters, fifteen limits; cost and limits span ten decades.",
)

PLANTS = (GAS_COMPRESSOR, ALKYLATION, REFRIGERATION)
