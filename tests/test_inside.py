"""Points within a region: found from afar, and multiplied by a walk."""

import numpy as np
import pytest

from tumble.inside import approach, find_inside, walk


def ball(radius, centre):
    return lambda x: np.linalg.norm(x - centre, axis=1) - radius


def test_a_region_that_is_never_hit_by_chance_is_approached():
    herd = np.random.default_rng(0).random((64, 5))
    found = approach(ball(1e-3, 0.3), herd, np.random.default_rng(1))
    assert len(found) > 0
    assert (np.linalg.norm(found - 0.3, axis=1) <= 1e-3).all()


def test_where_nothing_is_inside_nothing_is_found():
    assert find_inside(lambda x: np.ones(len(x)), 3).shape == (0, 3)


def test_an_excess_that_can_not_be_computed_is_outside():
    def excess(x):
        return np.where(x[:, 0] < 0.5, np.inf, x[:, 1] - 1e-3)

    found = find_inside(excess, 2)
    assert len(found) == 256
    assert (found[:, 0] >= 0.5).all()


def test_a_walk_stays_inside_and_fills_the_region():
    def is_inside(x):
        return ball(0.2, 0.5)(x) <= 0.0

    points = walk(is_inside, np.full((1, 2), 0.5), 500, np.random.default_rng(0), 200)
    radius = np.linalg.norm(points - 0.5, axis=1)
    assert (radius <= 0.2).all()
    assert np.median(radius) == pytest.approx(0.2 / np.sqrt(2.0), rel=0.1)  # uniform over the disk
    assert np.abs(points.mean(axis=0) - 0.5).max() < 0.02
