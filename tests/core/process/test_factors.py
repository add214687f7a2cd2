"""Factors of many data: beside a plain one, kept or not."""

import numpy as np
import pytest

from tumble.core.process.covariance import Covariance, Hyper
from tumble.core.process.factors import FEW, STEP, factor_of
from tumble.core.process.kept import Kept

HYPER = Hyper((0.3, 0.5), 1.3, 0.02, 0.25)
NUGGET = 4e-4
MOST = 2**24  # bytes


def points(n: int) -> np.ndarray:
    return np.random.default_rng(0).random((n, 2))


@pytest.mark.parametrize("n", [STEP - 1, STEP, 2 * STEP + 17, FEW + STEP])
@pytest.mark.parametrize("kernel", ["matern52", "se"])
def test_the_factor_is_that_of_the_whole_covariance(n, kernel):
    X = points(n)
    K = Covariance(kernel, HYPER).between(X, X) + NUGGET * np.eye(n)
    np.testing.assert_allclose(
        factor_of(kernel, HYPER, X, NUGGET, Kept(MOST)), np.linalg.cholesky(K), atol=1e-9
    )


def test_what_is_kept_changes_no_bit():
    X, kept = points(FEW + STEP + 5), Kept(MOST)
    for n in [*range(2 * STEP, 3 * STEP, 7), *range(FEW - 5, len(X) + 1, 23)]:
        grown = factor_of("matern52", HYPER, X[:n], NUGGET, kept)
        np.testing.assert_array_equal(grown, factor_of("matern52", HYPER, X[:n], NUGGET, Kept(MOST)))
        assert not np.triu(grown, 1).any()
        assert grown.flags.f_contiguous


def test_other_data_and_other_hyperparameters_have_other_factors():
    X, kept = points(2 * STEP), Kept(MOST)
    factor_of("matern52", HYPER, X, NUGGET, kept)
    for hyper, where in ((Hyper((0.3, 0.4), 1.3, 0.02, 0.25), X), (HYPER, X[::-1].copy())):
        found = factor_of("matern52", hyper, where, NUGGET, kept)
        np.testing.assert_array_equal(found, factor_of("matern52", hyper, where, NUGGET, Kept(MOST)))


def test_a_covariance_that_needs_jitter_is_factorised_all_the_same():
    X = np.repeat(points(STEP), 2, axis=0)
    found = factor_of("se", Hyper((5.0, 5.0), 1.0, 1e-9), X, 0.0, Kept(MOST))
    assert np.isfinite(found).all()
