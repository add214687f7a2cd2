"""The law of f*: extreme-value fits against their closed forms, joint draws against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from tests.oracles import KERNELS, cov_values
from tumble.core.minimum import Minima, frechet, gumbel, independent_survival, joint, likeliest, quantiles
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import condition

SIZE = 40_000
GRID = np.linspace(0.0, 1.0, 200)[:, None]


def posterior(n: int = 6, seed: int = 0, noise: float = 0.05):
    """Mean, variance on a grid and the incumbent of a 1-D process."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    y = np.sin(9.0 * X[:, 0]) + 0.2 * rng.standard_normal(n)
    gp = condition("se", Hyper((0.12,), 1.0, noise), X, y)
    mean, var = gp.predict(GRID)
    return gp, mean, var, float(gp.mean(X).min())


def survival(mean, std, a: float) -> float:
    """Pr(min >= a) of independent normal values, one at a time."""
    return float(np.prod([stats.norm.sf((a - m) / s) for m, s in zip(mean, std, strict=True)]))


def quantile(mean, std, p: float) -> float:
    return float(brentq(lambda a: survival(mean, std, a) - p, -60.0, 60.0, xtol=1e-12))


def test_quantiles_invert_the_law_of_the_independent_minimum():
    _, mean, var, _ = posterior()
    std = np.sqrt(var)
    levels = quantiles(mean, std, np.array([0.25, 0.5, 0.75, 0.999]))
    for p, level in zip((0.25, 0.5, 0.75, 0.999), levels, strict=True):
        assert level == pytest.approx(quantile(mean, std, p), abs=1e-8)
        assert float(np.exp(independent_survival(mean, std)(np.array([level]))[0])) == pytest.approx(
            p, abs=1e-7
        )


@given(st.integers(0, 40), st.floats(0.01, 0.99))
def test_quantiles_exist_for_every_grid(seed, p):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(0, 10.0 ** rng.uniform(-6, 6), 30), 10.0 ** rng.uniform(-8, 4, 30)
    level = quantiles(mean, std, np.array([p]))[0]
    assert float(np.exp(independent_survival(mean, std)(np.array([level]))[0])) == pytest.approx(p, abs=1e-3)


def test_frechet_samples_follow_the_closed_form():
    """(9) with s and q from the quartiles, worked out here by root finding."""
    _, mean, var, eta = posterior()
    drawn = frechet(mean, var, eta, SIZE, np.random.default_rng(0))
    assert drawn.fallback is None
    assert drawn.law == "frechet"
    quarter, three = (quantile(mean, np.sqrt(var), p) for p in (0.25, 0.75))
    q = brentq(lambda q: (np.log(4) / np.log(4 / 3)) ** (1 / q) - (eta - three) / (eta - quarter), 1.0, 1e4)
    s = (eta - quarter) * np.log(4) ** (1 / q)
    tail = quantile(mean, np.sqrt(var), 1 - 1e-3)
    for a in np.linspace(tail + 1e-6, eta - 1e-3, 12):
        expected = np.exp(-(((eta - a) / s) ** -q))
        sampled = float((drawn.samples >= a).mean())
        assert abs(sampled - expected) < 5.0 * np.sqrt(expected * (1 - expected) / SIZE) + 1e-6


def test_the_tail_is_capped():
    _, mean, var, eta = posterior()
    drawn = frechet(mean, var, eta, SIZE, np.random.default_rng(1))
    assert drawn.samples.min() >= quantile(mean, np.sqrt(var), 1 - 1e-3) - 1e-6
    assert drawn.samples.max() <= eta


def test_gumbel_samples_follow_the_closed_form():
    _, mean, var, eta = posterior()
    drawn = gumbel(mean, var, eta, SIZE, np.random.default_rng(0))
    assert drawn.fallback is None
    quarter, half, three = (quantile(mean, np.sqrt(var), p) for p in (0.25, 0.5, 0.75))
    b = (quarter - three) / (np.log(np.log(4)) - np.log(np.log(4 / 3)))
    a = half - b * np.log(np.log(2))
    law = stats.gumbel_l(loc=a, scale=b)
    sampled = np.sort(drawn.samples)
    inner = sampled[(sampled > law.ppf(0.01)) & (sampled < law.ppf(0.99))]
    for p in (0.25, 0.5, 0.75):
        assert np.quantile(drawn.samples, p) == pytest.approx(law.ppf(p), abs=5 * b / np.sqrt(SIZE) * 3)
    assert len(inner) == pytest.approx(0.98 * SIZE, rel=0.01)


@pytest.mark.parametrize("law", [frechet, gumbel])
def test_an_incumbent_below_everything_falls_back_and_says_so(law):
    mean, var = np.zeros(50), np.full(50, 1e-6)
    drawn = law(mean, var, -1.0, 30, np.random.default_rng(0))
    assert drawn.fallback is not None
    assert "quarter" in drawn.fallback
    assert (drawn.samples <= -1.0).all()
    assert np.isfinite(drawn.samples).all()


def test_a_frechet_law_without_a_mean_falls_back_and_says_so():
    """One grid point of great uncertainty just below the incumbent makes q small."""
    mean, var = np.array([0.0, 0.0]), np.array([100.0, 1e-4])
    drawn = frechet(mean, var, 0.6, 200, np.random.default_rng(0))
    assert drawn.fallback is not None
    assert np.isfinite(drawn.samples).all()
    assert (drawn.samples <= 0.6).all()


@given(st.integers(0, 10_000), st.sampled_from(["frechet", "gumbel"]))
def test_every_posterior_gives_finite_samples(seed, name):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    mean = rng.normal(0.0, 10.0 ** rng.uniform(-3, 3), size)
    var = 10.0 ** rng.uniform(-12, 4, size)
    eta = float(rng.normal(0.0, 10.0 ** rng.uniform(-3, 3)))
    law = {"frechet": frechet, "gumbel": gumbel}[name]
    drawn = law(mean, var, eta, 15, rng)
    assert isinstance(drawn, Minima)
    assert np.isfinite(drawn.samples).all()
    assert drawn.samples.shape == (15,)
    assert drawn.law == name
    if name == "frechet":
        assert (drawn.samples <= eta).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_joint_minima_follow_brute_force_on_a_fine_grid(kernel):
    gp, _, _, _ = posterior(5)
    gp = condition(kernel, gp.hyper, gp.X, np.linspace(-1.0, 1.0, 5))
    mean, cov = gp.predict_joint(GRID)
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    brute = (mean + np.random.default_rng(9).standard_normal((4000, 200)) @ root.T).min(axis=1)
    drawn = joint(gp, GRID, 4000, np.random.default_rng(0))
    assert drawn.law == "joint"
    assert stats.ks_2samp(brute, drawn.samples).pvalue > 1e-3


def test_joint_minima_lie_higher_than_independent_ones():
    gp, mean, var, eta = posterior()
    together = joint(gp, GRID, 2000, np.random.default_rng(0)).samples
    apart = frechet(mean, var, eta, 2000, np.random.default_rng(0)).samples
    assert np.median(together) > np.median(apart)


def test_constrained_minima_follow_brute_force_and_are_infinite_where_nothing_is_feasible():
    gp, _, _, _ = posterior(5)
    constraint = condition("se", Hyper((0.2,), 1.0, 0.05), np.array([[0.2], [0.7]]), np.array([-0.5, 1.5]))
    rng = np.random.default_rng(3)

    def draw(process):
        mean, cov = process.predict_joint(GRID)
        values, vectors = np.linalg.eigh(cov)
        return mean + rng.standard_normal((4000, 200)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T

    f, g = draw(gp), draw(constraint)
    brute = np.where(g <= 0.0, f, np.inf).min(axis=1)
    drawn = joint(gp, GRID, 4000, np.random.default_rng(0), (constraint,)).samples
    assert stats.ks_2samp(brute[np.isfinite(brute)], drawn[np.isfinite(drawn)]).pvalue > 1e-3
    never = condition("se", Hyper((5.0,), 1.0, 0.05), np.array([[0.5]]), np.array([30.0]))
    assert np.isinf(joint(gp, GRID, 5, rng, (never,)).samples).all()


def test_joint_draws_look_where_a_minimum_is_likely_and_safe():
    gp, _, _, _ = posterior(5)
    constraint = condition("se", Hyper((0.2,), 1.0, 0.05), np.array([[0.2], [0.7]]), np.array([-0.5, 1.5]))
    eta = float(gp.fitted().min())
    chosen = likeliest(gp, (constraint,), GRID, eta, 30)
    below = stats.norm.cdf(eta, gp.predict(GRID)[0], np.sqrt(gp.predict(GRID)[1]))
    mean, var = constraint.predict(GRID)
    chance = below * stats.norm.cdf(0.0, mean, np.sqrt(var))
    assert set(chosen) == set(np.argsort(-chance)[:30])
    assert list(likeliest(gp, (), GRID[:7], eta, 30)) == list(range(7))


def test_joint_draws_survive_a_grid_that_repeats_its_points():
    gp, _, _, _ = posterior()
    points = np.vstack([GRID, GRID, gp.X])
    assert cov_values("se", gp.hyper, points, points).shape == (406, 406)
    assert np.isfinite(joint(gp, points, 50, np.random.default_rng(0)).samples).all()
