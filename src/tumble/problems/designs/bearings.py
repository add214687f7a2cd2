"""A hydrostatic thrust bearing and a ball bearing."""

from __future__ import annotations

import numpy as np

from ...space import Float, Int, Space
from .._problem import Array
from ._design import Design, columns, rows


def _thrust_parameters(x: Array) -> tuple[Array, ...]:
    """The four parameters; a recess as wide as the step is made wider: nothing divides by zero."""
    step, recess, viscosity, flow = columns(x)
    return step, np.where(np.abs(step - recess) < 1e-6, step + 1e-6, recess), viscosity, flow


def _thrust_state(x: Array) -> tuple[Array, Array, Array, Array]:
    """Temperature rise ΔT, friction loss Ef, film thickness h and inlet pressure P0."""
    step, recess, viscosity, flow = _thrust_parameters(x)
    mu = 1e-6 * viscosity
    heat = (np.log10(np.log10(8.122e6 * mu + 0.8)) - 10.04) / -3.55
    rise = 2.0 * (10.0**heat - 560.0)
    loss = 9336.0 * flow * 0.0307 * 0.5 * rise
    film = (2.0 * np.pi * 750.0 / 60.0) ** 2 * (2.0 * np.pi * mu / loss) * (step**4 - recess**4) / 4.0
    pressure = 6.0 * mu * flow / (np.pi * film**3) * np.log(step / recess)
    return rise, loss, film, pressure


def _thrust_power(x: Array) -> Array:
    _, loss, _, pressure = _thrust_state(x)
    return (columns(x)[3] * pressure / 0.7 + loss) / 12.0


def _thrust_limits(x: Array) -> Array:
    step, recess, _, flow = _thrust_parameters(x)
    rise, _, film, pressure = _thrust_state(x)
    ring = step**2 - recess**2
    weight = np.pi * pressure / 2.0 * ring / np.log(step / recess)
    entrance = 0.0307 / (386.4 * pressure) * flow / (2.0 * np.pi * step * film)
    return rows(
        1.0 - weight / 101_000.0,
        pressure / 1000.0 - 1.0,
        rise / 50.0 - 1.0,
        1.0 - film / 0.001,
        recess / step - 1.0,
        entrance / 0.001 - 1.0,
        weight / (np.pi * ring) / 5000.0 - 1.0,
    )


THRUST_BEARING = Design(
    name="thrust-bearing",
    space=Space(
        {
            "step": Float(1.0, 16.0),
            "recess": Float(1.0, 16.0),
            "viscosity": Float(1.0, 16.0),
            "flow": Float(1.0, 16.0),
        }
    ),
    objective=_thrust_power,
    limits=_thrust_limits,
    limit_names=("weight", "pressure", "temperature", "film", "geometry", "entrance", "bearing"),
    published=1625.4427,
    source="Siddall 1982; Rao et al. 2011.",
    f_min=1625.4427591255553,
    x_min=(5.95578049538, 5.38901304583, 5.35869726578, 2.26965596348),
    start=(9.2, 6.6, 6.5, 15.3),
    trials=100,
    failures=15,
    note="A hydrostatic step bearing: ten decades and more of pressure, a thin curved safe set.",
)

_OUTSIDE, _BORE, _WIDTH = 160.0, 90.0, 30.0


def _ball_rating(x: Array) -> Array:
    pitch, ball, balls, inner, outer = columns(x)[:5]
    gamma = ball / pitch
    curvature = inner * (2.0 * outer - 1.0) / (outer * (2.0 * inner - 1.0))
    race = 1.04 * ((1.0 - gamma) / (1.0 + gamma)) ** 1.72 * curvature**0.41
    factor = 37.91 * (1.0 + race ** (10.0 / 3.0)) ** -0.3
    factor = factor * gamma**0.3 * (1.0 - gamma) ** 1.39 / (1.0 + gamma) ** (1.0 / 3.0)
    factor = factor * (2.0 * inner / (2.0 * inner - 1.0)) ** 0.41
    size = np.where(ball <= 25.4, ball**1.8, 3.647 * ball**1.4)
    return -factor * balls ** (2.0 / 3.0) * size


def _ball_limits(x: Array) -> Array:
    pitch, ball, balls, _, _, smallest, largest, shoulder, offset, cage = columns(x)
    room = _OUTSIDE - _BORE
    quarter = (room - 2.0 * ball) / 4.0
    first, second = room / 2.0 - 3.0 * quarter, _OUTSIDE / 2.0 - quarter - ball
    cosine = (first**2 + second**2 - (_BORE / 2.0 + quarter) ** 2) / (2.0 * first * second)
    angle = 2.0 * np.pi - 2.0 * np.arccos(np.clip(cosine, -1.0, 1.0))
    fitting = 1.0 + angle / (2.0 * np.arcsin(ball / pitch))
    middle = (_OUTSIDE + _BORE) / 2.0
    return (
        rows(
            balls / fitting,
            smallest * room / (2.0 * ball),
            2.0 * ball / (largest * room),
            ball / (cage * _WIDTH),
            middle / pitch,
            pitch / ((1.0 + 2.0 * offset) * middle),
            (pitch + (1.0 + 2.0 * shoulder) * ball) / _OUTSIDE,
        )
        - 1.0
    )


BALL_BEARING = Design(
    name="ball-bearing",
    space=Space(
        {
            "pitch": Float(125.0, 150.0),
            "ball": Float(10.5, 31.5),
            "balls": Int(4, 50),
            "inner-race": Float(0.515, 0.6),
            "outer-race": Float(0.515, 0.6),
            "ball-min": Float(0.4, 0.5),
            "ball-max": Float(0.6, 0.7),
            "shoulder": Float(0.3, 0.4),
            "offset": Float(0.02, 0.1),
            "cage": Float(0.6, 0.85),
        }
    ),
    objective=_ball_rating,
    limits=_ball_limits,
    limit_names=("fit", "ball-min", "ball-max", "cage", "pitch-min", "pitch-max", "shoulder"),
    published=-81859.74,
    source="Gupta et al. 2007; Rao et al. 2011, without the two limits that repeat the bounds of the races.",
    f_min=-81859.74159511754,
    x_min=(
        125.719055614,
        21.4255902405,
        11.0,
        0.515,
        0.515,
        0.426065707383,
        0.635092165872,
        0.3,
        0.0694770452694,
        0.800201026674,
    ),
    start=(130.2, 14.8, 6.0, 0.54, 0.57, 0.4, 0.63, 0.303, 0.09, 0.78),
    trials=60,
    failures=10,
    note="A rolling-element bearing: ten parameters, one an integer; the number of balls jumps.",
    slack=0.03,
)

BEARINGS = (THRUST_BEARING, BALL_BEARING)
