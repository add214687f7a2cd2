"""Points looked at: where they lie, and that the lowest mean is among them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.toys import context_of, draw_process, smooth_history
from tumble.core.process.gp import condition
from tumble.core.search.candidates import (
    LONGEST,
    QUICKLY_DOWNHILL,
    downhill,
    everywhere,
    low_discrepancy,
    step_downhill,
    surroundings,
)
from tumble.core.search.maximize import EXACT
from tumble.core.settings import Settings


def test_a_low_discrepancy_sequence_fills_the_cube_evenly():
    points = low_discrepancy(256, 3, np.random.default_rng(0))
    assert points.shape == (256, 3)
    assert (points >= 0.0).all()
    assert (points < 1.0).all()
    counts = np.histogramdd(points, bins=4, range=[(0.0, 1.0)] * 3)[0]
    assert counts.min() >= 1  # 4 expected in each of 64 boxes; uniform points leave one empty in ten
    assert counts.max() <= 8


def test_surroundings_stay_in_the_cube_and_within_reach():
    centre = np.array([[0.02, 0.5]])
    points = surroundings(centre, np.array([0.1, 3.0]), 500, np.random.default_rng(0))
    assert (points >= 0.0).all()
    assert (points <= 1.0).all()
    assert np.abs(points - centre)[:, 0].max() < 0.5
    assert np.median(np.abs(points - centre)[:, 0]) < 0.05


@pytest.mark.parametrize("dim", [1, 3, 10])
def test_downhill_ends_at_local_minima_of_the_mean(dim):
    rng = np.random.default_rng(dim)
    gp = draw_process(dim, 30, rng, scale=0.3 * np.sqrt(dim))
    starts = rng.random((5, dim))
    found = downhill(gp, starts)
    assert gp.mean(found).min() <= gp.mean(starts).min()
    best = found[gp.mean(found).argmin()]

    def mean(x):
        return gp.mean(x[None, :])[0]

    further = minimize(mean, best, bounds=[(0.0, 1.0)] * dim)
    assert mean(best) - further.fun < 0.1


def test_the_lowest_mean_is_looked_at_so_that_f_star_does_not_lie_above_it():
    context = context_of(smooth_history(40, 8), Settings(n_minima=500))
    gp = context.objective
    lowest = gp.mean(downhill(gp, context.best)).min()
    without = gp.mean(context.candidates[:-5]).min()
    assert gp.mean(context.candidates).min() <= lowest + 1e-12 < without
    assert context.sample_minima().samples.mean() < 0.5 * (lowest + without)


def test_everywhere_needs_no_more_than_one_trial():
    gp = draw_process(2, 1, np.random.default_rng(0), scale=0.3)
    points = everywhere(gp, gp.X, 16, np.random.default_rng(1))
    assert points.shape == (16 + 4 + 1, 2)
    assert ((points >= 0.0) & (points <= 1.0)).all()


@pytest.mark.parametrize("dim", [1, 3, 6])
def test_a_step_downhill_leads_from_beside_a_lowest_mean_to_it(dim):
    rng = np.random.default_rng(dim)
    gp = draw_process(dim, 40, rng, scale=0.4 * np.sqrt(dim))
    lowest = downhill(gp, rng.random((30, dim)), pace=EXACT)
    inner = lowest[(np.abs(lowest - 0.5) < 0.45).all(axis=1)]
    starts = np.clip(inner + 0.02 * rng.standard_normal(inner.shape), 0.0, 1.0)
    before, after = gp.mean(starts) - gp.mean(inner), gp.mean(step_downhill(gp, starts)) - gp.mean(inner)
    assert np.median(after) < 0.1 * np.median(before)


@given(st.integers(0, 10**6))
def test_a_step_downhill_is_downhill_short_and_in_the_cube(seed):
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(1, 6))
    gp = draw_process(dim, int(rng.integers(1, 30)), rng, scale=float(rng.uniform(0.1, 2.0)))
    starts = rng.random((4, dim)).round(int(rng.integers(0, 3)))  # now and then at a corner
    ends = step_downhill(gp, starts)
    assert ((ends >= 0.0) & (ends <= 1.0)).all()
    scales = np.asarray(gp.hyper.lengthscales)
    assert (np.abs(ends - starts) <= (LONGEST + 1e-12) * scales).all()
    _, slope = gp.mean_with_gradient(starts)
    inside = ((starts > 0.0) & (starts < 1.0)).all(axis=1)
    assert (
        (slope * (ends - starts)).sum(axis=1)[inside & ((ends > 0.0) & (ends < 1.0)).all(axis=1)] <= 0.0
    ).all()


@pytest.mark.parametrize("for_minima", [True, False])
def test_a_settled_search_goes_downhill_all_the_way_where_f_star_is_sampled_and_else_one_step(for_minima):
    whole = context_of(smooth_history(45, 3), Settings())
    gp = condition(
        "matern52", replace(whole.objective.hyper, learned_from=45), whole.objective.X,
        whole.objective.weights, prior_mean=whole.objective.prior_mean,
    )  # fmt: skip
    context = replace(whole, objective=gp, for_minima=for_minima)
    last = context.candidates[-len(context.best) :]
    expected = (
        downhill(gp, context.best, pace=QUICKLY_DOWNHILL) if for_minima else step_downhill(gp, context.best)
    )
    np.testing.assert_array_equal(last, expected)
