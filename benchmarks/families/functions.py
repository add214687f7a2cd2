"""Classical test functions for many points at once, each with its native box and its minimiser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tumble.problems.synthetic import HARTMANN_A, HARTMANN_P, HARTMANN_WEIGHT

from .landscape import Array


@dataclass(frozen=True, eq=False)
class Classic:
    """A function (n, D) -> (n,) on the box [low, high]^D, with its minimiser (D,) for each D it knows."""

    name: str
    function: Callable[[Array], Array]
    low: float
    high: float
    dimensions: tuple[int, ...]
    minimiser: Callable[[int], Array]


def _ackley(y: Array) -> Array:
    root = np.sqrt(np.mean(y**2, axis=-1))
    result: Array = (
        -20.0 * np.exp(-0.2 * root) - np.exp(np.mean(np.cos(2.0 * np.pi * y), axis=-1)) + 20.0 + np.e
    )
    return result


def _rosenbrock(y: Array) -> Array:
    head, tail = y[..., :-1], y[..., 1:]
    result: Array = np.sum(100.0 * (tail - head**2) ** 2 + (1.0 - head) ** 2, axis=-1)
    return result


def _rastrigin(y: Array) -> Array:
    result: Array = np.sum(y**2 - 10.0 * np.cos(2.0 * np.pi * y) + 10.0, axis=-1)
    return result


def _levy(y: Array) -> Array:
    w = 1.0 + (y - 1.0) / 4.0
    head, last = w[..., :-1], w[..., -1]
    middle = np.sum((head - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * head + 1.0) ** 2), axis=-1)
    ends = np.sin(np.pi * w[..., 0]) ** 2 + (last - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * last) ** 2)
    result: Array = middle + ends
    return result


def _griewank(y: Array) -> Array:
    roots = np.sqrt(np.arange(1, y.shape[-1] + 1))
    result: Array = 1.0 + np.sum(y**2, axis=-1) / 4000.0 - np.prod(np.cos(y / roots), axis=-1)
    return result


def _styblinski_tang(y: Array) -> Array:
    result: Array = 0.5 * np.sum(y**4 - 16.0 * y**2 + 5.0 * y, axis=-1)
    return result


def _branin(y: Array) -> Array:
    a, b = 15.0 * y[..., 0] - 5.0, 15.0 * y[..., 1]
    bend = b - 5.1 / (4.0 * np.pi**2) * a**2 + 5.0 / np.pi * a - 6.0
    return bend**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(a) + 10.0


def _michalewicz(y: Array) -> Array:
    steps = np.arange(1, y.shape[-1] + 1)
    result: Array = -np.sum(np.sin(y) * np.sin(steps * y**2 / np.pi) ** 20, axis=-1)
    return result


def _michalewicz_minimiser(dimension: int) -> Array:
    grid = np.linspace(0.0, np.pi, 100_001)
    terms = [np.sin(grid) * np.sin(k * grid**2 / np.pi) ** 20 for k in range(1, dimension + 1)]
    return np.array([grid[int(np.argmax(term))] for term in terms])


_HARTMANN_3A = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0]] * 2)
_HARTMANN_3P = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)


def _hartmann(y: Array) -> Array:
    d = y.shape[-1]
    a, p = (_HARTMANN_3A, _HARTMANN_3P) if d == 3 else (HARTMANN_A[:, :d], HARTMANN_P[:, :d])
    inner = np.sum(a * (y[..., None, :] - p) ** 2, axis=-1)
    result: Array = -np.exp(-inner) @ HARTMANN_WEIGHT
    return result


_HARTMANN_MINIMISERS = {
    3: (0.114614, 0.555649, 0.852547),
    4: (0.187395, 0.194152, 0.557918, 0.264779),
    6: (0.201690, 0.150011, 0.476874, 0.275332, 0.311652, 0.657301),
}


def _ellipsoid(y: Array) -> Array:
    weights = 10.0 ** (2.0 * np.arange(y.shape[-1]) / (y.shape[-1] - 1.0))
    result: Array = np.sum(weights * y**2, axis=-1)
    return result


def _power_sum(y: Array) -> Array:
    powers = 2.0 + 2.0 * np.arange(y.shape[-1]) / (y.shape[-1] - 1.0)
    result: Array = np.sum(np.abs(y) ** powers, axis=-1)
    return result


def _valley(y: Array) -> Array:
    return np.log1p(_ellipsoid(y))


def _at(value: float) -> Callable[[int], Array]:
    return lambda dimension: np.full(dimension, value)


_ANY = tuple(range(2, 11))
MANY_MINIMA = (
    Classic("ackley", _ackley, -5.0, 5.0, _ANY, _at(0.0)),
    Classic("rosenbrock", _rosenbrock, -2.0, 3.0, _ANY, _at(1.0)),
    Classic("rastrigin", _rastrigin, -2.5, 2.5, _ANY, _at(0.0)),
    Classic("levy", _levy, -7.0, 9.0, _ANY, _at(1.0)),
    Classic("griewank", _griewank, -12.0, 12.0, _ANY, _at(0.0)),
    Classic("styblinski-tang", _styblinski_tang, -4.5, 4.5, _ANY, _at(-2.903534)),
    Classic("branin", _branin, 0.0, 1.0, (2,), lambda _: np.array([(np.pi + 5.0) / 15.0, 2.275 / 15.0])),
    Classic("michalewicz", _michalewicz, 0.0, np.pi, _ANY, _michalewicz_minimiser),
    Classic("hartmann", _hartmann, 0.0, 1.0, (3, 4, 6), lambda d: np.array(_HARTMANN_MINIMISERS[d])),
)
BOWLS = (  # convex, or with convex level sets: no minimum but one
    Classic("ellipsoid", _ellipsoid, -2.0, 2.0, _ANY, _at(0.0)),
    Classic("power-sum", _power_sum, -1.5, 1.5, _ANY, _at(0.0)),
    Classic("valley", _valley, -2.0, 2.0, _ANY, _at(0.0)),
)
