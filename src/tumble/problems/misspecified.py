"""Problems that no stationary Gaussian process describes: jumps, steps, changing frequency.

They are ours, made to see whether a budget holds where the model is wrong. All live on the unit cube. Optima
were found by multi-start SQP on the smooth function behind each constraint and are checked in the tests
(relative tolerance 1e-6).
"""

from __future__ import annotations

import numpy as np

from ._problem import Array, Problem, unit_cube


def cliff() -> Problem:
    """3-D: the constraint is -0.3 up to an edge and jumps to +1 behind it; the optimum lies at the edge."""
    return Problem(
        name="cliff",
        bounds=unit_cube(3),
        objective=_cliff_objective,
        constraints=lambda x: np.array([-0.3 if cliff_edge(x) <= 0.0 else 1.0 + cliff_edge(x)]),
        constraint_names=("edge",),
        f_min=-0.6460902907735584,
        x_min=np.array([0.7079495408848581, 0.35394611052523983, 0.3538243385633239]),
        initial=np.array([[0.15, 0.8, 0.3]]),
        trials=80,
        failures=8,
        note="A jump that gives no warning: the measured constraint is constant on the safe side.",
    )


def _cliff_objective(x: Array) -> float:
    return float(-x[0] + 1.5 * (x[1] - 0.3) ** 2 + (x[2] - 0.6) ** 2 + 0.1 * np.sin(9.0 * x[1]) * x[0])


def cliff_edge(x: Array) -> float:
    """The smooth function whose zero is the edge of `cliff`; safe where <= 0."""
    return float(x[0] - 0.6 - 0.15 * np.sin(6.0 * x[1]) - 0.1 * np.cos(5.0 * x[2]))


def staircase() -> Problem:
    """4-D: a constraint reported in coarse steps of 1/4, over a rippled objective."""
    return Problem(
        name="staircase",
        bounds=unit_cube(4),
        objective=_staircase_objective,
        constraints=lambda x: np.array([np.ceil(4.0 * staircase_level(x)) / 4.0]),
        constraint_names=("level",),
        f_min=0.12176573151294576,
        x_min=np.array([0.08525382572967309, 0.4180639368059913, 0.7535714968349176, 0.41879925129942186]),
        initial=np.array([[0.85, 0.7, 0.8, 0.75]]),
        trials=100,
        failures=10,
        note="A quantised sensor: the constraint is piecewise constant and its last step hides the limit.",
    )


def _staircase_objective(x: Array) -> float:
    bowl = np.sum((x - np.array([0.1, 0.3, 0.2, 0.4])) ** 2)
    return float(bowl + 0.05 * np.sum(np.cos(12.0 * np.pi * x)))


def staircase_level(x: Array) -> float:
    """The smooth level behind the steps of `staircase`; safe where <= 0."""
    return float(1.0 - np.sqrt(np.sum((x * np.array([1.0, 0.8, 1.2, 0.6])) ** 2)))


def chirp() -> Problem:
    """2-D: safe stripes that become narrower and narrower towards the better values."""
    return Problem(
        name="chirp",
        bounds=unit_cube(2),
        objective=lambda x: float(x[0] + 0.4 * (x[1] - 0.5) ** 2),
        constraints=lambda x: np.array([chirp_wave(x)]),
        constraint_names=("stripes",),
        f_min=0.01194463220474769,
        x_min=np.array([0.011902401509261907, 0.48972494580479226]),
        initial=np.array([[0.9, 0.2]]),
        trials=60,
        failures=10,
        note="The constraint's frequency rises sixtyfold across the square.",
    )


def chirp_wave(x: Array) -> float:
    """The stripes of `chirp`; safe where <= 0."""
    return float(np.sin(3.063 / (x[0] + 0.15)) - 0.3 - 0.3 * np.cos(5.0 * x[1]))


def stalling() -> Problem:
    """3-D: two constraints with heavy tails (reciprocal and exponential) and an objective with a plateau."""
    return Problem(
        name="stalling",
        bounds=unit_cube(3),
        objective=_stalling_objective,
        constraints=_stalling_constraints,
        constraint_names=("torque", "heat"),
        f_min=-0.9638844211427466,
        x_min=np.array([0.8889308723206174, 0.4991867949629159, 0.417602867729278]),
        initial=np.array([[0.3, 0.2, 0.25]]),
        trials=60,
        failures=6,
        note="A drill that stalls: torque explodes over a few per cent of the range; the rate saturates.",
    )


def _stalling_objective(x: Array) -> float:
    rate = x[0] * (0.4 + x[1]) * (1.0 - 0.5 * (x[2] - 0.4) ** 2)
    return float(-np.tanh(2.5 * rate))


def _stalling_constraints(x: Array) -> Array:
    torque = 0.05 / (1.05 - x[0]) + 0.6 * x[1] ** 4 + 0.3 * x[2] ** 2 - 0.4
    heat = np.exp(4.0 * (x[0] * x[1] - 0.45)) + 0.3 * np.abs(x[2] - 0.5) - 1.0
    return np.array([torque, heat])
