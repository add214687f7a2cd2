"""The distance from a limit with two sides."""

from tumble import plots


def test_of_two_sides_the_nearer_one_is_shown() -> None:
    high = plots.Margins("t", [0, 1, 2], [3.0, -1.0, None], [2.0, 5.0, None], [0.1, 0.2, None], [False] * 3)
    low = plots.Margins("low", [0, 1, 2], [1.0, 9.0, None], [4.0, 1.0, None], [0.3, 0.4, None], [False] * 3)
    found = plots.nearer_side(high, low)
    assert (found.name, found.margin) == ("t", [1.0, -1.0, None])
    assert (found.predicted, found.std) == ([2.0, 1.0, None], [0.1, 0.4, None])
