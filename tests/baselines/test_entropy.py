"""MES against quadrature, mpmath and BoTorch; its Gumbel fit against BoTorch's."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from tests.oracles import KERNELS, central, close, problem
from tests.toys import botorch_model, context_of, smooth_history
from tumble.baselines.entropy import BEYOND, MaxValueEntropy, log_reduction, max_value_entropy
from tumble.core.minimum import gumbel
from tumble.core.settings import Settings


def exact_log_reduction(gamma: float) -> float:
    with mpmath.workdps(80):
        g = mpmath.mpf(gamma)
        phi = mpmath.exp(-g * g / 2) / mpmath.sqrt(2 * mpmath.pi)
        cdf = mpmath.erfc(-g / mpmath.sqrt(2)) / 2
        log_cdf = mpmath.log1p(-mpmath.erfc(g / mpmath.sqrt(2)) / 2) if gamma > 0 else mpmath.log(cdf)
        return float(mpmath.log(g * phi / (2 * cdf) - log_cdf))


@given(st.one_of(st.floats(-60.0, 300.0), st.floats(-1e6, -50.0)))
def test_the_logarithm_of_the_reduction_is_exact(gamma):
    ours = float(log_reduction(np.array([gamma]))[0])
    assert ours == pytest.approx(exact_log_reduction(gamma), rel=1e-9, abs=1e-9)


def test_the_reduction_is_finite_for_any_ratio():
    assert np.isfinite(log_reduction(np.array([-1e9, -1e3, 0.0, 1e3, 1e9]))).all()


def test_the_reduction_is_the_entropy_lost_by_truncation():
    """H[f] - H[f | f >= f*] by quadrature, on points of a process."""
    gp, _ = problem("matern52", 2, 8, noise=0.1)
    x = np.random.default_rng(0).random((3, 2))
    mean, var = gp.predict(x)
    minima = np.array([-1.2, -0.6])
    ours = np.exp(MaxValueEntropy(gp, minima).value_and_grad(x)[0])
    for i in range(len(x)):
        law = stats.norm(mean[i], np.sqrt(var[i]))
        lost = []
        for low in minima:
            mass = law.sf(low)
            kept, _ = quad(
                lambda f, law=law, mass=mass: -law.pdf(f) / mass * (law.logpdf(f) - np.log(mass)),
                low, mean[i] + 12 * np.sqrt(var[i]), limit=200, points=[max(low, mean[i])],
            )  # fmt: skip
            lost.append(law.entropy() - kept)
        assert ours[i] == pytest.approx(np.mean(lost), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 3, 10])
def test_the_gradient_is_the_derivative_and_screening_the_value(kernel, dim):
    gp, _ = problem(kernel, dim, 6 + 2 * dim, additive=0.2)
    x = np.random.default_rng([2, dim]).random((4, dim))
    for minima in (np.linspace(-2.0, -0.2, 7), np.array([-30.0, -60.0]), np.array([0.5, 2.0])):
        acquisition = MaxValueEntropy(gp, minima)
        value, grad = acquisition.value_and_grad(x)
        close(acquisition.screen(x), value, 1e-9)
        close(grad, central(acquisition.screen, x), 1e-6)


def test_max_value_entropy_agrees_with_botorch_given_the_same_minima():
    """qMaxValueEntropy estimates the same by sampling y: within 5 % where there is something to learn."""
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("botorch.acquisition.max_value_entropy_search")
    gp, dense = problem("matern52", 2, 12, noise=0.02)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    theirs = module.qMaxValueEntropy(
        botorch_model([gp], [dense.y]), torch.tensor(rng.random((200, 2))), num_mv_samples=16,
        num_y_samples=2048, maximize=False,
    )  # fmt: skip
    minima = -theirs.posterior_max_values.numpy()[:, 0]
    x = rng.random((40, 2))
    with torch.no_grad():
        expected = theirs(torch.tensor(x[:, None, :])).numpy()
    ours = np.exp(MaxValueEntropy(gp, minima).value_and_grad(x)[0])
    np.testing.assert_allclose(ours, expected, rtol=0.05, atol=0.01)
    assert np.sum(ours > 0.1) >= 3


def test_the_gumbel_fit_agrees_with_botorch_s():
    """Quantiles of 40 000 samples of f* over the same grid, within 2 % of the law's spread."""
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("botorch.acquisition.max_value_entropy_search")
    gp, dense = problem("matern52", 2, 12, noise=0.05)
    grid = np.random.default_rng(0).random((300, 2))
    torch.manual_seed(0)
    with torch.no_grad():
        theirs = -module._sample_max_value_Gumbel(
            botorch_model([gp], [dense.y]), torch.tensor(grid), 40_000, maximize=False
        ).numpy()[:, 0]
    drawn = gumbel(*gp.predict(grid), float(gp.mean(gp.X).min()), 40_000, np.random.default_rng(1))
    assert drawn.fallback is None
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    spread = np.quantile(theirs, 0.95) - np.quantile(theirs, 0.05)
    np.testing.assert_allclose(
        np.quantile(drawn.samples, levels), np.quantile(theirs, levels), atol=0.02 * spread
    )


def test_the_paper_s_mes_draws_gumbel_minima_five_noises_below_the_incumbent():
    context = context_of(smooth_history(15, 2), Settings.paper())
    acquisition = max_value_entropy(context)
    assert len(acquisition.minima) == 20
    assert (acquisition.minima <= context.eta - BEYOND * 0.01).all()


def test_the_product_s_mes_draws_its_minima_jointly():
    past = smooth_history(15, 2)
    drawn = context_of(past).sample_minima()
    assert drawn.law == "joint"
    np.testing.assert_array_equal(max_value_entropy(context_of(past)).minima, drawn.samples)
