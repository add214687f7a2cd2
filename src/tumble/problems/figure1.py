"""The 1-D example of Figure 1: a function, seven observations of it and two thresholds.

The paper prints neither the data nor the function, so this is one of the same kind: seven observations, one
threshold among them (crossings likely near the data) and one below all of them (crossings likely where the
variance is large).
"""

from __future__ import annotations

import numpy as np

from ._problem import Array, Problem

OBSERVED = np.array([0.05, 0.16, 0.3, 0.44, 0.63, 0.79, 0.88])
THRESHOLDS = (-0.4, -2.0)
LENGTHSCALE = 0.09


def wave(x: Array) -> float:
    """The function behind the observations, on [0, 1]."""
    return float(np.sin(11.0 * x[0]) + 0.6 * np.cos(23.0 * x[0] + 0.5) - 0.5 * x[0])


def figure1() -> Problem:
    """The example as a problem: its seven observations are the initial points."""
    return Problem(
        name="figure1",
        bounds=np.array([[0.0, 1.0]]),
        objective=wave,
        f_min=-1.893936671683539,
        x_min=np.array([0.9534287079173094]),
        initial=OBSERVED[:, None],
        trials=15,
        note="One dimension, two deep valleys; the observations miss the best of them.",
    )
