"""The numbers of the trials."""

import pytest
from matplotlib.figure import Figure

import tumble
from tests.toys import small_optimizer
from tumble import plots


def test_progress_is_the_best_safe_value_so_far() -> None:
    data = plots.progress_data(small_optimizer(), sign=-1.0)
    assert data.best == [-3.0, -3.0, -2.5, -2.5, -1.0]
    assert data.value == [-3.0, -2.0, -2.5, None, -1.0]
    assert data.failed == [False, True, False, True, False]


def test_the_budget_falls_with_each_failure_and_asks_for_more_safety_after_it() -> None:
    data = plots.budget_data(small_optimizer())
    assert data.number == [0, 1, 2, 3, 4, 5]
    assert data.failures_left == [3, 3, 2, 2, 1, 1]
    assert data.rho[2] > data.rho[1]
    assert data.rho[0] == pytest.approx(0.1)


def test_forecasts_are_counted_in_their_bins() -> None:
    data = plots.forecast_data(small_optimizer())
    assert sum(data.count) == 5
    assert all(low <= p <= high for low, p, high in zip(data.low, data.predicted, data.high, strict=True))
    empty = plots.forecast_data(tumble.Optimizer([[0, 1]]))
    assert empty.count == []


def test_the_marks_of_a_narrow_range_differ() -> None:
    opt = tumble.Optimizer([(2500.0, 2500.4), (2.4e9, 2.401e9)], trials=3, seed=0)
    for value in (2500.01, 2500.02):
        opt.tell(opt.ask(), value)
    first, second = plots.coordinates_data(opt).ticks
    assert [text for _, text in first] == ["2500", "2500.1", "2500.2", "2500.3", "2500.4"]
    assert len({text for _, text in second}) == 5
    ax = Figure().add_subplot()
    plots.draw_coordinates(ax, plots.coordinates_data(opt))
    assert [text.get_text() for text in ax.texts][-2:] == ["2500.01", "2500.02"]


def test_coordinates_lie_between_0_and_1() -> None:
    data = plots.coordinates_data(small_optimizer())
    assert data.names == ["x", "n", "c"]
    assert all(0 <= place <= 1 for column in data.columns for place in column)
    assert [text for _, text in data.ticks[2]] == ["a", "b"]
    assert data.failed == [False, True, False, True, False]
    assert data.crashed == [False, False, False, True, False]
