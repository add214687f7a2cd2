"""Stepping stones: how often one lets its goal be tried, by simulation, and what a search does with them."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtri
from scipy.stats import norm

from tests.oracles import problem
from tests.toys import context_of, history
from tumble import Optimizer, Settings
from tumble.core import algorithm
from tumble.core.algorithm import propose
from tumble.core.arrays import Array
from tumble.core.budget import BudgetState, Decision
from tumble.core.feasibility import Feasibility
from tumble.core.history import History
from tumble.core.improvement import ExpectedImprovement
from tumble.core.process.crashes import fit_crashes
from tumble.core.process.gp import GP, condition
from tumble.core.search import stones
from tumble.core.search.modes import Search
from tumble.core.search.stones import log_reached, next_step
from tumble.core.settings import MANY
from tumble.methods import METHODS
from tumble.space import Float, Int, Space

RHO = 0.9


def after(gp: GP, y: Array, stone: Array, value: float) -> GP:
    """The process of observations y that also saw a value at the stone (D,), worked out from scratch."""
    X, mean = np.vstack([gp.X, stone]), gp.prior_mean
    return condition(gp.kernel, gp.hyper, X, np.append(y, value), prior_mean=mean, outputs=gp.outputs)


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("count", [1, 2])
def test_a_goal_is_reached_as_often_as_simulated_trials_reach_it(count: int, measured: bool) -> None:
    pairs = [problem("matern52", 2, 8, seed=j) for j in range(count)]
    feasibility = Feasibility(tuple(gp for gp, _ in pairs), measured=measured)
    rng = np.random.default_rng(0)
    points = rng.random((400, 2))
    phi = np.exp(feasibility.log_prob(points))
    goal = points[[np.argmin(np.abs(phi - 0.7))]]
    stone = goal + 0.05
    scores = feasibility.scores(goal)[0]
    risks = log_ndtr(scores)
    needed = ndtri(RHO ** (risks / risks.sum()))
    frequency = 1.0
    for (gp, dense), s, z in zip(pairs, scores, needed, strict=True):
        noise = feasibility.noise(gp)
        mean, var = gp.predict(stone)
        drawn = mean[0] + np.sqrt(var[0] + gp.hyper.noise**2) * norm.ppf((np.arange(400) + 0.5) / 400)
        found = [after(gp, dense.y, stone[0], value).predict(goal) for value in drawn]
        later = np.array([-m[0] / np.sqrt(v[0] + noise) for m, v in found])
        frequency *= float(np.mean(later >= z))
        assert s < later.max()
    assert 0.05 < frequency < 0.95
    assert np.exp(log_reached(feasibility, stone, goal, RHO)[0, 0]) == pytest.approx(frequency, abs=0.01)


def test_crashes_take_their_part_of_the_risk_and_a_stone_teaches_nothing_of_them() -> None:
    gp, _ = problem("matern52", 2, 8)
    X = np.random.default_rng(0).random((9, 2))
    crash = fit_crashes(X, np.arange(9) == 0, "matern52")
    points = np.random.default_rng(1).random((200, 2))
    chance = np.exp(crash.log_prob(points))
    limits = np.exp(Feasibility((gp,)).log_prob(points))
    goals = points[(limits < 0.6) & (chance > 0.2)]
    stones_at, chance = goals + 0.05, np.exp(crash.log_prob(goals))
    both = log_reached(Feasibility((gp,), crash), stones_at, goals, 0.8)
    assert np.isneginf(both[:, chance <= 0.8]).all()
    for k in np.flatnonzero(chance > 0.8):
        alone = log_reached(Feasibility((gp,)), stones_at, goals[[k]], 0.8 / float(chance[k]))
        np.testing.assert_allclose(both[:, [k]], alone, rtol=1e-7)  # logarithms down to -1e11
    assert 0 < np.count_nonzero(chance > 0.8) < len(goals)


def test_a_stone_far_away_teaches_nothing() -> None:
    gp, _ = problem("se", 2, 8)
    feasibility = Feasibility((gp,))
    goal = np.array([[0.5, 0.5]])
    assert feasibility.log_prob(goal)[0] < np.log(0.999)
    far = np.array([[50.0, 50.0]])
    assert log_reached(feasibility, far, goal, 0.999)[0, 0] < -100.0


def value(x: Array) -> float:
    """Two basins, at 0.15 and, deeper, at 0.8, and a hill between."""
    basins = np.exp(-(((x[0] - 0.15) / 0.15) ** 2)) + 3.0 * np.exp(-(((x[0] - 0.8) / 0.2) ** 2))
    return float(2.0 * np.sum((x[1:] - 0.4) ** 2) - basins)


def limit(x: Array) -> float:
    """Below 0 on the way from one to the other, which nobody knows."""
    return float(0.3 * np.sin(5.0 * x[0]) + 0.3 * np.sum((x[1:] - 0.4) ** 2) - 0.4)


@cache
def played(with_stones: bool) -> Optimizer:
    """A search that may not fail, from four trials in the shallow basin."""
    settings = replace(Settings(), stepping_stones=with_stones)
    opt = Optimizer([(0.0, 1.0)] * 3, 30, 0, constraints=1, seed=5, settings=settings)
    rng = np.random.default_rng(5)
    for _ in range(4):
        x = np.append(0.1 + 0.1 * rng.random(), 0.3 + 0.2 * rng.random(2))
        opt.tell(x, value(x), [limit(x)], billed=False)
    for _ in range(30):
        asked = opt.ask()
        opt.tell(asked, value(asked.x), [limit(asked.x)])
    return opt


def test_stones_lead_over_a_hill_without_a_failure() -> None:
    found = {}
    for with_stones in (True, False):
        opt = played(with_stones)
        assert opt.n_failures == 0
        assert opt.best is not None
        found[with_stones] = opt.best.value
        asked = [t.suggestion for t in opt.trials if t.suggestion is not None and t.suggestion.stone]
        assert bool(asked) == with_stones
        assert all(s.mode == "careful" and s.p_safe >= s.rho for s in asked)
    assert found[True] < found[False] - 1.0


def test_the_sentence_names_a_stepping_stone_and_is_saved() -> None:
    opt = played(True)
    said = [t.suggestion.why for t in opt.trials if t.suggestion is not None and t.suggestion.stone]
    assert "careful search for a stepping stone, which teaches whether a better setting is safe" in said[0]
    again = [t.suggestion.why for t in Optimizer.from_dict(opt.to_dict()).trials if t.suggestion is not None]
    assert set(said) <= set(again)


def shallow(X: Array | None = None) -> History:
    """Trials in the shallow basin only."""
    X = np.array([[0.05], [0.1], [0.148], [0.15], [0.152], [0.2], [0.25]]) if X is None else X
    return history(X, np.array([value(x) for x in X]), np.array([[limit(x)] for x in X]))


def asked_of(method: str = "tumble", left: int = 20, **changes: Any) -> bool:
    """Whether a trial in the shallow basin is followed by a stone."""
    state, settings = BudgetState(2.0, left, 3), replace(Settings(), **changes)
    return propose(shallow(), state, METHODS[method], settings, np.random.default_rng(0)).stone


def test_a_stone_needs_its_switch_a_second_trial_and_the_default_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stones, "TRIALS", 1e-300)  # whatever it is worth
    assert asked_of()
    assert not asked_of(left=1)
    assert not asked_of(stepping_stones=False)
    assert not asked_of("xsf")
    assert not asked_of("eic")
    assert not Settings().for_history(MANY + 1, samples_minima=False).stepping_stones


def test_a_stone_that_hardly_ever_lets_its_goal_be_tried_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stones, "TRIALS", 1e-300)
    for least, is_stone in ((-1e-9, False), (-np.inf, True)):
        monkeypatch.setattr(stones, "LEAST_REACHED", least)
        assert asked_of() == is_stone


def is_idle(**changes: Any) -> bool:
    """Whether it is said of a trial in the shallow basin that nothing can gain."""
    state, settings = BudgetState(2.0, 1, 3), replace(Settings(), **changes)
    found = propose(shallow(), state, METHODS["tumble"], settings, np.random.default_rng(0))
    plain = propose(
        shallow(),
        state,
        METHODS["tumble"],
        replace(settings, stepping_stones=False),
        np.random.default_rng(0),
    )
    assert found.mode == "careful"
    np.testing.assert_array_equal(found.x, plain.x)
    return found.idle


def test_a_trial_is_idle_where_its_prediction_is_far_worse_than_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not is_idle()
    monkeypatch.setattr(algorithm, "HOPELESS", -1e9)
    assert is_idle()
    assert not is_idle(stepping_stones=False)


def test_the_sentence_says_that_nothing_can_gain_and_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithm, "HOPELESS", -1e9)
    opt = Optimizer([(0.0, 1.0)], 9, 0, constraints=1, seed=0)
    for x in (0.1, 0.15, 0.2):
        opt.tell([x], value(np.array([x])), [limit(np.array([x]))], billed=False)
    said = opt.ask()
    assert said.idle
    assert (
        "careful search for what is known least, because nothing that is allowed can gain, where" in said.why
    )
    again = Optimizer.from_dict(opt.to_dict()).trials[-1].suggestion
    assert again is not None
    assert again.idle


def search_of(past: History, **more: Any) -> Search:
    context = context_of(past, decision=Decision("careful", RHO), **more)
    return Search(context, ExpectedImprovement(context.objective, context.eta))


def aim_at(monkeypatch: pytest.MonkeyPatch, *goals: float) -> None:
    monkeypatch.setattr(stones, "_goals", lambda search: np.array(goals).reshape(-1, 1))


def test_a_goal_that_is_allowed_and_better_is_tried_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_of(shallow())
    best, poor = search.careful(RHO), np.array([0.051])
    assert best is not None
    aim_at(monkeypatch, float(best[0]), 0.15)  # the second was tried already
    assert next_step(search, poor, RHO) == (best, False)
    aim_at(monkeypatch, 0.051)
    np.testing.assert_array_equal(next_step(search, best, RHO).x, best)


def test_without_a_goal_the_trial_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([0.149])
    aim_at(monkeypatch)
    assert next_step(search_of(shallow()), x, RHO) == (x, False)


def test_beyond_the_surroundings_of_an_alarm_there_is_no_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stones, "TRIALS", 1e-300)
    search, x = search_of(shallow()), np.array([0.149])
    aim_at(monkeypatch, 0.95)
    assert next_step(search, x, RHO).is_stone
    near = search.context.models.near_safe(search.context.history)
    assert next_step(replace(search, context=replace(search.context, models=near)), x, RHO) == (x, False)


def test_a_stone_can_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stones, "TRIALS", 1e-300)
    space, rng = Space({"x": Float(0.0, 1.0), "n": Int(0, 4)}), np.random.default_rng(0)
    X = space.snap(np.column_stack([0.3 * rng.random(8), rng.random(8)]))
    monkeypatch.setattr(stones, "_goals", lambda search: np.array([[0.95, 1.0]]))
    step = next_step(search_of(shallow(X), domain=space.domain), X[0], RHO)
    assert step.is_stone
    np.testing.assert_array_equal(space.snap(step.x[None, :])[0], step.x)


def test_there_is_no_stone_while_something_is_in_flight_or_before_anything_was_safe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stones, "TRIALS", 1e-300)
    aim_at(monkeypatch, 0.95)
    past, x = shallow(), np.array([0.149])
    assert next_step(search_of(past), x, RHO).is_stone
    assert next_step(search_of(replace(past, pending=np.array([[0.7]]))), x, RHO) == (x, False)
    assert next_step(search_of(history(past.X, past.y, 1.0 + np.abs(past.g))), x, RHO) == (x, False)


def test_settings_that_are_snapped_at_the_end_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stones, "TRIALS", 1e-300)
    space, settings = Space({"x": Float(0.0, 1.0), "n": Int(0, 4)}), replace(Settings(), admissible=False)
    X = space.snap(np.column_stack([np.linspace(0.05, 0.3, 8), np.linspace(0.0, 1.0, 8)]))
    search = search_of(shallow(X), domain=space.domain, settings=settings)
    x = X[0]
    assert next_step(search, x, RHO) == (x, False)


def test_a_limit_that_is_certain_needs_nothing_of_a_stone() -> None:
    gp, dense = problem("matern52", 2, 8)
    certain = condition(gp.kernel, gp.hyper, gp.X, dense.y - 1e4, prior_mean=-1e4)
    rng = np.random.default_rng(0)
    goals, at = rng.random((20, 2)), rng.random((6, 2))
    goals = goals[np.exp(Feasibility((gp,)).log_prob(goals)) < RHO]
    assert len(goals) > 3
    alone = log_reached(Feasibility((gp,)), at, goals, RHO)
    np.testing.assert_allclose(log_reached(Feasibility((gp, certain)), at, goals, RHO), alone, rtol=1e-9)
    none = log_reached(Feasibility((certain,)), at, goals, RHO)
    assert not np.isnan(none).any()


def test_without_limits_there_is_no_stone() -> None:
    past = history(np.array([[0.2], [0.3], [0.8]]), np.array([1.0, 0.5, np.nan]), crashed=np.arange(3) == 2)
    x = np.array([0.31])
    assert next_step(search_of(past), x, RHO) == (x, False)
