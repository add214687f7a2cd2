"""Prior covariances and their derivatives against textbook kernels."""

import numpy as np
import pytest

from tests import oracles
from tests.oracles import KERNELS, central, close
from tumble.core.process.covariance import Covariance, Hyper
from tumble.core.process.gp import AMONG, condition


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_rows_are_covariances_with_the_data_and_their_derivatives(kernel, share):
    rng = np.random.default_rng(2)
    prior = Covariance(kernel, Hyper((0.3, 0.7, 0.4), 1.3, 0.1, share))
    x, X = rng.random((4, 3)), rng.random((6, 3))
    rows = prior.rows(x, prior.scaled(X), 2)
    close(rows.k[:, 0], oracles.cov_values(kernel, prior.hyper, x, X), 1e-12)
    for m, point in enumerate(x):
        close(rows.k[m, 1:].T, oracles.cov_value_slope(kernel, prior.hyper, X, point), 1e-12)
    second = central(lambda p: prior.rows(p, prior.scaled(X)).k[:, 1:], x)  # (M, D, D, N)
    assert rows.h2 is not None
    found = rows.h2[:, -1][:, None, None] * rows.s[:, :, None] * rows.s[:, None, :]
    diagonal = rows.h1 + (rows.r2[:, :-1] * rows.h2[:, :-1] if share else 0.0)
    for j in range(3):
        found[:, j, j] += (diagonal[:, j] if share else diagonal[:, 0]) * rows.inverse[j]
    close(found, second, 1e-7)
    close(prior.of_slopes, np.diag(oracles.cov_slopes(kernel, prior.hyper)), 1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [1e-3, 0.002, 0.3])
def test_covariances_are_the_textbook_s_at_any_lengthscale_and_size(kernel, scale):
    hyper = Hyper((scale, 3.0 * scale), 1.3, 0.1, 0.4)
    A, B = (
        np.random.default_rng(0).random((1301, 2)),
        np.random.default_rng(1).random((70, 2)),
    )  # several blocks
    gp = condition(kernel, hyper, B, np.zeros(70))
    close(gp.covariance(A, B), oracles.cov_values(kernel, hyper, A, B), 1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_covariances_among_a_few_points_are_those_between_them(kernel, share):
    A = np.random.default_rng(0).random((AMONG, 3))
    prior = Covariance(kernel, Hyper((0.2, 0.7, 3.0), 1.3, 0.1, share))
    close(prior.among(A), prior.between(A, A), 1e-12)


def test_a_joint_prediction_is_the_same_on_both_sides_of_where_points_are_few():
    rng = np.random.default_rng(1)
    X, points = rng.random((12, 2)), rng.random((AMONG + 1, 2))
    gp = condition("matern52", Hyper((0.3, 0.6), 1.0, 0.1, 0.2), X, rng.standard_normal(12))
    few, more = gp.predict_joint(points[:-1])[1], gp.predict_joint(points)[1]
    close(few, more[:-1, :-1], 1e-10)
