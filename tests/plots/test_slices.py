"""The model along each parameter."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import tumble
from tests.toys import small_optimizer
from tumble import plots

mpl.use("agg")


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


def test_no_value_is_predicted_before_one_was_seen() -> None:
    opt = tumble.Optimizer([(0.0, 1.0), (0.0, 1.0)], trials=5, failures=3, constraints=["g"], seed=0)
    for _ in range(2):
        opt.tell(opt.ask(), failed=True)
    for each in plots.slices_data(opt):
        assert np.isnan([*each.mean, *each.std]).all()
        assert np.isfinite(each.p_safe).all()
    surface = plots.surface_data(opt)
    assert surface is not None
    assert np.isnan(surface.mean).all()
    assert np.isfinite(surface.p_safe).all()
    texts = [text.get_text() for ax in plots.overview(opt).axes for text in ax.texts]
    assert "0" not in texts[-2:]  # at the axis of the value
    plt.close("all")


def test_safe_ranges_are_the_stretches_that_reach_the_level() -> None:
    assert plots.safe_ranges([0, 1, 2, 3, 4], [1.0, 0.2, 0.99, 1.0, 1.0], 0.99) == [(0, 0), (2, 4)]
    assert plots.safe_ranges([0, 1], [0.0, 0.0], 0.5) == []
