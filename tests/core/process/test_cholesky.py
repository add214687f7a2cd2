"""Cholesky factors of matrices that are hardly positive definite, and solves with them."""

import numpy as np

from tests.oracles import close
from tumble.core.process.cholesky import (
    FEWEST,
    MOST,
    cholesky,
    inverse,
    inverse_if_faster,
    inverse_with_row,
    solve,
    with_row,
)


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


def test_an_inverse_times_its_factor_is_one():
    for n in (1, 41, 256):
        A = np.random.default_rng(0).random((n, n))
        L = cholesky(A @ A.T + n * np.eye(n))
        close(inverse(L) @ L, np.eye(n), 1e-12)


def test_an_inverse_grows_by_a_row():
    A = np.random.default_rng(0).random((30, 30))
    L = cholesky(A @ A.T + np.eye(30))
    grown = inverse(L[:20, :20])
    for n in range(21, 31):
        grown = inverse_with_row(grown, L[n - 1, :n])
        close(grown, np.linalg.inv(L[:n, :n]), 1e-12)


def test_a_row_that_rounding_would_leave_without_a_root_has_the_least_one():
    K = np.full((3, 3), 2.0)
    K[0, 0] += 1e-9
    grown = with_row(with_row(cholesky(K[:1, :1]), K[1, :2], 1e-9), K[2], 1e-9)
    assert np.isfinite(grown).all()
    assert grown[2, 2] >= np.sqrt(1e-9)


def test_an_inverse_is_worked_out_where_it_pays():
    for n, pays in ((FEWEST - 1, False), (FEWEST, True), (MOST, True), (MOST + 1, False)):
        assert (inverse_if_faster(np.eye(n)) is not None) == pays
