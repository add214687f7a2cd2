"""The posterior of (f, ∇f) against dense conditioning, mpmath and finite differences."""

import numpy as np
import pytest

from tests.oracles import KERNELS, central, close, problem
from tumble.core.crossings import slopes_given_crossing
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import GP, condition
from tumble.core.process.slopes import Slopes, curvature_of_mean, slopes_and_curvature, slopes_at

DIMS = range(1, 11)
SHARES = (0.0, 0.3)  # of one-dimensional effects


def queries(dim: int, count: int = 4, seed: int = 5):
    return np.random.default_rng([seed, dim]).random((count, dim))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("share", SHARES)
def test_the_posterior_of_value_and_slopes_equals_dense_conditioning(kernel, dim, share):
    gp, dense = problem(kernel, dim, 5 + 3 * dim, additive=share)
    x = queries(dim)
    slopes = slopes_at(gp, x)
    mean, var = gp.predict(x)
    for m, point in enumerate(x):
        joint = dense.at(point)
        close(slopes.mean[m], joint.mean[0], 1e-8)
        close(slopes.grad_mean[m], joint.mean[1:], 1e-8)
        close(slopes.var[m], joint.cov[0, 0], 1e-8)
        close(slopes.cov_f_grad[m], joint.cov[0, 1:], 1e-8)
        close(slopes.var_grad[m], np.diag(joint.cov)[1:], 1e-8)
        close(mean[m], joint.mean[0], 1e-8)
        close(var[m], joint.cov[0, 0], 1e-8)
    close(gp.mean(x), mean, 1e-12)


def given_crossing(gp: GP, x, u: float):
    """Mean and variance of ∇f(x) given f(x) = u, from what the core computes."""
    given = slopes_given_crossing(slopes_at(gp, x[None, :]), np.array([u]))
    return given.gamma[0, 0] * given.std[0], given.std[0] ** 2


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("share", SHARES)
def test_the_virtual_observation_as_a_rank_one_conditional_equals_a_refit(kernel, dim, share):
    gp, dense = problem(kernel, dim, 8 + 2 * dim, noise=0.05, scale=0.2, additive=share)
    assert np.linalg.cond(dense.gram) <= 1e6
    for x in queries(dim, 3):
        for u in (-2.0, 0.3):
            mean, var = given_crossing(gp, x, u)
            refit = dense.slopes_given(x, u)
            close(mean, refit.mean, 1e-8)
            close(var, np.diag(refit.cov), 1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("noise", "scale"), [(1e-4, 1.5), (1e-6, 1.0)])
def test_the_virtual_observation_holds_where_float64_can_hardly_invert(kernel, noise, scale):
    gp, dense = problem(kernel, 2, 16, noise=noise, scale=scale)
    condition_number = np.linalg.cond(dense.gram)
    assert condition_number > 1e6
    allowed = max(1e-8, 10 * np.finfo(float).eps * condition_number)
    for x in queries(2, 2):
        mean, var = given_crossing(gp, x, -1.0)
        exact = dense.slopes_given_mp(x, -1.0)
        close(mean, exact.mean, allowed)
        close(var, np.diag(exact.cov), allowed)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("share", SHARES)
def test_curvatures_are_derivatives_of_slopes(kernel, dim, share):
    gp, _ = problem(kernel, dim, 12, additive=share)
    x = queries(dim)
    slopes, bend = slopes_and_curvature(gp, x)
    plain = slopes_at(gp, x)
    for name in Slopes._fields:
        close(getattr(slopes, name), getattr(plain, name), 1e-12)
    for which, name in enumerate(("grad_mean", "cov_f_grad", "var_grad")):
        derivatives = central(lambda p, name=name: getattr(slopes_at(gp, p), name), x)  # type: ignore[misc]
        for j in range(dim):
            factors = np.zeros((3, len(x), dim))
            factors[which, :, j] = 1.0
            np.testing.assert_allclose(
                bend.along(*factors), derivatives[:, :, j], atol=1e-6 * np.abs(derivatives).max()
            )
    close(slopes.grad_mean, central(gp.mean, x), 1e-6)
    close(2.0 * slopes.cov_f_grad, central(lambda p: gp.predict(p)[1], x), 1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_variance_stays_positive_on_top_of_data_and_duplicates(kernel):
    X = np.repeat(queries(3, 6), 4, axis=0)
    gp = condition(kernel, Hyper((3.0,) * 3, 1.0, 1e-8), X, np.sin(X.sum(axis=1)))
    slopes, bend = slopes_and_curvature(gp, X)
    assert (gp.predict(X)[1] > 0.0).all()
    assert (slopes.var > 0.0).all()
    ones = np.ones_like(X)
    assert np.isfinite(bend.along(ones, ones, ones)).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("share", SHARES)
def test_the_curvature_of_the_mean_is_the_derivative_of_its_slope(kernel, share):
    gp, _ = problem(kernel, 4, 20, additive=share)
    x = queries(4)
    slope, curvature = curvature_of_mean(gp, x)
    close(slope, slopes_at(gp, x).grad_mean, 1e-12)
    close(curvature, central(lambda at: slopes_at(gp, at).grad_mean, x), 1e-6)
    close(curvature, curvature.transpose(0, 2, 1), 1e-12)
