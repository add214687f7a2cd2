"""The default search: no creeping, the corner where limits meet, the best basin of several, and noise."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.test_settings import OTHERWISE
from tests.toys import context_of, history
from tumble import Optimizer, problems
from tumble.core.algorithm import propose
from tumble.core.arrays import Array
from tumble.core.budget import BudgetState
from tumble.core.history import History
from tumble.core.improvement import ExpectedImprovement
from tumble.core.search.context import Context
from tumble.core.search.default import best_measured
from tumble.core.settings import Settings
from tumble.methods import METHODS, MethodName
from tumble.space import Categorical, Int, Space

GAP = 1e-3  # `Settings.gap`: how far below η 0.1.0 put its samples of f*
BOWL = np.array([[0.05], [0.2], [0.38], [0.4], [0.401], [0.399], [0.45], [0.6], [0.7], [0.95]])


def settled(n: int) -> History:
    """`n` trials of a bowl around its minimum at 0.4, all of them safe."""
    X = BOWL[:n]
    return history(X, (X[:, 0] - 0.4) ** 2, np.full((n, 1), -1.0))


def creeping_steps(settings: Settings, method: MethodName) -> int:
    """How many of 20 trials lower the best value by GAP × spread, within 10 %; there are three limits.

    That is as far as the lowest sample of f* was from the best trial: the search had no aim of its own.
    """
    rng = np.random.default_rng(0)
    slopes, gains = rng.uniform(0.3, 1.0, (3, 2)), rng.uniform(0.5, 1.5, 2)

    def measure(x: Array) -> tuple[float, list[float]]:
        bent = [0.2 * np.sum(x[k : k + 2] ** 2) for k in range(3)]
        limits = [float(slopes[k] @ x + bent[k] - 0.45 * slopes[k].sum()) for k in range(3)]
        return float(0.3 * np.sum((x - 0.5) ** 2) - gains @ x), limits

    opt = Optimizer([(0.0, 1.0)] * 2, 20, 6, constraints=3, seed=0, settings=settings, method=method)
    start = np.full(2, 0.15)
    opt.tell(start, *measure(start), billed=False)
    steps, best = 0, measure(start)[0]
    for _ in range(20):
        asked = opt.ask()
        value, limits = measure(asked.x)
        opt.tell(asked, value, limits)
        spread = np.std([trial.value for trial in opt.trials if trial.value is not None])
        if max(limits) <= 0.0 and value < best:
            steps += bool(0.9 < (best - value) / (GAP * spread) < 1.1)
            best = value
    return steps


def test_the_search_does_not_creep_as_0_1_0_did() -> None:
    old = replace(Settings(), **OTHERWISE)
    assert creeping_steps(old, "xsf") >= 5
    assert creeping_steps(Settings(), "tumble") <= 1


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


def wedge_in_four_dimensions(x: Array) -> tuple[float, list[float]]:
    """A minimum where four limits meet: f is linear, and what is allowed narrows towards it."""
    turns = np.eye(4) * 1.25 - 0.2
    return float(-x.sum()), [float(v) for v in turns @ x + 0.1 * x**2 - 0.25]


@pytest.mark.parametrize("seed", [0, 1])
def test_where_many_limits_meet_the_search_goes_to_the_corner(seed: int) -> None:
    opt = Optimizer([(0.0, 1.0)] * 4, 20, 6, constraints=4, seed=seed)
    opt.tell(np.full(4, 0.2), *wedge_in_four_dimensions(np.full(4, 0.2)), billed=False)
    for _ in range(20):
        asked = opt.ask()
        opt.tell(asked, *wedge_in_four_dimensions(asked.x))
    corner = np.roots([0.1, 1.25 - 4 * 0.2, -0.25]).max()  # where all four are active
    assert opt.best is not None
    assert 0.0 <= opt.best.value + 4 * corner < 1e-3 * 4 * corner


@pytest.mark.parametrize("seed", [2, 15])
def test_the_first_climbs_take_their_time_so_that_the_best_basin_is_found(seed: int) -> None:
    """Climbs that halve their starts after one step end in the second basin of Hartmann's function here."""
    problem = problems.get("hartmann6")
    opt = Optimizer(problem.bounds, 100, seed=seed, method="xs")
    for x in problem.initial:
        opt.tell(x, problem.evaluate(x).value, billed=False)
    for _ in range(60):
        asked = opt.ask()
        opt.tell(asked, problem.evaluate(asked.x).value)
    assert opt.best is not None
    assert opt.best.value < problem.f_min + 0.03


@pytest.mark.parametrize("seed", [0, 1])
def test_where_every_setting_was_tried_the_best_that_is_allowed_is_tried_again(seed: int) -> None:
    space = Space({"n": Int(1, 3), "k": Categorical(("a", "b"))})
    opt = Optimizer(space, 12, 3, constraints=1, seed=seed)
    for n in (1, 2, 3):
        for k in "ab":
            opt.tell({"n": n, "k": k}, n + (k == "a"), [n - 2.5])
    for _ in range(4):
        asked = opt.ask()
        assert asked.x == {"n": 1, "k": "b"}
        assert asked.mode in ("bold", "careful")
        assert "nothing was safe yet" not in asked.why
        opt.tell(asked, 1.0, [-1.5])


@pytest.mark.parametrize(("noise", "learned"), [(0.3, False), (None, True), (0.0, False)])
def test_the_default_search_weighs_a_noise_that_is_known_or_was_learned(
    noise: float | None, learned: bool
) -> None:
    """Forty trials of a noisy bowl; its noise is given, learned, or said not to be there."""
    rng = np.random.default_rng(0)
    X = rng.random((40, 1))
    y = (X[:, 0] - 0.4) ** 2 + 0.3 * rng.standard_normal(40)
    past = history(X, y, np.full((40, 1), -1.0))
    if noise is not None:
        past = replace(past, noise=np.array([noise, np.nan]))
    weighed, plain = (
        best_measured(context_of(past, Settings(warp=False, weigh_noise=weigh))) for weigh in (True, False)
    )
    assert isinstance(weighed, ExpectedImprovement)
    assert isinstance(plain, ExpectedImprovement)
    assert plain.noise == 0.0
    assert weighed.noise == (weighed.gp.hyper.noise if noise or learned else 0.0)


def test_exact_values_are_improved_on_as_ever() -> None:
    found = best_measured(context_of(settled(10)))
    assert isinstance(found, ExpectedImprovement)
    assert found.noise == 0.0


def test_where_the_best_setting_was_measured_often_the_search_looks_farther_from_it() -> None:
    """Eight trials were made at 0.3, and its mean is known to a third of the noise by then."""
    rng = np.random.default_rng(0)
    X = np.vstack([np.full((8, 1), 0.3), [[0.0], [0.6], [1.0]]])
    y = np.append(0.3 * rng.standard_normal(8), [0.6, 0.3, 1.2])
    past = replace(history(X, y, np.full((11, 1), -1.0)), noise=np.array([0.3, np.nan]))

    def distance(weigh: bool) -> float:
        settings = Settings(weigh_noise=weigh)
        found = propose(past, BudgetState(0.0, 20, 3), METHODS["tumble"], settings, np.random.default_rng(0))
        return abs(float(found.x[0]) - 0.3)

    assert distance(True) > 1.3 * distance(False)
