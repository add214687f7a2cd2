"""A column, a bulkhead and a beam: weight or deflection under limits of stress and size."""

from __future__ import annotations

import numpy as np

from ...space import Float, Space
from .._problem import Array
from ._design import Design, columns, rows


def _column_cost(x: Array) -> Array:
    diameter, wall = columns(x)
    return 9.82 * diameter * wall + 2.0 * diameter


def _column_limits(x: Array) -> Array:
    diameter, wall = columns(x)
    load, yields, young, length = 2500.0, 500.0, 0.85e6, 250.0
    stress = load / (np.pi * diameter * wall * yields)
    buckling = 8.0 * load * length**2 / (np.pi**3 * young * diameter * wall * (diameter**2 + wall**2))
    return rows(stress, buckling) - 1.0


TUBULAR_COLUMN = Design(
    name="tubular-column",
    space=Space({"diameter": Float(2.0, 14.0), "wall": Float(0.2, 0.8)}),
    objective=_column_cost,
    limits=_column_limits,
    limit_names=("yield", "buckling"),
    published=26.5313,
    source="Rao 1996; Gandomi et al. 2013. The 26.4864 that some report was not found.",
    f_min=26.531327880288032,
    x_min=(5.45115623425, 0.291965477147),
    start=(11.0, 0.6),
    trials=30,
    failures=5,
    note="The best column is a corner of both limits; buckling grows like 1/diameter³.",
)


def _bulkhead_span(x: Array) -> Array:
    width, depth, length, _ = columns(x)
    return width + np.sqrt(np.maximum(length**2 - depth**2, 0.0))


def _bulkhead_weight(x: Array) -> Array:
    width, _, length, plate = columns(x)
    return 5.885 * plate * (width + length) / _bulkhead_span(x)


def _bulkhead_limits(x: Array) -> Array:
    width, depth, length, plate = columns(x)
    pressure = 8.94 * _bulkhead_span(x)
    section = pressure / (plate * depth * (0.4 * width + length / 6.0))
    inertia = 2.2 * pressure ** (4.0 / 3.0) / (plate * depth**2 * (0.2 * width + length / 12.0))
    return (
        rows(
            section,
            inertia,
            (0.0156 * width + 0.15) / plate,
            (0.0156 * length + 0.15) / plate,
            1.05 / plate,
            depth / length,
        )
        - 1.0
    )


CORRUGATED_BULKHEAD = Design(
    name="corrugated-bulkhead",
    space=Space(
        {
            "width": Float(1.0, 100.0),
            "depth": Float(1.0, 100.0),
            "length": Float(1.0, 100.0),
            "plate": Float(0.1, 5.0),
        }
    ),
    objective=_bulkhead_weight,
    limits=_bulkhead_limits,
    limit_names=("section", "inertia", "plate-width", "plate-length", "plate-min", "depth"),
    published=6.8429580,
    source="Kvalie et al. 1966; Ravindran et al. 2006. The sizes start at 1, the plate at 0.1, instead of 0.",
    f_min=6.8429580101474,
    x_min=(57.6923076923, 34.1476203487, 57.6923076923, 1.05000000001),
    start=(60.0, 60.0, 70.0, 3.0),
    trials=60,
    failures=10,
    note="Section and inertia span five decades.",
)


def _ibeam_deflection(x: Array) -> Array:
    height, width, web, flange = columns(x)
    inertia = (
        web * (height - 2.0 * flange) ** 3 / 12.0
        + width * flange**3 / 6.0
        + 2.0 * width * flange * ((height - flange) / 2.0) ** 2
    )
    return 5000.0 / inertia


def _ibeam_limits(x: Array) -> Array:
    height, width, web, flange = columns(x)
    inner = height - 2.0 * flange
    area = 2.0 * width * flange + web * inner
    vertical = (
        18e4 * height / (web * inner**3 + 2.0 * width * flange * (4.0 * flange**2 + 3.0 * height * inner))
    )
    sideways = 15e3 * width / (web**3 * inner + 2.0 * flange * width**3)
    return rows(area / 300.0, (vertical + sideways) / 56.0) - 1.0


I_BEAM = Design(
    name="i-beam",
    space=Space(
        {
            "height": Float(10.0, 80.0),
            "width": Float(10.0, 50.0),
            "web": Float(0.9, 5.0),
            "flange": Float(0.9, 5.0),
        }
    ),
    objective=_ibeam_deflection,
    limits=_ibeam_limits,
    limit_names=("area", "stress"),
    published=0.0130741,
    source="Gold and Krishnamurty 1997; Gandomi et al. 2013.",
    f_min=0.013074118905378058,
    x_min=(80.0, 50.0, 0.9, 2.32179226066),
    start=(40.0, 40.0, 1.2, 1.5),
    trials=60,
    failures=5,
    note="The deflection spans three decades; the best beam is a corner of three bounds and the area.",
)

STRUCTURES = (TUBULAR_COLUMN, CORRUGATED_BULKHEAD, I_BEAM)
