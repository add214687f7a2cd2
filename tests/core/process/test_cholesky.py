"""Cholesky factors of matrices that are hardly positive definite, and solves with them."""

import numpy as np

from tests.oracles import close
from tumble.core.process.cholesky import FEWEST, MOST, cholesky, inverse, solve, with_row


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


def test_a_factor_grows_by_a_row_that_changes_no_bit_of_those_before_it():
    A = np.random.default_rng(0).random((30, 30))
    K = A @ A.T + np.eye(30)
    grown = cholesky(K[:20, :20])
    for n in range(21, 31):
        before, grown = grown, with_row(grown, K[n - 1, :n])
        close(grown, np.linalg.cholesky(K[:n, :n]), 1e-13)
        np.testing.assert_array_equal(grown[:-1, :-1], before)
        assert grown.flags.f_contiguous


def test_an_inverse_is_worked_out_where_it_pays():
    for n in (FEWEST, MOST):
        A = np.random.default_rng(0).random((n, n))
        L = cholesky(A @ A.T + n * np.eye(n))
        found = inverse(L)
        assert found is not None
        close(found @ L, np.eye(n), 1e-12)
    assert inverse(np.eye(FEWEST - 1)) is None
    assert inverse(np.eye(MOST + 1)) is None
