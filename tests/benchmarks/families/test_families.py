"""The families: a seed draws everything, nothing else does, and what a member knows about itself is true."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import families
from benchmarks.families import crash, design, member
from benchmarks.families.search import best_safe
from tests.problems.searching import global_search
from tumble.errors import Failure, InputError
from tumble.parameters import Categorical, Float, Int

CHEAP = tuple(name for name in families.FAMILIES if name != "cartpole")  # whose rollouts take long
SLOW = ("process", "classic", "mixed")  # whose optimum takes seconds
SHARES = {
    "process": (0.01, 0.65),
    "classic": (0.005, 0.65),
    "mixed": (0.02, 0.56),
    "crash": (0.04, 0.65),
    "noise": (0.04, 0.65),
    "start": (0.0005, 0.04),
}
seeds = st.integers(0, 999)


def fresh(family, seed):
    families._drawn.cache_clear()
    return families.draw(family, seed)


def centre(problem):
    scape = problem.drawn.landscape
    points = scape.points(np.full((1, problem.dimension), 0.47))
    return scape.objective(points)[0], scape.edges(points)[0]


def is_safe(problem, x):
    try:
        return problem.evaluate(x).safe
    except Failure:
        return False


def has_active_limit(problem, optimum):
    scape = problem.drawn.landscape
    typical = np.median(np.abs(scape.edges(scape.uniform(500, 1))), axis=0)
    return bool(np.any(scape.edges(optimum.x[None])[0] > -1e-3 * typical))


@pytest.mark.parametrize("family", CHEAP)
@pytest.mark.parametrize("seed", [3, 20])
def test_family_and_seed_determine_the_member(family, seed):
    one, two = fresh(family, seed), fresh(family, seed)
    assert (one.name, one.trials, one.failures, one.note) == (two.name, two.trials, two.failures, two.note)
    np.testing.assert_array_equal(one.bounds, two.bounds)
    np.testing.assert_array_equal(one.initial, two.initial)
    for a, b in zip(centre(one), centre(two), strict=True):
        np.testing.assert_array_equal(a, b)
    if len(one.initial):
        assert one.evaluate(one.initial[0]).value == two.evaluate(two.initial[0]).value


@pytest.mark.parametrize("family", [name for name in CHEAP if name != "design"])
def test_a_seed_changes_the_function_the_limits_and_the_start(family):
    drawn = [families.draw(family, seed) for seed in range(12)]
    assert len({centre(p)[0] for p in drawn}) == 12
    assert len({tuple(centre(p)[1]) for p in drawn}) == 12
    starts = [tuple(p.initial[0]) for p in drawn if len(p.initial)]
    assert len(set(starts)) == len(starts) >= 2
    assert len({(p.trials, p.failures) for p in drawn}) > 2


def test_a_seed_changes_the_limits_and_the_start_of_a_design_and_the_first_are_as_published(monkeypatch):
    monkeypatch.setattr(member, "walk", partial(member.walk, steps=8))  # any safe start will do
    n = len(design.DRAWN)
    for k, known in enumerate(design.DRAWN):
        drawn = (design.draw(k + n * variant) for variant in range(3))
        published, one, two = map(member.problem_of, drawn)
        assert published.optimum.value == known.f_min
        np.testing.assert_array_equal(published.initial[0], known.start)
        x = np.array(known.start)
        plain = known.limits(x)
        np.testing.assert_allclose(published.evaluate(x).constraints, plain, rtol=1e-12)
        tighter = one.evaluate(x).constraints - plain
        assert np.all((tighter >= -1e-9) & (tighter <= known.slack + 1e-9))
        assert np.any(np.abs(two.evaluate(x).constraints - plain - tighter) > 1e-6)
        assert one.evaluate(x).value == published.evaluate(x).value
        assert np.any(one.initial != two.initial)


@settings(max_examples=40, deadline=None)
@given(family=st.sampled_from(CHEAP), seed=seeds)
def test_every_seed_draws_an_admissible_start_a_budget_and_finite_functions(family, seed):
    problem = families.draw(family, seed)
    assert problem.name == f"{family}:{seed}"
    if family != "design":
        assert problem.trials in member.TRIALS
        assert problem.failures in member.FAILURES
    assert problem.failures is not None
    assert problem.failures < problem.trials
    low, high = problem.bounds.T
    for x in problem.initial:
        assert np.all((low <= x) & (x <= high))
        problem.drawn.landscape.space.encode(problem.params(x))
        np.testing.assert_allclose(problem.point(problem.params(x)), x)
        outcome = problem.noise_free.evaluate(x)  # no start crashes
        assert outcome.safe == (family != "start")
        assert np.isfinite(outcome.value)
        assert outcome.constraints.shape == (problem.n_constraints,)
    assert len(problem.initial) == 1 or family == "start"


@settings(max_examples=25, deadline=None)
@given(family=st.sampled_from(list(SHARES)), seed=seeds)
def test_the_feasible_share_lies_where_the_family_promises(family, seed):
    low, high = SHARES[family]
    assert low <= families.draw(family, seed).feasible_share <= high


@pytest.mark.parametrize("family", CHEAP)
@pytest.mark.parametrize("seed", [1, 16])
def test_the_feasible_share_is_that_of_trials_at_other_points(family, seed):
    problem = families.draw(family, seed)
    points = problem.drawn.landscape.points(np.random.default_rng(91).random((1000, problem.dimension)))
    share = np.mean([is_safe(problem.noise_free, x) for x in points])
    error = np.sqrt(problem.feasible_share * (1.0 - problem.feasible_share) / len(points))
    assert abs(share - problem.feasible_share) <= 5.0 * error + 1e-3


@settings(max_examples=20, deadline=None)
@given(family=st.sampled_from(CHEAP), seed=seeds)
def test_points_of_the_unit_cube_and_back(family, seed):
    scape = families.draw(family, seed).drawn.landscape
    points = scape.uniform(20, 5)
    np.testing.assert_allclose(scape.points(scape.unit(points)), points, rtol=1e-9, atol=1e-12)
    assert np.all((scape.bounds[:, 0] <= points) & (points <= scape.bounds[:, 1]))


@pytest.mark.parametrize(
    ("seed", "family"),
    [(16, family) for family in CHEAP] + [(17, family) for family in CHEAP if family not in SLOW],
)
def test_the_optimum_is_safe_and_no_independent_search_is_better(family, seed):
    problem = families.draw(family, seed)
    scape, optimum = problem.drawn.landscape, problem.optimum
    assert optimum.x is not None
    assert problem.noise_free.evaluate(optimum.x).safe
    assert problem.noise_free.evaluate(optimum.x).value == pytest.approx(optimum.value, rel=1e-12)
    assert problem.f_min == optimum.value
    assert optimum.how
    found = global_search(scape.objective, scape.edges, scape.space, seeds=(5,), generations=60)
    random = scape.uniform(5000, 77)
    best = np.min(scape.objective(random)[scape.safe(random)], initial=found.value)
    assert problem.spread > 0.0
    assert optimum.value <= best + 1e-4 * problem.spread


def test_at_least_half_of_the_classical_draws_have_their_optimum_on_a_limit():
    drawn = [families.draw("classic", seed) for seed in range(8)]
    active = [has_active_limit(p, best_safe(p.drawn.landscape, sample=2048, starts=4)) for p in drawn]
    assert np.mean(active) >= 0.5


def test_every_noisy_draw_has_its_optimum_on_a_limit():
    for seed in range(5):
        problem = families.draw("noise", seed)
        assert has_active_limit(problem, best_safe(problem.drawn.landscape, sample=2048, starts=4))


@pytest.mark.parametrize("family", ["noise", "process"])
def test_noise_is_a_stream_that_begins_anew_and_the_truth_has_none(family):
    seed = next(s for s in range(30) if families.draw(family, s).drawn.noise.any())
    one, two = families.draw(family, seed), families.draw(family, seed)
    x = one.initial[0]
    values = [one.evaluate(x).value for _ in range(150)]
    assert values == [two.evaluate(x).value for _ in range(150)]
    truth = one.noise_free.evaluate(x)
    assert np.std(values) == pytest.approx(one.drawn.noise[0], rel=0.2)
    assert np.mean(values) == pytest.approx(truth.value, abs=0.3 * one.drawn.noise[0])
    assert one.noise_free.evaluate(x).value == truth.value
    assert np.any(one.evaluate(x).constraints != truth.constraints)
    assert one.noise_free.optimum is one.optimum


def test_processes_come_with_each_level_of_noise_and_their_share_of_dimensions():
    drawn = [families.draw("process", seed) for seed in range(25)]
    assert {problem.note.rpartition(" ")[2] for problem in drawn} == {"0%", "1%", "5%"}
    assert {problem.dimension for problem in drawn} == set(range(2, 9))
    assert {problem.n_constraints for problem in drawn} == {1, 2, 3, 4}


def test_crashes_come_in_three_kinds_and_measure_nothing():
    kinds: dict[str, families.Member] = {}
    for seed in range(20):
        problem = families.draw("crash", seed)
        kinds.setdefault(problem.note.rpartition(", ")[2], problem)
    assert set(kinds) == set(crash.KINDS)
    for kind, problem in kinds.items():
        scape = problem.drawn.landscape
        points = scape.uniform(200, 0)
        assert (problem.n_constraints == 0) == (kind == "hidden")
        if kind == "cliff":
            assert scape.limits is not None
            assert scape.smooth is not None
            limits = scape.limits(points)
            assert np.all((limits == -0.3) | (limits >= 1.0))
            np.testing.assert_array_equal(limits <= 0.0, scape.smooth(points) <= 0.0)
            continue
        assert scape.hidden is not None
        crashed = points[np.any(scape.hidden(points) > 0.0, axis=1)]
        with pytest.raises(Failure, match="hidden limit"):
            problem.evaluate(crashed[0])
        assert not scape.safe(crashed).any()


def test_a_choice_changes_the_landscape():
    for seed in range(4):
        problem = families.draw("mixed", seed)
        assert problem.space is not None
        scape = problem.drawn.landscape
        place = problem.parameter_names.index("material")
        points = scape.uniform(300, 0)
        points[:, place] = 0.0
        other = points.copy()
        other[:, place] = 1.0
        assert np.corrcoef(scape.objective(points), scape.objective(other))[0, 1] < 0.95


def test_mixed_spaces_hold_every_kind_of_parameter_and_two_to_five_choices():
    spaces = [families.draw("mixed", seed).drawn.landscape.space for seed in range(20)]
    every = [p for space in spaces for p in space.parameters.values()]
    sizes = {len(p.choices) for p in every if isinstance(p, Categorical)}
    assert sizes == {2, 3, 4, 5}
    assert any(isinstance(p, Float) and p.log for p in every)
    assert any(isinstance(p, Float) and p.step for p in every)
    assert any(isinstance(p, Int) and p.log for p in every)
    assert any(isinstance(p, Int) and not p.log for p in every)


def test_some_runs_begin_with_nothing_and_some_at_an_unsafe_point():
    drawn = [families.draw("start", seed) for seed in range(12)]
    assert {len(problem.initial) for problem in drawn} == {0, 1}
    assert not any(o.safe for problem in drawn for o in problem.initial_evaluations)


def test_a_walk_stays_safe_and_covers_more_than_its_start():
    problem = families.draw("classic", 4)
    scape = problem.drawn.landscape
    points = member.walk(scape, problem.initial[0], 0)
    assert scape.safe(points).all()
    assert np.all(np.ptp(points, axis=0) > 0.05 * np.ptp(scape.bounds, axis=1))


def test_an_unknown_family_and_a_negative_seed_are_refused():
    with pytest.raises(InputError, match="unknown family 'clasic'; choose one of process, classic"):
        families.draw("clasic", 0)
    with pytest.raises(InputError, match="integer >= 0, but -1 came"):
        families.draw("classic", -1)
    with pytest.raises(AttributeError, match="has no attribute 'minimum'"):
        _ = families.draw("classic", 0).minimum


@pytest.mark.skipif("cartpole" not in families.FAMILIES, reason="MuJoCo is not installed")
def test_cart_poles_differ_by_start_plant_and_rail():
    one, two = families.draw("cartpole", 0), families.draw("cartpole", 1)
    assert one.note != two.note
    gains = np.array([5.0, 1.0, 0.5, 1.0])
    first, second = one.evaluate(gains), two.evaluate(gains)
    assert first.value != second.value
    assert first.value == families.draw("cartpole", 0).evaluate(gains).value
    assert len(one.initial) == 0
    assert not one.evaluate(np.zeros(4)).safe
