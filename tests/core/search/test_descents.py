"""The lowest mean that is allowed: against a dense grid, with its limits kept, along what moves alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from tests.oracles import central
from tumble.core.arrays import Array
from tumble.core.feasibility import Feasibility
from tumble.core.process.covariance import Hyper
from tumble.core.process.crashes import UNKNOWN, fit_crashes
from tumble.core.process.gp import GP, condition
from tumble.core.search.descents import Allowed
from tumble.core.student import Law

EVERY = np.ones(2, dtype=bool)


def lowest(allowed: Allowed, start: Array, p_safe: float) -> Array:
    return np.asarray(allowed.lowest(start[None, :], np.array([p_safe]))[0])


def process(X: Array, y: Array, scale: float = 0.6) -> GP:
    return condition("matern52", Hyper((scale,) * X.shape[1], 1.0, 1e-3), X, y)


def wedge(seed: int = 0, laws: tuple[Law, ...] = (), crash: bool = False) -> tuple[GP, Feasibility, Array]:
    """f falls towards (1, 1); two limits meet in a wedge that points there. Its middle is safe."""
    X = np.random.default_rng(seed).random((25, 2))
    f = process(X, -X.sum(axis=1))
    left, right = 1.6 * X[:, 0] - X[:, 1] - 0.35, 1.6 * X[:, 1] - X[:, 0] - 0.35
    model = fit_crashes(X, X[:, 0] > 0.75, "matern52", UNKNOWN, 128) if crash else None
    return f, Feasibility((process(X, left), process(X, right)), model, laws=laws), np.array([0.3, 0.3])


def grid() -> Array:
    side = np.linspace(0.0, 1.0, 201)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("laws", [(), (Law(1.3, 5.0), Law(1.1, 9.0))])
@pytest.mark.parametrize("p_safe", [0.5, 0.9, 0.98])
def test_it_is_as_low_as_the_best_point_of_a_dense_grid(p_safe: float, laws: tuple[Law, ...]) -> None:
    f, feasibility, start = wedge(laws=laws)
    x = lowest(Allowed(f, feasibility, EVERY), start, p_safe)
    points = grid()
    inside = points[np.exp(feasibility.log_prob(points)) >= p_safe]
    assert f.mean(x[None, :])[0] <= f.mean(inside).min() + 0.02
    assert np.exp(feasibility.log_prob(x[None, :])[0]) >= p_safe - 1e-3


@given(st.integers(0, 200), st.floats(0.3, 0.999))
@effort(max_examples=15, deadline=None)
def test_it_keeps_its_p_safe_and_lies_no_higher_than_its_start(seed: int, p_safe: float) -> None:
    f, feasibility, start = wedge(seed)
    x = lowest(Allowed(f, feasibility, EVERY), start, p_safe)
    assert ((x >= 0.0) & (x <= 1.0)).all()
    if np.exp(feasibility.log_prob(start[None, :])[0]) >= p_safe + 0.03 * (1.0 - p_safe):
        assert f.mean(x[None, :])[0] <= f.mean(start[None, :])[0] + 1e-6
        assert np.exp(feasibility.log_prob(x[None, :])[0]) >= p_safe - 5e-3


def test_a_descent_that_starts_where_nothing_is_allowed_finds_what_is() -> None:
    f, feasibility, _ = wedge()
    x = lowest(Allowed(f, feasibility, EVERY), np.array([0.9, 0.1]), 0.9)
    assert np.exp(feasibility.log_prob(x[None, :])[0]) >= 0.9 - 1e-3


def test_crashes_count_as_one_more_limit() -> None:
    f, feasibility, start = wedge(crash=True)
    x = lowest(Allowed(f, feasibility, EVERY), start, 0.7)
    free = lowest(Allowed(f, Feasibility(feasibility.constraints), EVERY), start, 0.7)
    assert x[0] < free[0]
    assert np.exp(feasibility.log_prob(x[None, :])[0]) >= 0.7 - 5e-3


@pytest.mark.parametrize("crash", [False, True])
def test_the_slopes_are_those_of_small_steps(crash: bool) -> None:
    f, feasibility, _ = wedge(crash=crash)
    allowed, x = Allowed(f, feasibility, EVERY), np.array([[0.41, 0.47], [0.8, 0.2]])
    z = np.array([1.2, 0.3])
    deviations = np.array([feasibility.deviations(each) for each in z])

    def room(at: Array) -> Array:
        return np.array([point.room for point in allowed._points(at, deviations, z)])

    def mean(at: Array) -> Array:
        return np.array([point.mean for point in allowed._points(at, deviations, z)])

    found = allowed._points(x, deviations, z)
    rooms, means = central(room, x), central(mean, x)  # (M, D, K), (M, D)
    for k, point in enumerate(found):
        np.testing.assert_allclose(point.slopes, rooms[k].T, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(point.slope, means[k], rtol=1e-5, atol=1e-7)


def test_what_does_not_move_stays() -> None:
    f, feasibility, start = wedge()
    x = lowest(Allowed(f, feasibility, np.array([False, True])), start, 0.9)
    assert x[0] == start[0]
    assert x[1] > start[1]
    still = lowest(Allowed(f, feasibility, np.zeros(2, dtype=bool)), start, 0.9)
    np.testing.assert_array_equal(still, start)


def test_processes_of_different_data_are_asked_one_by_one() -> None:
    f, feasibility, start = wedge()
    fewer = process(f.X[:20], -f.X[:20].sum(axis=1))
    x = lowest(Allowed(fewer, feasibility, EVERY), start, 0.9)
    np.testing.assert_allclose(x, lowest(Allowed(f, feasibility, EVERY), start, 0.9), atol=0.02)
