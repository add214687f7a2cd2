"""Small constrained problems of the literature, all in two dimensions so that they can be drawn.

Origins: Gardner et al. 2014 (both simulations), Gramacy et al. 2016 (the toy problem), and Branin's function
inside a disk. Optima were found by multi-start SQP and are checked against brute force in the tests
(relative tolerance 1e-6).
"""

from __future__ import annotations

import numpy as np

from ._problem import Array, Problem


def gardner_cosine() -> Problem:
    """Gardner et al. 2014, first simulation: cos(2x)cos(y) + sin(x) where cos(x + y) <= 1/2."""
    return Problem(
        name="gardner-cosine",
        bounds=np.array([[0.0, 6.0], [0.0, 6.0]]),
        objective=lambda x: float(np.cos(2.0 * x[0]) * np.cos(x[1]) + np.sin(x[0])),
        constraints=lambda x: np.array([np.cos(x[0]) * np.cos(x[1]) - np.sin(x[0]) * np.sin(x[1]) - 0.5]),
        constraint_names=("cosine",),
        f_min=-2.0,
        x_min=np.array([1.5 * np.pi, 0.0]),
        initial=np.array([[2.0, 2.5]]),
        trials=40,
        failures=6,
        note="Two separate safe bands; several local minima.",
    )


def gardner_sine() -> Problem:
    """Gardner et al. 2014, second simulation: sin(x) + y where sin(x)sin(y) <= -0.95."""
    return Problem(
        name="gardner-sine",
        bounds=np.array([[0.0, 6.0], [0.0, 6.0]]),
        objective=lambda x: float(np.sin(x[0]) + x[1]),
        constraints=lambda x: np.array([np.sin(x[0]) * np.sin(x[1]) + 0.95]),
        constraint_names=("sine",),
        f_min=float(np.arcsin(0.95)) - 1.0,
        x_min=np.array([1.5 * np.pi, np.arcsin(0.95)]),
        initial=np.array([[4.5, 4.5]]),
        trials=60,
        failures=15,
        note="Two safe islands on 2 % of the square; the start is unsafe and must find one of them.",
    )


def branin(x: Array) -> float:
    """Branin's function of two variables."""
    bend = x[1] - 5.1 / (4.0 * np.pi**2) * x[0] ** 2 + 5.0 / np.pi * x[0] - 6.0
    return float(bend**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x[0]) + 10.0)


def branin_disk() -> Problem:
    """Branin's function inside a disk that holds one of its three minima."""
    return Problem(
        name="branin-disk",
        bounds=np.array([[-5.0, 10.0], [0.0, 15.0]]),
        objective=branin,
        constraints=lambda x: np.array([(x[0] - 2.5) ** 2 + (x[1] - 7.5) ** 2 - 50.0]),
        constraint_names=("disk",),
        f_min=10.0 / (8.0 * np.pi),
        x_min=np.array([np.pi, 2.275]),
        initial=np.array([[7.0, 11.0]]),
        trials=40,
        failures=5,
        note="Easy: a smooth convex safe set around one global minimum.",
    )


def gramacy() -> Problem:
    """The toy problem of Gramacy et al. 2016: a plane under a wavy and a circular constraint."""
    return Problem(
        name="gramacy",
        bounds=np.array([[0.0, 1.0], [0.0, 1.0]]),
        objective=lambda x: float(x[0] + x[1]),
        constraints=_gramacy_constraints,
        constraint_names=("wave", "circle"),
        f_min=0.5997880520130194,
        x_min=np.array([0.19512268421469112, 0.40466536779832835]),
        initial=np.array([[0.75, 0.65]]),
        trials=40,
        failures=6,
        note="Linear objective; the best of three local minima lies on the wavy boundary.",
    )


def _gramacy_constraints(x: Array) -> Array:
    wave = 1.5 - x[0] - 2.0 * x[1] - 0.5 * np.sin(2.0 * np.pi * (x[0] ** 2 - 2.0 * x[1]))
    return np.array([wave, x[0] ** 2 + x[1] ** 2 - 1.5])
