"""Figure 3: the best safe value after each trial, network compression and cart-pole; numbers, then drawing.

    python -m experiments.paper.fig3 [--lines out/experiments] [--out docs/assets/fig3.png]

prints a table of both experiments from their lines and draws the panels that have any.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..reporting import figures
from ..runs.methods import LABELS
from ..runs.records import Line
from ..runs.statistics import Cell, cells, mean_and_std, paired, sample_std
from ..runs.store import Store
from .tables import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
PANELS = {
    "compression": "best safe validation error (%)",
    "compression-reduced": "best safe validation error (%), reduced protocol",
    "cartpole": "best safe cost $J$",
}


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


def filled(line: Line) -> Array:
    """As `best_safe`, but until there is a safe value the worst that the run ever saw, (T,)."""
    worst = max((10.0**y for y in line["y"] if y is not None), default=np.nan)
    found = best_safe(line)
    return np.where(np.isfinite(found), found, worst)


def with_finals(cell: Cell) -> Cell:
    """The cell with each line's final value as ``final``: the worst value seen where none was safe."""
    lines = tuple({**line, "final": float(filled(line)[-1])} for line in cell.lines)
    return replace(cell, lines=lines)


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


def header(value: str) -> list[str]:
    """The columns of `page_rows`."""
    return ["method", "n", f"{value}, mean ± std", "median", "none safe", "p (XsF lower)", "Ω %",
            "failures (most)", "budget spent", "above B"]  # fmt: skip


def page_rows(group: Sequence[Cell]) -> list[list[str]]:
    """A row for each method of a family and block, paired with XsF; the lowest mean is bold."""
    ours = next((cell for cell in group if cell.method == "xsf"), None)
    lowest = min(float(cell.values("final").mean()) for cell in group)
    result = []
    for cell in group:
        final, failures = cell.values("final"), cell.values("n_failures")
        text = mean_and_std(final, number)
        p = "-"
        if ours is not None and ours is not cell:
            test = paired(ours, cell, "final")
            p = f"{test.p:.2g} ({test.lower} of {test.n})"
        result.append([
            LABELS[cell.method], str(len(final)), f"**{text}**" if final.mean() == lowest else text,
            number(float(np.median(final))),
            f"{sum(all(line['failed']) for line in cell.lines)} of {len(final)}", p,
            f"{cell.values('omega').mean():.0f}", f"{failures.mean():.1f} ({failures.max():.0f})",
            f"{cell.n_spent} of {len(final)}", f"{np.count_nonzero(cell.values('beyond'))} of {len(final)}",
        ])  # fmt: skip
    return result


def group_of(lines: Iterable[Line], family: str, block: str, seeds: range | None = None) -> list[Cell]:
    """The cells of a family and block with their final values, by method."""
    found = (c for c in cells(lines, seeds).values() if (c.family, c.block) == (family, block))
    return [with_finals(cell) for cell in sorted(found, key=lambda cell: cell.method)]


def panel(axes: Any, family: str, group: Sequence[Cell]) -> None:
    """Geometric mean over the repetitions, one standard deviation (of the logarithm) either side."""
    for shift, cell in enumerate(group):
        logs = np.log10([filled(line) for line in cell.lines])
        trials = np.arange(1, logs.shape[1] + 1)
        mean, std = logs.mean(axis=0), sample_std(logs)
        style = {**figures.COMMON, **figures.STYLES[cell.method]}
        every = max(1, len(trials) // 7)
        axes.plot(trials, 10.0**mean, label=LABELS[cell.method], markevery=(shift, every), **style)
        if cell.method == "xsf":
            band = 10.0 ** (mean - std), 10.0 ** (mean + std)
            axes.fill_between(trials, *band, color=style["color"], alpha=0.15, linewidth=0)
        else:
            places = trials[shift::every] - 1
            bars = 10.0 ** np.stack([mean - std, mean + std])[:, places]
            axes.vlines(trials[places], *bars, color=style["color"], linewidth=0.8)
    regulator = [line["lqr_cost"] for cell in group for line in cell.lines if "lqr_cost" in line]
    if regulator:
        axes.axhline(np.mean(regulator), color="#555555", linestyle="--", linewidth=0.9)
        axes.annotate(
            "best linear-quadratic regulator", (1.0, float(np.mean(regulator))),
            xycoords=("axes fraction", "data"), xytext=(0, -10), textcoords="offset points", ha="right",
            fontsize=8,
        )  # fmt: skip
    axes.set_yscale("log")
    figures.finish(axes, PANELS[family], xlabel="trial $t$")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, fontsize=9)


def figure(groups: Mapping[str, Sequence[Cell]]) -> Figure:
    """A panel for each family."""
    from matplotlib.ticker import ScalarFormatter

    drawing = figures.new_figure(4.8 * len(groups) + 0.6, 3.6)
    every = drawing.subplots(1, len(groups), squeeze=False)
    for axes, (family, group) in zip(every[0], groups.items(), strict=True):
        panel(axes, family, group)
        if family != "cartpole":  # within a decade
            axes.yaxis.set_major_formatter(ScalarFormatter())
            axes.yaxis.set_minor_formatter(ScalarFormatter())
    return drawing


def draw(
    lines: Iterable[Line], path: Path, block: str = "default", seeds: range | None = None
) -> Path | None:
    """Draw the panels of which there are lines; None where there are none."""
    known = list(lines)
    groups = {family: group for family in PANELS if (group := group_of(known, family, block, seeds))}
    if not groups:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    figure(groups).savefig(path, dpi=110)
    return path


def main(arguments: list[str] | None = None) -> int:
    """Print the table and draw the figure."""
    parser = argparse.ArgumentParser(prog="python -m experiments.paper.fig3", description=__doc__)
    parser.add_argument("--lines", type=Path, default=Path("out/experiments"))
    parser.add_argument("--out", type=Path, default=Path("docs/assets/fig3.png"))
    options = parser.parse_args(arguments)
    lines = list(Store(options.lines).lines())
    print(table(rows(lines)))
    print(draw(lines, options.out) or "no lines of these experiments yet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
