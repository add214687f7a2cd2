"""The benchmarks of §5.2: Hartmann 6D and Michalewicz 10D, with and without the sine-product constraint.

Both live on the unit cube and are normalised as f/|f_min| + 1/2, so that the minimum is -1/2 and the
regret is relative to |f_min|. The minimum of both is safe under the constraint. The initial points and
the normalisation are those of the authors' scripts; the functions, T and B are the paper's.
"""

from __future__ import annotations

import numpy as np

from ._problem import Array, Problem, unit_cube

TRIALS = 100
FAILURES = 10

HARTMANN_MIN = 3.32236801141551
HARTMANN_X_MIN = np.array([0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054])
HARTMANN_INITIAL = np.array([[0.32124528, 0.00573107, 0.07254258, 0.90988337, 0.00164314, 0.41116992]])
HARTMANN_WEIGHT = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_A = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
HARTMANN_P = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)

MICHALEWICZ_MIN = 9.6601517
MICHALEWICZ_X_MIN = (
    np.array(
        [
            2.2029055,
            1.5707963,
            1.2849916,
            1.9230585,
            1.7204698,
            1.5707963,
            1.4544140,
            1.7560865,
            1.6557174,
            1.5707963,
        ]
    )
    / np.pi
)
MICHALEWICZ_INITIAL = np.array(
    [
        [
            0.65456088,
            0.22632844,
            0.50252072,
            0.80747863,
            0.11509346,
            0.73440179,
            0.06093292,
            0.464906,
            0.01544494,
            0.90179168,
        ]
    ]
)


def hartmann6(x: Array) -> float:
    """Hartmann's function of six variables on the unit cube, normalised to a minimum of -1/2."""
    inner = np.sum(HARTMANN_A * (x - HARTMANN_P) ** 2, axis=1)
    return float(-HARTMANN_WEIGHT @ np.exp(-inner)) / HARTMANN_MIN + 0.5


def michalewicz10(x: Array) -> float:
    """Michalewicz' function (m = 10) on the unit cube, normalised to a minimum of -1/2."""
    angle = np.pi * x
    steps = np.arange(1, len(x) + 1)
    return float(-np.sum(np.sin(angle) * np.sin(steps * angle**2 / np.pi) ** 20)) / MICHALEWICZ_MIN + 0.5


def sine_product(x: Array) -> Array:
    """The paper's constraint ∏ sin(2π x_i) - 2^-D, shape (1,): 2^(D-1) separate unsafe regions."""
    return np.array([np.prod(np.sin(2.0 * np.pi * x)) - 2.0 ** -len(x)])


def hartmann(*, constrained: bool) -> Problem:
    """Hartmann 6D of §5.2."""
    return _benchmark(
        "hartmann6-constrained" if constrained else "hartmann6",
        Problem(
            name="hartmann6",
            bounds=unit_cube(6),
            objective=hartmann6,
            f_min=-0.5,
            x_min=HARTMANN_X_MIN,
            initial=HARTMANN_INITIAL,
            note="Six smooth dimensions; a second minimum lies 0.036 above the first.",
        ),
        constrained,
    )


def michalewicz(*, constrained: bool) -> Problem:
    """Michalewicz 10D of §5.2."""
    return _benchmark(
        "michalewicz10-constrained" if constrained else "michalewicz10",
        Problem(
            name="michalewicz10",
            bounds=unit_cube(10),
            objective=michalewicz10,
            f_min=-0.5,
            x_min=MICHALEWICZ_X_MIN,
            initial=MICHALEWICZ_INITIAL,
            note="Ten dimensions of narrow valleys; the constraint is smaller than 0.01 on 78 % of it.",
        ),
        constrained,
    )


def _benchmark(name: str, problem: Problem, constrained: bool) -> Problem:
    return Problem(
        name=name,
        bounds=problem.bounds,
        objective=problem.objective,
        f_min=problem.f_min,
        x_min=problem.x_min,
        initial=problem.initial,
        note=problem.note,
        trials=TRIALS,
        constraints=sine_product if constrained else None,
        constraint_names=("sine-product",) if constrained else (),
        failures=FAILURES if constrained else None,
    )
