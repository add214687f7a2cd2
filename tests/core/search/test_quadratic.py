"""The small quadratic programme: its conditions of optimality, and an independent solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from tumble.core.arrays import Array
from tumble.core.search.quadratic import smallest


def programme(seed: int) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    D, K = int(rng.integers(1, 8)), int(rng.integers(0, 15))
    M, A = rng.standard_normal((D, D)), rng.standard_normal((K, D))
    return M @ M.T + 0.1 * np.eye(D), 3.0 * rng.standard_normal(D), A, -rng.random(K)


@given(st.integers(0, 10_000))
@effort(max_examples=100, deadline=None)
def test_the_conditions_of_optimality_hold(seed: int) -> None:
    H, g, A, b = programme(seed)
    found = smallest(H, g, A, b)  # 0 keeps every limit
    assert found is not None
    room = A @ found.d - b
    assert room.min(initial=0.0) > -1e-8
    assert found.multipliers.min(initial=0.0) >= 0.0
    np.testing.assert_allclose(H @ found.d + g, A.T @ found.multipliers, atol=1e-7)
    np.testing.assert_allclose(found.multipliers * room, 0.0, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_another_solver_finds_nothing_lower(seed: int) -> None:
    H, g, A, b = programme(seed)
    found = smallest(H, g, A, b)
    assert found is not None

    def cost(d: Array) -> float:
        return float(0.5 * d @ H @ d + g @ d)

    limits = [LinearConstraint(A, b)] if len(b) else []
    other = minimize(cost, np.zeros(len(g)), method="SLSQP", constraints=limits, options={"ftol": 1e-12})
    assert cost(found.d) <= other.fun + 1e-7


def test_limits_that_contradict_each_other_have_no_solution() -> None:
    A, b = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 1.0])  # d_1 >= 1 and d_1 <= -1
    assert smallest(np.eye(2), np.zeros(2), A, b) is None


def test_without_curvature_and_where_the_multipliers_are_not_found_there_is_no_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    A, b = np.eye(2), -np.ones(2)
    assert smallest(np.diag([1.0, -1.0]), np.ones(2), A, b) is None

    def tired(*_: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", tired)
    assert smallest(np.eye(2), np.ones(2), A, b) is None
