"""Trusses of three and of ten bars: weight under limits of stress and displacement."""

from __future__ import annotations

import numpy as np

from ...space import Float, Space
from .._problem import Array
from ._design import Design, columns, rows


def _truss_weight(x: Array) -> Array:
    outer, inner = columns(x)
    weight: Array = 100.0 * (2.0 * np.sqrt(2.0) * outer + inner)
    return weight


def _truss_limits(x: Array) -> Array:
    outer, inner = columns(x)
    load, allowed = 2.0, 2.0
    shared = np.sqrt(2.0) * outer**2 + 2.0 * outer * inner
    left = load * (np.sqrt(2.0) * outer + inner) / shared
    middle = load * inner / shared
    right = load / (np.sqrt(2.0) * inner + outer)
    return rows(left, middle, right) / allowed - 1.0


THREE_BAR_TRUSS = Design(
    name="three-bar-truss",
    space=Space({"outer": Float(0.01, 1.0), "inner": Float(0.01, 1.0)}),
    objective=_truss_weight,
    limits=_truss_limits,
    limit_names=("left", "middle", "right"),
    published=263.8958,
    source="Nowacki 1974; Ray and Liew 2003. The areas start at 0.01 instead of 0.",
    f_min=263.89584337898225,
    x_min=(0.788675134295, 0.408248291337),
    start=(0.95, 0.9),
    trials=30,
    failures=5,
    note="Stresses grow like 1/area.",
)


_NODES = np.array([[720, 360], [720, 0], [360, 360], [360, 0], [0, 360], [0, 0]], dtype=np.float64)
_BARS = np.array([[4, 2], [2, 0], [5, 3], [3, 1], [2, 3], [0, 1], [4, 3], [5, 2], [2, 1], [3, 0]])
_YOUNG, _DENSITY, _LOAD = 1e4, 0.1, 100.0  # ksi, lb/in³, kips


def _bars() -> tuple[Array, Array]:
    """Lengths (10,) and, for each bar, the row (8,) that turns displacements into elongation."""
    rods = _NODES[_BARS[:, 1]] - _NODES[_BARS[:, 0]]
    lengths = np.linalg.norm(rods, axis=1)
    elongation = np.zeros((10, 12))
    for row, (first, second), direction in zip(elongation, _BARS, rods / lengths[:, None], strict=True):
        row[2 * first : 2 * first + 2] = -direction
        row[2 * second : 2 * second + 2] = direction
    return lengths, elongation[:, :8]


_LENGTHS, _ELONGATION = _bars()
_FORCES = np.array([0.0, 0.0, 0.0, -_LOAD, 0.0, 0.0, 0.0, -_LOAD])


def _ten_bars_weight(x: Array) -> Array:
    return _DENSITY * np.asarray(x, dtype=np.float64) @ _LENGTHS


def _ten_bars_limits(x: Array) -> Array:
    stiffness = _YOUNG * np.asarray(x, dtype=np.float64) / _LENGTHS
    matrix = np.einsum("bi,...b,bj->...ij", _ELONGATION, stiffness, _ELONGATION)
    moved = np.linalg.solve(matrix, np.broadcast_to(_FORCES[:, None], (*matrix.shape[:-1], 1)))[..., 0]
    stress = np.abs(moved @ _ELONGATION.T) * _YOUNG / _LENGTHS
    upper, lower = moved[..., [0, 1, 4, 5]], moved[..., [2, 3, 6, 7]]
    sag = rows(np.abs(upper).max(axis=-1), np.abs(lower).max(axis=-1))
    return np.concatenate([stress / 25.0, sag / 2.0], axis=-1) - 1.0


TEN_BAR_TRUSS = Design(
    name="ten-bar-truss",
    space=Space({f"bar-{i}": Float(0.1, 35.0) for i in range(1, 11)}),
    objective=_ten_bars_weight,
    limits=_ten_bars_limits,
    limit_names=(*(f"stress-{i}" for i in range(1, 11)), "sag-upper", "sag-lower"),
    published=5060.85,
    source="Schmit and Miura 1976, first load case; Haftka and Gürdal 1992.",
    f_min=5060.853660384991,
    x_min=(
        30.5218067392,
        0.1,
        23.1998879894,
        15.2229064333,
        0.1,
        0.551355540817,
        7.45720034163,
        21.0364282136,
        21.5284417793,
        0.1,
    ),
    start=(33.0, 10.0, 30.0, 20.0, 5.0, 10.0, 20.0, 25.0, 25.0, 10.0),
    trials=100,
    failures=10,
    note="Ten parameters and twelve limits that span two decades; the displacements hide in a linear system.",
)

TRUSSES = (THREE_BAR_TRUSS, TEN_BAR_TRUSS)
