"""Xs and XsF in BoTorch: the torch twin against the NumPy core, and the loop as a whole."""

from dataclasses import replace

import gpytorch
import numpy as np
import pytest
import torch
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Log, Normalize, Standardize, Warp
from botorch.optim import optimize_acqf
from gpytorch.kernels import MaternKernel, PeriodicKernel, RBFKernel, ScaleKernel
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

import tumble
from tumble import problems
from tumble.core.acquisition import ExcursionSearch
from tumble.core.feasibility import Feasibility
from tumble.core.fit import fit
from tumble.core.gp import JITTER, Hyper, Outputs, condition
from tumble.integrations.botorch import (
    BudgetState,
    FailureAwareExcursionSearch,
    LogExcursionSearch,
    NothingSafeEnough,
    UnsupportedModel,
    budget_state,
    excursion_model,
    optimize_excursion,
    sample_minima,
    starts,
)
from tumble.integrations.botorch.process import Process
from tumble.integrations.botorch.study import Study


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def rand(rows, columns, seed=0):
    return torch.rand(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


UNIT2 = tensor([[0.0, 0.0], [1.0, 1.0]])


def torch_model(
    kernel, hyper, X, y, prior_mean=0.0, *, scaled=True, bounds=None, standardize=False, noise=None
):
    """The BoTorch model that says what the core's hyperparameters say."""
    dim = X.shape[1]
    inner = RBFKernel(ard_num_dims=dim) if kernel == "se" else MaternKernel(nu=2.5, ard_num_dims=dim)
    covar = ScaleKernel(inner) if scaled else inner
    likelihood = gpytorch.likelihoods.GaussianLikelihood(
        noise_constraint=gpytorch.constraints.GreaterThan(1e-12, transform=None, initial_value=hyper.noise**2)
    )
    model = SingleTaskGP(
        torch.tensor(X), torch.tensor(y)[:, None], None if noise is None else torch.tensor(noise)[:, None],
        likelihood=None if noise is not None else likelihood, covar_module=covar,
        input_transform=None if bounds is None else Normalize(dim, bounds=bounds),
        outcome_transform=Standardize(1) if standardize else None,
    )  # fmt: skip
    inner.lengthscale = tensor(hyper.lengthscales)
    if noise is None:
        likelihood.noise = tensor(hyper.noise**2)
    if scaled:
        covar.outputscale = tensor(hyper.variance)
    model.mean_module.constant.data.fill_(prior_mean)
    return model


def random_problem(seed, *, unit_variance=False):
    rng = np.random.default_rng(seed)
    dim, count = int(rng.integers(1, 9)), int(rng.integers(1, 25))
    variance = 1.0 if unit_variance else rng.uniform(0.2, 4.0)
    hyper = Hyper(tuple(rng.uniform(0.1, 1.5, dim).tolist()), variance, float(10 ** rng.uniform(-2.0, -0.5)))
    X, y = rng.random((count, dim)), rng.standard_normal(count)
    return rng, hyper, X, y


def core_gp(kernel, hyper, X, y, prior_mean=0.0):
    """The core's process without the jitter that BoTorch does not add."""
    noise = np.full(len(X), hyper.noise**2 - JITTER * hyper.variance)
    return condition(kernel, hyper, X, y, noise_var=noise, prior_mean=prior_mean)


def value_and_grad(acqf, x):
    points = torch.tensor(x, requires_grad=True)
    value = acqf(points[:, None, :])
    (grad,) = torch.autograd.grad(value.sum(), points)
    return value.detach().numpy(), grad.numpy()


def assert_equal_to(core, acqf, x, rtol=1e-8):
    expected, expected_grad = core
    value, grad = value_and_grad(acqf, x)
    assert np.max(np.abs(value - expected) / np.maximum(np.abs(expected), 1.0)) < rtol
    scale = np.maximum(np.linalg.norm(expected_grad, axis=1), 1e-3)
    assert np.max(np.linalg.norm(grad - expected_grad, axis=1) / scale) < rtol
    with torch.no_grad():
        np.testing.assert_allclose(acqf(torch.tensor(x)[:, None, :]).numpy(), value, rtol=1e-12)


# -- the torch twin ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("scaled", [True, False])
@hypothesis_settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_value_and_gradient_equal_the_core_for_random_models_and_thresholds(kernel, scaled, seed):
    rng, hyper, X, y = random_problem(seed, unit_variance=not scaled)
    gp = core_gp(kernel, hyper, X, y, prior_mean=0.3)
    if np.linalg.cond(gp.chol @ gp.chol.T) > 1e6:
        return
    levels = rng.normal(y.min(), 2.0, int(rng.integers(1, 6)))
    x = rng.random((6, X.shape[1]))
    acqf = LogExcursionSearch(torch_model(kernel, hyper, X, y, 0.3, scaled=scaled), torch.tensor(levels))
    assert_equal_to(ExcursionSearch(gp, levels).value_and_grad(x), acqf, x)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("seed", range(5))
def test_normalize_and_standardize_change_the_units_and_not_the_value(kernel, seed):
    rng, hyper, X, y = random_problem(seed)
    X, y = np.vstack([X, rng.random((2, X.shape[1]))]), np.append(y, rng.standard_normal(2))
    low, span = rng.normal(0.0, 5.0, X.shape[1]), rng.uniform(0.5, 20.0, X.shape[1])
    bounds = torch.tensor(np.stack([low, low + span]))
    mean, std = y.mean(), y.std(ddof=1)
    model = torch_model(kernel, hyper, low + span * X, y, 0.3, bounds=bounds, standardize=True)
    gp = core_gp(kernel, hyper, X, (y - mean) / std, prior_mean=0.3)
    levels = rng.normal(y.min(), 1.0, 4)
    x = rng.random((6, X.shape[1]))
    value, grad = ExcursionSearch(gp, (levels - mean) / std).value_and_grad(x)
    acqf = LogExcursionSearch(model, torch.tensor(levels))
    assert_equal_to((value, grad / span), acqf, low + span * x, rtol=1e-7)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_mean_and_variance_are_those_of_the_models_own_posterior(kernel):
    rng, hyper, X, y = random_problem(3)
    low, span = -3.0, 7.0
    bounds = torch.tensor(np.array([[low], [low + span]]) * np.ones((2, X.shape[1])))
    noise = rng.uniform(1e-3, 1e-1, len(X))
    model = torch_model(kernel, hyper, low + span * X, y, bounds=bounds, standardize=True, noise=noise)
    x = torch.tensor(low + span * rng.random((20, X.shape[1])))
    mean, var = Process.of(model).predict(x)
    with torch.no_grad():
        posterior = model.posterior(x)
    np.testing.assert_allclose(mean, posterior.mean[:, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(var, posterior.variance[:, 0], rtol=1e-7)


def test_a_zero_mean_and_noise_that_is_given_are_read():
    X, y = rand(7, 2), rand(7, 1, 1)
    zero = SingleTaskGP(X, y, mean_module=gpytorch.means.ZeroMean())
    noisy = excursion_model(X, y, UNIT2, train_Yvar=torch.full_like(y, 0.1))
    x = rand(4, 2, 2)
    for model in (zero, noisy):
        mean, var = Process.of(model).predict(x)
        np.testing.assert_allclose(mean, model.posterior(x).mean[:, 0].detach(), rtol=1e-9)
        np.testing.assert_allclose(var, model.posterior(x).variance[:, 0].detach(), rtol=1e-7)


def three_outputs(seed, **transforms):
    rng, hyper, X, y = random_problem(seed)
    ys = [y, rng.standard_normal(len(X)), rng.standard_normal(len(X))]
    models = [torch_model("matern52", hyper, X, values, **transforms) for values in ys]
    return rng, hyper, X, ys, ModelListGP(*models)


@pytest.mark.parametrize("seed", range(6))
def test_risky_search_adds_the_cores_log_probability_of_safety(seed):
    rng, hyper, X, ys, model = three_outputs(seed)
    f, *g = (core_gp("matern52", hyper, X, values) for values in ys)
    levels, x = rng.normal(ys[0].min(), 1.0, 5), rng.random((6, X.shape[1]))
    value, grad = ExcursionSearch(f, levels).value_and_grad(x)
    log_p, d_log_p = Feasibility(tuple(g)).log_prob_and_grad(x)
    acqf = FailureAwareExcursionSearch(model, budget_state(30, 10), torch.tensor(levels))
    assert acqf.mode == "risky"
    assert_equal_to((value + log_p, grad + d_log_p), acqf, x)


def test_one_model_of_several_outputs_is_split_into_them():
    X, Y = rand(9, 2), rand(9, 2, 1)
    model = SingleTaskGP(X, Y, input_transform=Normalize(2))
    model.covar_module.lengthscale = tensor([[[0.3, 0.7]], [[0.9, 0.2]]])
    x = rand(5, 2, 2)
    posterior = model.posterior(x)
    for index, process in enumerate(Study.of(model).processes):
        mean, var = process.predict(x)
        np.testing.assert_allclose(mean, posterior.mean[:, index].detach(), rtol=1e-9)
        np.testing.assert_allclose(var, posterior.variance[:, index].detach(), rtol=1e-7)
    odd = SingleTaskGP(X, Y, covar_module=MaternKernel(nu=2.5, batch_shape=torch.Size([2])))
    with pytest.raises(UnsupportedModel, match="one model an output"):
        Study.of(odd)


@pytest.mark.parametrize("seed", range(4))
def test_the_margin_is_the_cores_and_only_bounds_the_safe_search(seed):
    rng, hyper, X, ys, model = three_outputs(seed)
    f, *g = (core_gp("matern52", hyper, X, values) for values in ys)
    levels, x = rng.normal(ys[0].min(), 1.0, 5), rng.random((6, X.shape[1]))
    state = BudgetState(z=1.0, trials_left=10, failures_left=1)
    acqf = FailureAwareExcursionSearch(model, state, torch.tensor(levels), safe_known=True)
    assert acqf.mode == "safe"
    assert_equal_to(ExcursionSearch(f, levels).value_and_grad(x), acqf, x)
    margin, d_margin = Feasibility(tuple(g)).margin_and_grad(x)
    points = torch.tensor(x, requires_grad=True)
    ours = acqf.margin(points)
    (grad,) = torch.autograd.grad(ours.sum(), points)
    np.testing.assert_allclose(ours.detach() + 1.0, margin, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(grad, d_margin, rtol=1e-6, atol=1e-8)


def test_bounds_of_either_side_are_moved_to_zero():
    rng, hyper, X, ys, model = three_outputs(2)
    _, g, h = (core_gp("matern52", hyper, X, values) for values in ys)
    x = rng.random((5, X.shape[1]))
    ranges = {1: (None, 0.4), 2: (-0.7, None)}
    acqf = FailureAwareExcursionSearch(model, budget_state(30, 10), tensor([-3.0]), constraints=ranges)
    (mean_g, var_g), (mean_h, var_h) = g.predict(x), h.predict(x)
    expected = log_ndtr((0.4 - mean_g) / np.sqrt(var_g)) + log_ndtr((mean_h + 0.7) / np.sqrt(var_h))
    np.testing.assert_allclose(acqf.log_p_safe(torch.tensor(x)), expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_gradcheck_passes_for_both_classes(kernel):
    rng, hyper, X, y = random_problem(11)
    model = torch_model(kernel, hyper, X, y)
    x = torch.tensor(rng.random((3, 1, X.shape[1])), requires_grad=True)
    levels = torch.tensor(rng.normal(y.min(), 1.0, 3))
    assert torch.autograd.gradcheck(LogExcursionSearch(model, levels), x)
    both = ModelListGP(model, torch_model(kernel, hyper, X, rng.standard_normal(len(X))))
    for state in (budget_state(30, 10), BudgetState(0.7, 10, 1)):
        aware = FailureAwareExcursionSearch(both, state, levels, safe_known=True, penalty=3.0)
        assert torch.autograd.gradcheck(aware, x)
        assert torch.autograd.gradcheck(aware.margin, x.detach().squeeze(1).requires_grad_())


def test_the_gradient_is_finite_at_the_data_where_autograd_would_give_nan():
    _, hyper, X, y = random_problem(5)
    acqf = LogExcursionSearch(torch_model("matern52", hyper, X, y), torch.tensor([y.min() - 1.0]))
    value, grad = value_and_grad(acqf, X)
    assert np.isfinite(value).all()
    assert np.isfinite(grad).all()


def test_a_second_derivative_is_refused_rather_than_wrong():
    _, hyper, X, y = random_problem(5)
    acqf = LogExcursionSearch(torch_model("se", hyper, X, y), torch.tensor([y.min() - 1.0]))
    x = torch.tensor(X[:1, None, :], requires_grad=True)
    (first,) = torch.autograd.grad(acqf(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(first.sum(), x)


def test_pending_points_shrink_the_uncertainty_and_leave_the_mean():
    rng, hyper, X, y = random_problem(8)
    gp = core_gp("matern52", hyper, X, y)
    pending, x, levels = rng.random((2, X.shape[1])), rng.random((5, X.shape[1])), np.array([y.min() - 0.5])
    acqf = LogExcursionSearch(torch_model("matern52", hyper, X, y), torch.tensor(levels))
    before, _ = value_and_grad(acqf, x)
    acqf.set_X_pending(torch.tensor(pending))
    assert_equal_to(ExcursionSearch(gp.with_pending(pending), levels).value_and_grad(x), acqf, x, rtol=1e-5)
    acqf.set_X_pending(None)
    np.testing.assert_array_equal(value_and_grad(acqf, x)[0], before)


def test_float32_models_run_and_agree_with_float64():
    rng, hyper, X, y = random_problem(4)
    model = torch_model("matern52", hyper, X, y)
    x, level = torch.tensor(rng.random((5, 1, X.shape[1]))), torch.tensor([y.min() - 0.5])
    exact = LogExcursionSearch(model, level)(x)
    single = LogExcursionSearch(model.float(), level.float())(x.float())
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single, exact.detach(), rtol=1e-3, atol=1e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_models_run_and_agree_with_the_processor():
    rng, hyper, X, y = random_problem(4)
    model = torch_model("matern52", hyper, X, y)
    x, level = torch.tensor(rng.random((5, 1, X.shape[1]))), torch.tensor([y.min() - 0.5])
    exact = LogExcursionSearch(model, level)(x)
    moved = LogExcursionSearch(model.cuda(), level.cuda())
    np.testing.assert_allclose(moved(x.cuda()).cpu().detach(), exact.detach(), rtol=1e-8)


# -- what is refused -----------------------------------------------------------------------------------------


class OddLikelihood(gpytorch.likelihoods.GaussianLikelihood):  # type: ignore[misc]
    """Might do anything."""


def plain(**arguments):
    X = rand(5, 2, 0)
    return SingleTaskGP(X, X.sum(1, keepdim=True), **arguments)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: plain(covar_module=MaternKernel(nu=1.5)), r"MaternKernel with nu = 1.5"),
        (lambda: plain(covar_module=PeriodicKernel()), "kernel PeriodicKernel"),
        (
            lambda: plain(covar_module=ScaleKernel(RBFKernel() + MaternKernel(nu=2.5))),
            "kernel AdditiveKernel",
        ),
        (lambda: plain(covar_module=RBFKernel(active_dims=(0,))), "active_dims"),
        (lambda: plain(mean_module=gpytorch.means.LinearMean(2)), "LinearMean"),
        (
            lambda: plain(likelihood=OddLikelihood()),
            "OddLikelihood",
        ),
        (lambda: plain(input_transform=Warp(d=2, indices=[0])), "Normalize, but Warp"),
        (lambda: plain(outcome_transform=Log(), covar_module=RBFKernel()), "Standardize, but Log"),
        (lambda: SingleTaskGP(rand(4, 2), rand(4, 2, 1)), "2 outputs"),
        (lambda: torch.nn.Linear(2, 1), "exact single-output GP, but Linear"),
    ],
)
def test_a_model_without_closed_form_is_refused_by_name(model, message):
    with pytest.raises(UnsupportedModel, match=message) as caught:
        Process.of(model())
    assert isinstance(caught.value, tumble.InputError)


def test_wrong_arguments_say_what_was_expected():
    model = plain()
    both = ModelListGP(model, plain())
    level = tensor([-1.0])
    with pytest.raises(UnsupportedModel, match="f alone, but one of 2 outputs"):
        LogExcursionSearch(both, level)
    with pytest.raises(tumble.InputError, match="at least one sample"):
        LogExcursionSearch(model, torch.empty(0))
    with pytest.raises(tumble.InputError, match="BudgetState, not 5"):
        FailureAwareExcursionSearch(both, 5, level)  # type: ignore[arg-type]
    with pytest.raises(tumble.InputError, match="objective_index"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, objective_index=2)
    with pytest.raises(tumble.InputError, match="output 7"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, constraints={7: (None, 0.0)})
    with pytest.raises(tumble.InputError, match="neither a lower nor an upper"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, constraints={1: (None, None)})
    with pytest.raises(tumble.InputError, match=r"shape \(2, 2\)"):
        sample_minima(model, tensor([[0.0] * 3] * 2))
    with pytest.raises(tumble.InputError, match="one point at a time"):
        starts(LogExcursionSearch(model, level), UNIT2, q=2)


# -- samples, starts, search ---------------------------------------------------------------------------------


def bowl(x):
    return ((x - 0.6) ** 2).sum(-1, keepdim=True)


def edge(x):
    """Safe to the left of x0 = 0.5."""
    return x[:, :1] - 0.5


def pair(count=12, seed=0):
    X = rand(count, 2, seed)
    models = [excursion_model(X, y(X), UNIT2) for y in (bowl, edge)]
    return X, ModelListGP(*models)


def test_samples_of_the_minimum_lie_below_the_data_and_above_where_it_is_maximised():
    X, models = pair()
    low = sample_minima(models.models[0], UNIT2, seed=1)
    high = sample_minima(models.models[0], UNIT2, maximize=True, seed=1)
    assert low.shape == high.shape == (20,)
    assert (low <= bowl(X).min() + 1e-3).all()
    assert (high >= bowl(X).max() - 1e-3).all()
    assert torch.equal(low, sample_minima(models.models[0], UNIT2, seed=1))


@pytest.mark.parametrize("law", ["joint", "frechet", "gumbel"])
def test_every_law_of_the_minimum_can_be_sampled(law):
    _, models = pair()
    minima = sample_minima(models, UNIT2, settings=tumble.Settings(minima=law, n_minima=7), seed=0)
    assert minima.shape == (7,)
    assert torch.isfinite(minima).all()


def test_safe_search_starts_inside_and_stays_inside():
    _, models = pair()
    state = BudgetState(z=2.0, trials_left=10, failures_left=1)
    acqf = FailureAwareExcursionSearch(models, state, sample_minima(models, UNIT2, seed=0))
    first = starts(acqf, UNIT2, num_restarts=4, raw_samples=64, options={"seed": 0})
    assert first.shape == (4, 1, 2)
    assert (acqf.margin(first.squeeze(1)) > 0.0).all()
    candidate = optimize_excursion(acqf, UNIT2, num_restarts=3, raw_samples=64, seed=0)
    assert candidate.mode == "safe"
    assert candidate.p_safe >= acqf.rho
    assert acqf(candidate.x) >= acqf(first).max()


def test_optimize_acqf_takes_the_constraint_and_the_starts_as_they_are():
    _, models = pair()
    state = BudgetState(z=2.0, trials_left=10, failures_left=1)
    acqf = FailureAwareExcursionSearch(models, state, sample_minima(models, UNIT2, seed=0))
    x, _ = optimize_acqf(
        acqf, UNIT2, q=1, num_restarts=2, raw_samples=64, ic_generator=starts,  # type: ignore[arg-type]

        nonlinear_inequality_constraints=acqf.nonlinear_inequality_constraints, options={"seed": 0},
    )  # fmt: skip
    assert acqf.margin(x) > -1e-5


def test_where_nothing_reaches_rho_the_safest_point_is_taken():
    X = rand(6, 2, 0)
    models = ModelListGP(excursion_model(X, bowl(X), UNIT2), excursion_model(X, edge(X) + 3.0, UNIT2))
    state = BudgetState(z=3.0, trials_left=10, failures_left=1)
    acqf = FailureAwareExcursionSearch(models, state, tensor([-1.0]), safe_known=True)
    with pytest.raises(NothingSafeEnough, match="what the budget asks for"):
        starts(acqf, UNIT2, raw_samples=32, options={"seed": 0})
    candidate = optimize_excursion(acqf, UNIT2, num_restarts=2, raw_samples=32, seed=0)
    assert candidate.mode == "safest"
    assert candidate.p_safe < acqf.rho
    with torch.no_grad():
        assert candidate.value >= acqf.log_p_safe(X).max() - 1e-9


def test_without_a_failure_left_and_nothing_safe_known_the_mode_is_safest():
    X = rand(6, 2, 0)
    models = ModelListGP(excursion_model(X, bowl(X), UNIT2), excursion_model(X, edge(X) + 3.0, UNIT2))
    acqf = FailureAwareExcursionSearch(models, budget_state(9, 1, [True]), tensor([-1.0]))
    assert acqf.mode == "safest"
    assert acqf.nonlinear_inequality_constraints is None


def test_constraints_observed_elsewhere_are_predicted_at_the_objectives_points():
    X, models = pair()
    other = rand(9, 2, 5)
    mixed = ModelListGP(models.models[0], excursion_model(other, edge(other), UNIT2))
    acqf = FailureAwareExcursionSearch(mixed, BudgetState(2.0, 10, 1), tensor([-1.0]))
    assert acqf.mode == "safe"
    assert acqf.study.observed().shape == (len(X), 1)


def test_several_points_are_found_one_after_the_other():
    _, models = pair()
    f = models.models[0]
    acqf = LogExcursionSearch(f, sample_minima(f, UNIT2, seed=0))
    x, _ = optimize_acqf(acqf, UNIT2, q=2, num_restarts=2, raw_samples=32, sequential=True)
    assert x.shape == (2, 2)
    assert (x[0] - x[1]).abs().max() > 1e-3


def test_starts_avoid_what_is_in_flight():
    _, models = pair()
    f = models.models[0]
    minima = sample_minima(f, UNIT2, seed=0)
    best = optimize_excursion(LogExcursionSearch(f, minima), UNIT2, num_restarts=3, raw_samples=64, seed=0)
    again = LogExcursionSearch(f, minima, X_pending=best.x)
    assert again(best.x) < best.value
    other = optimize_excursion(again, UNIT2, num_restarts=3, raw_samples=64, seed=0)
    assert (other.x - best.x).abs().max() > 1e-3


# -- built by BoTorch's registry -----------------------------------------------------------------------------


def test_the_input_constructor_builds_xs_in_either_direction():
    X, models = pair()
    f = models.models[0]
    build = get_acqf_input_constructor(LogExcursionSearch)
    down = LogExcursionSearch(**build(model=f, bounds=[(0.0, 1.0)] * 2, seed=0))
    up = LogExcursionSearch(
        **build(
            model=f, bounds=UNIT2, posterior_transform=ScalarizedPosteriorTransform(torch.ones(1)), seed=0
        )
    )
    assert not down.upwards
    assert up.upwards
    given = tensor([-1.0])
    assert build(model=f, bounds=UNIT2, minima=given)["minima"] is given
    assert (up.minima >= bowl(X).max() - 1e-3).all()


def test_the_input_constructor_counts_the_budget_on_the_training_data():
    X, models = pair()
    build = get_acqf_input_constructor(FailureAwareExcursionSearch)
    A, b = tensor([[0.0, 1.0]]), tensor([[0.0]])
    weights = ScalarizedPosteriorTransform(tensor([-1.0, 0.0]))
    failed = (edge(X)[:, 0] > 0).tolist()
    acqf = FailureAwareExcursionSearch(
        **build(
            model=models, bounds=UNIT2, constraints_tuple=(A, b), posterior_transform=weights, seed=0,
            trials=20, failures=sum(failed),
        )
    )  # fmt: skip
    assert acqf.mode == "safe"  # nothing is left
    assert acqf.penalty > 0
    x = tensor([[0.2, 0.5], [0.9, 0.5]])
    inside, outside = acqf(x[:, None, :])
    assert inside > outside
    state = budget_state(20, 5)
    assert build(model=models, bounds=UNIT2, budget_state=state, seed=0)["budget_state"] is state
    with pytest.raises(tumble.InputError, match="budget_state, or trials and failures"):
        build(model=models, bounds=UNIT2)
    with pytest.raises(tumble.InputError, match="on one output"):
        build(model=models, bounds=UNIT2, constraints_tuple=(torch.ones(1, 2), b), trials=9, failures=1)
    with pytest.raises(tumble.InputError, match="single objective"):
        build(model=models, bounds=UNIT2, posterior_transform=ScalarizedPosteriorTransform(torch.ones(2)))


# -- the loop ------------------------------------------------------------------------------------------------


def fitted(X, y):
    """A model with the hyperparameters of the core's fit, which takes milliseconds."""
    settings = tumble.Settings()
    values = y.numpy()
    outputs = Outputs.of(values, centre=True)
    hyper = fit(
        X.numpy(),
        values,
        kernel="matern52",
        priors=replace(settings.objective, additive=None),
        outputs=outputs,
    ).hyper
    model = excursion_model(
        X, y[:, None], torch.stack([torch.zeros(X.shape[1]), torch.ones(X.shape[1])]).double()
    )
    model.covar_module.base_kernel.lengthscale = tensor(hyper.lengthscales)
    model.covar_module.outputscale = hyper.variance
    model.likelihood.noise = max(hyper.noise**2, 1e-8)
    return model


def run_loop(problem, trials, failures, seed):
    """`trials` trials of a problem through BoTorch, in the unit cube, from one point."""
    low, span = problem.bounds[:, 0], problem.bounds[:, 1] - problem.bounds[:, 0]
    box = tensor([[0.0], [1.0]]).expand(2, len(low))
    X = torch.tensor(np.random.default_rng(seed).random((1, len(low))))
    seen = [problem.evaluate(low + span * X[0].numpy())]
    while len(seen) < trials:
        f = fitted(X, tensor([e.value for e in seen]))
        acqf: LogExcursionSearch | FailureAwareExcursionSearch
        if problem.constraints is None:
            acqf = LogExcursionSearch(f, sample_minima(f, box, seed=len(seen)))
        else:
            g = [fitted(X, tensor([e.constraints[k] for e in seen])) for k in range(problem.n_constraints)]
            models = ModelListGP(f, *g)
            state = budget_state(trials, failures, [not e.safe for e in seen])
            acqf = FailureAwareExcursionSearch(models, state, sample_minima(models, box, seed=len(seen)))
        found = optimize_excursion(
            acqf, box, num_restarts=4, raw_samples=128, seed=len(seen), options={"maxiter": 30}
        )
        X = torch.cat([X, found.x])
        seen.append(problem.evaluate(low + span * found.x[0].numpy()))
    return seen


@pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.OptimizationWarning")
@pytest.mark.filterwarnings("ignore:Optimization failed:RuntimeWarning")
@pytest.mark.parametrize(("name", "failures", "close"), [("figure1", None, 0.01), ("gardner-cosine", 6, 0.1)])
def test_thirty_trials_in_botorch_reach_what_minimize_reaches(name, failures, close):
    problem = problems.get(name)
    result = tumble.minimize(problem, problem.bounds, trials=30, failures=failures, seed=2)
    assert result.fun is not None
    assert result.fun < problem.f_min + close  # the next best basin is 0.16 or 1.0 higher
    seen = run_loop(problem, 30, failures, seed=2)
    assert problem.regret([e.value for e in seen], [e.safe for e in seen])[-1] < close
    if failures is not None:
        assert sum(not e.safe for e in seen) <= failures
