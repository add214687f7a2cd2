"""Parts of machines: a piston's lever, a clutch and a gripper."""

from __future__ import annotations

import numpy as np

from ...space import Float, Int, Space
from .._problem import Array
from ._design import Design, columns, rows

_THETA = np.pi / 4.0


def _lever_lengths(x: Array) -> tuple[Array, Array]:
    """L1 and L2, the piston's length at 0 and at 45 degrees."""
    rise, base, _, arm = columns(x)
    short = np.hypot(arm - base, rise)
    long = np.hypot(arm * np.sin(_THETA) + rise, base - arm * np.cos(_THETA))
    return short, long


def _lever_oil(x: Array) -> Array:
    short, long = _lever_lengths(x)
    return 0.25 * np.pi * columns(x)[2] ** 2 * (long - short)


def _lever_limits(x: Array) -> Array:
    rise, base, diameter, arm = columns(x)
    load, span, moment, pressure = 10_000.0, 240.0, 1.8e6, 1500.0
    short, long = _lever_lengths(x)
    reach = np.abs(-arm * (arm * np.sin(_THETA) + rise) + rise * (base - arm * np.cos(_THETA))) / short
    force = np.pi * pressure * diameter**2 / 4.0
    balance = 1.0 - reach * force / (load * span * np.cos(_THETA))
    bending = load * (span - arm) / moment - 1.0
    return rows(balance, bending, 1.2 * (long - short) / short - 1.0, diameter / (2.0 * base) - 1.0)


PISTON_LEVER = Design(
    name="piston-lever",
    space=Space(
        {
            "rise": Float(0.05, 500.0),
            "base": Float(0.05, 500.0),
            "diameter": Float(0.05, 500.0),
            "arm": Float(0.05, 120.0),
        }
    ),
    objective=_lever_oil,
    limits=_lever_limits,
    limit_names=("balance", "bending", "stroke", "clearance"),
    published=8.41269832,
    source="Vanderplaats 1995; Gandomi et al. 2013.",
    f_min=8.412698324105117,
    x_min=(0.05, 2.041513590, 4.08302718, 120.0),
    start=(250.0, 250.0, 200.0, 90.0),
    trials=60,
    failures=10,
    note="Six decades of oil volume; the best lever is in one corner, a poor one (167) in another.",
)


def _clutch_mass(x: Array) -> Array:
    inner, outer, thickness, _, discs = columns(x)
    return np.pi * (outer**2 - inner**2) * thickness * (discs + 1.0) * 7.8e-6


def _clutch_limits(x: Array) -> Array:
    inner, outer, thickness, force, discs = columns(x)
    friction, gap, inertia, speed = 0.5, 0.5, 55.0, 250.0
    ring = outer**2 - inner**2
    radius = 2.0 / 3.0 * (outer**3 - inner**3) / ring
    omega = np.pi * speed / 30.0
    sliding = radius * omega / 1000.0
    pressure = force / (np.pi * ring)
    torque = friction * force * discs * radius / 1000.0
    stopping = inertia * omega / (torque + 3.0)
    return (
        rows(
            20.0 / (outer - inner),
            (discs + 1.0) * (thickness + gap) / 30.0,
            pressure,
            pressure * sliding / 10.0,
            sliding / 10.0,
            1.5 * 40.0 / torque,
            stopping / 15.0,
        )
        - 1.0
    )


DISC_CLUTCH_BRAKE = Design(
    name="disc-clutch-brake",
    space=Space(
        {
            "inner": Int(60, 80),
            "outer": Int(90, 110),
            "thickness": Float(1.0, 3.0, step=0.5),
            "force": Int(600, 1000, step=10),
            "discs": Int(2, 9),
        }
    ),
    objective=_clutch_mass,
    limits=_clutch_limits,
    limit_names=("ring", "length", "pressure", "power", "sliding", "torque", "stopping"),
    published=0.313656,
    source="Osyczka 2002; Deb and Srinivasan 2006 (friction 0.5).",
    f_min=0.31365661053440497,
    x_min=(70.0, 90.0, 1.0, 1000.0, 3.0),
    start=(62.0, 105.0, 2.0, 800.0, 6.0),
    trials=60,
    failures=5,
    note="All five parameters are discrete; the force costs nothing.",
)


_STROKE, _PULL = 100.0, 100.0
_STROKES = np.linspace(0.0, _STROKE, 101)


def _gripper_angles(x: Array, stroke: Array | float) -> tuple[Array, Array]:
    """α and β of the linkage at a stroke; impossible triangles are clipped to flat ones."""
    a, b, _, e, _, length, _ = columns(x)
    left = length - stroke
    link = np.maximum(np.hypot(left, e), 1e-9)
    phi = np.arctan2(e, left)
    alpha = np.arccos(np.clip((a**2 + link**2 - b**2) / (2.0 * a * link), -1.0, 1.0)) + phi
    beta = np.arccos(np.clip((b**2 + link**2 - a**2) / (2.0 * b * link), -1.0, 1.0)) - phi
    return alpha, beta


def _gripper_opening(x: Array, stroke: float) -> Array:
    _, _, c, e, f, _, delta = columns(x)
    return 2.0 * (e + f + c * np.sin(_gripper_angles(x, stroke)[1] + delta))


def _gripper_force(x: Array) -> Array:
    spread = np.asarray(x, dtype=np.float64)[..., None, :]
    alpha, beta = _gripper_angles(spread, _STROKES)
    b, c = columns(spread)[1:3]
    cosine = np.cos(alpha)
    held = np.where(np.abs(cosine) < 1e-9, 1e-9, cosine)
    force = _PULL * b * np.sin(alpha + beta) / (2.0 * c * held)
    difference: Array = force.max(axis=-1) - force.min(axis=-1)
    return difference


def _gripper_limits(x: Array) -> Array:
    a, b, _, e, _, length, _ = columns(x)
    closed, opened = _gripper_opening(x, _STROKE), _gripper_opening(x, 0.0)
    return rows(
        closed / 50.0 - 1.0,
        -closed / 50.0,
        1.0 - opened / 100.0,
        opened / 150.0 - 1.0,
        (length**2 + e**2) / (a + b) ** 2 - 1.0,
        1.0 - ((length - _STROKE) ** 2 + (a - e) ** 2) / b**2,
        _STROKE / length - 1.0,
        np.abs(a - b) / np.hypot(np.maximum(length - _STROKE, 1e-9), e) - 1.0,
    )


ROBOT_GRIPPER = Design(
    name="robot-gripper",
    space=Space(
        {
            "a": Float(10.0, 150.0),
            "b": Float(10.0, 150.0),
            "c": Float(100.0, 200.0),
            "e": Float(0.0, 50.0),
            "f": Float(10.0, 150.0),
            "length": Float(100.0, 300.0),
            "delta": Float(1.0, 3.14),
        }
    ),
    objective=_gripper_force,
    limits=_gripper_limits,
    limit_names=(
        "closed-max",
        "closed-min",
        "open-min",
        "open-max",
        "reach",
        "triangle",
        "stroke",
        "linkage",
    ),
    published=4.247644,
    source="Osyczka et al. 1999; Rao and Waghmare 2017. Ours: the force on 101 strokes, the linkage.",
    f_min=4.289322765228704,
    x_min=(150.0, 150.0, 200.0, 0.0, 105.0, 100.00001, 2.1),
    start=(126.0, 93.0, 114.0, 8.4, 122.7, 157.0, 2.94),
    trials=100,
    failures=15,
    note="The force has poles, seven limits leave a thin safe set, impossible linkages are flattened.",
)

MACHINES = (PISTON_LEVER, DISC_CLUTCH_BRAKE, ROBOT_GRIPPER)
