"""Xs and XsF in BoTorch: the torch twin against the NumPy core, and what it refuses."""

import gpytorch
import numpy as np
import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Log, Normalize, Warp
from botorch.optim import optimize_acqf
from gpytorch.kernels import MaternKernel, PeriodicKernel, RBFKernel, ScaleKernel
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

import tumble
from tests.torch_models import UNIT2, core_gp, rand, random_problem, tensor, torch_model, value_and_grad
from tumble.core.acquisition import ExcursionSearch
from tumble.core.algorithm import propose
from tumble.core.feasibility import Feasibility
from tumble.core.history import History
from tumble.integrations.botorch import (
    BudgetState,
    FailureAwareExcursionSearch,
    LogExcursionSearch,
    UnsupportedModel,
    budget_state,
    excursion_model,
    sample_minima,
    starts,
)
from tumble.integrations.botorch.process import Process
from tumble.integrations.botorch.study import Limit, Study
from tumble.methods import METHODS


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
def test_bold_search_adds_the_cores_log_probability_of_safety(seed):
    rng, hyper, X, ys, model = three_outputs(seed)
    f, *g = (core_gp("matern52", hyper, X, values) for values in ys)
    levels, x = rng.normal(ys[0].min(), 1.0, 5), rng.random((6, X.shape[1]))
    value, grad = ExcursionSearch(f, levels).value_and_grad(x)
    log_p, d_log_p = Feasibility(tuple(g)).log_prob_and_grad(x)
    acqf = FailureAwareExcursionSearch(model, budget_state(30, 10), torch.tensor(levels))
    assert acqf.mode == "bold"
    assert acqf.phi_exponent == 1.0  # something failed
    assert_equal_to((value + log_p, grad + d_log_p), acqf, x)
    untroubled = FailureAwareExcursionSearch(
        model, budget_state(30, 10), torch.tensor(levels), constraints={1: (None, 9.0), 2: (None, 9.0)}
    )
    power = untroubled.phi_exponent
    assert power == max(0.25, 5.0 / (10.0 + len(X)))
    points = torch.tensor(x)[:, None]
    expected = untroubled.log_alpha(points[:, 0]) + power * untroubled.log_p_safe(points[:, 0])
    np.testing.assert_allclose(untroubled(points).detach(), expected.detach(), rtol=1e-12)


@hypothesis_settings(max_examples=15)
@given(
    seed=st.integers(0, 99), z=st.floats(-2.3, 2.3), left=st.integers(0, 4), crashes=st.integers(0, 3),
    bound=st.floats(-2.0, 2.0),
)  # fmt: skip
def test_the_same_facts_lead_to_the_decision_of_propose(seed, z, left, crashes, bound):
    rng = np.random.default_rng(seed)
    X, y, g = rng.random((8, 2)), rng.standard_normal(8), rng.standard_normal((8, 1)) - bound
    constants = tumble.Settings(raw_samples=16, restarts=2, grid=8, n_minima=2)
    state = BudgetState(z, 20, left)
    models = ModelListGP(*(SingleTaskGP(torch.tensor(X), torch.tensor(v)) for v in (y[:, None], g)))
    acqf = FailureAwareExcursionSearch(models, state, tensor([-3.0]), crashed=crashes, settings=constants)
    unknown = np.full(crashes, np.nan)
    history = History(
        X=np.vstack([X, rng.random((crashes, 2))]), y=np.append(y, unknown),
        g=np.vstack([g, unknown[:, None]]), crashed=np.arange(8 + crashes) >= 8,
        pending=np.zeros((0, 2)), predicted_mean=np.full((8 + crashes, 1), np.nan),
        predicted_std=np.full((8 + crashes, 1), np.nan),
    )  # fmt: skip
    found = propose(history, state, METHODS["xsf"], constants, np.random.default_rng(0))
    assert acqf.rho == found.rho
    assert acqf.mode == found.mode or (acqf.mode, found.mode) == ("careful", "safest")


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
    assert acqf.mode == "careful"
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
@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_cuda_models_run_and_agree_with_the_processor(kernel):
    rng, hyper, X, y = random_problem(4)
    model = torch_model(kernel, hyper, X, y)
    both = ModelListGP(model, torch_model(kernel, hyper, X, rng.standard_normal(len(X))))
    level = torch.tensor([y.min() - 0.5, y.min() - 1.0])
    made = {
        "Xs": lambda m, u: LogExcursionSearch(m.models[0], u),
        "bold": lambda m, u: FailureAwareExcursionSearch(m, budget_state(30, 10), u),
        "careful": lambda m, u: FailureAwareExcursionSearch(m, BudgetState(0.7, 10, 1), u, safe_known=True),
    }
    points = torch.tensor(rng.random((5, 1, X.shape[1])))
    expected = {name: differentiated(build(both, level), points) for name, build in made.items()}
    both = both.cuda()
    for name, build in made.items():
        value, grad = differentiated(build(both, level.cuda()), points.cuda())
        np.testing.assert_allclose(value.cpu(), expected[name][0], rtol=1e-8, err_msg=name)
        np.testing.assert_allclose(grad.cpu(), expected[name][1], rtol=1e-6, atol=1e-8, err_msg=name)
    bounds = torch.tensor([[0.0], [1.0]]).repeat(1, X.shape[1]).double().cuda()
    best, _ = optimize_acqf(build(both, level.cuda()), bounds, q=1, num_restarts=2, raw_samples=16)
    assert best.is_cuda
    assert ((best >= 0.0) & (best <= 1.0)).all()


def differentiated(acqf, points):
    x = points.clone().requires_grad_()
    value = acqf(x)
    (grad,) = torch.autograd.grad(value.sum(), x)
    return value.detach(), grad


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


INFINITE = float("inf")


@pytest.mark.parametrize("ends", [(-INFINITE, 0.4), (None, 0.4)])
def test_an_infinite_bound_bounds_nothing(ends):
    both = ModelListGP(plain(), plain())
    assert Study.of(both, constraints={1: ends}).limits == (Limit(1, 1.0, 0.4),)
    lower = Study.of(both, constraints={1: (0.4, INFINITE)})
    assert lower.limits == (Limit(1, -1.0, 0.4),)


@pytest.mark.parametrize("ends", [(float("nan"), 0.0), (INFINITE, None), (None, -INFINITE), ("a", 0.0)])
def test_a_bound_that_nothing_meets_or_that_is_no_number_is_refused(ends):
    both = ModelListGP(plain(), plain())
    with pytest.raises(
        tumble.InputError, match="a bound on output 1 must be a number, or None where there is"
    ):
        Study.of(both, constraints={1: ends})


@pytest.mark.parametrize(
    "bounds",
    [
        [[0.0, 0.0], [1.0, float("nan")]],
        [[0.0, -INFINITE], [1.0, 1.0]],
        [[0.0, 1.0], [1.0, 1.0]],
        [[1.0] * 2, [0.0] * 2],
    ],
)
def test_bounds_that_are_no_box_are_refused(bounds):
    with pytest.raises(
        tumble.InputError, match="bounds must be finite, each lower one below its upper one, not"
    ):
        sample_minima(plain(), tensor(bounds))


@pytest.mark.parametrize("value", [float("nan"), INFINITE])
def test_training_data_that_are_not_finite_are_refused(value):
    X = rand(5, 2, 0)
    for model in (SingleTaskGP(X, X.sum(1, keepdim=True)), excursion_model(X, X[:, :1], UNIT2)):
        model.train_targets[2] = value
        with pytest.raises(tumble.InputError, match=r"training data .* not finite: leave those trials out"):
            sample_minima(model, UNIT2)


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
    for index in ("0", 0.0, -1):
        with pytest.raises(tumble.InputError, match="objective_index must be a whole number from 0 to 1"):
            sample_minima(both, UNIT2, objective_index=index)  # type: ignore[arg-type]
    for output in ("load", 1.5, True):
        with pytest.raises(tumble.InputError, match="an output of constraints must be a whole number"):
            sample_minima(both, UNIT2, constraints={output: (None, 0.0)})  # type: ignore[dict-item]
    with pytest.raises(tumble.InputError, match="constraints must be a dictionary, from outputs to pairs"):
        sample_minima(both, UNIT2, constraints=[(None, 0.0)])  # type: ignore[arg-type]
    with pytest.raises(tumble.InputError, match="penalty must be"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, penalty=float("nan"))
    with pytest.raises(tumble.InputError, match="num_restarts must be a whole number of at least 1, not 0"):
        starts(LogExcursionSearch(model, level), UNIT2, num_restarts=0)
    with pytest.raises(tumble.InputError, match="output 7"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, constraints={7: (None, 0.0)})
    with pytest.raises(tumble.InputError, match="neither a lower nor an upper"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, constraints={1: (None, None)})
    with pytest.raises(tumble.InputError, match=r"must be a pair \(lower, upper\), not 3"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, constraints={1: 3.0})  # type: ignore[dict-item]
    with pytest.raises(tumble.InputError, match="lower bound 2 above its upper bound 1: swap them"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, constraints={1: (2.0, 1.0)})
    with pytest.raises(tumble.InputError, match="crashed must be a whole number of at least 0, not -1"):
        FailureAwareExcursionSearch(both, budget_state(9, 1), level, crashed=-1)
    for unlimited, ranges in ((model, None), (both, {})):
        with pytest.raises(tumble.InputError, match=r"no output .* is limited.*: give a ModelListGP of"):
            FailureAwareExcursionSearch(unlimited, budget_state(9, 1), level, constraints=ranges)
    with pytest.raises(tumble.InputError, match=r"shape \(2, 2\)"):
        sample_minima(model, tensor([[0.0] * 3] * 2))
    with pytest.raises(tumble.InputError, match=r"shape \(2, 2\), not \[\[0, 0\], \[1, 1\]\]"):
        sample_minima(model, [[0, 0], [1, 1]])  # type: ignore[arg-type]
    with pytest.raises(tumble.InputError, match="one point at a time"):
        starts(LogExcursionSearch(model, level), UNIT2, q=2)
