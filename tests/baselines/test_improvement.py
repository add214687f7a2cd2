"""EI, PI, UCB and EIC against quadrature, Monte Carlo, mpmath and BoTorch; gradients against differences."""

import numpy as np
import pytest
from scipy import stats

from tests.oracles import KERNELS, central, close, problem
from tests.toys import botorch_model, context_of, history, smooth_history
from tumble.baselines.improvement import (
    ConfidenceBound,
    Indifferent,
    confidence_bound,
    constrained_improvement,
    expected_improvement,
    gp_ucb_beta,
    probability_of_improvement,
)
from tumble.core.feasibility import Feasibility
from tumble.core.improvement import ExpectedImprovement, ProbabilityOfImprovement
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import condition
from tumble.core.settings import Settings


def test_confidence_bound_is_the_quantile_of_the_process():
    gp, _ = problem("matern52", 2, 8, noise=0.1)
    x = np.random.default_rng(0).random((4, 2))
    mean, var = gp.predict(x)
    quantile = stats.norm.ppf(stats.norm.cdf(-2.0), mean, np.sqrt(var))
    np.testing.assert_allclose(ConfidenceBound(gp, 2.0).value_and_grad(x)[0], -quantile, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 3, 10])
def test_gradients_are_derivatives_and_screening_is_the_value(kernel, dim):
    gp, _ = problem(kernel, dim, 6 + 2 * dim, additive=0.2)
    x = np.random.default_rng([2, dim]).random((4, dim))
    for acquisition in (
        ExpectedImprovement(gp, -0.2), ExpectedImprovement(gp, -30.0), ExpectedImprovement(gp, -0.2, 0.3),
        ProbabilityOfImprovement(gp, -0.2), ProbabilityOfImprovement(gp, -30.0), ConfidenceBound(gp, 3.0),
    ):  # fmt: skip
        value, grad = acquisition.value_and_grad(x)
        close(acquisition.screen(x), value, 1e-10)
        close(grad, central(acquisition.screen, x), 1e-6)


def test_the_logarithm_goes_on_where_the_improvement_underflows():
    gp, _ = problem("matern52", 2, 30)
    x = np.random.default_rng(0).random((6, 2))
    for acquisition in (ExpectedImprovement(gp, -300.0), ProbabilityOfImprovement(gp, -300.0)):
        value, grad = acquisition.value_and_grad(x)
        assert (value < -745.0).all()
        assert (np.abs(grad).max(axis=1) > 1e-3).all()


def test_expected_improvement_equals_botorch():
    """LogExpectedImprovement on the same posterior, values and gradients, to 1e-5."""
    torch = pytest.importorskip("torch")
    analytic = pytest.importorskip("botorch.acquisition.analytic")
    gp, dense = problem("matern52", 3, 12, noise=0.05)
    theirs = analytic.LogExpectedImprovement(botorch_model([gp], [dense.y]), best_f=-0.2, maximize=False)
    x = np.random.default_rng(0).random((6, 3))
    points = torch.tensor(x[:, None, :], requires_grad=True)
    values = theirs(points)
    (grads,) = torch.autograd.grad(values.sum(), points)
    value, grad = ExpectedImprovement(gp, -0.2).value_and_grad(x)
    close(value, values.detach().numpy(), 1e-5)
    close(grad, grads.numpy()[:, 0, :], 1e-5)


@pytest.mark.parametrize("count", [1, 2])
def test_constrained_improvement_equals_botorch(count):
    """LogConstrainedExpectedImprovement is the EIC that (15) maximises, log EI + log φ, to 1e-5."""
    torch = pytest.importorskip("torch")
    analytic = pytest.importorskip("botorch.acquisition.analytic")
    gp, dense = problem("matern52", 2, 12, noise=0.05)
    rng = np.random.default_rng(3)
    values = [rng.standard_normal(12) for _ in range(count)]
    limits = [condition("matern52", Hyper((0.4, 0.6), 1.3, 0.05), dense.X, v) for v in values]
    theirs = analytic.LogConstrainedExpectedImprovement(
        botorch_model([gp, *limits], [dense.y, *values]), best_f=-0.2, objective_index=0,
        constraints={k + 1: (None, 0.0) for k in range(count)}, maximize=False,
    )  # fmt: skip
    x = rng.random((6, 2))
    with torch.no_grad():
        expected = theirs(torch.tensor(x[:, None, :])).numpy()
    ours = ExpectedImprovement(gp, -0.2).value_and_grad(x)[0] + Feasibility(tuple(limits)).log_prob(x)
    close(ours, expected, 1e-5)


def test_constrained_improvement_equals_monte_carlo():
    gp, dense = problem("matern52", 2, 8, noise=0.1)
    limit = condition("matern52", Hyper((0.4, 0.6), 1.0, 0.1), dense.X, dense.y[::-1].copy())
    x = np.random.default_rng(0).random((3, 2))
    ours = np.exp(ExpectedImprovement(gp, 0.1).value_and_grad(x)[0] + Feasibility((limit,)).log_prob(x))
    rng = np.random.default_rng(1)
    (m, v), (m_c, v_c) = gp.predict(x), limit.predict(x)
    f = m + np.sqrt(v) * rng.standard_normal((400_000, 3))
    c = m_c + np.sqrt(v_c) * rng.standard_normal((400_000, 3))
    gain = np.where(c <= 0.0, np.maximum(0.1 - f, 0.0), 0.0)
    assert (np.abs(ours - gain.mean(axis=0)) < 5.0 * gain.std(axis=0) / np.sqrt(len(gain)) + 1e-6).all()


def test_with_a_constraint_that_always_holds_eic_is_ei():
    """g ≡ -10: the same value and gradient to 1e-10."""
    context = context_of(smooth_history(12, 2))
    always = condition(
        "matern52", Hyper((0.5, 0.5), 1.0, 0.1), np.zeros((0, 2)), np.zeros(0), prior_mean=-10.0
    )
    acquisition = constrained_improvement(context)
    x = np.random.default_rng(0).random((50, 2))
    value, grad = acquisition.value_and_grad(x)
    log_p, d_log_p = Feasibility((always,)).log_prob_and_grad(x)
    expected, d_expected = expected_improvement(context).value_and_grad(x)
    np.testing.assert_allclose(value + log_p, expected, atol=1e-10)
    np.testing.assert_allclose(grad + d_log_p, d_expected, atol=1e-10)


def test_eic_improves_on_the_best_safe_trial_only():
    X = np.array([[0.1], [0.5], [0.9]])
    context = context_of(history(X, [-3.0, 0.0, 1.0], [[2.0], [-1.0], [-1.0]]))
    acquisition = constrained_improvement(context)
    assert isinstance(acquisition, ExpectedImprovement)
    assert acquisition.target == pytest.approx(float(context.models.objective.mean(X[1:2])[0]))


def test_eic_leaves_the_choice_to_feasibility_while_nothing_safe_is_known():
    context = context_of(history(np.array([[0.1], [0.5]]), [-3.0, 0.0], [[2.0], [1.0]]))
    acquisition = constrained_improvement(context)
    assert isinstance(acquisition, Indifferent)
    value, grad = acquisition.value_and_grad(np.zeros((3, 1)))
    assert not value.any()
    assert not grad.any()
    assert not acquisition.screen(np.zeros((3, 1))).any()


def test_the_schedule_of_gp_ucb_has_the_published_values():
    assert gp_ucb_beta(1, 6) == pytest.approx(6.8, abs=0.05)
    assert gp_ucb_beta(100, 6) == pytest.approx(13.3, abs=0.05)


def test_the_paper_s_settings_and_the_product_s_differ_where_they_say():
    past = smooth_history(15, 2)
    modern, paper = context_of(past), context_of(past, Settings.paper())
    assert paper.eta == pytest.approx(past.y.min())  # the best observation
    assert modern.eta == pytest.approx(float(modern.objective.mean(past.X).min()))
    assert paper.eta - probability_of_improvement(paper).target == pytest.approx(paper.objective.hyper.noise)
    assert modern.eta - probability_of_improvement(modern).target == pytest.approx(0.01)
    assert confidence_bound(modern).beta == 2.0
    assert confidence_bound(paper).beta == gp_ucb_beta(15, 2)
