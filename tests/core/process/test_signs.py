"""Draws with known signs, against rejection sampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import close
from tumble.core.arrays import Array
from tumble.core.process.signs import add_signs, draw_given_signs


def covariance(n, seed=0):
    root = np.random.default_rng(seed).standard_normal((n, n + 2)) / np.sqrt(n)
    return root @ root.T + 0.05 * np.eye(n)


@pytest.mark.parametrize("signs", [[1.0], [-1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0, -1.0]])
def test_draws_have_the_moments_of_rejection_sampling(signs):
    mean, C, signs = -0.7, covariance(len(signs)), np.array(signs)
    h = mean + np.random.default_rng(1).standard_normal((400_000, len(signs))) @ np.linalg.cholesky(C).T
    kept = h[(h * signs > 0.0).all(axis=1)]
    assert len(kept) > 2000
    drawn = draw_given_signs(mean, C, signs, 4096)
    error = 4.0 * kept.std(axis=0) * np.sqrt(1.0 / len(kept) + 1.0 / 4096)
    assert (np.abs(drawn.h @ drawn.weights - kept.mean(axis=0)) < error).all()
    second = np.cov(drawn.h, aweights=drawn.weights, ddof=0)
    close(second, np.cov(kept.T), 0.08 * np.max(kept.var(axis=0)))


@given(st.integers(1, 12), st.integers(0, 10_000), st.floats(-4.0, 4.0))
def test_every_draw_has_the_signs_and_weights_sum_to_one(n, seed, mean):
    signs = np.where(np.random.default_rng(seed).random(n) < 0.5, 1.0, -1.0)
    drawn = draw_given_signs(mean, covariance(n, seed), signs, 64)
    assert np.isfinite(drawn.h).all()
    assert (drawn.h * signs[:, None] >= 0.0).all()
    assert drawn.weights.sum() == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_draws():
    C, signs = covariance(6), -np.ones(6)
    one, again, other = (draw_given_signs(-1.0, C, signs, 64, seed).h for seed in (0, 0, 1))
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
    L = np.linalg.cholesky(C)
    h = mean + np.random.default_rng(1).standard_normal((400_000, 5)) @ L.T
    kept = h[(h * signs > 0.0).all(axis=1)]
    assert len(kept) > 2000
    drawn = draw_given_signs(mean, C[:first, :first], signs[:first], 8192)
    while (n := len(drawn.h)) < 5:  # it stops where half of the draws do not count any more
        drawn = add_signs(drawn, mean, L, signs[n:], n)
        assert len(drawn.h) > n
    error = 4.0 * kept.std(axis=0) * np.sqrt(1.0 / len(kept) + 1.0 / drawn.effective)
    assert (np.abs(drawn.h @ drawn.weights - kept.mean(axis=0)) < error).all()
    assert (drawn.h * signs[:, None] >= 0.0).all()
    assert drawn.weights.sum() == pytest.approx(1.0)


def test_no_sign_is_added_that_hardly_any_draw_agrees_with():
    C = np.full((3, 3), 0.95) + 0.05 * np.eye(3)
    drawn = draw_given_signs(-1.0, C[:1, :1], -np.ones(1), 512)
    L: Array = np.asarray(np.linalg.cholesky(C), dtype=np.float64)
    for last, count in ((-1.0, 3), (1.0, 2)):
        assert len(add_signs(drawn, -1.0, L, np.array([-1.0, last])).h) == count
