"""PESC against rejection sampling, its reductions and its gradient."""

import math

import numpy as np
import pytest
from scipy.linalg import solve_triangular
from scipy.stats import differential_entropy

from tests.oracles import central, close
from tests.toys import context_of, draw_process, history, smooth_history
from tumble.baselines.pesc.acquisition import RIVALS, PredictiveEntropy, given_minimisers, predictive_entropy
from tumble.baselines.pesc.paths import draw_paths, minimisers, rough_minimisers
from tumble.core.feasibility import Feasibility
from tumble.core.process.cholesky import cholesky
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import condition
from tumble.core.settings import Settings

HALF = 8_000  # draws; there are two halves


def grid_of(dim: int):
    axis = np.linspace(0.0, 1.0, 21 if dim == 1 else 9)
    return np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)


def toy(dim: int, count: int, seed: int):
    """An objective and `count` constraints, each seen at five points."""
    rng = np.random.default_rng([seed, dim, count])
    X, scale = rng.random((5, dim)), 0.15 if dim == 1 else 0.3
    gps = [draw_process(dim, 5, rng, scale=scale, shift=-0.3 if k else 0.0, X=X) for k in range(1 + count)]
    return gps[0], tuple(gps[1:]), rng


def standard_draws(dim: int, rng):
    """(HALF, dim) standard normals with exactly that mean and covariance: less noise in what follows."""
    z = rng.standard_normal((HALF, dim))
    z -= z.mean(axis=0)
    return solve_triangular(np.linalg.cholesky(z.T @ z / HALF), z.T, lower=True).T


def joint_draws(gps, points, rng):
    """(draws, points) of each process, and where in the draws every constraint is met."""
    draws = []
    for gp in gps:
        mean, cov = gp.predict_joint(points)
        root = cholesky(cov + 1e-8 * np.eye(len(points)))
        draws.append(mean + np.vstack([standard_draws(len(points), rng) for _ in range(2)]) @ root.T)
    return draws, np.all([d <= 0.0 for d in draws[1:]], axis=0)


def law_of_the_minimum(draws, allowed):
    """For each draw the index of its constrained minimum (-1 where nothing is allowed); the law of those."""
    where = np.argmin(np.where(allowed, draws[0], np.inf), axis=1)
    where = np.where(allowed.any(axis=1), where, -1)
    ids, counts = np.unique(where[where >= 0], return_counts=True)
    kept = counts >= 100
    assert counts[kept].sum() >= 0.9 * counts.sum()
    return where, ids[kept], counts[kept] / counts[kept].sum()


def rejection(gps, grid, rng):
    """α on a grid, from two halves of the draws, and the law of x* that it is an expectation over.

    The processes are drawn whole; draws are sorted by where their constrained minimum is, and the entropy of
    each noisy output within a sort is estimated by spacings: neither factors at a few points, nor EP, nor a
    normal approximation. Only the grid and the number of draws are finite.
    """
    draws, allowed = joint_draws(gps, grid, rng)
    where, ids, law = law_of_the_minimum(draws, allowed)
    halves = np.zeros((2, len(grid)))
    for gp, values in zip(gps, draws, strict=True):
        y = values + gp.hyper.noise * rng.standard_normal(values.shape)
        before = 0.5 * np.log(2.0 * np.pi * math.e * (gp.predict(grid)[1] + gp.hyper.noise**2))
        for half in range(2):
            own = slice(half * HALF, (half + 1) * HALF)
            for i, p in zip(ids, law, strict=True):
                halves[half] += p * (before - differential_entropy(y[own][where[own] == i], axis=0))
    return halves, ids, law


def pesc(gps, places, stars, law, grid):
    """The acquisition with as many draws of x* as it takes: its mean over their law."""
    each = [given_minimisers(gps[0], gps[1:], places, star[None, :]).gain(grid) for star in stars]
    return law @ np.array(each)


def test_pesc_agrees_with_rejection_sampling():
    """On toys that nobody chose: a correlation of 0.95, and the same argmax or one as good to within a tenth.

    Over the first eighty toys (seeds 0 to 19), with halves of 20,000 draws, the correlation is at least 0.95
    in 79 (least 0.940, median 0.992); the argmax is the same point of the grid in 56, and in 78 has nine
    tenths of the largest gain (on average 98 %, least 63 %). Without rivals: 73 (least 0.832, median 0.985),
    38 and 70. The reference's own standard error there is about 1 % of the largest gain. What is left is EP:
    h is "worse or forbidden", and where sites on f and c are apart the blame is shared out, though in truth
    it lies with one of them.
    """
    kinds = [(dim, count, 0) for dim in (1, 2) for count in (1, 2)]
    correlations, shares = np.array([_agreement(*kind) for kind in kinds]).T
    assert correlations.min() >= 0.95
    assert shares.min() >= 0.9
    assert np.mean(shares == 1.0) >= 0.5


def _agreement(dim: int, count: int, seed: int) -> tuple[float, float]:
    """Correlation with the reference; the reference at our argmax, as a share of its largest value."""
    objective, constraints, rng = toy(dim, count, seed)
    gps, grid = (objective, *constraints), grid_of(dim)
    halves, ids, law = rejection(gps, grid, rng)
    assert np.corrcoef(halves)[0, 1] >= 0.98  # what is compared with is not noise
    expected = halves.mean(axis=0)
    rivals = np.unique(rng.choice(ids, RIVALS, p=law))
    ours = pesc(gps, np.vstack([objective.X, grid[rivals]]), grid[ids], law, grid)
    return np.corrcoef(ours, expected)[0, 1], expected[np.argmax(ours)] / expected.max()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [1, 2])
def test_propagation_agrees_with_rejection_by_the_same_factors(count, seed):
    """Draws that satisfy the factors at the trials, x* and x, and no others: what remains is EP's own error.

    Variance is compared with variance, and the gain itself, not only its shape.
    """
    objective, constraints, rng = toy(1, count, seed)
    gps, grid = (objective, *constraints), grid_of(1)
    n = len(grid)
    draws, allowed = joint_draws(gps, np.vstack([grid, objective.X]), rng)
    _, ids, law = law_of_the_minimum([d[:, :n] for d in draws], allowed[:, :n])
    expected = np.zeros(n)
    for i, p in zip(ids, law, strict=True):
        better = allowed & (draws[0] < draws[0][:, [i]])
        met = allowed[:, i] & ~better[:, n:].any(axis=1)
        for gp, values in zip(gps, draws, strict=True):
            noise = gp.hyper.noise**2
            var = np.ma.masked_array(values[met, :n], better[met, :n]).var(axis=0).filled()
            expected += 0.5 * p * (np.log(gp.predict(grid)[1] + noise) - np.log(var + noise))
    ours = pesc(gps, objective.X, grid[ids], law, grid)
    assert np.corrcoef(ours, expected)[0, 1] >= 0.99
    np.testing.assert_allclose(ours.mean(), expected.mean(), rtol=0.1)


@pytest.mark.parametrize(("dim", "count"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_minimisers_of_paths_have_the_law_of_those_of_joint_draws(dim, count):
    objective, constraints, rng = toy(dim, count, 0)
    gps, grid = (objective, *constraints), grid_of(dim)
    draws, allowed = joint_draws(gps, grid, rng)
    where = law_of_the_minimum(draws, allowed)[0]
    expected = np.bincount(where[where >= 0], minlength=len(grid)) / np.sum(where >= 0)
    found = []
    for _ in range(20):
        paths = [draw_paths(gp, 100, rng) for gp in gps]
        met = np.all([p.values(grid) <= 0.0 for p in paths[1:]], axis=0).any(axis=0)
        found.append(rough_minimisers(paths[0], tuple(paths[1:]), grid)[met])
    stars = np.vstack(found)
    got = (stars[:, None, :] == grid).all(axis=2).mean(axis=0)
    chance = np.sqrt(2.0 / np.pi * expected * (1.0 - expected) / len(stars)).sum() / 2.0
    assert np.abs(got - expected).sum() / 2.0 <= 2.0 * chance


@pytest.mark.parametrize("seed", range(5))
def test_with_a_constraint_that_always_holds_pesc_is_its_unconstrained_form(seed):
    objective, _, rng = toy(1 + seed % 2, 0, seed)
    dim = objective.X.shape[1]
    always = condition(
        "matern52", Hyper((0.3,) * dim, 1.0, 0.1), np.zeros((0, dim)), np.zeros(0), prior_mean=-10.0
    )
    grid = grid_of(dim)
    stars = minimisers(draw_paths(objective, 8, rng), (), grid)
    free = given_minimisers(objective, (), objective.X, stars).gain(grid)
    bound = given_minimisers(objective, (always,), objective.X, stars).gain(grid)
    assert np.argmax(free) == np.argmax(bound)
    np.testing.assert_allclose(bound, free, atol=1e-6)


@pytest.mark.parametrize(("dim", "count"), [(1, 0), (1, 1), (2, 2), (4, 1)])
def test_the_gradient_is_the_derivative_and_screening_the_value(dim, count):
    objective, constraints, rng = toy(dim, count, 1)
    acquisition = given_minimisers(objective, constraints, objective.X, rng.random((6, dim)))
    x = rng.random((5, dim))
    value, grad = acquisition.value_and_grad(x)
    close(acquisition.screen(x), value, 1e-9)
    close(grad, central(acquisition.screen, x, 1e-5), 1e-5)


def test_it_draws_as_many_minimisers_as_the_settings_say():
    context = context_of(smooth_history(12, 2, constraints=1), Settings(draws=7))
    acquisition = predictive_entropy(context)
    assert isinstance(acquisition, PredictiveEntropy)
    assert acquisition.objective.star_mean.shape == (7,)
    assert len(acquisition.constraints) == 1


def test_h_sits_at_the_trials_at_the_minimisers_of_further_draws_and_at_no_place_twice():
    past = smooth_history(6, 2, constraints=1)
    points = predictive_entropy(context_of(past, Settings(draws=3))).objective.points
    trials = (points[:, None, :] == past.X).all(axis=2).any(axis=1).sum()
    assert trials > 0
    assert 3 < len(points) - 3 - trials <= RIVALS
    assert len(np.unique(points, axis=0)) == len(points)


def test_a_trial_in_flight_leaves_less_to_learn_around_it():
    past = smooth_history(12, 2, constraints=1)
    at = np.array([[0.5, 0.5]])
    busy = context_of(history(past.X, past.y, past.g, pending=at))
    stars = np.random.default_rng(0).random((8, 2))
    constraint = busy.models.feasibility.constraints[0]
    before = given_minimisers(busy.models.objective, (constraint,), past.X, stars).gain(at)
    after = given_minimisers(busy.objective, (constraint.with_pending(at),), past.X, stars).gain(at)
    assert after[0] < before[0]


def test_a_crash_measures_nothing_so_the_gain_counts_where_it_is_survived():
    past = smooth_history(14, 2, constraints=1)
    crashed = past.X[:, 0] > 0.7
    y, g = np.where(crashed, np.nan, past.y), np.where(crashed[:, None], np.nan, past.g)
    context = context_of(history(past.X, y, g, crashed=crashed))
    acquisition = predictive_entropy(context)
    x = np.random.default_rng(0).random((6, 2))
    survival = Feasibility((), context.models.feasibility.crash)
    bare = PredictiveEntropy(acquisition.objective, acquisition.constraints, Feasibility(()))
    np.testing.assert_allclose(acquisition.screen(x), bare.screen(x) + survival.log_prob(x), rtol=1e-12)
    _, grad = acquisition.value_and_grad(x)
    close(grad, central(acquisition.screen, x, 1e-5), 1e-4)
