"""Every figure of a search on one sheet."""

import sys
from pathlib import Path

import pytest

import tumble
from tests.toys import small_optimizer
from tumble import plots
from tumble.space import Categorical, Float, Space


def titles(figure) -> list[str]:
    return [ax.get_title() for ax in figure.axes if ax.get_title()]


def test_the_overview_has_every_figure_of_the_page(tmp_path: Path) -> None:
    opt = small_optimizer()
    for value in (2.2, 2.1, 2.0):
        opt.tell(opt.ask(), value, [-0.5])
    figure = plots.overview(opt, label="cost")
    figure.savefig(tmp_path / "overview.png")
    assert titles(figure) == [
        "best safe value", "limit of g0", "budget of failures", "the edge of safety", "along x", "along n",
        "along c", "expected gain of what is left", "how much hangs on each", "predicted, and happened",
        "every trial through its parameters",
    ]  # fmt: skip
    assert (tmp_path / "overview.png").stat().st_size > 10_000


def test_a_figure_without_numbers_is_left_out(tmp_path: Path) -> None:
    opt = tumble.Optimizer([(0.0, 1.0)], trials=4, failures=2, seed=0)
    opt.tell(opt.ask(), failed=True)
    figure = plots.overview(opt)
    figure.savefig(tmp_path / "overview.png")
    assert "the edge of safety" not in titles(figure)
    assert "expected gain of what is left" not in titles(figure)


def test_a_name_with_a_dollar_is_written_as_it_is(tmp_path: Path) -> None:
    space = Space({"cost $/h and $^": Float(0.0, 1.0), "b": Categorical(("$_{", "y"))})
    opt = tumble.Optimizer(space, trials=8, failures=3, constraints=["$_{$"], seed=0)
    for value in range(5):
        opt.tell(opt.ask(), float(value), [-1.0])
    figure = plots.overview(opt, label="$_{$")
    figure.savefig(tmp_path / "overview.png")
    along = next(ax for ax in figure.axes if "along cost" in ax.get_title())
    assert along.get_xlabel() == r"cost \$/h and \$^"  # a \ before each $, which matplotlib takes away


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"needs Matplotlib: pip install -e '\.\[plots\]'"):
        plots.overview(small_optimizer())
