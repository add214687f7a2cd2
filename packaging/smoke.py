"""What an installed wheel must be able to do where nothing else of the repository is: one short search."""

from __future__ import annotations

import tumble


def bowl(x: list[float]) -> tuple[float, list[float]]:
    """Return a bowl around (0.3, 0.3) and one limit, met where x[0] <= 0.5."""
    return (x[0] - 0.3) ** 2 + (x[1] - 0.3) ** 2, [x[0] - 0.5]


if __name__ == "__main__":
    result = tumble.minimize(bowl, bounds=[(0.0, 1.0), (0.0, 1.0)], trials=12, failures=3, seed=0)
    assert result.fun < 0.05, result
    print(f"tumble {tumble.__version__} found {result.fun:.2g} at {result.x}")
