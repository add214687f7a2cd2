"""The model along each parameter."""

import pytest

import tumble
from tests.toys import small_optimizer
from tumble import plots


def test_slices_pass_through_the_recommendation_and_agree_with_it() -> None:
    opt = small_optimizer()
    found = opt.recommend()
    assert found is not None
    slices = {s.name: s for s in plots.slices_data(opt)}
    assert slices["n"].values == [1, 2, 3, 4]
    assert slices["c"].values == ["a", "b"]
    for name in ("n", "c"):
        where = slices[name].values.index(found.x[name])
        assert slices[name].mean[where] == pytest.approx(found.mean, rel=1e-6)
        assert slices[name].p_safe[where] == pytest.approx(found.p_safe, rel=1e-6)
    assert plots.slices_data(tumble.Optimizer([[0, 1]])) == []


def test_safe_ranges_are_the_stretches_that_reach_the_level() -> None:
    assert plots.safe_ranges([0, 1, 2, 3, 4], [1.0, 0.2, 0.99, 1.0, 1.0], 0.99) == [(0, 0), (2, 4)]
    assert plots.safe_ranges([0, 1], [0.0, 0.0], 0.5) == []
