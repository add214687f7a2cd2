"""The posterior of (f, ∇f) against dense conditioning, BoTorch, mpmath and finite differences."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracles
from tests.oracles import KERNELS, Dense, central, close, problem
from tumble.core.crossings import _slopes_given_crossing
from tumble.core.process.gp import FEW, GP, JITTER, Hyper, Slopes, cholesky, condition
from tumble.core.process.kernels import _matern52_effects
from tumble.core.process.outputs import Outputs

DIMS = range(1, 11)
SHARES = (0.0, 0.3)  # of one-dimensional effects


def queries(dim: int, count: int = 4, seed: int = 5):
    return np.random.default_rng([seed, dim]).random((count, dim))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_oracle_s_kernel_derivatives_are_derivatives_of_its_kernel(kernel):
    scales, a, b = [0.3, 0.7], [0.2, 0.9], [0.45, 0.3]
    hyper = Hyper(tuple(scales), 1.7, 0.1)
    for j in range(2):

        def moved(t, j=j):
            point = [mpmath.mpf(v) for v in b]
            point[j] += t
            return oracles.value_mp(kernel, 1.7, scales, a, point)

        expected = float(mpmath.diff(moved, 0))
        assert float(oracles.slope_mp(kernel, 1.7, scales, a, b, j)) == pytest.approx(expected, rel=1e-12)
        row = oracles.cov_value_slope(kernel, hyper, np.array([a]), np.array(b))
        assert row[0, j] == pytest.approx(expected, rel=1e-12)

        def both(s, t, j=j):  # ∂_j ∂_j' of k(b + s e_j, b + t e_j)
            p, q = [mpmath.mpf(v) for v in b], [mpmath.mpf(v) for v in b]
            p[j] += s
            q[j] += t
            return oracles.value_mp(kernel, 1.7, scales, p, q)

        h = mpmath.mpf("1e-5")
        mixed = (both(h, h) - both(h, -h) - both(-h, h) + both(-h, -h)) / (4 * h * h)
        assert oracles.cov_slopes(kernel, hyper)[j, j] == pytest.approx(float(mixed), rel=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("share", SHARES)
def test_the_posterior_of_value_and_slopes_equals_dense_conditioning(kernel, dim, share):
    gp, dense = problem(kernel, dim, 5 + 3 * dim, additive=share)
    x = queries(dim)
    slopes = gp.slopes(x)
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


def given_crossing(gp: GP, x, u: float):
    """Mean and variance of ∇f(x) given f(x) = u, from what the core computes."""
    gamma, std, *_ = _slopes_given_crossing(gp.slopes(x[None, :]), np.array([u]))
    return gamma[0, 0] * std[0], std[0] ** 2


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
    slopes, bend = gp.slopes_and_curvature(x)
    plain = gp.slopes(x)
    for name in Slopes._fields:
        close(getattr(slopes, name), getattr(plain, name), 1e-12)
    for which, name in enumerate(("grad_mean", "cov_f_grad", "var_grad")):
        derivatives = central(lambda p, name=name: getattr(gp.slopes(p), name), x)  # type: ignore[misc]
        for j in range(dim):
            factors = np.zeros((3, len(x), dim))
            factors[which, :, j] = 1.0
            np.testing.assert_allclose(
                bend.along(*factors), derivatives[:, :, j], atol=1e-6 * np.abs(derivatives).max()
            )
    close(slopes.grad_mean, central(gp.mean, x), 1e-6)
    close(2.0 * slopes.cov_f_grad, central(lambda p: gp.predict(p)[1], x), 1e-6)


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


@pytest.mark.parametrize("kernel", KERNELS)
def test_leaving_one_out_equals_refitting_without_it(kernel):
    gp, dense = problem(kernel, 2, 9)
    errors, stds = gp.leave_one_out()
    nugget = dense.hyper.noise**2 + JITTER * dense.hyper.variance
    for i in range(9):
        keep = np.arange(9) != i
        other = Dense(kernel, dense.hyper, dense.X[keep], dense.y[keep]).at(dense.X[i])
        assert errors[i] == pytest.approx(dense.y[i] - other.mean[0], rel=1e-6)
        assert stds[i] ** 2 == pytest.approx(other.cov[0, 0] + nugget, rel=1e-6)


def test_each_observation_may_have_its_own_noise_and_the_prior_a_mean():
    _, dense = problem("se", 2, 8)
    noise = np.linspace(0.01, 0.5, 8)
    gp = condition("se", dense.hyper, dense.X, dense.y, noise_var=noise, prior_mean=-2.0)
    oracle = Dense("se", dense.hyper, dense.X, dense.y + 2.0, noise)
    x = queries(2)
    close(gp.predict(x)[0], [oracle.at(p).mean[0] - 2.0 for p in x], 1e-9)
    close(gp.predict(x)[1], [oracle.at(p).cov[0, 0] for p in x], 1e-9)
    close(gp.slopes(x).mean, gp.predict(x)[0], 1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_data_the_posterior_is_the_prior(kernel):
    hyper = Hyper((0.2, 0.5), 2.0, 0.1)
    gp = condition(kernel, hyper, np.zeros((0, 2)), np.zeros(0), prior_mean=1.5)
    x = queries(2)
    mean, var = gp.predict(x)
    assert (mean == 1.5).all()
    assert (var == 2.0).all()
    slopes = gp.slopes(x)
    close(slopes.var_grad, np.tile(np.diag(oracles.cov_slopes(kernel, hyper)), (4, 1)), 1e-12)
    assert (slopes.cov_f_grad == 0.0).all()


@pytest.mark.parametrize("scale", [3e-3, 0.03, 0.07, 0.08, 0.3, 1.0, 30.0])
def test_one_dimensional_effects_as_products_equal_their_own_exponentials(scale):
    rng = np.random.default_rng(0)
    A, B = rng.random((70, 3)), rng.random((40, 3))
    A[:20, 0] = B[:20, 0] + 1e-9 * rng.standard_normal(20)  # where the two products meet
    r = np.sqrt(5.0) * np.abs(A[:, None, :] - B) / scale
    expected = 2.0 + 0.7 * ((1.0 + r + r * r / 3.0) * np.exp(-r)).sum(axis=2)
    k = np.full((70, 40), 2.0)
    _matern52_effects(k, A / scale, B / scale, 0.7, np.empty((2, *k.shape)))
    np.testing.assert_allclose(k, expected, atol=1e-12)


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
def test_the_variance_stays_positive_on_top_of_data_and_duplicates(kernel):
    X = np.repeat(queries(3, 6), 4, axis=0)
    gp = condition(kernel, Hyper((3.0,) * 3, 1.0, 1e-8), X, np.sin(X.sum(axis=1)))
    slopes, bend = gp.slopes_and_curvature(X)
    assert (gp.predict(X)[1] > 0.0).all()
    assert (slopes.var > 0.0).all()
    ones = np.ones_like(X)
    assert np.isfinite(bend.along(ones, ones, ones)).all()


def test_a_singular_matrix_gets_as_little_jitter_as_it_takes():
    K = np.ones((5, 5))
    L = cholesky(K.copy())
    close(L @ L.T, K, 1e-4)
    positive = np.array([[2.0, 0.3], [0.3, 1.0]])
    close(cholesky(positive.copy()) @ cholesky(positive.copy()).T, positive, 1e-15)


finite = st.floats(-1e200, 1e200, allow_subnormal=False)


@given(st.lists(finite, min_size=1, max_size=8), st.booleans())
def test_model_units_keep_every_value_and_are_of_unit_size(values, centre):
    y = np.array(values)
    outputs = Outputs.of(y, centre=centre)
    model = outputs.to_model(y)
    assert np.isfinite(model).all()
    assert np.abs(model).max() <= 1.0 + np.sqrt(len(y))
    size = np.abs(y).max() or 1.0
    np.testing.assert_allclose(outputs.mean(model) / size, y / size, atol=1e-9)
    if not centre:
        assert outputs.shift == 0.0
        assert (model * np.sign(y) >= 0.0).all()


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
def test_standardised_outputs_have_zero_mean_and_unit_variance(factor):
    y = factor * np.array([3.0, 4.0, 8.0, -1.0])
    model = Outputs.of(y, centre=True).to_model(y)
    assert model.mean() == pytest.approx(0.0, abs=1e-12)
    assert model.std() == pytest.approx(1.0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_learned_mean_is_that_of_a_process_with_one_more_random_level(kernel):
    rng = np.random.default_rng(4)
    X, y = rng.random((9, 2)), 2.0 + rng.standard_normal(9)
    hyper, level, before = Hyper((0.3, 0.6), 1.3, 0.1), 0.8, 0.5
    gp = condition(kernel, hyper, X, y, prior_mean=before, mean_std=level)
    gram = oracles.cov_values(kernel, hyper, X, X) + (hyper.noise**2 + JITTER * hyper.variance) * np.eye(9)
    expected = before + level**2 * np.ones(9) @ np.linalg.solve(gram + level**2, y - before)
    close(gp.prior_mean, expected, 1e-10)


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


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_means_at_the_data_need_no_kernel(share):
    gp, _ = problem("matern52", 3, 12, noise=0.2, additive=share)
    close(gp.fitted(), gp.mean(gp.X), 1e-10)
