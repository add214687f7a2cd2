"""The MAP fit: objective and gradient against SciPy, and data that tend to break a fit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logit

from tests import oracles
from tests.oracles import KERNELS, central, close
from tumble.core.process.covariance import Hyper
from tumble.core.process.fit import NegativeLogPosterior, descend, fit
from tumble.core.process.gp import JITTER
from tumble.core.process.outputs import Outputs, Warp
from tumble.core.process.priors import Gamma, LogNormal, Normal, ParetoTail, Priors, Uniform
from tumble.core.settings import DEFAULT_PRIORS

DEFAULT = Priors(LogNormal(0.3, 0.7), LogNormal(1.0, 1.0), LogNormal(1e-2, 1.0))
ADDITIVE = replace(DEFAULT, additive=(-1.0, 1.5))
WITH_MEAN = replace(ADDITIVE, mean_std=0.7, lengthscale=LogNormal(0.3, 0.7, 1.0))
TABLE_2 = {
    "Michalewicz": Priors(Uniform(0.01, 0.3), Normal(0.5, 0.25), 0.01),
    "Hartman": Priors(Gamma(1.0, 5.0), Normal(0.5, 0.25), 0.01),
    "compression, f": Priors(Uniform(0.01, 0.3), Normal(0.5, 0.2), 0.01),
    "compression, g": Priors(Uniform(0.01, 0.3), Normal(7.5, 2.0), 0.01),
    "pendulum": Priors(Uniform(0.01, 0.3), Normal(1.0, 0.25), 0.01),
}


def data(n: int, dim: int, seed: int = 0):
    rng = np.random.default_rng([seed, n, dim])
    X = rng.random((n, dim))
    return X, np.sin(5.0 * X[:, 0]) + X.sum(axis=1) ** 2 + 0.05 * rng.standard_normal(n)


def log_prior(priors: Priors, hyper: Hyper) -> float:
    """By scipy.stats; densities of the value, except of the logarithm for the log-normal."""

    def one(prior, value):
        if isinstance(prior, Uniform):
            return stats.uniform(prior.low, prior.high - prior.low).logpdf(value)
        if isinstance(prior, Gamma):
            return stats.gamma(prior.shape, scale=1.0 / prior.rate).logpdf(value)
        if isinstance(prior, Normal):
            return stats.norm(prior.mean, prior.std).logpdf(value)
        return stats.norm(np.log(prior.median), prior.sigma).logpdf(np.log(value))

    if isinstance(priors.lengthscale, LogNormal):
        law, D = priors.lengthscale, len(hyper.lengthscales)
        covariance = law.sigma**2 * np.eye(D) + law.common**2
        logs = stats.multivariate_normal(np.full(D, np.log(law.median)), covariance)
        total = logs.logpdf(np.log(hyper.lengthscales))
    else:
        total = sum(one(priors.lengthscale, v) for v in hyper.lengthscales)
    total += one(priors.variance, hyper.variance)
    if priors.additive is not None:
        total += stats.norm(*priors.additive).logpdf(logit(hyper.additive))
    return float(total + (0.0 if isinstance(priors.noise, float) else one(priors.noise, hyper.noise)))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["default", "additive", "mean", *TABLE_2])
def test_the_objective_is_the_posterior_of_the_hyperparameters_by_scipy(kernel, name):
    priors = {"default": DEFAULT, "additive": ADDITIVE, "mean": WITH_MEAN, **TABLE_2}[name]
    X, y = data(12, 2)

    def expected(hyper: Hyper) -> float:
        gram = oracles.cov_values(kernel, hyper, X, X)
        gram += (hyper.noise**2 + JITTER * hyper.variance) * np.eye(len(X))
        return misfit(gram) - log_prior(priors, hyper)

    def misfit(gram) -> float:
        def at(mean: float) -> float:
            return -float(stats.multivariate_normal(np.full(12, mean), gram).logpdf(y))

        if priors.mean_std is None:
            return at(0.0)
        return minimize_scalar(lambda m: at(m) - stats.norm(0.0, priors.mean_std).logpdf(m), tol=1e-12).fun

    noise = priors.noise if isinstance(priors.noise, float) else 0.03
    shares = (0.0, 0.0) if priors.additive is None else (0.2, 0.6)
    a, b = Hyper((0.1, 0.2), 0.6, noise, shares[0]), Hyper((0.25, 0.07), 1.4, noise, shares[1])
    ours = [NegativeLogPosterior(kernel, X, y, priors)(priors.to_theta(h))[0] for h in (a, b)]
    assert ours[1] - ours[0] == pytest.approx(expected(b) - expected(a), rel=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("priors", [DEFAULT, WITH_MEAN, TABLE_2["Hartman"], TABLE_2["Michalewicz"]])
def test_the_gradient_of_the_fit_is_its_derivative(kernel, dim, priors):
    X, y = data(15, dim)
    theta = priors.to_theta(Hyper((0.2,) * dim, 0.8, 0.05, 0.0 if priors.additive is None else 0.3))
    theta = theta + 0.1 * np.random.default_rng(3).standard_normal(len(theta))

    def value(rows):
        return np.array([objective(row)[0] for row in rows])

    objective = NegativeLogPosterior(kernel, X, y, priors)
    close(objective(theta)[1], central(value, theta[None, :])[0], 1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("priors", [DEFAULT, ADDITIVE, WITH_MEAN])
@pytest.mark.parametrize("dim", [1, 3])
def test_the_average_information_is_that_of_dense_products(kernel, priors, dim):
    X, y = data(12, dim)
    share = 0.0 if priors.additive is None else 0.3
    theta = priors.to_theta(Hyper(tuple(0.2 + 0.2 * j for j in range(dim)), 0.8, 0.2, share))
    found = NegativeLogPosterior(kernel, X, y, priors)(theta).information
    found -= priors.log_density(theta).information
    close(found, oracles.information(kernel, X, y, priors, theta), 1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("priors", [DEFAULT, ADDITIVE, WITH_MEAN])
def test_the_average_information_is_the_expected_one_on_average(kernel, priors):
    """½ tr(K⁻¹ ∂_i K K⁻¹ ∂_j K), by central differences; a mean to be learned is a constant of K.

    The information is quadratic in y, so its mean over y ~ N(0, K) is the sum over the columns of K's root.
    """
    X, _ = data(10, 2)
    share = 0.0 if priors.additive is None else 0.3
    theta = priors.to_theta(Hyper((0.3, 0.5), 0.8, 0.2, share))

    def gram(theta):
        h = priors.from_theta(theta)
        K = oracles.cov_values(kernel, h, X, X) + (h.noise**2 + JITTER * h.variance) * np.eye(len(X))
        return K if priors.mean_std is None else K + priors.mean_std**2

    def information(y):
        found = NegativeLogPosterior(kernel, X, y, priors)(theta).information
        return found - priors.log_density(theta).information

    K, steps = gram(theta), 1e-5 * np.eye(len(theta))
    turned = [np.linalg.solve(K, (gram(theta + s) - gram(theta - s)) / 2e-5) for s in steps]
    expected = 0.5 * np.einsum("aij,bji->ab", turned, turned)
    found = np.array([information(y) for y in np.linalg.cholesky(K).T])
    close(found.sum(axis=0), expected, 1e-6)
    assert (np.linalg.eigvalsh(found) > -1e-9).all()
    close(information(3.0 * X[:, 0]), 9.0 * information(X[:, 0]), 1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gradient_of_the_fit_is_its_derivative_where_noises_differ(kernel):
    X, y = data(9, 2)
    objective = NegativeLogPosterior(kernel, X, y, WITH_MEAN, relative_noise=np.linspace(0.1, 3.0, len(y)))
    theta = WITH_MEAN.to_theta(Hyper((0.4, 0.7), 1.2, 0.3, 0.25))

    def value(rows):
        return np.array([objective(row).value for row in rows])

    close(objective(theta).grad, central(value, theta[None, :])[0], 1e-6)


def test_a_known_noise_is_of_the_users_units_under_a_warp():
    X, y = data(12, 2)
    y = np.exp(3.0 * y)
    warp = Warp(float(y.min()), 2.0)
    outputs = Outputs.of(y, centre=True, warp=warp)
    gp = fit(X, y, kernel="matern52", priors=replace(WITH_MEAN, noise=0.3 / outputs.scale), outputs=outputs)
    step = 1e-6 * y
    by_hand = (outputs.to_model(y + step) - outputs.to_model(y - step)) / (2.0 * step) * 0.3
    assert gp.noise_var is not None
    np.testing.assert_allclose(np.sqrt(gp.noise_var), by_hand, rtol=1e-4)


def test_crowded_good_values_do_not_move_the_mean_where_nothing_was_tried():
    rng = np.random.default_rng(0)
    X = np.vstack([0.5 + 0.01 * rng.standard_normal((30, 2)), rng.random((10, 2))])
    y = -3.0 * np.exp(-8.0 * ((X - 0.5) ** 2).sum(axis=1))
    outputs = Outputs.of(y, centre=True)
    plain, learned = (
        fit(X, y, kernel="matern52", priors=p, outputs=outputs)
        for p in (DEFAULT, replace(DEFAULT, mean_std=1.0))
    )
    assert outputs.to_user(np.array(plain.prior_mean)) == pytest.approx(y.mean())  # about -2.3
    assert outputs.to_user(np.array(learned.prior_mean)) > -1.5


def test_with_a_tail_few_trials_show_that_a_parameter_does_nothing():
    """The last two trials turn the second parameter alone, each from another trial, and nothing changes."""
    X = np.array([[0.0, 0.5], [0.3, 0.5], [0.5, 0.5], [0.8, 0.5], [1.0, 0.5], [1.0, 1.0], [0.5, 0.0]])
    y = np.sin(5.0 * X[:, 0])
    outputs, found = Outputs.of(y, centre=True), {}
    for law in (LogNormal(0.55, 0.7), ParetoTail(0.55, 0.7, 1.0)):
        priors = replace(DEFAULT, lengthscale=law)
        before = fit(X[:-2], y[:-2], kernel="matern52", priors=priors, outputs=outputs)
        assert before.hyper.lengthscales[1] == pytest.approx(0.55, rel=1e-3)  # it was not turned
        gp = fit(X, y, kernel="matern52", priors=priors, outputs=outputs)
        found[type(law)] = gp.hyper.lengthscales[1]
    assert found[LogNormal] < 1.5
    assert found[ParetoTail] > 10.0


@pytest.mark.parametrize(
    "law", [LogNormal(1e-200, 0.5), LogNormal(1e-3, 3.0), LogNormal(1e150, 1.0), ParetoTail(1e150, 1e-6, 1e6)]
)
def test_priors_of_absurd_size_do_not_overflow(law):
    X, y = data(8, 2)
    outputs = Outputs.of(y, centre=True)
    gp = fit(X, y, kernel="matern52", priors=Priors(law, law, law, (-1.0, 1.5), 1.0), outputs=outputs)
    assert np.isfinite(gp.mean(X)).all()


def test_a_variance_with_a_tail_may_be_large():
    X, y = data(8, 2)
    priors = replace(DEFAULT, variance=ParetoTail(1e4, 0.1, 1.0))
    gp = fit(X, y, kernel="matern52", priors=priors, outputs=Outputs.of(y, centre=True))
    assert gp.hyper.variance > 2e3  # LARGEST_LENGTHSCALE does not hold it


def test_a_matrix_that_cannot_be_factorised_is_never_preferred():
    X = np.zeros((3, 1))
    theta = DEFAULT.to_theta(Hyper((1.0,), 1e20, 1e-8))
    value, grad, _ = NegativeLogPosterior("se", X, np.arange(3.0), DEFAULT)(theta)
    assert value == np.inf or np.isfinite(value)
    assert np.isfinite(grad).all()


@given(st.integers(0, 10**6))
@effort(max_examples=60)
def test_a_fit_stays_within_its_bounds_and_never_ends_worse_than_it_began(seed):
    rng = np.random.default_rng(seed)
    priors = [DEFAULT, ADDITIVE, WITH_MEAN, *TABLE_2.values()][int(rng.integers(8))]
    dim, n = int(rng.integers(1, 5)), int(rng.integers(1, 16))
    X, y = rng.random((n, dim)), rng.choice([0.0, 1.0, 1e4]) * rng.standard_normal(n)
    objective = NegativeLogPosterior(KERNELS[int(rng.integers(2))], X, y, priors)
    low, high = np.array(priors.bounds(dim)).T
    start = np.clip(low + (high - low) * rng.uniform(-0.2, 1.2, len(low)), low, high)  # now and then a corner
    value, end = descend(objective, start, low, high)
    assert ((end >= low) & (end <= high)).all()
    assert value == objective(end)[0] <= objective(start)[0]


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize("size", [1e100, 1e160, 1e300])
@pytest.mark.parametrize("priors", [WITH_MEAN, TABLE_2["Hartman"]])
def test_outputs_too_large_to_square_leave_hyperparameters_that_are_finite(size, priors):
    X, y = data(12, 2)
    gp = fit(X, size * y, kernel="matern52", priors=priors, outputs=Outputs())
    assert np.isfinite([*gp.hyper.lengthscales, gp.hyper.variance, gp.hyper.noise]).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_fit_reaches_the_best_of_many_starts(kernel):
    X, y = data(25, 2)
    outputs = Outputs.of(y, centre=True)
    gp = fit(X, y, kernel=kernel, priors=DEFAULT, outputs=outputs)
    target, bounds = outputs.to_model(y), DEFAULT.bounds(2)
    low, high = np.array(bounds).T
    rng = np.random.default_rng(1)

    def plain(theta):
        return NegativeLogPosterior(kernel, X, target, DEFAULT)(theta)[0]

    found = [
        minimize(plain, low + (high - low) * rng.random(4), bounds=bounds, method="L-BFGS-B").fun
        for _ in range(12)
    ]
    assert plain(DEFAULT.to_theta(gp.hyper)) <= min(found) + 0.02


@pytest.mark.parametrize("name", TABLE_2)
def test_the_paper_s_priors_bound_what_is_found_and_keep_the_noise(name):
    priors = TABLE_2[name]
    X, y = data(20, 2)
    gp = fit(X, 0.5 * y, kernel="se", priors=priors, outputs=Outputs())
    assert gp.hyper.noise == pytest.approx(0.01)
    low, high = priors.lengthscale.support
    assert all(low * 0.999999 <= v <= high * 1.000001 for v in gp.hyper.lengthscales)
    assert gp.hyper.variance > 0.0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_points_are_enough(kernel, n):
    X, y = data(n, 3)
    gp = fit(X, y, kernel=kernel, priors=DEFAULT, outputs=Outputs.of(y, centre=True))
    mean, var = gp.predict(X)
    size = gp.outputs.scale
    np.testing.assert_allclose(gp.outputs.to_user(mean), y, atol=0.2 * size)
    assert (var > 0.0).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("constant", [0.0, 5.0, -1e-9, 1e12])
def test_constant_outputs_are_predicted_again(kernel, centre, constant):
    X, _ = data(8, 2)
    y = np.full(8, constant)
    gp = fit(X, y, kernel=kernel, priors=DEFAULT, outputs=Outputs.of(y, centre=centre))
    mean, var = gp.predict(X)
    np.testing.assert_allclose(gp.outputs.to_user(mean), y, atol=0.05 * abs(constant) + 1e-12)
    assert np.isfinite(var).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_duplicates_that_disagree_are_explained_by_noise(kernel):
    X, y = data(6, 2)
    X, y = np.repeat(X, 5, axis=0), np.repeat(y, 5) + np.tile([-0.4, -0.2, 0.0, 0.2, 0.4], 6)
    gp = fit(X, y, kernel=kernel, priors=DEFAULT, outputs=Outputs.of(y, centre=True))
    noise = gp.hyper.noise * gp.outputs.scale
    assert 0.1 < noise < 0.6


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_predictions_scale_with_the_outputs(kernel, factor):
    X, y = data(18, 2)
    x = np.random.default_rng(4).random((5, 2))
    predicted = []
    for scale in (1.0, factor):
        gp = fit(X, scale * y, kernel=kernel, priors=DEFAULT, outputs=Outputs.of(scale * y, centre=True))
        mean, var = gp.predict(x)
        predicted.append((gp.outputs.to_user(mean) / scale, gp.outputs.scale * np.sqrt(var) / scale))
    close(predicted[1][0], predicted[0][0], 1e-4)
    close(predicted[1][1], predicted[0][1], 1e-3)


def test_a_warm_start_finds_what_a_cold_one_finds():
    X, y = data(30, 3)
    outputs = Outputs.of(y, centre=True)
    cold = fit(X, y, kernel="matern52", priors=DEFAULT, outputs=outputs)
    warm = fit(X, y, kernel="matern52", priors=DEFAULT, outputs=outputs, warm=cold.hyper, cold=False)
    value = [
        NegativeLogPosterior("matern52", X, outputs.to_model(y), DEFAULT)(DEFAULT.to_theta(gp.hyper))[0]
        for gp in (cold, warm)
    ]
    assert value[1] <= value[0] + 1e-6


def test_a_bad_warm_start_does_not_spoil_a_cold_one():
    X, y = data(30, 3)
    outputs = Outputs.of(y, centre=True)
    bad = Hyper((1e-2,) * 3, 1e-3, 1.0)
    cold = fit(X, y, kernel="matern52", priors=DEFAULT, outputs=outputs)
    both = fit(X, y, kernel="matern52", priors=DEFAULT, outputs=outputs, warm=bad)
    value = [
        NegativeLogPosterior("matern52", X, outputs.to_model(y), DEFAULT)(DEFAULT.to_theta(gp.hyper))[0]
        for gp in (cold, both)
    ]
    assert value[1] <= value[0] + 1e-6


def test_known_hyperparameters_are_found_again_from_a_draw_of_their_process():
    rng = np.random.default_rng(2)
    truth = Hyper((0.2, 0.5), 1.0, 0.05)
    X = rng.random((150, 2))
    gram = oracles.cov_values("se", truth, X, X) + truth.noise**2 * np.eye(150)
    y = np.linalg.cholesky(gram) @ rng.standard_normal(150)
    found = fit(X, y, kernel="se", priors=DEFAULT, outputs=Outputs()).hyper
    close(np.log(found.lengthscales), np.log(truth.lengthscales), 0.25)
    assert found.noise == pytest.approx(truth.noise, rel=0.3)


def test_additive_effects_are_found_where_they_are_all_there_is():
    X = np.random.default_rng(0).random((60, 4))
    y = np.sin(7.0 * X).sum(axis=1)
    found = fit(X, y, kernel="matern52", priors=ADDITIVE, outputs=Outputs.of(y, centre=True)).hyper
    assert found.additive > 0.8


def test_two_thousand_points_can_be_fitted():
    X, y = data(2000, 2)
    gp = fit(X, y, kernel="matern52", priors=DEFAULT, outputs=Outputs.of(y, centre=True))
    error = gp.outputs.to_user(gp.mean(X)) - y
    assert np.sqrt(np.mean(error**2)) < 0.2 * y.std()


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_function_of_many_parameters_is_learned_from_few_data(seed):
    """With a law of its own for each lengthscale the error was a fifth of the spread."""
    rng = np.random.default_rng(seed)
    X, x, slopes = rng.random((25, 11)), rng.random((200, 11)), rng.standard_normal(11)
    y, expected = X @ slopes, x @ slopes
    outputs = Outputs.of(y, centre=True)
    gp = fit(X, y, kernel="matern52", priors=DEFAULT_PRIORS, outputs=outputs)
    error = outputs.to_user(gp.mean(x)) - expected
    assert np.sqrt(np.mean(error**2)) < 0.03 * expected.std()


@pytest.mark.parametrize("priors", [DEFAULT, ADDITIVE, WITH_MEAN])
def test_a_value_alone_is_that_with_its_slopes(priors):
    X, y = data(15, 2)
    objective = NegativeLogPosterior("matern52", X, y, priors)
    theta = priors.to_theta(Hyper((0.3, 0.8), 1.2, 0.1, 0.2))
    at = objective.at(theta)
    K = oracles.gram_of("matern52", X, priors, theta)
    _, log_det = np.linalg.slogdet(K)
    if (
        priors.mean_std is not None
    ):  # at its most likely value, a mean costs what one that is integrated out does
        K = K + priors.mean_std**2
    value = 0.5 * y @ np.linalg.solve(K, y) + 0.5 * log_det - priors.log_density(theta).value
    assert at.value == pytest.approx(value, rel=1e-9)
    assert objective.slopes(at).value == at.value == objective(theta).value
