"""Processes that grow row by row: beside plain factors, kept or not."""

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles import KERNELS
from tumble.core.process.cholesky import FEWEST, MOST
from tumble.core.process.covariance import Covariance, Hyper
from tumble.core.process.gp import GP, condition
from tumble.core.process.growth import STEP, Growth, begun_with
from tumble.core.process.kept import Kept
from tumble.core.process.kernels import Kernel

HYPER = Hyper((0.3, 0.5), 1.3, 0.02, 0.25, learned_from=60)
NUGGET = 4e-4
BYTES = 2**24


def points(n: int, seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).random((n, 2))
    found.flags.writeable = False
    return found


def growth(n: int, kernel: Kernel = "matern52", hyper: Hyper = HYPER, kept: Kept | None = None) -> Growth:
    return Growth(Covariance(kernel, hyper), points(n), NUGGET, Kept(BYTES) if kept is None else kept)


@pytest.mark.parametrize("n", [FEWEST, 60, 67, 100, MOST])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_rows_are_those_of_the_whole_covariance(n, kernel):
    X, asked, found = points(n), points(30, 1), growth(n, kernel)
    covariance = Covariance(kernel, HYPER)
    L = np.linalg.cholesky(covariance.between(X, X) + NUGGET * np.eye(n))
    np.testing.assert_allclose(found.chol, L, atol=1e-9)
    np.testing.assert_allclose(found.inverse, np.linalg.inv(L), atol=1e-7)
    k, half = found.asked(asked)
    np.testing.assert_allclose(k, covariance.between(X, asked), atol=1e-13)
    np.testing.assert_allclose(half, np.linalg.solve(L, covariance.between(X, asked)), atol=1e-8)
    assert found.chol.flags.f_contiguous
    assert not np.triu(found.chol, 1).any()


@pytest.mark.parametrize("learned_from", [0, 45, 60, 90])
def test_what_is_kept_changes_no_bit(learned_from):
    hyper, kept, asked = replace(HYPER, learned_from=learned_from), Kept(BYTES), points(20, 1)
    for n in (50, 58, 59, 60, 61, 64, 65, 66, 70, 69, 95, 96, 97, 97, 130):
        plain, grown = growth(n, hyper=hyper), growth(n, hyper=hyper, kept=kept)
        for wanted, found in zip(plain.asked(asked), grown.asked(asked), strict=True):
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(grown.chol, plain.chol)
        np.testing.assert_array_equal(grown.inverse, plain.inverse)


def test_one_more_trial_asks_for_one_more_row(monkeypatch):
    kept, asked, row = Kept(BYTES), points(20, 1), Covariance.row
    rows: list[int] = []

    def counted(self: Covariance, a: np.ndarray, B: np.ndarray) -> np.ndarray:
        rows.append(len(B))
        return row(self, a, B)

    monkeypatch.setattr(Covariance, "row", counted)
    growth(70, kept=kept).asked(asked)
    rows.clear()
    growth(71, kept=kept).asked(asked)
    assert sorted(rows) == [20, 71]
    growth(71, kept=kept).asked(asked)
    assert sorted(rows) == [20, 71]


def test_what_was_learned_is_begun_with_at_once_and_a_long_way_from_it_a_multiple_of_the_step():
    assert begun_with(60, HYPER) == 60
    assert begun_with(60 + STEP - 1, HYPER) == 60
    assert begun_with(60 + STEP, HYPER) == (60 + STEP) // STEP * STEP
    assert begun_with(59, HYPER) == 59 // STEP * STEP  # a correction took a trial away


def test_other_data_and_other_hyperparameters_share_nothing():
    kept, asked = Kept(BYTES), points(20, 1)
    growth(61, kept=kept).asked(asked)
    for hyper in (replace(HYPER, lengthscales=(0.3, 0.4)), replace(HYPER, learned_from=59)):
        for wanted, found in zip(
            growth(61, hyper=hyper).asked(asked), growth(61, hyper=hyper, kept=kept).asked(asked), strict=True
        ):
            np.testing.assert_array_equal(found, wanted)


def test_data_that_are_nearly_the_same_leave_a_factor():
    X = np.repeat(points(30), 2, axis=0)
    found = Growth(Covariance("se", Hyper((5.0, 5.0), 1.0, 1e-9)), X, 1e-12, Kept(BYTES))
    assert np.isfinite(found.chol).all()
    assert np.isfinite(found.inverse).all()


def posterior(gp: GP, x: np.ndarray) -> tuple[np.ndarray, ...]:
    at = gp.at_again(x)
    return at.mean, at.var, at.half


@pytest.mark.parametrize("n", [30, 61, 300])
def test_a_process_answers_again_as_it_answers_once(n):
    X, asked = points(n), points(20, 1)
    gp = condition("matern52", HYPER, X, np.sin(9.0 * X[:, 0]))
    once = gp.at(asked.copy())
    for wanted, found in zip((once.mean, once.var, once.half), posterior(gp, asked), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
