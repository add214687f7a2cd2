"""The survey: which of the first trials it takes, where they go, and what a search gains by it."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tumble
from tests.toys import context_of, history
from tumble import InputError, Optimizer, Settings
from tumble.core.arrays import Array
from tumble.core.budget import LONGEST_SURVEY, BudgetState, surveys
from tumble.core.search.candidates import low_discrepancy
from tumble.core.search.survey import AMONG, BESIDE, farthest
from tumble.space import Categorical, Float, Int, Space
from tumble.trials import Trial

ALL = Settings()


def left(trials: int, failures: int) -> BudgetState:
    return BudgetState(0.0, trials, failures)


@pytest.mark.parametrize(("failures", "last"), [(1, 0), (2, 1), (5, 2), (10, 5), (15, 6), (30, 6)])
def test_the_more_failures_are_left_the_more_trials_it_takes(failures: int, last: int) -> None:
    assert surveys(left(30, failures), last, ALL)
    assert not surveys(left(30, failures), last + 1, ALL)


@given(st.integers(1, 10_000), st.integers(0, 10_000), st.integers(0, 10_000), st.floats(0.0, 100.0))
def test_it_is_short_and_ends_when_failures_do(trials: int, failures: int, known: int, share: float) -> None:
    is_due = surveys(left(trials, failures), known, replace(ALL, survey=share))
    assert not (is_due and known > LONGEST_SURVEY)
    assert not (is_due and known > share * failures)
    assert not (is_due and 2 * known > share * trials)


def test_without_a_budget_there_is_none() -> None:
    assert not surveys(None, 1, ALL)


def told(X: Any, limit: float = -1.0) -> Any:
    """A history of safe trials at X whose limit is far away."""
    X = np.asarray(X, dtype=float)
    return history(X, X.sum(axis=1), np.full((len(X), 1), limit))


def by_hand(X: Array, dim: int) -> Array:
    """The farthest of the same points, by loops."""
    points = low_discrepancy(AMONG, dim, np.random.default_rng(0))
    nearest = [min(float(np.linalg.norm(point - x)) for x in X) for point in points]
    return np.asarray(points[int(np.argmax(nearest))])


def test_it_goes_farthest_from_trials_and_from_what_is_in_flight() -> None:
    past = told([[0.1, 0.1, 0.2], [0.2, 0.1, 0.1]])
    first = farthest(context_of(past), 1e-9)
    assert first is not None
    np.testing.assert_array_equal(first, by_hand(past.X, 3))
    flying = replace(past, pending=first[None, :])
    second = farthest(context_of(flying), 1e-9)
    assert second is not None
    np.testing.assert_array_equal(second, by_hand(np.vstack([past.X, first]), 3))
    assert np.linalg.norm(second - first) > 0.3


def test_it_keeps_to_the_p_safe_that_is_asked_for() -> None:
    context = context_of(told([[0.1, 0.1], [0.2, 0.1], [0.1, 0.2]], limit=-0.3))
    for rho in (0.1, 0.5, 0.9):
        x = farthest(context, rho)
        assert x is None or context.models.feasibility.log_prob(x[None, :])[0] >= np.log(rho)
    assert farthest(context, 1.0 - 1e-15) is None


def asked(optimizer: Optimizer, trials: int) -> list[tumble.Suggestion]:
    """The suggestions of a search in which nothing ever fails."""
    found = []
    for _ in range(trials):
        s = optimizer.ask()
        found.append(s)
        optimizer.tell(s, float(np.sum(np.square(optimizer.space.encode(s.x)))), [-1.0])
    return found


def test_a_suggestion_says_that_it_looks_where_nothing_was_tried() -> None:
    optimizer = Optimizer([(0.0, 1.0)] * 3, 30, 10, constraints=1, seed=0)
    optimizer.tell([0.5, 0.5, 0.5], 1.0, [-1.0], billed=False)
    found = asked(optimizer, 7)
    assert [s.survey for s in found] == [True] * 5 + [False] * 2
    assert all(s.mode == "bold" and s.p_safe >= s.rho for s in found[:5])
    assert "bold search where nothing was tried yet; P(safe)" in found[0].why
    assert "bold search for a better safe area" in found[5].why


@pytest.mark.parametrize("settings", [Settings(boldness=0.0), Settings(survey=0.0)])
def test_a_cautious_search_makes_none(settings: Settings) -> None:
    optimizer = Optimizer([(0.0, 1.0)] * 3, 30, 10, constraints=1, seed=0, settings=settings)
    optimizer.tell([0.5, 0.5, 0.5], 1.0, [-1.0], billed=False)
    assert not any(s.survey for s in asked(optimizer, 3))


@pytest.mark.parametrize(("boldness", "some"), [(0.3, False), (0.5, True)])
def test_with_many_failures_a_search_of_middling_boldness_makes_one(boldness: float, some: bool) -> None:
    optimizer = Optimizer([(0.0, 1.0)] * 2, 12, 12, constraints=1, seed=0, boldness=boldness)
    assert any(s.survey for s in asked(optimizer, 3)) is some


@pytest.mark.parametrize("method", ["xsf", "eic", "safe-set"])
def test_other_methods_make_none(method: Any) -> None:
    optimizer = Optimizer([(0.0, 1.0)] * 2, 30, 15, constraints=1, seed=0, method=method)
    optimizer.tell([0.5, 0.5], 1.0, [-1.0], billed=False)
    assert not any(s.survey for s in asked(optimizer, 3))


def test_old_trials_take_its_place() -> None:
    optimizer = Optimizer([(0.0, 1.0)] * 2, 30, 10, constraints=1, seed=0)
    for x in np.random.default_rng(0).random((6, 2)):
        optimizer.tell(x, float(x.sum()), [-1.0], billed=False)
    assert not optimizer.ask().survey


def test_it_keeps_known_constraints_and_settings_that_can_be_run() -> None:
    space = Space({"n": Int(1, 9), "m": Int(1, 9), "kind": Categorical(("a", "b"))}, known=["n + m <= 9"])
    optimizer = Optimizer(space, 30, 15, constraints=1, seed=1)
    optimizer.tell({"n": 2, "m": 2, "kind": "a"}, 1.0, [-1.0], billed=False)
    seen = [s.x for s in asked(optimizer, 6) if s.survey]
    assert len(seen) == 6
    assert all(x["n"] + x["m"] <= 9 for x in seen)
    assert len({tuple(x.values()) for x in seen}) == 6
    assert {x["kind"] for x in seen} == {"a", "b"}


def test_what_is_saved_still_says_which_suggestions_were_of_the_survey() -> None:
    optimizer = Optimizer([(0.0, 1.0)] * 2, 30, 6, constraints=1, seed=0)
    optimizer.tell([0.5, 0.5], 1.0, [-1.0], billed=False)
    kinds = [s.survey for s in asked(optimizer, 5)]
    again = Optimizer.from_dict(json.loads(json.dumps(optimizer.to_dict())))
    assert [t.suggestion.survey for t in again.trials if t.suggestion is not None] == kinds
    assert set(kinds) == {True, False}


@pytest.mark.parametrize("known", ["x + y <= 0.01", "abs(x + y - 1) <= 1e-7"])
def test_beside_a_trial_is_not_where_nothing_was_tried(known: str) -> None:
    space = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}, known=[known])
    optimizer = Optimizer(space, 30, 15, constraints=1, seed=1)
    asked(optimizer, 7)
    for t in optimizer.trials:
        assert t.suggestion is not None
        earlier = [np.array(other.u) for other in optimizer.trials[: t.number]]
        if t.suggestion.survey:
            assert min(np.abs(np.array(t.u) - u).max() for u in earlier) >= BESIDE


def test_a_p_safe_of_nearly_0_may_be_asked_for() -> None:
    settings = Settings(rho_risk=1e-320, rho_0=1e-320)
    optimizer = Optimizer([(0.0, 1.0)] * 2, 30, 15, constraints=1, seed=0, settings=settings)
    optimizer.tell([0.5, 0.5], 1.0, [-1.0], billed=False)
    assert asked(optimizer, 1)[0].survey


@pytest.mark.parametrize(("share", "is_due"), [(0.5, True), (0.0, False)])
def test_while_no_trial_has_a_value_it_is_due_unless_it_is_switched_off(share: float, is_due: bool) -> None:
    pruned = [Trial(n, None, (0.1 * n, 0.5), status="told", constraints=(-1.0,)) for n in range(9)]
    optimizer = Optimizer.from_trials(
        [(0.0, 1.0)] * 2, pruned, trials=30, failures=5, constraints=["c"], seed=0,
        settings=replace(Settings(), survey=share),
    )  # fmt: skip
    assert optimizer.ask().survey is is_due


def test_where_every_setting_was_tried_there_is_none_left() -> None:
    space = Space({"n": Int(1, 3)})
    optimizer = Optimizer(space, 30, 15, constraints=1, seed=1)
    for n in (1, 2, 3):
        optimizer.tell({"n": n}, float(n), [-1.0], billed=False)
    assert not optimizer.ask().survey


def test_a_basin_far_from_the_start_is_found() -> None:
    """A wide poor basin beside the start, a good one far away; a ridge that fails lies between."""

    def measure(x: Array) -> tuple[float, list[float]]:
        poor, good = np.sum((x - 0.2) ** 2), np.sum((x - 0.8) ** 2)
        value = -0.4 * np.exp(-poor / 0.05) - np.exp(-good / 0.05)
        return float(value), [0.1 - float(np.abs(x.sum() - 1.6))]

    def best(share: float, seed: int) -> float:
        optimizer = Optimizer(
            [(0.0, 1.0)] * 3, 25, 12, constraints=1, seed=seed, settings=replace(Settings(), survey=share)
        )
        optimizer.tell([0.25, 0.2, 0.2], *measure(np.array([0.25, 0.2, 0.2])), billed=False)
        for _ in range(20):
            s = optimizer.ask()
            optimizer.tell(s, *measure(s.x))
        assert optimizer.best is not None
        return optimizer.best.value

    seeds = range(2)
    without, with_survey = ([best(share, seed) for seed in seeds] for share in (0.0, Settings().survey))
    assert sum(value < -0.9 for value in with_survey) > sum(value < -0.9 for value in without)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), "much"])
def test_a_share_below_0_is_refused(bad: Any) -> None:
    with pytest.raises(InputError, match=r"settings\.survey"):
        Settings(survey=bad)
