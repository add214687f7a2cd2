"""Steps between admissible settings, and that the search ends where a full grid has its maximum."""

import numpy as np
import pytest

from tests.toys import context_of, smooth_history
from tumble.core.search.domain import Domain
from tumble.core.search.excursion import excursion_search
from tumble.core.search.modes import Search
from tumble.space import Categorical, Fixed, Float, Int, Space

MIXED = Space({"speed": Float(1.0, 100.0, log=True), "teeth": Int(2, 7), "bit": Categorical(("a", "b", "c"))})


def domain_of(space: Space) -> Domain:
    assert space.domain is not None
    return space.domain


def test_a_continuous_space_has_no_domain():
    assert Space({"x": Float(0.0, 1.0), "y": Fixed(3)}).domain is None


def test_neighbours_differ_by_one_step_or_one_choice():
    here = MIXED.encode({"speed": 10.0, "teeth": 2, "bit": "b"})
    found = [MIXED.decode(u) for u in domain_of(MIXED).neighbours(here)]
    assert [(s["teeth"], s["bit"]) for s in found] == [(3, "b"), (2, "a"), (2, "c")]
    assert all(s["speed"] == pytest.approx(10.0) for s in found)


@pytest.mark.parametrize(
    ("parameter", "value", "near"),
    [
        (Int(1, 100, log=True), 3, [2, 4]),
        (Int(2, 10, step=4), 10, [6]),
        (Float(0.0, 1.0, step=0.25), 0.25, [0.0, 0.5]),
        (Float(0.0, 1.0), 0.3, []),
        (Categorical((True, False)), False, [True]),
        (Fixed("oil"), "oil", []),
    ],
)
def test_each_kind_of_parameter_knows_its_neighbours(parameter, value, near):
    assert [parameter.decode(u) for u in parameter.neighbours(parameter.encode(value))] == near


def test_a_small_space_lists_every_setting_once():
    space = Space(
        {"n": Int(0, 3), "bit": Categorical(("a", "b", "c")), "oil": Fixed(1), "s": Float(0, 1, step=0.5)}
    )
    points = domain_of(space).points
    assert points is not None
    assert len({tuple(space.decode(u).items()) for u in points}) == len(points) == 4 * 3 * 3
    assert domain_of(MIXED).points is None


def test_admissible_points_are_snapped_and_different():
    rng = np.random.default_rng(0)
    points = domain_of(MIXED).admissible(np.vstack([rng.random((40, 5)), np.zeros((3, 5))]))
    np.testing.assert_array_equal(points, MIXED.snap(points))
    assert len(np.unique(points, axis=0)) == len(points)


def test_the_search_ends_where_a_full_grid_has_its_maximum():
    """Within 0.1 of a log unit, in at least 95 % of the decisions."""
    space = Space({"x": Float(0.0, 1.0), "n": Int(0, 30), "bit": Categorical(("a", "b", "c"))})
    domain = domain_of(space)
    grid = np.vstack(
        [
            space.encode({"x": x, "n": n, "bit": bit})
            for x in np.linspace(0, 1, 41)
            for n in range(31)
            for bit in "abc"
        ]
    )
    near = []
    for seed in range(20):
        X = space.snap(np.random.default_rng(seed).random((12, space.dim)))
        past = smooth_history(12, space.dim, X=X, seed=seed)
        context = context_of(past, seed=seed, domain=domain)
        acquisition = excursion_search(context)
        x = Search(context, acquisition).free()
        np.testing.assert_array_equal(x, space.snap(x[None, :])[0])
        near.append(
            acquisition.value_and_grad(x[None])[0][0] >= acquisition.value_and_grad(grid)[0].max() - 0.1
        )
    assert np.mean(near) >= 0.95
