"""How far the worst violation may fall, against draws; and a search that knows nothing safe."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tumble
from tests.toys import history
from tumble.core.algorithm import propose
from tumble.core.budget import BudgetState
from tumble.core.history import History
from tumble.core.process.models import Models, fit_models
from tumble.core.settings import Settings
from tumble.core.student import Law
from tumble.core.violation import Fall, violations
from tumble.explanation import NEARER
from tumble.methods import METHODS
from tumble.space import Categorical, Int, Space


def unsafe(limits: int = 2, n: int = 6) -> History:
    """n trials in two dimensions that all break a limit."""
    X = np.random.default_rng(0).random((n, 2))
    g = np.stack([0.2 + 3.0 * np.abs(X[:, 0] - 0.2 * k) + X[:, 1] for k in range(limits)], axis=1)
    return history(X, X.sum(axis=1), g)


def models_of(past: History, laws: tuple[Law, ...] = ()) -> Models:
    found = fit_models(past, Settings(), None, may_fail=True)
    return replace(found, feasibility=replace(found.feasibility, laws=laws or found.feasibility.laws))


@pytest.mark.parametrize("laws", [(Law(), Law()), (Law(1.3, 3.0), Law(1.0, 12.0))])
def test_the_expected_fall_is_that_of_draws(laws):
    feasibility = models_of(unsafe(), laws).feasibility
    x, least, rng = np.random.default_rng(1).random((5, 2)), 0.7, np.random.default_rng(2)
    worst: Any = -np.inf
    for gp, law in zip(feasibility.constraints, laws, strict=True):
        mean, var = gp.predict(x)
        shape = (400_000, 5)
        t = (
            rng.standard_normal(shape)
            if law.is_normal
            else stats.t.rvs(law.freedom, size=shape, random_state=rng)
        )
        worst = np.maximum(worst, mean + law.width * np.sqrt(var) * t)
    drawn = np.maximum(least - np.maximum(worst, 0.0), 0.0).mean(axis=0) / least
    np.testing.assert_allclose(np.exp(Fall(feasibility, least).log_share(x)), drawn, rtol=0.02, atol=1e-3)


def test_within_no_slack_it_is_p_safe_and_with_more_it_is_more():
    past = unsafe()
    crashed = np.arange(6) == 2
    for known in (past, replace(past, crashed=crashed, y=np.where(crashed, np.nan, past.y))):
        feasibility = models_of(known).feasibility
        assert (feasibility.crash is not None) == known.crashed.any()
        x = np.random.default_rng(1).random((7, 2))
        none, some, all_of_it = feasibility.log_prob_within(x, np.array([0.0, 0.5, 1e6]))
        np.testing.assert_allclose(none, feasibility.log_prob(x), rtol=1e-6, atol=1e-9)
        assert (some > none).all()
        free = np.zeros(7) if feasibility.crash is None else feasibility.crash.log_prob(x)
        np.testing.assert_allclose(all_of_it, free, atol=1e-3)


def test_a_violation_is_that_of_the_worst_limit_and_unknown_where_one_was_not_measured():
    past = unsafe()
    past.g[1, 1] = np.nan
    feasibility = models_of(past).feasibility
    found = violations(past, feasibility)
    scales = [gp.outputs.scale for gp in feasibility.constraints]
    np.testing.assert_allclose(found[[0, 2, 3]], (past.g / scales).max(axis=1)[[0, 2, 3]])
    assert found[1] == np.inf
    nothing = history(past.X, past.y)
    assert (violations(nothing, models_of(nothing).feasibility) == np.inf).all()


def near_its_limit() -> History:
    """The first trial nearly keeps a limit that others break by a thousand times as much."""
    X = np.array([[0.5, 0.5], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    return history(X, X.sum(axis=1), np.array([[0.003], [6.0], [7.0], [5.0], [8.0]]))


def test_while_nothing_is_safe_a_search_looks_beside_the_trial_that_nearly_kept_its_limit():
    past, settings = near_its_limit(), Settings()
    told = BudgetState(0.0, 20, 4), METHODS["tumble"]
    near, far = (
        propose(past, *told, replace(settings, less_violation=on), np.random.default_rng(0))
        for on in (True, False)
    )
    assert (near.mode, near.nearer, far.mode, far.nearer) == ("safest", True, "safest", False)
    assert np.abs(near.x - 0.5).max() < 0.35
    feasibility = fit_models(past, settings, None, may_fail=True).feasibility
    least = float(violations(past, feasibility).min())
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 41)] * 2), axis=-1).reshape(-1, 2)
    worth = Fall(feasibility, least).log_share
    assert worth(near.x[None, :])[0] > worth(grid).max() - 0.3


def test_once_a_trial_was_safe_or_no_failure_is_left_it_looks_for_less_no_more():
    past, method = near_its_limit(), METHODS["tumble"]
    safe = replace(past, g=past.g - 0.1)
    assert not propose(safe, BudgetState(0.0, 20, 4), method, Settings(), np.random.default_rng(0)).nearer
    assert not propose(past, BudgetState(2.3, 20, 0), method, Settings(), np.random.default_rng(0)).nearer


@pytest.mark.parametrize("seed", range(3))
def test_trials_in_flight_lie_apart(seed):
    X = np.random.default_rng(seed).random((6, 2))
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, trials=40, failures=12, constraints=["g"], seed=seed)
    for x in X:
        opt.tell(x, float(x.sum()), [0.3 + 3.0 * float(((x - 0.8) ** 2).sum())])
    batch = opt.ask(n=3)
    assert all(s.nearer for s in batch)
    apart = [np.abs(a.x - b.x).max() for k, a in enumerate(batch) for b in batch[:k]]
    assert min(apart) > 0.1


def test_a_failure_that_a_trial_in_flight_may_use_is_not_spent_again():
    state = BudgetState(0.0, 20, 1, in_flight=0.9)
    found = propose(near_its_limit(), state, METHODS["tumble"], Settings(), np.random.default_rng(0))
    assert (found.mode, found.nearer) == ("safest", False)


def test_where_no_size_is_known_it_looks_where_it_is_safest():
    past = near_its_limit()
    unmeasured = replace(past, g=np.full_like(past.g, np.nan), crashed=np.ones(5, dtype=bool))
    kept = replace(past, g=-past.g, crashed=np.ones(5, dtype=bool))  # and failed all the same
    for known in (unmeasured, kept):
        found = propose(
            known, BudgetState(0.0, 20, 4), METHODS["tumble"], Settings(), np.random.default_rng(0)
        )
        assert (found.mode, found.nearer) == ("safest", False)


def test_a_choice_is_among_the_settings_that_can_be_run_and_new():
    space = Space({"a": Int(0, 3), "b": Categorical(("x", "y"))})
    opt = tumble.Optimizer(space, trials=12, failures=8, constraints=["g"], seed=0)
    seen = set()
    for _ in range(7):
        s = opt.ask()
        seen.add((s.x["a"], s.x["b"]))
        opt.tell(s, float(s.x["a"]), [0.1 + s.x["a"] + 2.0 * (s.x["b"] == "y")])
    assert len(seen) == 7


def test_the_sentence_says_so():
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, trials=20, failures=5, constraints=["g"], seed=0)
    for x, y, g in zip(near_its_limit().X, near_its_limit().y, near_its_limit().g, strict=True):
        opt.tell(x, float(y), g.tolist(), billed=False)
    s = opt.ask()
    assert s.nearer
    assert f"nothing was safe yet, so this {NEARER}; P(safe) = " in s.why
