"""The posterior of f against dense conditioning, BoTorch and finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from tests import oracles
from tests.oracles import KERNELS, Dense, central, close, problem
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import FEW, JITTER, condition
from tumble.core.process.slopes import slopes_at

SHARES = (0.0, 0.3)  # of one-dimensional effects


def queries(dim: int, count: int = 4, seed: int = 5):
    return np.random.default_rng([seed, dim]).random((count, dim))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 4])
def test_the_posterior_agrees_with_botorch(kernel, dim):
    torch = pytest.importorskip("torch")
    models = pytest.importorskip("botorch.models")
    kernels = pytest.importorskip("gpytorch.kernels")
    means = pytest.importorskip("gpytorch.means")
    gp, dense = problem(kernel, dim, 15)
    X, y = torch.tensor(dense.X), torch.tensor(dense.y)[:, None]
    inner = kernels.RBFKernel if kernel == "se" else kernels.MaternKernel
    base = inner(ard_num_dims=dim)
    base.lengthscale = torch.tensor([dense.hyper.lengthscales], dtype=torch.double)
    covariance = kernels.ScaleKernel(base)
    covariance.outputscale = dense.hyper.variance
    nugget = dense.hyper.noise**2 + JITTER * dense.hyper.variance
    model = models.SingleTaskGP(
        X, y, torch.full_like(y, nugget), covar_module=covariance.double(),
        mean_module=means.ZeroMean(), outcome_transform=None,
    ).double().eval()  # fmt: skip
    x = queries(dim)
    mean, var, d_mean, d_var = gp.predict_with_gradient(x)
    close(gp.mean_with_gradient(x)[0], mean, 1e-12)
    close(gp.mean_with_gradient(x)[1], d_mean, 1e-12)
    for m in range(len(x)):
        point = torch.tensor(x[m : m + 1], requires_grad=True)
        posterior = model.posterior(point)
        close(mean[m], posterior.mean.item(), 1e-6)
        close(var[m], posterior.variance.item(), 1e-5)
        (by_mean,) = torch.autograd.grad(posterior.mean.sum(), point, retain_graph=True)
        (by_var,) = torch.autograd.grad(posterior.variance.sum(), point)
        close(d_mean[m], by_mean.numpy()[0], 1e-6)
        close(d_var[m], by_var.numpy()[0], 1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 3, 10])
@pytest.mark.parametrize("share", SHARES)
def test_the_gradient_of_the_prediction_is_its_derivative(kernel, dim, share):
    gp, _ = problem(kernel, dim, 14, additive=share)
    x = queries(dim)
    mean, var, d_mean, d_var = gp.predict_with_gradient(x)
    close(mean, gp.predict(x)[0], 1e-12)
    close(var, gp.predict(x)[1], 1e-9)
    close(d_mean, central(gp.mean, x), 1e-6)
    close(d_var, central(lambda p: gp.predict(p)[1], x), 1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("share", SHARES)
def test_joint_predictions_equal_dense_conditioning(kernel, share):
    gp, dense = problem(kernel, 3, 10, additive=share)
    x = queries(3, 6)
    mean, cov = gp.predict_joint(x)
    cross = oracles.cov_values(kernel, dense.hyper, dense.X, x)
    prior = oracles.cov_values(kernel, dense.hyper, x, x)
    close(cov, prior - cross.T @ np.linalg.solve(dense.gram, cross), 1e-9)
    close(mean, cross.T @ np.linalg.solve(dense.gram, dense.y), 1e-9)
    close(np.diag(cov), gp.predict(x)[1], 1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_pending_points_shrink_the_uncertainty_as_an_observed_mean_would(kernel):
    gp, dense = problem(kernel, 2, 9)
    pending, x = queries(2, 3, seed=8), queries(2, 5)
    told = np.append(dense.y, gp.mean(pending))
    refit = Dense(kernel, dense.hyper, np.vstack([dense.X, pending]), told)
    aware = gp.with_pending(pending)
    close(aware.mean(x), gp.mean(x), 1e-10)
    close(aware.predict(x)[1], [refit.at(p).cov[0, 0] for p in x], 1e-8)
    close(aware.predict(x)[0], [refit.at(p).mean[0] for p in x], 1e-8)
    assert (aware.predict(x)[1] <= gp.predict(x)[1]).all()
    assert gp.with_pending(pending[:0]) is gp


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_pending_point_on_top_of_another_is_no_trouble(kernel):
    gp, dense = problem(kernel, 2, 9, noise=1e-9)
    twice = gp.with_pending(np.vstack([dense.X[:2], dense.X[:2]]))
    assert np.isfinite(twice.predict(queries(2))[1]).all()


def test_each_observation_may_have_its_own_noise_and_the_prior_a_mean():
    _, dense = problem("se", 2, 8)
    noise = np.linspace(0.01, 0.5, 8)
    gp = condition("se", dense.hyper, dense.X, dense.y, noise_var=noise, prior_mean=-2.0)
    oracle = Dense("se", dense.hyper, dense.X, dense.y + 2.0, noise)
    x = queries(2)
    close(gp.predict(x)[0], [oracle.at(p).mean[0] - 2.0 for p in x], 1e-9)
    close(gp.predict(x)[1], [oracle.at(p).cov[0, 0] for p in x], 1e-9)
    close(slopes_at(gp, x).mean, gp.predict(x)[0], 1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_data_the_posterior_is_the_prior(kernel):
    hyper = Hyper((0.2, 0.5), 2.0, 0.1)
    gp = condition(kernel, hyper, np.zeros((0, 2)), np.zeros(0), prior_mean=1.5)
    x = queries(2)
    mean, var = gp.predict(x)
    assert (mean == 1.5).all()
    assert (var == 2.0).all()
    slopes = slopes_at(gp, x)
    close(slopes.var_grad, np.tile(np.diag(oracles.cov_slopes(kernel, hyper)), (4, 1)), 1e-12)
    assert (slopes.cov_f_grad == 0.0).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("share", SHARES)
def test_a_few_points_are_predicted_as_among_many(kernel, share):
    gp, _ = problem(kernel, 3, 12, additive=share)
    x = np.random.default_rng(0).random((30, 3))
    mean, var = gp.predict(x)
    few_mean, few_var = gp.predict(x[:FEW])
    close(few_mean, mean[:FEW], 1e-10)
    close(few_var, var[:FEW], 1e-10)


def test_a_posterior_is_worked_out_once_for_an_array_and_anew_for_another():
    gp, _ = problem("matern52", 2, 6)
    x = queries(2)
    before = gp.predict(x)[0].copy()
    x += 0.1
    assert (gp.predict(x)[0] != before).all()  # an array that may change is asked about anew
    x.flags.writeable = False
    assert gp.at(x) is gp.at(x)
    moved = x + 0.1
    np.testing.assert_array_equal(gp.predict(moved)[0], problem("matern52", 2, 6)[0].predict(moved)[0])
    gp.at(x)
    mean, cov = gp.predict_joint(x, np.array([2, 0]))
    whole_mean, whole = gp.predict_joint(x)
    close(mean, whole_mean[[2, 0]], 1e-12)
    close(cov, whole[np.ix_([2, 0], [2, 0])], 1e-12)
    with pytest.raises(ValueError, match="read-only"):
        gp.predict(x)[0][0] = 1.0


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_learned_mean_is_that_of_a_process_with_one_more_random_level(kernel):
    rng = np.random.default_rng(4)
    X, y = rng.random((9, 2)), 2.0 + rng.standard_normal(9)
    hyper, level, before = Hyper((0.3, 0.6), 1.3, 0.1), 0.8, 0.5
    gp = condition(kernel, hyper, X, y, prior_mean=before, mean_std=level)
    gram = oracles.cov_values(kernel, hyper, X, X) + (hyper.noise**2 + JITTER * hyper.variance) * np.eye(9)
    expected = before + level**2 * np.ones(9) @ np.linalg.solve(gram + level**2, y - before)
    close(gp.prior_mean, expected, 1e-10)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_means_at_the_data_need_no_kernel(share):
    gp, _ = problem("matern52", 3, 12, noise=0.2, additive=share)
    close(gp.fitted(), gp.mean(gp.X), 1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("noises", [False, True])
def test_leaving_one_out_is_conditioning_on_the_others(kernel, noises):
    _, dense = problem(kernel, 3, 9)
    X, y, hyper = dense.X, dense.y, dense.hyper
    noise_var = np.linspace(0.01, 0.3, len(y)) if noises else np.full(len(y), hyper.noise**2)
    error, var = condition(kernel, hyper, X, y, noise_var=noise_var).leave_one_out()
    for i in range(len(y)):
        others = np.delete(np.arange(len(y)), i)
        gp = condition(kernel, hyper, X[others], y[others], noise_var=noise_var[others])
        mean, spread = gp.predict(X[[i]])
        close(error[i], y[i] - mean[0], 1e-7)
        close(var[i], spread[0] + noise_var[i] + JITTER * hyper.variance, 1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_repeats_are_averaged(kernel):
    """Repeats with noise σ are one observation of their mean with noise σ / √n, exactly."""
    _, dense = problem(kernel, 3, 6)
    X, y, hyper = dense.X, dense.y, replace(dense.hyper, noise=0.2)
    again = np.array([0, 0, 0, 2, 5])
    told = np.append(y, y[again] + 0.1 * np.arange(1.0, 6.0))
    where = np.append(np.arange(len(y)), again)
    repeated = condition(kernel, hyper, X[where], told)
    count = np.bincount(where)
    nugget = hyper.noise**2 + JITTER * hyper.variance  # the jitter is averaged as well
    averaged = condition(
        kernel, hyper, X, np.bincount(where, told) / count, noise_var=nugget / count - JITTER * hyper.variance
    )
    x = np.vstack([X, queries(3)])
    for one, other in zip(repeated.predict(x), averaged.predict(x), strict=True):
        close(one, other, 1e-9)


def test_the_mean_at_the_data_knows_the_noise_of_each_observation():
    _, dense = problem("matern52", 3, 9)
    noise_var = np.linspace(0.01, 0.3, len(dense.y))
    gp = condition("matern52", dense.hyper, dense.X, dense.y, noise_var=noise_var)
    close(gp.fitted(), gp.mean(dense.X), 1e-7)
    close(gp.with_pending(queries(3)).fitted()[: len(dense.y)], gp.mean(dense.X), 1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("noise", [0.0, 0.04])
def test_an_observation_explains_the_variance_that_is_gone_after_it(kernel, noise):
    gp, dense = problem(kernel, 2, 7, noise=0.1, additive=0.3)
    rng = np.random.default_rng(1)
    x, goals = rng.random((4, 2)), rng.random((3, 2))
    _, before = gp.predict(goals)
    for row, share in zip(x, gp.shared_variance(x, goals, noise), strict=True):
        more = condition(kernel, gp.hyper, np.vstack([gp.X, row]), np.append(dense.y, 0.7))
        _, after = more.predict(goals)
        close(share, 1.0 - (after + noise) / (before + noise), 1e-6)
