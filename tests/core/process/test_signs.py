"""Draws with known signs, against rejection sampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import close
from tumble.core.arrays import Array
from tumble.core.process.signs import SignedDraws, add_sign, draw_given_signs


def covariance(n, seed=0):
    root = np.random.default_rng(seed).standard_normal((n, n + 2)) / np.sqrt(n)
    return root @ root.T + 0.05 * np.eye(n)


def values(drawn: SignedDraws, mean: float) -> Array:
    """(N, S) the draws themselves."""
    return mean + drawn.chol @ drawn.e


@pytest.mark.parametrize("signs", [[1.0], [-1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0, -1.0]])
def test_draws_have_the_moments_of_rejection_sampling(signs):
    mean, C, signs = -0.7, covariance(len(signs)), np.array(signs)
    h = mean + np.random.default_rng(1).standard_normal((400_000, len(signs))) @ np.linalg.cholesky(C).T
    kept = h[(h * signs > 0.0).all(axis=1)]
    assert len(kept) > 2000
    drawn = draw_given_signs(mean, C, signs, 4096)
    error = 4.0 * kept.std(axis=0) * np.sqrt(1.0 / len(kept) + 1.0 / 4096)
    assert (np.abs(values(drawn, mean) @ drawn.weights - kept.mean(axis=0)) < error).all()
    second = np.cov(values(drawn, mean), aweights=drawn.weights, ddof=0)
    close(second, np.cov(kept.T), 0.08 * np.max(kept.var(axis=0)))


@given(st.integers(1, 12), st.integers(0, 10_000), st.floats(-4.0, 4.0))
def test_every_draw_has_the_signs_and_weights_sum_to_one(n, seed, mean):
    signs = np.where(np.random.default_rng(seed).random(n) < 0.5, 1.0, -1.0)
    drawn = draw_given_signs(mean, covariance(n, seed), signs, 64)
    h = values(drawn, mean)
    assert np.isfinite(h).all()
    assert (h * signs[:, None] >= -1e-12).all()
    assert drawn.weights.sum() == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_draws():
    C, signs = covariance(6), -np.ones(6)
    one, again, other = (draw_given_signs(-1.0, C, signs, 64, seed).e for seed in (0, 0, 1))
    assert (one == again).all()
    assert (one != other).any()


@pytest.mark.parametrize("n", [30, 100])
def test_nearly_all_draws_count(n):
    X = np.random.default_rng(0).random((n, 3))
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    C = np.exp(-0.5 * (distance / 0.4) ** 2) + 0.01 * np.eye(n)
    signs = np.where((X**2).sum(axis=1) > 1.2, 1.0, -1.0)
    assert draw_given_signs(-1.0, C, signs, 256).effective > 0.4 * 256


@pytest.mark.parametrize("first", [1, 3])
def test_draws_to_which_signs_were_added_have_the_moments_of_rejection_sampling(first):
    mean, C, signs = -0.7, covariance(5), np.array([-1.0, -1.0, 1.0, -1.0, 1.0])
    h = mean + np.random.default_rng(1).standard_normal((400_000, 5)) @ np.linalg.cholesky(C).T
    kept = h[(h * signs > 0.0).all(axis=1)]
    assert len(kept) > 2000
    drawn = draw_given_signs(mean, C[:first, :first], signs[:first], 16384)
    for i in range(first, 5):
        before, drawn = drawn, add_sign(drawn, mean, C[i, : i + 1], signs[i], 0)
        np.testing.assert_array_equal(drawn.e[:i], before.e)
        close(drawn.chol @ drawn.chol.T, C[: i + 1, : i + 1], 1e-12)
    assert drawn.effective > 2000
    error = 4.0 * kept.std(axis=0) * np.sqrt(1.0 / len(kept) + 1.0 / drawn.effective)
    assert (np.abs(values(drawn, mean) @ drawn.weights - kept.mean(axis=0)) < error).all()
    assert (values(drawn, mean) * signs[:, None] >= -1e-12).all()
    assert drawn.weights.sum() == pytest.approx(1.0)


def test_few_draws_count_where_hardly_any_agrees_with_a_sign():
    C = np.full((2, 2), 0.95) + 0.05 * np.eye(2)
    drawn = draw_given_signs(-1.0, C[:1, :1], -np.ones(1), 512)
    expected, surprising = (add_sign(drawn, -1.0, C[1], sign, 0).effective for sign in (-1.0, 1.0))
    assert expected > 0.5 * drawn.effective > surprising


def test_the_first_draws_have_their_own_weights():
    drawn = draw_given_signs(-1.0, covariance(4), -np.ones(4), 64)
    some = drawn.first(16)
    np.testing.assert_array_equal(some.e, drawn.e[:, :16])
    close(some.weights, drawn.weights[:16] / drawn.weights[:16].sum(), 1e-15)
