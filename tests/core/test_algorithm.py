"""Algorithm 1 on histories written by hand: modes, the constrained choice, the recommendation."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

import tumble
from tumble.core.algorithm import propose, recommend
from tumble.core.budget import BudgetState
from tumble.core.history import History
from tumble.core.method import Method
from tumble.core.process.crashes import Crashes
from tumble.core.process.models import SAFE_SHARE, fit_models
from tumble.core.process.sites import SiteCrashes
from tumble.core.search import candidates, modes
from tumble.core.search.context import Context
from tumble.core.search.excursion import excursion_search
from tumble.core.search.modes import Proposal, Search
from tumble.core.settings import Settings
from tumble.methods import METHODS
from tumble.parameters import Int
from tumble.space import Float, Space

XSF = Method("xsf", excursion_search, constrained=True, controlled=True)
PER_TRIAL = ("X", "y", "g", "crashed", "predicted_mean", "predicted_std")
SMALL = Settings(raw_samples=64, restarts=4, grid=32, n_minima=6)


def history(X, y=None, g=None, crashed=None, pending=None) -> History:
    X = np.asarray(X, dtype=float)
    n, G = len(X), 0 if g is None else np.asarray(g, dtype=float).shape[1]
    values = np.full(n, np.nan) if y is None else np.asarray(y, dtype=float)
    return History(
        X=X, y=values, g=np.zeros((n, 0)) if g is None else np.asarray(g, dtype=float),
        crashed=np.zeros(n, dtype=bool) if crashed is None else np.asarray(crashed, dtype=bool),
        pending=np.zeros((0, X.shape[1])) if pending is None else np.asarray(pending, dtype=float),
        predicted_mean=np.full((n, G), np.nan), predicted_std=np.full((n, G), np.nan),
    )  # fmt: skip


def constrained(n: int = 12, dim: int = 2, seed: int = 0, pending=None) -> History:
    """f falls towards x = 0.7 …, g rises with the first coordinate and is violated beyond 0.6."""
    X = np.random.default_rng([seed, n]).random((n, dim))
    return history(X, ((X - 0.7) ** 2).sum(axis=1), 4.0 * (X[:, :1] - 0.6), pending=pending)


def suggest(known: History, state: BudgetState | None, seed: int = 0, settings=SMALL, **more) -> Proposal:
    return propose(known, state, XSF, settings, np.random.default_rng(seed), **more)


def test_without_data_the_first_trial_is_a_seeded_point_of_the_cube():
    nothing = history(np.zeros((0, 3)))
    first = suggest(nothing, None)
    assert first.mode == "start"
    assert ((first.x >= 0.0) & (first.x < 1.0)).all()
    assert (suggest(nothing, None).x == first.x).all()
    assert (suggest(nothing, None, seed=1).x != first.x).any()


def test_without_budget_and_constraints_the_search_is_free():
    X = np.random.default_rng(0).random((8, 2))
    found = suggest(history(X, (X**2).sum(axis=1)), None)
    assert found.mode == "free"
    assert found.p_safe == 1.0
    assert found.rho == 0.0


@pytest.mark.parametrize(
    ("z", "failures_left", "mode"),
    [(-1.0, 3, "bold"), (0.0, 3, "bold"), (1.0, 3, "careful"), (2.3, 0, "careful"), (-1.0, 0, "careful")],
)
def test_the_mode_follows_the_controller(z, failures_left, mode):
    assert suggest(constrained(), BudgetState(z, 40, failures_left)).mode == mode


@pytest.mark.parametrize(
    ("left", "safety_first", "mode"), [(6, True, "bold"), (5, True, "safest"), (3, False, "bold")]
)
def test_until_something_safe_is_known_half_of_the_failures_are_risked(left, safety_first, mode):
    X = np.random.default_rng(0).random((5, 2))
    known = history(X, X.sum(axis=1), np.ones((5, 1)))
    settings = replace(SMALL, safety_first=safety_first, keep_rho=False)
    assert suggest(known, BudgetState(2.0, 40, left), settings=settings).mode == mode


def test_no_failure_left_has_precedence_and_with_nothing_safe_known_means_the_safest_point():
    X = np.array([[0.1, 0.1], [0.2, 0.4], [0.3, 0.2]])
    known = history(X, X.sum(axis=1), [[1.0], [2.0], [1.5]])
    found = suggest(known, BudgetState(2.0, 40, 0))
    assert found.mode == "safest"
    feasibility = fit_models(known, SMALL, None).feasibility
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 41)] * 2), axis=-1).reshape(-1, 2)
    assert found.p_safe >= np.exp(feasibility.log_prob(grid).max()) - 0.02


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("z", [0.3, 1.3, 2.4])
def test_a_safe_suggestion_never_promises_less_than_was_asked(seed, z):
    state = BudgetState(z, 40, 3)
    found = suggest(constrained(6 + 2 * seed, seed=seed), state, seed)
    assert found.mode in ("careful", "safest")
    if found.mode == "careful":
        assert found.p_safe >= state.rho - 1e-12
    else:
        assert found.p_safe < state.rho


@pytest.mark.parametrize("seed", range(4))
def test_the_safe_choice_is_close_to_the_best_of_a_brute_force_grid(seed):
    """(13) on a 1-D problem with a fixed law of f*: nothing allowed on the grid is much better."""
    X = np.linspace(0.02, 0.98, 9)[:, None]
    known = history(X, np.sin(7.0 * X[:, 0] + seed), np.cos(4.0 * X + seed) - 0.3)
    if not known.safe.any():
        pytest.skip("nothing safe in this draw")
    kept: dict[str, Any] = {}

    def build(context):
        kept["acquisition"], kept["models"] = excursion_search(context), context.models
        return kept["acquisition"]

    state = BudgetState(1.0, 30, 2)
    found = propose(
        known, state, replace(XSF, build=build), replace(SMALL, calibrate=False), np.random.default_rng(seed)
    )
    grid = np.linspace(0.0, 1.0, 2001)[:, None]
    feasibility, value = kept["models"].feasibility, kept["acquisition"].value_and_grad
    allowed = grid[feasibility.log_prob(grid) >= np.log(state.rho)]
    old = (np.abs(allowed - X.T) < 1e-3).any(axis=1)
    best = value(allowed[~old])[0].max()
    assert found.mode == "careful"
    assert value(found.x[None, :])[0][0] >= best - 0.1


def test_one_history_and_one_seed_give_one_suggestion():
    a, b = (suggest(constrained(), BudgetState(1.0, 40, 3), seed=7) for _ in range(2))
    assert (a.x == b.x).all()
    assert (a.p_safe, a.mean, a.std) == (b.p_safe, b.mean, b.std)


def test_proposing_changes_nothing():
    known = constrained()
    before = [np.copy(getattr(known, name)) for name in History.__dataclass_fields__]
    suggest(known, BudgetState(1.0, 40, 3))
    for name, old in zip(History.__dataclass_fields__, before, strict=True):
        np.testing.assert_array_equal(getattr(known, name), old)


@pytest.mark.parametrize("state", [None, BudgetState(-1.0, 40, 3), BudgetState(1.0, 40, 3)])
def test_what_is_in_flight_is_not_suggested_again(state):
    X = np.random.default_rng(3).random((7, 2))
    y = np.sin(11.0 * X[:, 0]) * np.cos(9.0 * X[:, 1])
    known = history(X, y, None if state is None else X[:, :1] - 1.5)
    first = suggest(known, state)
    second = suggest(replace(known, pending=first.x[None, :]), state)
    assert np.abs(second.x - first.x).max() > 1e-3


def test_crashes_alone_are_enough_to_go_on():
    X = np.random.default_rng(0).random((3, 2))
    known = history(X, crashed=[True] * 3)
    found = suggest(known, BudgetState(-1.0, 10, 4))
    assert found.mode == "bold"
    assert np.abs(X - found.x).max(axis=1).min() > 0.1
    assert np.isfinite(found.mean)


@pytest.mark.parametrize(("doubt", "afforded", "p_safe"), [(True, 4, 0.5), (True, 0, 0.82), (False, 4, 1.0)])
def test_before_the_first_trial_a_crash_is_not_ruled_out_where_nothing_else_can_fail(doubt, afforded, p_safe):
    nothing = replace(history(np.zeros((0, 2))), crashes_afforded=afforded)
    found = suggest(nothing, BudgetState(-1.0, 10, 4), settings=replace(SMALL, doubt_safety=doubt))
    assert found.mode == "start"
    assert found.p_safe == pytest.approx(p_safe, abs=0.005)


@pytest.mark.parametrize("limits", [1, 2, 3])
def test_one_safe_trial_says_nothing_of_settings_far_away(limits):
    known = history(np.zeros((1, 6)), [1.0], np.full((1, limits), -0.3))
    settings = replace(SMALL, integrate=False, constraint=replace(SMALL.constraint, additive=None))
    phi = fit_models(known, settings, None).feasibility
    assert np.exp(phi.log_prob(np.ones((1, 6))))[0] == pytest.approx(SAFE_SHARE, abs=0.01)
    assert np.exp(phi.log_prob(np.zeros((1, 6))))[0] > 0.99


@pytest.mark.parametrize("limits", [1, 2])
@pytest.mark.parametrize("dim", [1, 2, 6])
def test_with_unknown_hyperparameters_p_safe_far_away_is_a_quarter_to_a_half(limits, dim):
    known = history(np.zeros((1, dim)), [1.0], np.full((1, limits), -0.3))
    doubted, old = (
        np.exp(fit_models(known, settings, None).feasibility.log_prob(np.ones((1, dim))))[0]
        for settings in (SMALL, replace(SMALL, doubt_safety=False))
    )
    assert 0.25 < doubted < 0.5 < old


@pytest.mark.parametrize(
    ("g", "changes"),
    [
        ([[-0.3] * 10], {}),
        ([[0.3]], {}),
        ([[-0.3], [-0.2]], {}),
        ([[-0.3]], {"doubt_safety": False}),
    ],
    ids=["many limits", "an unsafe trial", "two trials", "no doubt"],
)
def test_else_the_mean_of_a_limit_is_learned(g, changes):
    X = np.array([[0.1, 0.1], [0.9, 0.9]])[: len(g)]
    known, settings = history(X, np.ones(len(g)), g), replace(SMALL, **changes)
    for limit in fit_models(known, settings, None).feasibility.constraints:
        y, K = limit.outputs.to_model(known.g[:, 0]), limit.chol @ limit.chol.T
        ones = np.linalg.solve(K, np.ones(len(y)))
        assert limit.prior_mean == pytest.approx(ones @ y / (ones.sum() + 1.0))


def test_in_the_paper_a_limit_has_a_mean_of_0_after_one_safe_trial():
    known = history(np.zeros((1, 2)), [1.0], [[-0.3]])
    (limit,) = fit_models(known, Settings.paper(), None).feasibility.constraints
    assert limit.prior_mean == 0.0


@pytest.mark.parametrize("safe", [1, 4])
def test_before_the_first_crash_p_safe_counts_crashes_where_nothing_else_can_fail(safe):
    X = np.random.default_rng(0).random((safe, 2))
    known = history(X, X[:, 0])
    assert fit_models(known, SMALL, None).feasibility.crash is None
    counted = fit_models(replace(known, crashes_afforded=4), SMALL, None).feasibility
    p = np.exp(counted.log_prob(np.array([[0.0, 0.0], [1.0, 1.0], X[0]])))
    assert p.max() < 1.0
    assert p[2] > 0.95
    assert p[:2].min() < 0.95
    old = replace(SMALL, crash_draws=0)
    assert fit_models(replace(known, crashes_afforded=4), old, None).feasibility.crash is None


def test_a_crash_teaches_even_without_a_budget():
    """Where there is no budget the mode stays "free", but P(safe) is known and counts."""
    X = np.array([[0.1], [0.3], [0.5], [0.9], [0.92], [0.95], [0.97]])
    y = np.where(X[:, 0] > 0.8, np.nan, -X[:, 0])
    with_crashes = [suggest(history(X, y, crashed=np.isnan(y)), None, seed) for seed in range(4)]
    without = [suggest(history(X[:3], y[:3]), None, seed) for seed in range(4)]
    assert {s.mode for s in with_crashes} == {"free"}
    assert max(s.p_safe for s in with_crashes) < 1.0
    assert np.mean([s.x[0] for s in with_crashes]) < np.mean([s.x[0] for s in without])


def test_measurements_that_are_missing_are_not_invented():
    known = constrained(10)
    g = known.g.copy()
    g[:4] = np.nan
    models = fit_models(replace(known, g=g, y=np.where(np.arange(10) < 2, np.nan, known.y)), SMALL, None)
    assert len(models.objective.X) == 8
    assert len(models.feasibility.constraints[0].X) == 6
    assert models.feasibility.crash is None


def test_a_law_is_worked_out_again_with_the_hyperparameters_alone():
    known = constrained(59)
    some = replace(known, **{name: getattr(known, name)[:57] for name in PER_TRIAL})
    first = fit_models(some, SMALL, None)
    (law,) = first.feasibility.laws
    assert not law.is_normal
    again = fit_models(known, SMALL, first.fitted)
    assert again.fitted.constraints == first.fitted.constraints  # they are not due
    assert again.feasibility.laws == (law,)
    forgotten = fit_models(known, SMALL, replace(first.fitted, laws=()))
    assert forgotten.feasibility.laws != (law,)
    assert forgotten.feasibility.laws[0].width == pytest.approx(law.width, rel=0.02)
    always = fit_models(known, replace(SMALL, relearn="always"), first.fitted)
    assert always.feasibility.laws != (law,)


def test_a_crash_and_a_measured_constraint_combine_in_one_probability():
    known = constrained(10)
    crashed: Any = known.X[:, 1] > 0.7
    assert crashed.any()
    models = fit_models(replace(known, crashed=crashed, y=np.where(crashed, np.nan, known.y)), SMALL, None)
    each = models.feasibility.each(known.X)
    assert each.shape == (10, 2)
    np.testing.assert_allclose(np.exp(models.feasibility.log_prob(known.X)), each.prod(axis=1), rtol=1e-9)


def test_a_violation_that_nothing_foretold_teaches_as_a_crash_does():
    known = constrained(10)
    assert known.failed.any()
    foretold = replace(known, predicted_mean=known.g - 0.1, predicted_std=np.full_like(known.g, 0.1))
    surprise = replace(known, predicted_mean=known.g - 50.0, predicted_std=np.full_like(known.g, 0.1))
    assert fit_models(foretold, SMALL, None).feasibility.crash is None
    assert fit_models(surprise, SMALL, None).feasibility.crash is not None
    plain = replace(SMALL, calibrate=False)
    assert fit_models(surprise, plain, None).feasibility.crash is None


def test_once_a_limit_is_broken_by_surprise_all_that_breaks_it_teaches_as_a_crash_does():
    known = constrained(10)
    broken = np.flatnonzero(known.failed)
    first = next(row for row in broken if known.safe[:row].any())
    assert len(broken) > 1
    predicted = np.where(np.arange(10) == first, known.g[:, 0] - 50.0, known.g[:, 0] - 0.1)[:, None]
    known = replace(known, predicted_mean=predicted, predicted_std=np.full_like(known.g, 0.1))
    crash = fit_models(known, SMALL, None).feasibility.crash
    assert isinstance(crash, Crashes)
    assert (crash.crashed == known.failed).all()
    old = fit_models(known, replace(SMALL, crash_draws=0), None).feasibility.crash
    assert isinstance(old, SiteCrashes)
    p = np.exp(old.log_prob(known.X))
    assert p[first] < 0.5 < p[broken[broken != first]].max()  # in 0.1.0 the others were safe from crashes


def test_with_two_crashes_known_the_last_failure_is_kept_where_that_is_set():
    known = constrained(10)
    crashed = np.zeros(10, dtype=bool)
    crashed[np.argsort(-known.X[:, 0])[:2]] = True
    known = replace(known, crashed=crashed, y=np.where(crashed, np.nan, known.y))
    assert suggest(known, BudgetState(-1.0, 30, 1)).mode == "bold"
    keeping = replace(SMALL, keep_last_failure=True)
    assert suggest(known, BudgetState(-1.0, 30, 2), settings=keeping).mode == "bold"
    kept = suggest(known, BudgetState(-1.0, 30, 1), settings=keeping)
    assert kept.mode in ("careful", "safest")
    assert kept.rho == pytest.approx(0.99)


def test_constraints_are_scaled_but_never_shifted():
    models = fit_models(constrained(10), SMALL, None)
    assert models.feasibility.constraints[0].outputs.shift == 0.0
    assert models.objective.outputs.shift != 0.0


def test_suggestions_are_snapped_before_they_are_judged():
    domain = Space({"a": Float(0.0, 1.0, step=0.25), "b": Float(0.0, 1.0, step=0.25)}).domain
    for state in (BudgetState(-1.0, 40, 3), BudgetState(1.0, 40, 3), BudgetState(1.0, 40, 0)):
        found = suggest(constrained(), state, domain=domain)
        np.testing.assert_allclose(found.x * 4.0, np.rint(found.x * 4.0))
        feasibility = fit_models(constrained(), SMALL, None).feasibility
        assert found.p_safe == pytest.approx(float(np.exp(feasibility.log_prob(found.x[None, :])[0])))


def test_pending_settings_of_a_small_space_are_avoided_before_there_is_data():
    domain = Space({"a": Float(0.0, 1.0, step=0.25)}).domain
    pending = np.zeros((0, 1))
    for n in range(5):
        found = suggest(history(np.zeros((0, 1)), pending=pending), None, seed=n, domain=domain)
        pending = np.vstack([pending, found.x])
    assert sorted(pending[:, 0]) == [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("minima", ["joint", "frechet", "gumbel"])
@pytest.mark.parametrize("standardize", [True, False])
def test_every_law_of_the_minimum_works_where_nothing_is_feasible(minima, standardize):
    X = np.random.default_rng(0).random((6, 2))
    known = history(X, X.sum(axis=1), np.full((6, 1), 10.0))
    settings = replace(SMALL, minima=minima, standardize=standardize)
    found = suggest(known, BudgetState(0.0, 20, 5), settings=settings)
    assert np.isfinite(found.x).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_recommendation_equals_a_brute_force_grid(seed):
    """argmin μ subject to φ >= ρ_safe."""
    known = constrained(14, seed=seed)
    found = recommend(known, replace(SMALL, raw_samples=256), np.random.default_rng(0))
    models = fit_models(known, SMALL, None)
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 121)] * 2), axis=-1).reshape(-1, 2)
    allowed = grid[models.feasibility.log_prob(grid) >= np.log(0.99)]
    best = models.objective.outputs.to_user(models.objective.mean(allowed)).min()
    assert found.reached
    assert found.p_safe >= 0.99
    assert found.mean <= best + 0.01


def test_a_recommendation_that_cannot_be_safe_says_so():
    X = np.random.default_rng(0).random((5, 2))
    found = recommend(history(X, X.sum(axis=1), np.full((5, 1), 2.0)), SMALL, np.random.default_rng(0))
    assert not found.reached
    assert found.p_safe < 0.99


def test_without_constraints_the_recommendation_is_where_the_mean_is_lowest():
    X = np.linspace(0.0, 1.0, 9)[:, None]
    known = history(X, (X[:, 0] - 0.4) ** 2)
    found = recommend(known, SMALL, np.random.default_rng(0))
    assert found.reached
    assert found.x[0] == pytest.approx(0.4, abs=0.05)


@given(st.integers(0, 10_000))
@effort(max_examples=25)
def test_any_history_gives_a_finite_suggestion_inside_the_cube(seed):
    rng = np.random.default_rng(seed)
    dim, n, G = (int(rng.integers(1, 4)) for _ in range(3))
    X = rng.random((n, dim))
    X[rng.random(n) < 0.3] = X[0]
    crashed = rng.random(n) < 0.3
    y = np.where(
        crashed | (rng.random(n) < 0.2), np.nan, rng.choice([0.0, 1e-12, 1.0, 1e12]) * rng.normal(size=n)
    )
    g = np.where(
        rng.random((n, G)) < 0.3, np.nan, rng.choice([0.0, 1e-9, 1.0, 1e9]) * rng.normal(size=(n, G))
    )
    known = history(X, y, g, crashed, pending=rng.random((int(rng.integers(0, 3)), dim)))
    T = int(rng.integers(1, 30))
    state = BudgetState(float(rng.uniform(-2.3, 2.3)), T, int(rng.integers(0, T + 1)))
    found = suggest(known, state, settings=Settings(raw_samples=16, restarts=2, grid=16, n_minima=4))
    assert ((found.x >= 0.0) & (found.x <= 1.0)).all()
    assert found.mode in ("bold", "careful", "safest")
    assert 0.0 <= found.p_safe <= 1.0
    assert np.isfinite([found.mean, found.std]).all()
    assert found.mode != "careful" or found.p_safe >= found.rho - 1e-12


@pytest.mark.parametrize("settings", [Settings(), Settings.paper()], ids=["default", "paper"])
def test_where_a_limit_is_broken_beyond_all_doubt_everywhere_the_point_is_still_the_safest(settings):
    X = np.random.default_rng(0).random((25, 2))
    known = history(X, ((X - 0.9) ** 2).sum(axis=1), 5.0 + X[:, :1])
    found = suggest(known, BudgetState(2.3, 40, 0), settings=settings)
    advice = recommend(known, settings, np.random.default_rng(0))
    assert found.mode == "safest"
    assert not advice.reached
    assert found.x[0] == advice.x[0] == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_where_nothing_is_safe_enough_the_most_promising_of_what_is_about_as_safe_is_tried(seed, monkeypatch):
    X = np.random.default_rng(seed).random((30, 2))
    crashed = X[:, 0] > 0.2
    known = history(X, np.where(crashed, np.nan, ((X - 0.6) ** 2).sum(axis=1)), crashed=crashed)
    sure = replace(Settings(), delta=1e-6)
    assert suggest(known, BudgetState(2.3, 40, 0), settings=sure).mode == "safest"
    context = Context.of(known, fit_models(known, SMALL, None), SMALL, np.random.default_rng(seed))
    ways = Search(context, excursion_search(context))
    safest = ways.safest()
    monkeypatch.setattr(Search, "safest", lambda search: safest)  # each search for it finds another one
    points = np.array([ways.nearly_safest(), safest])
    p, most = np.exp(context.models.feasibility.log_prob(points))
    assert (1.0 - p) / p <= 1.26 * (1.0 - most) / most
    promise = ways.acquisition.value_and_grad(points)[0]
    assert promise[0] > promise[1] + 0.1


def test_an_error_of_the_past_is_judged_with_the_noise_that_is_known_now():
    X = np.repeat(np.linspace(0.0, 1.0, 12)[:, None], 3, axis=0)
    rng = np.random.default_rng(0)
    g = -1.0 + 0.3 * rng.standard_normal((len(X), 1))
    known = history(X, X[:, 0], g)
    predicted = replace(known, predicted_mean=np.full_like(g, -1.0), predicted_std=np.full_like(g, 1e-3))
    feasibility = fit_models(predicted, Settings(), None).feasibility
    assert feasibility.widening[0] < 1.5  # 300 deviations then, one now
    assert feasibility.crash is None
    quiet = replace(predicted, g=-1.0 + 1e-6 * X, predicted_mean=np.full_like(g, -1.01))
    assert fit_models(quiet, Settings(), None).feasibility.widening[0] > 2.0


@pytest.mark.parametrize(("row", "teaches"), [(1, False), (3, False), (5, True)])
def test_before_the_first_safe_trial_no_broken_limit_surprises(row, teaches):
    """Else one far trial makes a crash of every trial, of the one that nearly kept the limit, too."""
    X = np.linspace(0.0, 1.0, 8)[:, None]
    g = np.array([0.003, 6.7, 9.4, 1.1, -0.5, 0.2, -0.4, -0.1])[:, None]
    predicted = g - 0.01
    predicted[row] -= 6.0
    known = replace(history(X, X[:, 0], g), predicted_mean=predicted, predicted_std=np.full_like(g, 0.1))
    assert (fit_models(known, Settings(), None).feasibility.crash is not None) == teaches
    assert fit_models(known, Settings(doubt_safety=False), None).feasibility.crash is not None


def test_one_surprise_of_a_hundred_deviations_counts_as_six():
    X = np.linspace(0.0, 1.0, 12)[:, None]
    g = np.sin(6.0 * X) - 2.0
    known = replace(history(X, X[:, 0], g), predicted_mean=g.copy(), predicted_std=np.full_like(g, 0.1))
    known.predicted_mean[3] -= 10.0
    far = fit_models(known, Settings(), None).feasibility.widening[0]
    known.predicted_mean[3] += 9.0
    assert far == pytest.approx(fit_models(known, Settings(), None).feasibility.widening[0])


def test_a_crowd_of_old_data_is_learned_from_at_the_next_ask():
    opt = tumble.Optimizer([(0, 1)], trials=10, seed=0)
    opt.tell(opt.ask(), 0.3)
    opt.ask()
    for x in np.linspace(0.0, 1.0, 62):  # 63 observations are no round number
        opt.tell([x], float(np.sin(9.0 * x)), billed=False)
    opt.ask()
    assert opt.fitted is not None
    assert opt.fitted.objective.learned_from == 63


def test_a_discrete_space_is_searched_to_its_last_setting():
    opt = tumble.Optimizer(Space({"n": Int(0, 199)}), trials=300, seed=0)
    for n in range(200):
        if n != 150:
            opt.tell({"n": n}, float(abs(n - 20)), billed=False)
    assert opt.ask().x == {"n": 150}


@pytest.mark.parametrize("at_end", [True, False])
def test_what_was_predicted_badly_is_widened_once_no_failure_is_left(at_end):
    X = np.linspace(0.0, 1.0, 12)[:, None]
    g = np.sin(6.0 * X) - 2.0
    known = replace(history(X, X[:, 0], g), predicted_mean=g - 0.5, predicted_std=np.full_like(g, 0.1))
    settings = replace(SMALL, widen_at_end=at_end)
    spent, left = (fit_models(known, settings, None, may_fail=may).feasibility for may in (False, True))
    assert spent.widening[0] > 1.5
    assert left.widening == (() if at_end else spent.widening)
    last = suggest(known, BudgetState(2.3, 40, 0), settings=settings)
    assert last.p_safe == pytest.approx(float(np.exp(spent.log_prob(last.x[None, :])[0])), rel=1e-6)
    careful = suggest(known, BudgetState(2.3, 40, 3), settings=settings)
    assert careful.mode == "careful"
    assert careful.p_safe == pytest.approx(float(np.exp(left.log_prob(careful.x[None, :])[0])), rel=1e-6)


@pytest.mark.parametrize(("told", "by_slopes"), [(40, False), (41, True)])
def test_climbs_and_descents_turn_quick_together_whatever_is_in_flight(monkeypatch, told, by_slopes):
    paces = set()
    for room in (modes, candidates):

        def recorded(*args, real=room.maximize, **more):
            paces.add(more["pace"].by_slopes)
            return real(*args, **more)

        monkeypatch.setattr(room, "maximize", recorded)
    known = replace(constrained(told, pending=np.full((3, 2), 0.5)), g=np.zeros((told, 0)))
    propose(known, None, METHODS["tumble"], SMALL, np.random.default_rng(0))
    assert paces == {by_slopes}
