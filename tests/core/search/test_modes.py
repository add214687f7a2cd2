"""What each mode allows: the ρ that was asked is kept, and f* lies where it is allowed."""

import numpy as np
import pytest
from scipy.special import ndtri

from tests.toys import context_of, history, smooth_history
from tumble.core.algorithm import propose
from tumble.core.budget import BudgetState, Decision
from tumble.core.process.gp import GP
from tumble.core.search.default import best_measured
from tumble.core.search.modes import Search
from tumble.core.settings import Settings
from tumble.methods import METHODS


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("z", [-1.5, -0.5, -0.05, 0.5, 2.0])
def test_no_suggestion_is_less_safe_than_the_rho_it_reports(seed, z):
    past = smooth_history(14, 3, constraints=2, seed=seed)
    found = propose(past, BudgetState(z, 30, 4), METHODS["xsf"], Settings(), np.random.default_rng(seed))
    assert found.p_safe >= found.rho - 1e-9 or found.mode == "safest"


def test_descents_reach_the_lowest_mean_that_each_level_allows():
    """Against a dense grid: some candidate is nearly as low as every point that is as safe."""
    for seed in range(6):
        context = context_of(smooth_history(16, 2, constraints=2, seed=seed), seed=seed)
        axis = np.linspace(0.0, 1.0, 81)
        grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        feasibility, gp = context.models.feasibility, context.objective
        for level in (0.5, 0.9, 0.99):
            allowed = feasibility.margin(grid) >= ndtri(level)
            if not allowed.any():
                continue
            ours = context.candidates[feasibility.margin(context.candidates) >= ndtri(level)]
            assert gp.mean(ours).min() <= gp.mean(grid[allowed]).min() + 0.02 * np.sqrt(gp.hyper.variance)


def test_in_the_careful_mode_f_star_is_the_minimum_of_what_is_allowed():
    X = np.linspace(0.0, 0.4, 6)[:, None]  # nothing is known beyond, where f falls and g rises
    past = history(X, -X[:, 0] - 0.1 * np.sin(9.0 * X[:, 0]), X - 0.6)
    settings = Settings(gap=None, optimism=0.0, n_minima=400)
    careful = context_of(past, settings, decision=Decision("careful", 0.99))
    bold = context_of(past, settings, decision=Decision("bold", 0.01))
    feasibility, gp = careful.models.feasibility, careful.objective
    inside = feasibility.margin(careful.candidates) >= ndtri(0.99)
    lowest = gp.mean(careful.candidates[inside]).min()
    assert bold.minima.samples.mean() < careful.minima.samples.mean() - 0.05
    assert careful.minima.samples.mean() <= lowest + 0.1  # 400 samples have an error of 0.04


def test_a_report_asks_each_process_once(monkeypatch):
    context = context_of(smooth_history(16, 2, constraints=2))
    search, x, asked = Search(context, best_measured(context)), np.array([0.3, 0.6]), []
    predict = GP.predict

    def noted(gp, at):
        asked.append(id(gp))
        return predict(gp, at)

    monkeypatch.setattr(GP, "predict", noted)
    found = search.report(x, "bold", 0.5)
    assert len(asked) == len(set(asked)) == 3
    medians, stds = context.models.feasibility.predicted(x[None, :])
    assert (found.g_mean.tolist(), found.g_std.tolist()) == (medians[0].tolist(), stds[0].tolist())
    assert found.p_each.tolist() == context.models.feasibility.each(x[None, :])[0].tolist()


def test_minima_that_are_drawn_are_those_of_f_star_before_they_are_held_below_the_incumbent():
    past, settings = smooth_history(16, 2, constraints=2), Settings(gap=None, optimism=0.0)
    held, free = context_of(past, settings), context_of(past, settings)
    samples, drawn = held.sample_minima().samples, free.draw_minima(0.0, settings.grid)
    assert np.isfinite(drawn).any()
    assert samples.tolist() == np.where(np.isfinite(drawn), drawn, free.eta).tolist()
