"""Points looked at: where they lie, and that the lowest mean is among them."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.toys import context_of, draw_process, smooth_history
from tumble.core.search.candidates import downhill, everywhere, low_discrepancy, surroundings
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
