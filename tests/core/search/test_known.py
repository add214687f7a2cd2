"""Known constraints in the search: candidates inside, climbs behind a wall, and a polish along it."""

import numpy as np
import pytest

from tests.toys import context_of, history
from tumble.core.search.known import Known
from tumble.core.search.maximize import Maxima, maximize
from tumble.core.settings import Settings

SMALL = Settings(raw_samples=64, restarts=4, grid=32, n_minima=6)


def disk(x):
    return np.asarray(np.square(x).sum(axis=1) <= 0.25)


def known(allows=disk, dim=2):
    points = np.random.default_rng(0).random((4000, dim))
    return Known(allows, points[allows(points)][:256])


def slope(x):
    return x.sum(axis=1), np.ones_like(x)


def test_points_that_are_not_allowed_are_dropped_and_replaced():
    limits, rng = known(), np.random.default_rng(0)
    points = rng.random((100, 2))
    kept = limits.keep(points)
    assert 0 < len(kept) < 50
    filled = limits.fill(points, 100, rng)
    assert len(filled) == 100
    assert disk(filled).all()
    np.testing.assert_array_equal(filled[: len(kept)], kept)
    assert len(limits.fill(points, 5, rng)) == len(kept)
    assert limits.keep(points[:0]).shape == (0, 2)


def test_a_climb_does_not_pass_the_wall():
    limits = known()
    found = maximize(limits.within(slope), limits.inside[:8])
    assert disk(found.points).all()
    assert np.isfinite(found.values).all()


def test_a_wall_hides_the_function_behind_it():
    calls = []

    def fun(x):
        calls.append(len(x))
        return slope(x)

    value, grad = known().within(fun)(np.array([[0.1, 0.1], [0.9, 0.9]]))
    np.testing.assert_array_equal(value, [0.2, -np.inf])
    np.testing.assert_array_equal(grad, [[1.0, 1.0], [0.0, 0.0]])
    value, _ = known().within(fun)(np.array([[0.9, 0.9]]))
    np.testing.assert_array_equal(value, [-np.inf])
    assert calls == [1]


def test_polish_follows_the_wall_to_the_best_point_on_it():
    limits, start = known(), np.array([[0.49, 0.05]])
    found = limits.polish(
        Maxima(start, slope(start)[0]), lambda x: slope(x)[0], np.full(2, 0.5), np.ones(2, dtype=bool),
        np.random.default_rng(0),
    )  # fmt: skip
    assert disk(found.points).all()
    assert found.values.max() == pytest.approx(np.sqrt(0.5), abs=0.02)
    held = limits.polish(
        Maxima(start, slope(start)[0]), lambda x: slope(x)[0], np.full(2, 0.5), np.array([False, True]),
        np.random.default_rng(0),
    )  # fmt: skip
    assert (held.points[:, 0] == 0.49).all()


def test_the_best_point_is_one_that_is_allowed_when_it_is_looked_at_alone():
    def moody(x):
        return np.ones(len(x), dtype=bool) if len(x) > 1 else x[:, 0] <= 0.3

    limits = Known(moody, np.array([[0.1]]))
    points = np.array([[0.2], [0.9], [0.3]])
    assert limits.best(Maxima(points, np.array([1.0, 3.0, 2.0]))) == [0.3]
    assert limits.best(Maxima(points[1:2], np.array([1.0]))) == [0.1]


def test_candidates_are_allowed_even_where_the_trials_are_not():
    X = np.random.default_rng(1).random((8, 2)) * 0.4 + 0.6
    plain = context_of(history(X, y=X.sum(axis=1)), SMALL)
    limits = known(lambda x: x.sum(axis=1) <= 0.2)
    context = type(plain).of(plain.history, plain.models, SMALL, np.random.default_rng(0), known=limits)
    assert len(context.candidates) >= SMALL.raw_samples
    assert (context.candidates.sum(axis=1) <= 0.2).all()
