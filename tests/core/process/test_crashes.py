"""The process of crashes against importance sampling from its own prior, and against slice sampling."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp, ndtr

from tests.oracles import KERNELS, central, close, cov_values
from tumble.core.feasibility import Feasibility
from tumble.core.process.crashes import (
    BEGUN,
    DRAWS,
    FEW,
    RARE,
    SHARPNESS,
    UNKNOWN,
    MeanLaw,
    drawn_from,
    fit_crashes,
    log_of_mean,
    safe_before_any_trial,
    smooth_part,
)
from tumble.core.process.kept import Kept
from tumble.core.process.refit import SETTLED
from tumble.core.process.signs import draw_given_signs
from tumble.core.process.sites import fit_sites


def by_sampling(kernel, X, crashed, mean, x, draws=100_000):
    """P(safe) at x (M, D): draws from the prior, their mean included, weighted by the labels' likelihood."""
    points, rng = np.vstack([X, x]), np.random.default_rng(0)
    values, vectors = np.linalg.eigh(cov_values(kernel, smooth_part(X.shape[1]), points, points))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    g = mean.centre + mean.spread * rng.standard_normal((draws, 1))
    g = g + rng.standard_normal((draws, len(points))) @ root.T
    sign = np.where(crashed, 1.0, -1.0)
    weight = np.exp(log_ndtr(sign * g[:, : len(X)] / SHARPNESS).sum(axis=1))
    effective = weight.sum() ** 2 / (weight**2).sum()
    return weight @ ndtr(-g[:, len(X) :] / SHARPNESS) / weight.sum(), effective


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mean", [MeanLaw(-1.0, 0.35), FEW, UNKNOWN])
@pytest.mark.parametrize(
    "crashed", [[False], [True], [False, True, False, True], [True, False, True, False, False]]
)
def test_the_draws_equal_importance_sampling(kernel, mean, crashed):
    labels = np.array(crashed)
    X = np.linspace(0.05, 0.95, len(labels))[:, None]
    x = np.vstack([X, np.linspace(0.0, 1.0, 9)[:, None]])
    sampled, effective = by_sampling(kernel, X, labels, mean, x)
    crashes = fit_crashes(X, labels, kernel, mean, 4096)
    assert effective > 150
    slack = 4.0 / np.sqrt(effective)
    np.testing.assert_allclose(np.exp(crashes.log_prob(x)), sampled, atol=0.01 + 0.5 * slack)


def test_as_many_draws_as_the_search_takes_come_close_to_many():
    X = np.random.default_rng(0).random((30, 3))
    crashed: Any = (X**2).sum(axis=1) > 1.4
    x = np.random.default_rng(1).random((200, 3))
    few, many = (np.exp(fit_crashes(X, crashed, "matern52", count=n).log_prob(x)) for n in (DRAWS, 16384))
    assert np.abs(few - many).max() < 0.04
    assert np.abs(few - many).mean() < 0.006


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 2, 6])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mean", [RARE, FEW, UNKNOWN])
def test_ten_safe_trials_and_one_distant_crash_leave_the_safe_ones_safe(kernel, dim, seed, mean):
    rng = np.random.default_rng([seed, dim])
    safe, crash = 0.5 * rng.random((10, dim)), np.full((1, dim), 0.97)
    X = np.vstack([safe, crash])
    p = Feasibility((), fit_crashes(X, np.arange(11) == 10, kernel, mean)).each(X)[:, 0]
    assert p[:10].min() >= (0.99 if mean is RARE else 0.9)
    assert p[10] < 0.5


def test_crashes_all_around_are_believed():
    X = np.random.default_rng(0).random((20, 2))
    p = Feasibility((), fit_crashes(X, np.ones(20, dtype=bool), "matern52")).each(X)[:, 0]
    assert p.max() < 0.5


@pytest.mark.parametrize("dim", [1, 2, 6])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_nothing_but_crashes_proves_no_safety_anywhere(dim, count):
    X = np.random.default_rng(count).random((count, dim)) * 0.2
    crashes = fit_crashes(X, np.ones(count, dtype=bool), "matern52")
    assert 0.2 < np.exp(crashes.log_prob(np.ones((1, dim))))[0] < 0.5


def test_far_from_all_trials_p_safe_is_that_before_any_trial():
    far = np.full((1, 1), 1e3)
    nothing = safe_before_any_trial(MeanLaw(-1.3, 0.0))
    crashes = fit_crashes(np.zeros((1, 1)), np.array([False]), "se", MeanLaw(-1.3, 0.0))
    assert np.exp(crashes.log_prob(far))[0] == pytest.approx(nothing, abs=1e-6)
    assert safe_before_any_trial(UNKNOWN) == pytest.approx(0.5, abs=0.005)
    assert safe_before_any_trial(FEW) == pytest.approx(0.82, abs=0.005)


@pytest.mark.parametrize(("mean", "p_safe"), [(UNKNOWN, 0.67), (FEW, 0.86)])
def test_one_safe_trial_says_little_of_the_opposite_corner(mean, p_safe):
    crashes = fit_crashes(np.zeros((1, 6)), np.array([False]), "matern52", mean)
    assert np.exp(crashes.log_prob(np.ones((1, 6))))[0] == pytest.approx(p_safe, abs=0.02)
    assert np.exp(crashes.log_prob(np.zeros((1, 6))))[0] > 0.97


def test_the_edge_of_a_crash_region_is_learned():
    X = np.random.default_rng(0).random((40, 2))
    crashed: Any = X[:, 0] > 0.6
    p = Feasibility((), fit_crashes(X, crashed, "matern52"))
    query = np.random.default_rng(1).random((200, 2))
    clear = np.abs(query[:, 0] - 0.6) > 0.12
    predicted = p.each(query[clear])[:, 0] < 0.5
    assert (predicted == (query[clear, 0] > 0.6)).mean() > 0.95


def test_the_same_setting_may_crash_and_not_crash():
    X = np.full((6, 1), 0.4)
    crashes = fit_crashes(X, np.array([True, False, True, False, False, True]), "matern52")
    assert 0.2 < np.exp(crashes.log_prob(np.array([[0.4]])))[0] < 0.8


def test_many_labels_are_no_trouble():
    X = np.random.default_rng(0).random((150, 3))
    crashed: Any = (X**2).sum(axis=1) > 1.5
    p = Feasibility((), fit_crashes(X, crashed, "matern52")).each(X)[:, 0]
    assert np.isfinite(p).all()
    assert ((p < 0.5) == crashed).mean() > 0.9


def test_the_order_of_the_trials_hardly_matters():
    X = np.random.default_rng(0).random((20, 2))
    crashed: Any = X[:, 0] > 0.6
    x = np.random.default_rng(1).random((50, 2))
    one, other = (fit_crashes(X[::step], crashed[::step], "matern52").log_prob(x) for step in (1, -1))
    assert np.abs(np.exp(one) - np.exp(other)).max() < 0.06


def by_slice_sampling(X, labels, mean, x, draws, seed=0):
    """P(crash) at x (1, D): elliptical slice sampling of the latent process at x and at the labels."""
    rng = np.random.default_rng(seed)
    points = np.vstack([x, X])
    cov = cov_values("matern52", smooth_part(X.shape[1]), points, points) + mean.spread**2
    root = np.linalg.cholesky(cov + 1e-9 * np.eye(len(points)))

    def log_likelihood(g):
        return log_ndtr(labels * (mean.centre + g[1:]) / SHARPNESS).sum()

    g = np.append(0.0, np.where(labels > 0.0, 0.5 - mean.centre, 0.0))
    now, total = log_likelihood(g), 0.0
    for step in range(draws + draws // 10):
        other, floor = root @ rng.standard_normal(len(g)), now - rng.exponential()
        angle = rng.random() * 2.0 * np.pi
        low, high = angle - 2.0 * np.pi, angle
        while True:
            moved = g * np.cos(angle) + other * np.sin(angle)
            if (value := log_likelihood(moved)) > floor:
                break
            low, high = (angle, high) if angle < 0.0 else (low, angle)
            angle = low + (high - low) * rng.random()
        g, now = moved, value
        total += ndtr((mean.centre + g[0]) / SHARPNESS) * (step >= draws // 10)
    return total / draws


@pytest.mark.parametrize(("count", "most"), [(5, 2e-3), (20, 5e-4), (60, 1e-4)])
def test_amid_safe_trials_the_risk_of_a_crash_is_that_of_sampling(count, most):
    rng = np.random.default_rng(1)
    X = np.vstack([0.5 + 0.05 * rng.standard_normal((count, 2)), [[0.97, 0.97]]])
    crashed = np.arange(count + 1) == count
    x = np.full((1, 2), 0.5)
    sampled = by_slice_sampling(X, np.where(crashed, 1.0, -1.0), RARE, x, 4000)
    risk, exact = (
        -np.expm1(fit_crashes(X, crashed, "matern52", RARE, n).log_prob(x)[0]) for n in (DRAWS, 16384)
    )
    assert exact == pytest.approx(sampled, rel=0.5, abs=1e-4)
    by_sites = -np.expm1(fit_sites(X, crashed, "matern52").log_prob(x)[0])
    assert max(risk, exact, sampled) < most
    assert risk < 0.2 * by_sites


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("mean", [RARE, FEW, UNKNOWN])
def test_gradients_of_the_risk_of_a_crash_are_derivatives(dim, mean):
    X = np.random.default_rng(0).random((9, dim))
    crashed: Any = X[:, 0] > 0.6
    crashes = fit_crashes(X, crashed, "matern52", mean)
    x = np.random.default_rng(1).random((6, dim))
    value, grad = crashes.log_prob_and_grad(x)
    close(value, crashes.log_prob(x), 1e-10)
    close(grad, central(crashes.log_prob, x), 1e-6)


def grown(n: int) -> tuple[Any, Any]:
    """n trials in three dimensions, and which of them crashed: those in a corner, a part of the last ones."""
    X = np.random.default_rng(0).random((n, 3))
    return X, (X**2).sum(axis=1) > 1.4


def signs(crashed: Any) -> Any:
    return np.where(crashed, 1.0, -1.0)


def test_what_is_kept_changes_no_bit():
    X, crashed = grown(60)
    kept = Kept(2**24)
    for n in [*range(38, 61), 45, 58]:
        one = fit_crashes(X[:n], crashed[:n], "matern52", kept=kept).draws
        other = fit_crashes(X[:n], crashed[:n], "matern52", kept=Kept(0)).draws
        np.testing.assert_array_equal(one.chol, other.chol)
        np.testing.assert_array_equal(one.e, other.e)
        np.testing.assert_array_equal(one.weights, other.weights)


def test_draws_are_made_anew_when_there_are_half_as_many_more_trials():
    assert [drawn_from(n) for n in (1, SETTLED, SETTLED + 1, 61, 62, 92, 93, 139, 140)] == [
        1, SETTLED, 41, 41, 62, 62, 93, 93, 140,
    ]  # fmt: skip


def test_other_trials_and_other_crashes_have_other_draws():
    X, crashed = grown(50)
    kept = Kept(2**24)
    fit_crashes(X, crashed, "matern52", kept=kept)
    for where, which, mean in (
        (X[::-1].copy(), crashed, UNKNOWN),
        (X, ~crashed, UNKNOWN),
        (X, crashed, RARE),
    ):
        one = fit_crashes(where, which, "matern52", mean, kept=kept).draws
        np.testing.assert_array_equal(
            one.e, fit_crashes(where, which, "matern52", mean, kept=Kept(0)).draws.e
        )


def test_searches_that_part_after_the_first_trials_have_their_own_draws():
    """Also where one takes trials back, and where one is added that no draw foresaw."""
    X, crashed = grown(50)
    kept, surprising = Kept(2**24), crashed.copy()
    surprising[-1] = ~surprising[-1]
    other = X[[*range(45), *range(49, 44, -1)]]
    for where, which in (
        (X, crashed),
        (other, crashed),
        (X[:46], crashed[:46]),
        (X, surprising),
        (X, crashed),
    ):
        one, alone = (fit_crashes(where, which, "matern52", kept=k).draws for k in (kept, Kept(0)))
        np.testing.assert_array_equal(one.e, alone.e)
        np.testing.assert_array_equal(one.weights, alone.weights)


def test_the_factor_that_grew_is_that_of_the_covariance_of_all_trials():
    X, crashed = grown(60)
    found = fit_crashes(X, crashed, "matern52", RARE)
    C = cov_values("matern52", smooth_part(3), X, X) + RARE.spread**2 + SHARPNESS**2 * np.eye(60)
    close(found.draws.chol @ found.draws.chol.T, C, 1e-12)


def test_products_with_an_inverse_give_what_solves_give():
    X, crashed = grown(60)
    found, x = fit_crashes(X, crashed, "matern52"), np.random.default_rng(1).random((9, 3))
    assert found.inverse is not None
    assert fit_crashes(X[:SETTLED], crashed[:SETTLED], "matern52").inverse is None
    solving = dataclasses.replace(found, inverse=None)
    close(found.log_prob(x), solving.log_prob(x), 1e-11)
    for one, other in zip(found.log_prob_and_grad(x), solving.log_prob_and_grad(x), strict=True):
        close(one, other, 1e-10)
    close(found.log_prob_and_grad(x)[1], central(found.log_prob, x), 1e-5)


def test_trials_that_are_added_teach_as_much_as_the_first_ones():
    X, crashed = grown(SETTLED + 25)
    x = np.random.default_rng(1).random((200, 3))
    added = 0
    for n in range(SETTLED + 1, len(X) + 1, 3):
        added += drawn_from(n) < n
        found = fit_crashes(X[:n], crashed[:n], "matern52")
        at_once = draw_given_signs(
            UNKNOWN.centre, found.draws.chol @ found.draws.chol.T, signs(crashed[:n]), 16384
        )
        many = dataclasses.replace(found, draws=at_once)
        error = np.abs(np.exp(found.log_prob(x)) - np.exp(many.log_prob(x)))
        assert error.max() < 0.06
        assert error.mean() < 0.008
    assert added >= 5


def test_a_crash_that_no_draw_foresaw_makes_the_draws_anew():
    n = drawn_from(60) + 2
    X = 0.3 * np.random.default_rng(0).random((n, 3))
    X[-1] = 0.15
    crashed = np.arange(n) == n - 1
    found = fit_crashes(X, crashed, "matern52")
    anew = draw_given_signs(UNKNOWN.centre, found.draws.chol @ found.draws.chol.T, signs(crashed), DRAWS)
    np.testing.assert_allclose(found.draws.e, anew.e, atol=1e-6)


def test_trials_that_contradict_the_draws_again_and_again_cost_few_draws(monkeypatch):
    """Also where two searches take turns: what is kept of one leaves room for the other."""
    made = []

    def noted(*arguments: Any) -> Any:
        made.append(arguments)
        return draw_given_signs(*arguments)

    monkeypatch.setattr("tumble.core.process.crashes.draw_given_signs", noted)
    rng, kept = np.random.default_rng(0), Kept(2**25)
    searches = [(0.5 * rng.random((124, 3)), rng.random(124) < 0.5) for _ in range(2)]
    for X, crashed in searches:
        made.clear()
        fit_crashes(X[:120], crashed[:120], "matern52", kept=kept)
        assert len(made) == BEGUN + 1  # else the crashes are not contrary enough for what follows
    for n in range(120, 125):
        for X, crashed in searches:
            made.clear()
            found = fit_crashes(X[:n], crashed[:n], "matern52", kept=kept).draws
            assert len(made) == (n > 120)
            np.testing.assert_array_equal(
                found.e, fit_crashes(X[:n], crashed[:n], "matern52", kept=Kept(0)).draws.e
            )


def test_an_answer_for_a_read_only_array_is_kept():
    X, crashed = grown(20)
    crashes, x = fit_crashes(X, crashed, "matern52"), np.random.default_rng(1).random((9, 3))
    plain = crashes.log_prob(x)
    assert crashes.log_prob(x) is not plain
    x.flags.writeable = False
    known = crashes.log_prob(x)
    np.testing.assert_array_equal(known, plain)
    assert crashes.log_prob(x) is known
    assert not known.flags.writeable


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
def test_a_mean_of_logarithms_is_that_of_scipy_also_where_some_weights_are_zero(scale):
    rng = np.random.default_rng(0)
    logs, weights = -scale * rng.random((5, 40)), rng.random(40)
    weights[[3, 7]] = 0.0
    logs[0, 3] = 0.0  # the largest one does not count
    np.testing.assert_allclose(log_of_mean(logs, weights), logsumexp(logs, axis=1, b=weights), rtol=1e-12)
