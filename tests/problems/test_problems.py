"""The problems are what they say: optima, feasibility, budgets, draws and wrappers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import Bounds, NonlinearConstraint, minimize

from tumble import problems
from tumble.errors import Failure, InputError, TumbleError
from tumble.problems import inmodel, misspecified, synthetic
from tumble.problems.designs import DESIGNS

RESERVED = (
    "pressure-vessel",
    "tension-spring",
    "welded-beam",
    "speed-reducer",
)  # for judging: never searched
NAMES = problems.names()
SEARCHED = [
    name for name in NAMES if name not in RESERVED and name not in DESIGNS
]  # designs: test_designs.py
CONSTRAINED = [name for name in NAMES if problems.get(name).constraints is not None]
SMOOTH_LIMIT = {
    "cliff": misspecified.cliff_edge,
    "staircase": misspecified.staircase_level,
    "chirp": misspecified.chirp_wave,
}
RTOL = 1e-6  # stated in the modules: how far f_min may be from what a search can find


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TUMBLE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def optimum(problem):
    assert problem.x_min is not None
    return problem.x_min


def uniform(problem, n, seed=0):
    low, high = problem.bounds.T
    return low + (high - low) * np.random.default_rng(seed).random((n, problem.dimension))


@pytest.mark.parametrize("name", NAMES)
def test_the_stated_optimum_is_safe_inside_the_bounds_and_has_the_stated_value(name):
    problem = problems.get(name)
    outcome = problem.evaluate(optimum(problem))
    assert outcome.safe
    assert np.all((problem.bounds[:, 0] <= optimum(problem)) & (optimum(problem) <= problem.bounds[:, 1]))
    np.testing.assert_allclose(outcome.value, problem.f_min, rtol=1e-8)


@pytest.mark.parametrize("name", SEARCHED)
def test_no_random_safe_point_is_better_than_the_stated_optimum(name):
    problem = problems.get(name)
    outcomes = [problem.evaluate(x) for x in uniform(problem, 2000)]
    best = min((o.value for o in outcomes if o.safe), default=np.inf)
    assert best >= problem.f_min - RTOL * abs(problem.f_min)


@pytest.mark.parametrize("name", SEARCHED)
def test_no_local_search_from_many_starts_is_better_than_the_stated_optimum(name):
    problem = problems.get(name)
    low, width = problem.bounds[:, 0], np.diff(problem.bounds, axis=1)[:, 0]
    limit = SMOOTH_LIMIT.get(name)

    def slack(u):
        x = low + width * u
        if limit is not None:
            return -np.atleast_1d(limit(x))
        return -problem.constraints(x) if problem.constraints else np.ones(1)

    def scaled(u):
        return float(problem.objective(low + width * u) / scale)

    scale = np.std([problem.objective(x) for x in uniform(problem, 100)])
    starts = [*np.random.default_rng(1).random((15, problem.dimension)), (optimum(problem) - low) / width]
    best = np.inf
    for start in starts:
        found = minimize(
            scaled,
            start,
            method="SLSQP",
            bounds=Bounds(0.0, 1.0),
            constraints=NonlinearConstraint(slack, 0.0, np.inf),
            tol=1e-12,
        )
        outcome = problem.evaluate(np.clip(low + width * found.x, *problem.bounds.T))
        best = min(best, outcome.value if outcome.safe else np.inf)
    assert best >= problem.f_min - RTOL * max(abs(problem.f_min), 1e-2)


@pytest.mark.parametrize("name", [n for n in SEARCHED if problems.get(n).dimension == 2])
def test_a_dense_grid_finds_nothing_better_in_two_dimensions(name):
    problem = problems.get(name)
    axes = [np.linspace(low, high, 121) for low, high in problem.bounds]
    outcomes = [problem.evaluate((a, b)) for a in axes[0] for b in axes[1]]
    safe = [o.value for o in outcomes if o.safe]
    spread = np.ptp([o.value for o in outcomes])
    assert problem.f_min - 1e-9 <= min(safe) <= problem.f_min + 0.02 * spread


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_is_frozen_data_with_names_a_budget_and_a_start_inside_its_bounds(name):
    problem = problems.get(name)
    assert problem.name == name
    assert len(problem.parameter_names) == problem.dimension
    assert (problem.failures is not None) == (problem.n_constraints > 0)
    assert 0 < (problem.failures or 1) < problem.trials
    assert len(problem.initial_evaluations) == len(problem.initial) >= 1
    assert np.all((problem.initial >= problem.bounds[:, 0]) & (problem.initial <= problem.bounds[:, 1]))
    assert problem.note
    with pytest.raises(AttributeError):
        problem.trials = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        problem.bounds[0, 0] = 5.0


@pytest.mark.parametrize("name", CONSTRAINED)
def test_safe_and_unsafe_points_both_exist_and_the_constraints_have_their_names(name):
    problem = problems.get(name)
    outcomes = [problem.evaluate(x) for x in uniform(problem, 2000, seed=3)]
    assert {o.constraints.shape for o in outcomes} == {(problem.n_constraints,)}
    assert any(not o.safe for o in outcomes)
    assert any(o.safe for o in outcomes) or problem.evaluate(optimum(problem)).safe


def test_the_feasible_share_of_the_sine_product_is_the_known_one():
    for dimension, share in ((6, 0.717), (10, 0.723)):
        points = np.random.default_rng(0).random((10000, dimension))
        safe = [synthetic.sine_product(x)[0] <= 0.0 for x in points]
        assert np.mean(safe) == pytest.approx(share, abs=0.015)


def test_the_minimum_of_both_benchmarks_is_safe_and_michalewicz_hugs_the_limit():
    assert problems.get("hartmann6-constrained").evaluate(synthetic.HARTMANN_X_MIN).constraints[0] < -0.05
    g = problems.get("michalewicz10-constrained").evaluate(synthetic.MICHALEWICZ_X_MIN).constraints[0]
    assert g == pytest.approx(-0.00098, abs=1e-5)


def test_the_benchmarks_share_objective_and_start_with_and_without_constraint():
    for family in ("hartmann6", "michalewicz10"):
        free, constrained = problems.get(family), problems.get(f"{family}-constrained")
        x = np.full(free.dimension, 0.37)
        assert free(x) == constrained.evaluate(x).value
        assert free.failures is None
        assert (constrained.trials, constrained.failures) == (100, 10)
        np.testing.assert_array_equal(free.initial, constrained.initial)


def test_a_problem_may_have_no_initial_point():
    problem = problems.Problem(
        name="own", bounds=np.array([[0.0, 1.0]] * 3), objective=lambda x: float(x[0]), f_min=0.0
    )
    assert problem.initial.shape == (0, 3)
    assert problem.parameter_names == ("x1", "x2", "x3")


def test_regret_is_against_the_best_safe_value_and_the_worst_value_stands_in_before():
    problem = problems.get("branin-disk")
    values = np.array([3.0, 5.0, 4.0, 1.0, 2.0])
    regret = problem.regret(values, [False, False, True, False, True]) + problem.f_min
    np.testing.assert_allclose(regret, [3.0, 5.0, 4.0, 4.0, 2.0])
    np.testing.assert_allclose(problem.regret(values)[-1] + problem.f_min, 1.0)


def test_regret_ignores_trials_without_a_value_and_is_nan_before_any_value():
    problem = problems.get("branin-disk")
    regret = problem.regret([np.nan, 2.0, np.nan], [False, True, False]) + problem.f_min
    np.testing.assert_allclose(regret, [np.nan, 2.0, 2.0])
    assert problem.regret([]).size == 0


def test_a_problem_can_be_called_as_minimize_calls_its_function():
    assert isinstance(problems.get("hartmann6")(np.full(6, 0.5)), float)
    answer = problems.get("gramacy")([0.5, 0.5])
    assert isinstance(answer, tuple)
    assert answer[0] == 1.0
    assert answer[1].shape == (2,)


def test_a_draw_interpolates_its_own_sampled_values():
    n = 300
    draw = problems.get(f"in-model@{n}:3")
    grid = inmodel.points(n)
    distance = np.sum((grid[:, None] - grid) ** 2, axis=2) / inmodel.LENGTHSCALE**2
    factor = np.linalg.cholesky(np.exp(-0.5 * distance) + inmodel.JITTER * np.eye(n))
    normal = np.random.default_rng(3).standard_normal((2, n))
    for i in (0, 17, 299):
        outcome = draw.evaluate(grid[i])
        assert outcome.value == pytest.approx(factor[i] @ normal[0], abs=1e-3)
        assert outcome.constraints[0] == pytest.approx(factor[i] @ normal[1], abs=1e-3)


def test_draws_are_cached_on_disk_whole_and_read_back_identically():
    first = problems.get("in-model@200:7").evaluate([0.2, 0.4, 0.6])
    files = list(inmodel.cache_dir().glob("in-model-*-n200-block0.npy"))
    assert len(files) == 1
    inmodel._block.cache_clear()
    again = problems.get("in-model@200:7").evaluate([0.2, 0.4, 0.6])
    assert (first.value, first.constraints[0]) == (again.value, again.constraints[0])


def test_draws_differ_by_seed_and_the_free_one_is_the_same_objective():
    x = [0.3, 0.3, 0.3]
    values = {problems.get(f"in-model@200:{seed}").evaluate(x).value for seed in range(4)}
    assert len(values) == 4
    assert problems.get("in-model-free@200:2")(x) == problems.get("in-model@200:2").evaluate(x).value
    draw = problems.get("in-model@200:2")
    assert (draw.trials, draw.failures, draw.f_min) == (100, 15, -4.0)


@pytest.mark.parametrize(
    ("platform", "variable"), [("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA"), ("darwin", "HOME")]
)
def test_the_cache_is_in_the_users_cache_directory_unless_told_otherwise(
    monkeypatch, tmp_path, platform, variable
):
    monkeypatch.delenv("TUMBLE_CACHE")
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr("sys.platform", platform)
    assert str(inmodel.cache_dir()).startswith(str(tmp_path))
    assert inmodel.cache_dir().name == "tumble"


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match="unknown problem 'hartman'; choose one of hartmann6"):
        problems.get("hartman")
    with pytest.raises(TumbleError, match="in-model:N"):
        problems.get("in-model:x")
    with pytest.raises(InputError, match="integer >= 0, got -1"):
        problems.in_model(-1)


def test_rescaling_changes_units_and_keeps_the_regret_in_proportion():
    plain = problems.get("gramacy")
    other = problems.rescaled(plain, scale=10.0, offset=3.0, constraint_scale=0.5)
    here, there = plain.evaluate([0.4, 0.7]), other.evaluate([0.4, 0.7])
    assert there.value == pytest.approx(10.0 * here.value + 3.0)
    np.testing.assert_allclose(there.constraints, 0.5 * here.constraints)
    assert other.regret([there.value])[0] == pytest.approx(10.0 * plain.regret([here.value])[0])
    assert problems.rescaled(problems.get("hartmann6"), scale=2.0).constraints is None
    with pytest.raises(InputError, match="scales must be positive"):
        problems.rescaled(plain, scale=0.0)


def test_noise_is_a_seeded_stream_and_the_truth_stays_at_hand():
    plain = problems.get("gramacy")
    x = [0.4, 0.7]
    one, same = (problems.noisy(plain, sd=0.1, constraint_sd=0.2, seed=5) for _ in range(2))
    first = [one.evaluate(x).value for _ in range(200)]
    assert first == [same.evaluate(x).value for _ in range(200)]
    assert np.std(first) == pytest.approx(0.1, rel=0.2)
    assert np.mean(first) == pytest.approx(plain.evaluate(x).value, abs=0.03)
    assert one.evaluate(x).constraints[0] != plain.evaluate(x).constraints[0]
    assert one.truth is plain
    assert problems.noisy(problems.get("hartmann6"), sd=0.1)(np.zeros(6)) != 0.0
    with pytest.raises(InputError, match="must be >= 0"):
        problems.noisy(plain, sd=-1.0)


def test_a_crashing_problem_measures_nothing_where_it_fails():
    problem = problems.get("gramacy!")
    assert problem.name == "gramacy!"
    assert problem([0.75, 0.65]) == pytest.approx(1.4)
    assert problem.failures == 6
    with pytest.raises(Failure, match="crashed: wave"):
        problem([0.0, 0.0])
    with pytest.raises(InputError, match="no constraint to crash on"):
        problems.crashing(problems.get("hartmann6"))


def test_another_start_is_safe_and_the_same_for_its_number():
    first, again, other = (problems.get(f"hartmann6-constrained?:{k}") for k in (3, 3, 4))
    np.testing.assert_array_equal(first.initial, again.initial)
    assert not np.array_equal(first.initial, other.initial)
    assert all(p.initial_evaluations[0].safe for p in (first, other))
    plain = problems.get("hartmann6-constrained")
    assert (first.trials, first.failures, first.f_min) == (plain.trials, plain.failures, plain.f_min)
    assert first.name == "hartmann6-constrained?:3"


def test_a_start_that_crashes_is_passed_over_and_where_all_do_it_is_said():
    assert problems.get("branin-disk!?:0").initial_evaluations[0].safe
    plain = problems.get("branin-disk")
    never = replace(plain, constraints=lambda x: np.ones(1))
    with pytest.raises(InputError, match="branin-disk has no safe start among 10,000 random points"):
        problems.started(never, seed=0)
