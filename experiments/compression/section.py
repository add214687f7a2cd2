"""Figure 3 (a) and what the lines of network compression say: errors, sizes, failures, noise of a size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..paper import fig3
from ..paper.tables import TITLES
from ..reporting.page import Assets, Part, Section, Table, Text
from ..runs.methods import LABELS
from ..runs.records import Line
from ..runs.settings import BUDGETS
from ..runs.statistics import Cell, exhausted_at, paired

LIMIT = 15.0  # kB
BEFORE_IT_WAS_NAMED = "NVIDIA H200"  # the GPU of the lines that do not say
PAPER_BEST = (0.76, 12.4)  # §5.3: validation error in %, size in kB
CORNER = 3e-8  # β below which the size is hardly paid for
NEAR = 0.02  # decades of β, χ and κ between settings that are as good as the same


def section(lines: Sequence[Line], assets: Assets) -> Section | None:
    """The figure, the tables and their reading; all repetitions, whichever seeds the tables have."""
    parts: list[Part] = []
    for family in ("compression", "compression-reduced"):
        group = fig3.group_of(lines, family, "default")
        if group:
            parts += _parts(family, group, assets)
    return Section("Figure 3 (a): a network in fifteen kilobytes", parts) if parts else None


def _parts(family: str, group: Sequence[Cell], assets: Assets) -> list[Part]:
    trials, failures = BUDGETS["compression"].value
    caption = (
        f"{TITLES[family].capitalize()}: validation error of the best network below 15 kB so far, geometric "
        "mean over the repetitions; band and bars are one standard deviation of its logarithm. Until there "
        "is one, the worst error that the run saw counts. A run that is stopped keeps its last."
    )
    title = f"{TITLES[family].capitalize()}, T = {trials}, B = {failures}, tumble's defaults"
    each = (
        "method",
        "repetition",
        "validation error %",
        "test error %",
        "size kB",
        "trials",
        "failures",
        "ended by",
    )
    return [
        Text(_task(group)),
        assets.save(fig3.figure({family: group}), f"fig3-{family}", caption),
        Table(title, fig3.header("validation error %"), fig3.page_rows(group)),
        Text(_ranking(group)),
        Table("The best safe network of each run", each, [_row(x) for cell in group for x in cell.lines]),
        Text(_overrun(group)),
    ]  # fmt: skip


def _task(group: Sequence[Cell]) -> str:
    every = [line for cell in group for line in cell.lines]
    trainings = {_setting(t) for line in every for t in line["trainings"]}
    gpus = ", ".join(sorted({line.get("gpu") or BEFORE_IT_WAS_NAMED for line in every}))
    longest = max(line["wall"] for line in every)
    return (
        "A Bayesian LeNet-5 on MNIST: β, the learning rate χ and the scale κ of all widths for the smallest "
        f"validation error of a network below {LIMIT:.0f} kB. {len(every)} runs with {len(trainings)} "
        f"trainings, side by side on one GPU ({gpus}); the longest run took {longest:.0f} s. The paper "
        f"prints {PAPER_BEST[0]} % at {PAPER_BEST[1]} kB as XsF's best safe observation, and nothing else."
    )


def _ranking(group: Sequence[Cell]) -> str:
    by_method = {cell.method: cell for cell in group}
    text = "A run that found no safe network counts its worst error."
    if "xsf" not in by_method:
        return text
    ours = by_method["xsf"]
    errors = ours.values("final")
    listed = ", ".join(f"{e:.3f}" for e in errors)
    text = f"XsF's best safe errors are {listed} %, {errors.mean():.3f} % on average. " + text
    for method, cell in by_method.items():
        if method != "xsf":
            text += f" {paired(ours, cell, 'final').beside(LABELS[method])}"
            median = float(np.median(cell.values("final")))
            lower = "lower" if np.median(errors) < median else "higher"
            text += f", its median {lower} ({np.median(errors):.3f} and {median:.3f})."
    if len(errors) == 5:
        text += " With five pairs the test cannot fall below p = 0.0625 even if all five agree."
    return text


def _row(line: Line) -> list[str]:
    best = line["best"]
    found = ["none", "none", "none"]
    if best is not None:
        found = [f"{best['error']:.3f}", f"{best['test_error']:.3f}", f"{best['size_kb']:.1f}"]
    ended = "the budget" if line["stopped"] == "budget" else "T"
    return [
        LABELS[line["method"]],
        str(line["seed"]),
        *found,
        str(line["n_trials"]),
        str(line["n_failures"]),
        ended,
    ]


def _overrun(group: Sequence[Cell]) -> str:
    """What happened after the budget was spent, and how well a size is known."""
    ours = next((cell for cell in group if cell.method == "xsf"), None)
    text = "EIC and PESC are stopped when B failures are spent; XsF goes on. "
    over = [line for line in ours.lines if line["beyond"]] if ours is not None else []
    runs = 0 if ours is None else len(ours.lines)
    if not over:
        return text + "No run of XsF made more than B failures."
    worst = max(over, key=lambda line: line["n_failures"])
    spent = exhausted_at(worst)
    assert spent is not None
    claimed, sizes = worst["p_safe"][spent:], [t["size_kb"] for t in worst["trainings"][spent:]]
    text += (
        f"{len(over)} of its {runs} runs made more than B = {worst['failures']} failures, the worst "
        f"{worst['n_failures']}: when its budget was spent after {spent} trials, no setting was known to be "
        f"safe enough, and the {len(claimed)} trials left went to the safest ones it knew, with P(safe) from "
        f"{min(claimed):.2f} to {max(claimed):.2f}; their sizes came out between {min(sizes):.1f} and "
        f"{max(sizes):.1f} kB. The model said so, and that is of no use to the budget: "
        '`on_exhausted="stop"` would have ended the run there.'
    )
    noise = [n for n in (_noise(group, 0.0, CORNER), _noise(group, CORNER, 1.0)) if n is not None]
    if len(noise) == 2:
        (corner, few), (elsewhere, fewer) = noise
        text += (
            f" The size is noisy: between settings as good as the same (within {NEAR:g} decades, same "
            f"repetition) its standard deviation at 15 kB is {LIMIT * corner:.1f} kB where β < {CORNER:.0e}, "
            f"where size costs little ({few} pairs), and {LIMIT * elsewhere:.1f} kB elsewhere ({fewer} "
            f"{'pair' if fewer == 1 else 'pairs'})."
        )
    return text


def _setting(training: dict[str, Any]) -> tuple[float, float, float, int]:
    s = training["setting"]
    return s["beta"], s["chi"], s["kappa"], s["seed"]


def _noise(group: Sequence[Cell], low: float, high: float) -> tuple[float, int] | None:
    """Relative standard deviation of the size over pairs of near settings with β in [low, high)."""
    sizes = {
        _setting(t): t["size_kb"]
        for cell in group for line in cell.lines for t in line["trainings"]
        if t["size_kb"] is not None and low <= t["setting"]["beta"] < high
    }  # fmt: skip
    gaps = [
        np.log(sizes[a] / sizes[b])
        for a, b in combinations(sizes, 2)
        if a[3] == b[3] and np.abs(np.log10(np.divide(a[:3], b[:3]))).max() < NEAR
    ]
    return (float(np.sqrt(np.mean(np.square(gaps)) / 2.0)), len(gaps)) if gaps else None
