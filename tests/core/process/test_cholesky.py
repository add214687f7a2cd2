"""Cholesky factors of matrices that are hardly positive definite, and solves with them."""

import numpy as np

from tests.oracles import close
from tumble.core.process.cholesky import cholesky, cholesky_by_rows, inverse, solve


def test_a_singular_matrix_gets_as_little_jitter_as_it_takes():
    K = np.ones((5, 5))
    L = cholesky(K.copy())
    close(L @ L.T, K, 1e-4)
    positive = np.array([[2.0, 0.3], [0.3, 1.0]])
    close(cholesky(positive.copy()) @ cholesky(positive.copy()).T, positive, 1e-15)


def test_solves_with_a_factor_and_with_its_transpose_together_invert_the_matrix():
    K, right = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([1.0, -2.0])
    half = solve(cholesky(K.copy()), right)
    close(solve(cholesky(K.copy()), half, transposed=True), np.linalg.solve(K, right), 1e-14)
    assert solve(np.zeros((0, 0)), np.zeros(0)).shape == (0,)


def test_more_rows_change_no_bit_of_those_before_them():
    A = np.random.default_rng(0).random((30, 30))
    K = A @ A.T + np.eye(30)
    whole = cholesky_by_rows(K, 20)
    close(whole, np.linalg.cholesky(K), 1e-13)
    for n in range(20, 30):
        np.testing.assert_array_equal(cholesky_by_rows(K[:n, :n], 20), whole[:n, :n])


def test_an_inverse_times_its_factor_is_one():
    for n in (1, 41, 256):
        A = np.random.default_rng(0).random((n, n))
        L = cholesky(A @ A.T + n * np.eye(n))
        close(inverse(L) @ L, np.eye(n), 1e-12)
