"""Design problems of mechanical engineering, each from a known safe but poor design.

The usual forms of the literature (Coello 2002; Rao 1996), all variables continuous. Constraints are ratios
to their limits minus one (so that they are of order one), without those that only repeat the bounds. Optima
were found by multi-start SQP and are checked in the tests (relative tolerance 1e-6).
"""

from __future__ import annotations

import numpy as np

from ._problem import Array, Problem


def pressure_vessel() -> Problem:
    """Cost of a cylindrical vessel: shell and head thickness, radius, length (inches)."""
    return Problem(
        name="pressure-vessel",
        bounds=np.array([[0.0625, 2.0], [0.0625, 2.0], [10.0, 80.0], [10.0, 200.0]]),
        objective=_vessel_cost,
        constraints=_vessel_constraints,
        constraint_names=("shell", "head", "volume"),
        parameter_names=("shell", "head", "radius", "length"),
        f_min=5885.332773727694,
        x_min=np.array([0.7781686413846957, 0.3846491626328814, 40.31961872426525, 200.0]),
        initial=np.array([[1.5, 1.0, 60.0, 100.0]]),
        trials=80,
        failures=8,
        note="The best design is a corner of two thickness limits and the volume limit.",
    )


def _vessel_cost(x: Array) -> float:
    shell, head, radius, length = x
    material = 0.6224 * shell * radius * length + 1.7781 * head * radius**2
    return float(material + 3.1661 * shell**2 * length + 19.84 * shell**2 * radius)


def _vessel_constraints(x: Array) -> Array:
    shell, head, radius, length = x
    volume = np.pi * radius**2 * length + 4.0 / 3.0 * np.pi * radius**3
    return np.array(
        [0.0193 * radius / shell - 1.0, 0.00954 * radius / head - 1.0, 1.0 - volume / 1_296_000.0]
    )


def tension_spring() -> Problem:
    """Weight of a coil spring: wire diameter, coil diameter (inches), number of active coils."""
    return Problem(
        name="tension-spring",
        bounds=np.array([[0.05, 0.2], [0.25, 1.3], [2.0, 15.0]]),
        objective=lambda x: float((x[2] + 2.0) * x[1] * x[0] ** 2),
        constraints=_spring_constraints,
        constraint_names=("deflection", "stress", "frequency", "diameter"),
        parameter_names=("wire", "coil", "turns"),
        f_min=0.012665232788611773,
        x_min=np.array([0.05168906173762912, 0.3567177555494103, 11.288964828454946]),
        initial=np.array([[0.07, 0.8, 6.0]]),
        trials=80,
        failures=12,
        note="A thin safe set: the deflection ratio spans orders of magnitude.",
    )


def _spring_constraints(x: Array) -> Array:
    wire, coil, turns = x
    bending = (4.0 * coil**2 - wire * coil) / (12566.0 * (coil * wire**3 - wire**4))
    return np.array(
        [
            1.0 - coil**3 * turns / (71785.0 * wire**4),
            bending + 1.0 / (5108.0 * wire**2) - 1.0,
            1.0 - 140.45 * wire / (coil**2 * turns),
            (wire + coil) / 1.5 - 1.0,
        ]
    )


def welded_beam() -> Problem:
    """Cost of a welded beam: weld height and length, bar height and thickness (inches)."""
    return Problem(
        name="welded-beam",
        bounds=np.array([[0.125, 2.0], [0.1, 10.0], [0.1, 10.0], [0.1, 2.0]]),
        objective=lambda x: float(1.10471 * x[0] ** 2 * x[1] + 0.04811 * x[2] * x[3] * (14.0 + x[1])),
        constraints=_beam_constraints,
        constraint_names=("shear", "bending", "geometry", "deflection", "buckling"),
        parameter_names=("weld", "length", "height", "thickness"),
        f_min=1.7248523086214984,
        x_min=np.array([0.20572963977634706, 3.470488665861999, 9.036623910390993, 0.20572963978632272]),
        initial=np.array([[0.5, 6.0, 8.0, 1.0]]),
        trials=80,
        failures=10,
        note="Five constraints; bending and buckling vary over orders of magnitude.",
    )


def _beam_constraints(x: Array) -> Array:
    weld, length, height, thickness = x
    load, span, young, shear_modulus = 6000.0, 14.0, 30e6, 12e6
    arm = np.sqrt(length**2 / 4.0 + ((weld + height) / 2.0) ** 2)
    polar = 2.0 * np.sqrt(2.0) * weld * length * (length**2 / 12.0 + ((weld + height) / 2.0) ** 2)
    primary = load / (np.sqrt(2.0) * weld * length)
    secondary = load * (span + length / 2.0) * arm / polar
    shear = np.sqrt(primary**2 + primary * secondary * length / arm + secondary**2)
    buckling = (
        4.013
        * young
        * height
        * thickness**3
        / (6.0 * span**2)
        * (1.0 - height / (2.0 * span) * np.sqrt(young / (4.0 * shear_modulus)))
    )
    return np.array(
        [
            np.log(shear / 13_600.0),
            np.log(6.0 * load * span / (thickness * height**2) / 30_000.0),
            weld - thickness,
            np.log(4.0 * load * span**3 / (young * height**3 * thickness) / 0.25),
            np.log(load / buckling),
        ]
    )


def speed_reducer() -> Problem:
    """Weight of a gearbox: face width, module, teeth, two shaft lengths, two shaft diameters (cm)."""
    return Problem(
        name="speed-reducer",
        bounds=np.array(
            [[2.6, 3.6], [0.7, 0.8], [17.0, 28.0], [7.3, 8.3], [7.3, 8.3], [2.9, 3.9], [5.0, 5.5]]
        ),
        objective=_reducer_weight,
        constraints=_reducer_constraints,
        constraint_names=(
            "bending",
            "contact",
            "deflection-1",
            "deflection-2",
            "stress-1",
            "stress-2",
            "space",
            "width-min",
            "width-max",
            "shaft-1",
            "shaft-2",
        ),
        parameter_names=("face", "module", "teeth", "length-1", "length-2", "shaft-1", "shaft-2"),
        f_min=2994.4710661748795,
        x_min=np.array(
            [
                3.500000000035,
                0.7000000000000002,
                17.0,
                7.3,
                7.715319911574819,
                3.3502146661002734,
                5.286654464997878,
            ]
        ),
        initial=np.array([[3.55, 0.705, 19.0, 8.0, 8.0, 3.6, 5.45]]),
        trials=60,
        failures=8,
        note="Seven dimensions and eleven constraints, four of them active at the optimum.",
    )


def _reducer_weight(x: Array) -> float:
    face, module, teeth, length1, length2, shaft1, shaft2 = x
    gears = 0.7854 * face * module**2 * (3.3333 * teeth**2 + 14.9334 * teeth - 43.0934)
    shafts = -1.508 * face * (shaft1**2 + shaft2**2) + 7.4777 * (shaft1**3 + shaft2**3)
    return float(gears + shafts + 0.7854 * (length1 * shaft1**2 + length2 * shaft2**2))


def _reducer_constraints(x: Array) -> Array:
    face, module, teeth, length1, length2, shaft1, shaft2 = x
    stress1 = np.sqrt((745.0 * length1 / (module * teeth)) ** 2 + 16.9e6) / (110.0 * shaft1**3)
    stress2 = np.sqrt((745.0 * length2 / (module * teeth)) ** 2 + 157.5e6) / (85.0 * shaft2**3)
    return np.array(
        [
            27.0 / (face * module**2 * teeth) - 1.0,
            397.5 / (face * module**2 * teeth**2) - 1.0,
            1.93 * length1**3 / (module * teeth * shaft1**4) - 1.0,
            1.93 * length2**3 / (module * teeth * shaft2**4) - 1.0,
            stress1 - 1.0,
            stress2 - 1.0,
            module * teeth / 40.0 - 1.0,
            5.0 * module / face - 1.0,
            face / (12.0 * module) - 1.0,
            (1.5 * shaft1 + 1.9) / length1 - 1.0,
            (1.1 * shaft2 + 1.9) / length2 - 1.0,
        ]
    )
