"""The default search looks elsewhere where it would only polish the best trial."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.core.test_settings import OTHERWISE
from tests.toys import context_of, history
from tumble import Optimizer
from tumble.core.algorithm import propose
from tumble.core.arrays import Array
from tumble.core.budget import BudgetState
from tumble.core.history import History
from tumble.core.search import default
from tumble.core.search.context import Context
from tumble.core.settings import Settings
from tumble.methods import METHODS, MethodName

GAP = 1e-3  # `Settings.gap`: how far below η 0.1.0 put its samples of f*
BOWL = np.array([[0.05], [0.2], [0.38], [0.4], [0.401], [0.399], [0.45], [0.6], [0.7], [0.95]])


def settled(n: int) -> History:
    """Trials of a bowl around its minimum at 0.4, all of them safe; `n` of them, an even or an odd number."""
    X = BOWL[:n]
    return history(X, (X[:, 0] - 0.4) ** 2, np.full((n, 1), -1.0))


@pytest.mark.parametrize("n", [9, 10])
def test_the_best_trial_over_again_only_polishes_and_the_rest_does_not(n: int) -> None:
    context = context_of(settled(n))
    assert default.only_polishes(context, np.array([0.4])) == (n == 9)  # every second time
    assert not default.only_polishes(context, np.array([0.85]))  # far above the best
    few = context_of(settled(3))
    assert not default.only_polishes(few, np.array([0.41]))  # much is to be gained


def test_where_nothing_at_all_is_to_be_gained_every_trial_looks_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(default, "NOTHING", 1.0)
    assert default.only_polishes(context_of(settled(10)), np.array([0.4]))


def test_before_anything_is_safe_nothing_is_polished() -> None:
    X = BOWL[:9]
    context = context_of(history(X, (X[:, 0] - 0.4) ** 2, np.full((9, 1), 1.0)))
    assert not default.only_polishes(context, np.array([0.4]))


@pytest.mark.parametrize("mode", ["bold", "careful"])
def test_the_switch_decides_and_the_rules_of_the_mode_hold(mode: str) -> None:
    known, state = settled(9), BudgetState(-1.0 if mode == "bold" else 2.0, 20, 3)
    found = {}
    for looks in (True, False):
        settings = replace(Settings(), look_elsewhere=looks)
        rng = np.random.default_rng(0)
        found[looks] = propose(known, state, METHODS["tumble"], settings, rng)
        assert (found[looks].mode, found[looks].elsewhere) == (mode, looks)
        assert found[looks].p_safe >= state.rho
    assert abs(found[False].x[0] - 0.4) < 0.02
    assert abs(found[True].x[0] - 0.4) > 0.05


def test_a_second_basin_is_found_where_polishing_never_finds_it() -> None:
    def f(x: float) -> float:
        return (x - 0.2) ** 2 - 0.7 * math.exp(-(((x - 0.86) / 0.06) ** 2))

    best = {}
    for looks in (True, False):
        settings = replace(Settings(), look_elsewhere=looks)
        opt = Optimizer([(0.0, 1.0)], 30, 3, constraints=1, seed=0, settings=settings)
        noise = np.random.default_rng(0)
        for x in np.linspace(0.0, 0.7, 6):  # known already
            opt.tell([x], f(x), [-1.0], billed=False)
        for _ in range(20):
            s = opt.ask()
            opt.tell(s, f(s.x[0]) + 1e-3 * noise.standard_normal(), [-1.0])
        best[looks] = min(f(t.x[0]) for t in opt.trials)
    assert best[True] < f(0.86) + 0.02
    assert best[False] > -0.01


def test_the_sentence_says_that_it_looks_elsewhere() -> None:
    opt = Optimizer([(0.0, 1.0)], 30, 3, constraints=1, seed=0)
    for x in BOWL[:9, 0]:
        opt.tell([x], (x - 0.4) ** 2, [-1.0], billed=False)
    asked = opt.ask()
    assert asked.elsewhere
    assert "away from the best trial, which is hardly to be improved" in asked.why
    again = Optimizer.from_dict(opt.to_dict()).trials[-1].suggestion
    assert again is not None
    assert again.why == asked.why


def creeping_steps(settings: Settings, method: MethodName, dim: int, seed: int) -> int:
    """How many trials lower the best value by GAP × spread, within 10 %; three limits are active.

    That is as far as the lowest sample of f* was from the best trial: the search had no aim of its own.
    """
    rng = np.random.default_rng(seed)
    slopes, gains = rng.uniform(0.3, 1.0, (3, dim)), rng.uniform(0.5, 1.5, dim)

    def measure(x: Array) -> tuple[float, list[float]]:
        bent = [0.2 * np.sum(x[k : k + 2] ** 2) for k in range(3)]
        limits = [float(slopes[k] @ x + bent[k] - 0.45 * slopes[k].sum()) for k in range(3)]
        return float(0.3 * np.sum((x - 0.5) ** 2) - gains @ x), limits

    opt = Optimizer([(0.0, 1.0)] * dim, 45, 6, constraints=3, seed=seed, settings=settings, method=method)
    start = np.full(dim, 0.15)
    opt.tell(start, *measure(start), billed=False)
    steps, best = 0, measure(start)[0]
    for _ in range(45):
        asked = opt.ask()
        value, limits = measure(asked.x)
        opt.tell(asked, value, limits)
        spread = np.std([trial.value for trial in opt.trials if trial.value is not None])
        if max(limits) <= 0.0 and value < best:
            steps += bool(0.9 < (best - value) / (GAP * spread) < 1.1)
            best = value
    return steps


@pytest.mark.parametrize(("dim", "seed"), [(3, 1), (4, 0)])
def test_the_search_does_not_creep_as_0_1_0_did(dim: int, seed: int) -> None:
    old = replace(Settings(), **OTHERWISE)
    assert creeping_steps(old, "xsf", dim, seed) >= 5
    assert creeping_steps(Settings(), "tumble", dim, seed) <= 2


@pytest.mark.parametrize("limits", [1, 2])
@pytest.mark.parametrize("name", ["tumble", "eic", "xsf", "pesc"])
def test_the_lowest_means_that_are_allowed_are_looked_at_for_the_minimum_and_where_limits_meet(
    name: MethodName, limits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def note(context: Context, points: Array) -> Array:
        asked.append(len(points))
        return points[:0]

    monkeypatch.setattr(Context, "_lowest_from", note)
    known = settled(6)
    known = history(known.X, known.y, np.tile(known.g, (1, limits)))
    propose(known, BudgetState(2.0, 20, 3), METHODS[name], Settings(), np.random.default_rng(0))
    assert METHODS[name].samples_minima == (name in ("xsf", "pesc"))
    assert bool(asked) == (METHODS[name].samples_minima or limits > 1)


def wedge_in_five_dimensions(x: Array) -> tuple[float, list[float]]:
    """A minimum where five limits meet: f is linear, and what is allowed narrows towards it."""
    turns = np.eye(5) * 1.25 - 0.2
    return float(-x.sum()), [float(v) for v in turns @ x + 0.1 * x**2 - 0.25]


@pytest.mark.parametrize("seed", [0, 1])
def test_where_many_limits_meet_the_search_goes_to_the_corner(seed: int) -> None:
    opt = Optimizer([(0.0, 1.0)] * 5, 30, 6, constraints=5, seed=seed)
    opt.tell(np.full(5, 0.2), *wedge_in_five_dimensions(np.full(5, 0.2)), billed=False)
    for _ in range(30):
        asked = opt.ask()
        opt.tell(asked, *wedge_in_five_dimensions(asked.x))
    corner = np.roots([0.1, 1.25 - 5 * 0.2, -0.25]).max()  # where all five are active
    assert opt.best is not None
    assert 0.0 <= opt.best.value + 5 * corner < 1e-3 * 5 * corner
