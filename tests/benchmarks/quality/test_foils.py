"""The foils: what they replace, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from benchmarks.families import draw
from benchmarks.quality import foils, plan
from benchmarks.quality.ablation import FOILS, SWITCHES, TOLD
from benchmarks.quality.scores import _goes_on
from experiments.runs import methods
from tests.toys import context_of, smooth_history
from tumble import Settings
from tumble.core.acquisition import ExcursionSearch
from tumble.core.improvement import ExpectedImprovement
from tumble.core.search.excursion import excursion_search


@pytest.mark.parametrize("band", [True, False])
def test_without_the_slope_the_value_is_the_density_of_the_minimum(band):
    context = context_of(smooth_history(9, 2), replace(Settings(), band=band))
    excursion = excursion_search(context)
    search = foils.LevelSearch(excursion)
    x = np.random.default_rng(1).random((5, 2))
    value, grad = search.value_and_grad(x)
    mean, var = excursion.gp.predict(x)
    std = np.sqrt(var)[:, None]
    density = norm.logpdf(excursion.minima, mean[:, None], std) + (np.log(std) if band else 0.0)
    assert value == pytest.approx(logsumexp(density, axis=1) - np.log(len(excursion.minima)))
    step = 1e-6
    for j in range(2):
        ahead, behind = (search.screen(x + sign * step * np.eye(2)[j]) for sign in (1.0, -1.0))
        assert grad[:, j] == pytest.approx((ahead - behind) / (2 * step), rel=1e-4, abs=1e-4)


def test_xs_and_ei_take_turns():
    kinds = [type(foils.in_turn(context_of(smooth_history(n, 2, 1)))) for n in (8, 9, 10)]
    assert kinds == [ExcursionSearch, ExpectedImprovement, ExcursionSearch]


def test_a_foil_searches_by_its_own_method_under_the_controller():
    problem = draw("design", 0)
    rows = [row for row in FOILS if row.method in foils.FOILS]
    assert [row.name for row in rows] == ["Xs and EI in turn", "no slope factor"]
    asked = []
    ours = replace(plan.OURS, changes={"survey": 0.0})  # no foil makes a survey
    for spec in plan.specs([ours, *rows], [[("design", 0)]]):
        searcher = foils.make(spec, draw("design", 0))
        searcher.inform(problem.initial[0], problem.initial_evaluations[0])
        asked.append(searcher.ask())
        assert _goes_on(spec.method)
    np.testing.assert_array_equal(asked[0].x, asked[1].x)  # one trial is told: EI's turn
    assert not np.array_equal(asked[0].x, asked[2].x)
    said = asked[1].suggestion
    assert said is not None
    assert said.mode in ("bold", "careful")


def test_every_departure_that_is_judged_has_its_row():
    changed = {name for row in SWITCHES for name in row.changes}
    assert changed >= {
        "band", "minima", "optimism", "gap", "soften_phi", "safety_first", "delta", "calibrate", "surprise",
        "objective", "constraint", "keep_last_failure", "restarts", "raw_samples", "safest_odds", "descend",
        "relearn", "warp", "descend_safely", "allowed_minima", "keep_rho", "admissible", "integrate",
        "widen_at_end", "stepping_stones", "survey", "weigh_noise", "doubt_safety", "reserve", "rho_only",
        "less_violation",
    }  # fmt: skip


def test_the_default_can_be_told_how_noisy_a_member_is():
    problem = draw("noise", 0)
    told = foils.noise_of(problem)
    assert list(told) == ["value", *problem.constraint_names]
    measured = [problem.evaluate(problem.initial[0]).value for _ in range(400)]
    assert np.std(measured) == pytest.approx(told["value"], rel=0.15)
    assert foils.noise_of(draw("design", 0)) == {}
    spec = next(iter(plan.specs([TOLD], [[("noise", 0)]])))
    searcher = foils.make(spec, problem)
    assert isinstance(searcher, methods.TumbleSearcher)
    assert dict(searcher._optimizer.noise) == told
    assert _goes_on(spec.method)
