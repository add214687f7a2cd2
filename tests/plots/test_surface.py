"""Margins, importance and the surface: numbers first, then drawn with matplotlib."""

from __future__ import annotations

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from tests.toys import small_optimizer
from tumble import Optimizer, plots
from tumble.errors import InputError

mpl.use("agg")


def linear_optimizer() -> Optimizer:
    """A value that hangs on x0 alone, and a limit on x1."""
    opt = Optimizer([(0.0, 1.0), (0.0, 1.0)], trials=12, failures=4, constraints=["g"], seed=0)
    for a, b in ((0.1, 0.1), (0.9, 0.2), (0.5, 0.9), (0.2, 0.6), (0.7, 0.4), (0.4, 0.3)):
        opt.tell([a, b], 3.0 * a, constraints=[b - 0.7])
    return opt


def test_what_hangs_on_a_parameter_is_found() -> None:
    found = plots.importance_data(linear_optimizer())
    assert found.name == ["x0", "x1"]
    assert found.value[0] > 0.9 > 0.1 > found.value[1]
    assert found.p_safe[1] > found.p_safe[0]


def test_margins_are_minus_g() -> None:
    (margins,) = plots.margins_data(linear_optimizer())
    assert margins.name == "g"
    assert margins.margin == pytest.approx([0.6, 0.5, -0.2, 0.1, 0.3, 0.4])
    assert margins.failed == [False, False, True, False, False, False]


def test_the_surface_has_its_edge_and_all_three_are_drawn() -> None:
    opt = linear_optimizer()
    surface = plots.surface_data(opt, points=9)
    assert surface is not None
    assert (surface.names, len(surface.mean), len(surface.mean[0])) == (("x0", "x1"), 9, 9)
    assert surface.p_safe[0][0] > 0.5 > surface.p_safe[-1][0]
    top, middle, bottom = Figure().subplots(3)
    plots.draw_surface(top, surface)
    plots.draw_importance(middle, plots.importance_data(opt))
    plots.draw_margins(bottom, plots.margins_data(opt)[0])
    assert top.get_xlabel() == "x0"


def test_nothing_is_drawn_before_anything_was_told_and_words_have_no_surface() -> None:
    opt = Optimizer([(0.0, 1.0)], seed=0)
    assert plots.importance_data(opt).name == []
    assert plots.surface_data(opt) is None
    words = small_optimizer()
    names = [n for n, p in words.space.parameters.items() if hasattr(p, "choices")]
    if names:
        with pytest.raises(InputError, match="two parameters that are numbers"):
            plots.surface_data(words, names=(names[0], names[0]))
