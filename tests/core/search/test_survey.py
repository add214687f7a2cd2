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
from tumble.core.algorithm import _surveyed
from tumble.core.arrays import Array
from tumble.core.budget import LONGEST_SURVEY, BudgetState, Decision, surveys
from tumble.core.search.candidates import low_discrepancy
from tumble.core.search.default import best_measured
from tumble.core.search.modes import Search
from tumble.core.search.survey import AMONG, BASES, BESIDE, REACH, Turn, farthest, turned
from tumble.methods import METHODS
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


def by_hand(X: Array, base: Array | None) -> Array:
    """The farthest of the same points, by loops; each is moved towards `base`."""
    points = list(low_discrepancy(AMONG, X.shape[1], np.random.default_rng(0)))
    if base is not None:
        points = [(1.0 - REACH) * base + REACH * point for point in points]
    nearest = [min(float(np.linalg.norm(point - x)) for x in X) for point in points]
    return np.asarray(points[int(np.argmax(nearest))])


def test_it_goes_farthest_from_trials_and_from_what_is_in_flight() -> None:
    past = told([[0.1, 0.1, 0.2], [0.3, 0.1, 0.1]])
    first = farthest(context_of(past), 1e-9)
    assert first is not None
    np.testing.assert_allclose(first, by_hand(past.X, past.X[0]), atol=1e-15)
    flying = replace(past, pending=first[None, :])
    second = farthest(context_of(flying), 1e-9)
    assert second is not None
    np.testing.assert_allclose(second, by_hand(np.vstack([past.X, first]), past.X[0]), atol=1e-15)
    assert np.linalg.norm(second - first) > 0.3


def test_while_nothing_is_safe_it_goes_all_the_way() -> None:
    past = told([[0.1, 0.1, 0.2]], limit=1.0)
    found = farthest(context_of(past), 1e-9)
    assert found is not None
    np.testing.assert_array_equal(found, by_hand(past.X, None))


def test_it_goes_a_part_of_the_way_from_the_best_safe_trial() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        past = told(rng.random((3, 4)))
        best = past.X[past.y.argmin()]
        found = farthest(replace(context_of(past), rng=rng), 1e-9)
        assert found is not None
        goal = best + (found - best) / REACH
        assert np.all((goal > -1e-12) & (goal < 1.0 + 1e-12))


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


def test_steps_and_choices_do_not_stop_on_the_way() -> None:
    context = of_plant(plant([(0.2, 2, "iron")]))
    seen = []
    for seed in range(30):
        found = farthest(replace(context, rng=np.random.default_rng(seed)), 1e-9)
        seen.append(decoded(found))
    assert all(abs(x["size"] - 0.2) <= 0.8 * REACH for x in seen)
    assert {x["pumps"] for x in seen} == {1, 3}  # as far from 2 as they can be
    assert {x["metal"] for x in seen} == {"zinc", "tin"}


@pytest.mark.parametrize("known", ["abs(x - y) >= 0.5", "x * y <= 0.02"])
def test_on_the_way_known_constraints_are_kept(known: str) -> None:
    space = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}, known=[known])
    for seed in range(5):
        optimizer = Optimizer(space, 30, 15, constraints=1, seed=seed)
        found = asked(optimizer, 6)
        assert any(s.survey for s in found)
        for s in found:
            space.check_known(dict(s.x))


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


PLANT = Space({"size": Float(0.0, 1.0), "pumps": Int(1, 3), "metal": Categorical(("iron", "zinc", "tin"))})


def plant(rows: list[tuple[float, int, str]], limit: float = -1.0) -> Any:
    """A history of safe trials of the plant, whose limits are far away."""
    return told([PLANT.encode({"size": a, "pumps": n, "metal": m}) for a, n, m in rows], limit)


def of_plant(past: Any) -> Any:
    return replace(context_of(past), domain=PLANT.domain)


def decoded(found: Turn | Array | None) -> dict[str, Any]:
    assert found is not None
    return dict(PLANT.decode(found.x if isinstance(found, Turn) else found))


def no_worth(x: Array) -> Array:
    return np.zeros(len(x))


def test_what_no_trial_has_turned_is_turned_by_one_step_from_a_safe_trial() -> None:
    context = of_plant(plant([(0.2, 2, "iron"), (0.6, 2, "iron")]))
    turn = turned(context, no_worth, 0.01)
    x = decoded(turn)
    assert x["size"] in (0.2, 0.6)
    assert (x["pumps"] != 2) + (x["metal"] != "iron") == 1
    assert turn is not None
    assert PLANT.names[turn.parameter] == ("pumps" if x["pumps"] != 2 else "metal")


def test_of_a_choice_it_is_enough_that_another_one_was_tried() -> None:
    context = of_plant(plant([(0.2, 2, "iron"), (0.6, 2, "tin")]))
    assert decoded(turned(context, no_worth, 0.01))["pumps"] in (1, 3)
    assert turned(of_plant(plant([(0.2, 2, "iron"), (0.6, 3, "tin")])), no_worth, 0.01) is None


def test_what_is_in_flight_turns_it_too() -> None:
    past = plant([(0.2, 2, "iron"), (0.6, 2, "tin")])
    flying = replace(past, pending=PLANT.encode({"size": 0.5, "pumps": 1, "metal": "tin"})[None, :])
    assert turned(of_plant(flying), no_worth, 0.01) is None


def test_the_step_is_the_worthiest_that_is_sure_enough() -> None:
    context = of_plant(plant([(0.2, 2, "iron"), (0.6, 2, "tin")], limit=-0.3))
    large = decoded(turned(context, lambda x: 100.0 * x[:, 0], 1e-6))
    small = decoded(turned(context, lambda x: -100.0 * x[:, 0], 1e-6))
    assert (large["size"], small["size"]) == (0.6, 0.2)
    assert turned(context, no_worth, 1.0 - 1e-15) is None
    for rho in (0.1, 0.5, 0.8):
        turn = turned(context, no_worth, rho)
        assert turn is None or context.models.feasibility.log_prob(turn.x[None, :])[0] >= np.log(rho)


def test_where_everything_moves_or_nothing_was_safe_nothing_is_turned() -> None:
    past = plant([(0.2, 2, "iron"), (0.6, 2, "iron")])
    assert turned(context_of(past), no_worth, 0.0) is None
    assert turned(of_plant(plant([(0.2, 2, "iron")], limit=1.0)), no_worth, 0.0) is None


def many_limits() -> Any:
    """Eight limits that meet at the best size; pumps do nothing to them, but save half of the cost."""
    space = Space({"pumps": Int(1, 3)} | {f"x{i}": Float(0.0, 1.0) for i in range(8)})

    def run(x: dict[str, Any]) -> tuple[float, list[float]]:
        sizes = np.array([x[f"x{i}"] for i in range(8)])
        return float(x["pumps"] * sizes.sum()), list(0.3 - sizes)

    return space, run


@pytest.mark.parametrize("survey", [0.5, 0.0])
@pytest.mark.parametrize("seed", [2, 3])
def test_among_many_limits_an_integer_is_turned_early(survey: float, seed: int) -> None:
    space, run = many_limits()
    names = [f"limit {i}" for i in range(8)]
    optimizer = Optimizer(space, 24, 4, names, seed=seed, settings=Settings(survey=survey))
    start = {"pumps": 2} | {f"x{i}": 0.9 for i in range(8)}
    optimizer.tell(start, *run(start), billed=False)
    for _ in range(10):
        s = optimizer.ask()
        optimizer.tell(s, *run(s.x))
    assert optimizer.best is not None
    assert optimizer.best.x["pumps"] == (1 if survey else 2)  # without a survey it is never turned
    assert (len({t.x["pumps"] for t in optimizer.trials}) > 1) == (survey > 0.0)


def step_of_pumps(state: BudgetState | None, mode: Any = "bold", told_before: int = 2) -> Any:
    """What the search makes of a plant whose pumps and metal were never turned."""
    past = plant([(0.1 + 0.05 * k, 2, "iron") for k in range(told_before)])
    context = of_plant(past)
    search = Search(context, best_measured(context))
    return _surveyed(search, Decision(mode, 0.01), METHODS["tumble"], state)


def test_it_is_turned_while_failures_and_half_of_the_trials_are_left() -> None:
    assert step_of_pumps(left(9, 1), told_before=9).survey
    assert step_of_pumps(left(8, 1), told_before=9) is None
    assert step_of_pumps(left(9, 0), told_before=3) is None
    assert step_of_pumps(None) is None
    assert step_of_pumps(left(9, 1), "safest") is None


def test_a_careful_search_turns_by_one_step_and_never_looks_far_away() -> None:
    for failures in (1, 9):
        found = step_of_pumps(left(30, failures), "careful")
        assert found.mode == "careful"
        x = decoded(found.x)
        assert x["size"] in (0.1, pytest.approx(0.15))
        assert (x["pumps"] != 2) + (x["metal"] != "iron") == 1


def test_a_failed_trial_is_no_base_of_a_step() -> None:
    past = plant([(0.2, 2, "iron"), (0.6, 2, "tin")])
    failed = replace(past, g=np.array([[-1.0], [1.0]]))
    x = decoded(turned(of_plant(failed), lambda x: 100.0 * x[:, 0], 1e-9))
    assert x["size"] == 0.2


def test_of_equal_worth_the_safer_step_is_made_and_none_that_is_not_sure_enough() -> None:
    past = plant([(0.2, 2, "iron"), (0.6, 2, "tin")])
    context = of_plant(replace(past, g=np.array([[-0.1], [-2.0]])))
    log_phi = context.models.feasibility.log_prob
    x = turned(context, no_worth, 1e-9)
    assert x is not None
    assert decoded(x)["size"] == 0.6
    far = turned(context, lambda x: -100.0 * x[:, 0], 1e-9)
    assert far is not None
    assert decoded(far)["size"] == 0.2  # worth more, and less safe
    rho = 0.5 * float(np.exp(log_phi(x.x[None, :])[0]) + np.exp(log_phi(far.x[None, :])[0]))
    kept = turned(context, lambda x: -100.0 * x[:, 0], rho)
    assert kept is not None
    assert decoded(kept)["size"] == 0.6


def test_a_fine_step_is_not_worth_a_trial() -> None:
    for step, few in ((0.01, False), (0.1, True)):
        space = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0, step=step), "n": Int(0, round(1 / step))})
        past = told([[0.2, 0.5, 0.5], [0.6, 0.5, 0.5]])
        context = replace(context_of(past), domain=space.domain)
        assert (turned(context, no_worth, 1e-9) is not None) is few


def test_of_very_many_safe_trials_some_are_looked_at() -> None:
    past = plant([(k / 300.0, 2, "iron") for k in range(301)])
    asked_for: list[int] = []

    def worth(x: Array) -> Array:
        asked_for.append(len(x))
        return no_worth(x)

    assert turned(of_plant(past), worth, 1e-9) is not None
    assert asked_for[0] <= 4 * BASES  # two numbers of pumps and two metals


def test_a_careful_suggestion_says_that_it_turns_what_was_never_turned() -> None:
    optimizer = Optimizer(PLANT, 30, 3, constraints=1, seed=0, boldness=0.4)
    for size in (0.1, 0.4, 0.7, 0.9):
        optimizer.tell({"size": size, "pumps": 2, "metal": "iron"}, size, [-9.0 - size], billed=False)
    found = [optimizer.ask()]
    optimizer.tell(found[0], 0.2, [-9.2])
    found.append(optimizer.ask())
    first = found[0]
    assert first.survey
    assert first.mode == "careful"
    assert first.p_safe >= first.rho
    assert first.turned in ("pumps", "metal")
    assert f"careful search that changes {first.turned!r} for the first time, where P(safe)" in first.why
    assert first.x[first.turned] not in (2, "iron")
    back = Optimizer.from_dict(json.loads(json.dumps(optimizer.to_dict())))
    assert [t.suggestion.survey for t in back.trials if t.suggestion is not None] == [s.survey for s in found]
