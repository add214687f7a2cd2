"""Figure 3: the best safe value after each trial, network compression and cart-pole; numbers, then drawing.

    python -m experiments.fig3 [--lines out/experiments] [--out docs/assets/fig3.png]

prints a table of both experiments from their lines and draws the panels that have any.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .methods import LABELS
from .records import Line
from .statistics import Cell, cells, paired
from .store import Store

Array = NDArray[np.float64]
PANELS = {
    "compression": "validation error (%)",
    "compression-reduced": "validation error (%), reduced protocol",
    "cartpole": "cost J",
}
COLOURS = {"eic": "#7a6bb0", "pesc": "#c98b2c", "safe-set": "#5b7f95", "xsf": "#b5452c"}


@dataclass(frozen=True)
class Row:
    """A method on one problem: final values over the repetitions, failures, and a paired comparison.

    p: of Wilcoxon's test against the method with the smallest median, None for that method itself.
    """

    family: str
    block: str
    method: str
    n: int
    mean: float
    median: float
    failures: float
    most_failures: int
    p: float | None


def best_safe(line: Line) -> Array:
    """The best safe value so far after each of the T trials, 10 to the power of the objective, (T,).

    NaN until there is one; a run that was stopped keeps its last.
    """
    found = np.full(line["trials"], np.nan)
    best = np.nan
    for i in range(line["trials"]):
        if i < len(line["y"]) and line["y"][i] is not None and not line["failed"][i]:
            best = np.fmin(best, 10.0 ** line["y"][i])
        found[i] = best
    return found


def with_finals(cell: Cell) -> Cell:
    """The cell with each line's final value as ``final``: the worst value seen where none was safe."""
    lines = []
    for line in cell.lines:
        final = best_safe(line)[-1]
        worst = max((10.0**y for y in line["y"] if y is not None), default=np.nan)
        lines.append({**line, "final": float(final if np.isfinite(final) else worst)})
    return replace(cell, lines=tuple(lines))


def rows(lines: Iterable[Line], seeds: range | None = None) -> list[Row]:
    """One row for each problem, block and method."""
    found = {key: with_finals(cell) for key, cell in cells(lines, seeds).items() if key[0] in PANELS}
    result = []
    for (family, method, block), cell in sorted(found.items(), key=lambda item: item[0]):
        rivals = [c for c in found.values() if (c.family, c.block) == (family, block)]
        leader = min(rivals, key=lambda c: float(np.median(c.values("final"))))
        final, failures = cell.values("final"), cell.values("n_failures")
        p = None if leader is cell else paired(cell, leader, "final").p
        result.append(
            Row(
                family, block, method, len(final), float(final.mean()), float(np.median(final)),
                float(failures.mean()), int(failures.max()), p,
            )
        )  # fmt: skip
    return result


def table(found: Sequence[Row]) -> str:
    """The rows as text."""
    head = f"{'problem':21}{'settings':10}{'method':10}{'n':>3}{'mean':>10}{'median':>10}  failures (most)  p"
    body = [
        f"{r.family:21}{r.block:10}{LABELS[r.method]:10}{r.n:3}{r.mean:10.3g}{r.median:10.3g}"
        f"{r.failures:12.1f} ({r.most_failures:2})  {'best' if r.p is None else format(r.p, '.2g')}"
        for r in found
    ]
    return "\n".join([head, *body])


def panel(axes: Any, family: str, group: Sequence[Cell]) -> None:
    """Mean over the repetitions and, shaded, one standard deviation (of the logarithm) either side."""
    for cell in group:
        with np.errstate(invalid="ignore"):
            logs = np.log10([best_safe(line) for line in cell.lines])
        known = np.isfinite(logs).all(axis=0)
        trials = np.arange(1, logs.shape[1] + 1)[known]
        mean, std = logs[:, known].mean(axis=0), logs[:, known].std(axis=0)
        colour = COLOURS[cell.method]
        axes.plot(trials, 10.0**mean, color=colour, label=LABELS[cell.method])
        axes.fill_between(trials, 10.0 ** (mean - std), 10.0 ** (mean + std), color=colour, alpha=0.15, lw=0)
    axes.set(yscale="log", xlabel="trial", ylabel=PANELS[family])
    axes.legend(frameon=False)


def draw(
    lines: Iterable[Line], path: Path, block: str = "default", seeds: range | None = None
) -> Path | None:
    """Draw the panels of which there are lines; None where there are none."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = [cell for cell in cells(lines, seeds).values() if cell.family in PANELS and cell.block == block]
    families = [family for family in PANELS if any(cell.family == family for cell in found)]
    if not families:
        return None
    figure, axes = plt.subplots(
        1, len(families), figsize=(5 * len(families), 3.4), layout="constrained", squeeze=False
    )
    for ax, family in zip(axes[0], families, strict=True):
        panel(ax, family, sorted((c for c in found if c.family == family), key=lambda c: c.method))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def main(arguments: list[str] | None = None) -> int:
    """Print the table and draw the figure."""
    parser = argparse.ArgumentParser(prog="python -m experiments.fig3", description=__doc__)
    parser.add_argument("--lines", type=Path, default=Path("out/experiments"))
    parser.add_argument("--out", type=Path, default=Path("docs/assets/fig3.png"))
    options = parser.parse_args(arguments)
    lines = list(Store(options.lines).lines())
    print(table(rows(lines)))
    print(draw(lines, options.out) or "no lines of these experiments yet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
