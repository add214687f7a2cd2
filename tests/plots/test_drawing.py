"""The figures that matplotlib draws."""

from pathlib import Path

from tests.toys import small_optimizer
from tumble import plots


def test_the_overview_is_drawn_with_matplotlib(tmp_path: Path) -> None:
    figure = plots.overview(small_optimizer(), label="cost")
    figure.savefig(tmp_path / "overview.png")
    assert len(figure.axes) == 3 + 1 + 3
    assert (tmp_path / "overview.png").stat().st_size > 10_000
