"""What of the paper holds and what does not: sentences whose every number comes from the lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..reporting.page import Part, Section, Table, Text
from ..runs import methods
from ..runs.methods import LABELS
from ..runs.records import Line
from ..runs.statistics import Cell, Cells, by_method, cells, mean_and_std, paired
from . import draws
from . import printed as paper
from .tables import BLOCK_TITLES, CONSTRAINED, TITLES, number, order_of

FREE_FAMILIES = ("hartmann6", "michalewicz10", "in-model-free")
LIMITED_FAMILIES = ("hartmann6-constrained", "michalewicz10-constrained", "in-model")


def section(lines: Sequence[Line], seeds: range | None) -> Section | None:
    """The rankings in one table, then why they differ, then the three questions asked of XsF."""
    found = cells(lines, seeds)
    rankings = _rankings(found)
    if not rankings:
        return None
    say: Sequence[Callable[[Cells, Sequence[Line]], str]] = (
        _as_printed, _baselines, _model, _bound, _significance, _failures, _safe_share,
    )  # fmt: skip
    header = ("problem", "settings", "order in the paper", "order here", "Xs or XsF beside the best other")
    parts: list[Part] = [Table("Rankings by mean regret, lowest first", header, rankings)]
    parts += [Text(text) for text in (one(found, lines) for one in say) if text]
    return Section("What holds, and what does not", parts)


def _rankings(found: Cells) -> list[list[str]]:
    rows = []
    for family in FREE_FAMILIES + LIMITED_FAMILIES:
        ours, names = ("xs", methods.FREE) if family in FREE_FAMILIES else ("xsf", CONSTRAINED)
        for block in BLOCK_TITLES:
            run = by_method(found, family, names, block)
            if ours in run and len(run) > 1:
                order = sorted(run, key=lambda m: _mean(run[m]))
                printed = sorted(run, key=lambda m: paper.TABLES[family, m].regret[0])
                texts = [TITLES[family], BLOCK_TITLES[block], order_of(printed), order_of(order)]
                rows.append([*texts, _verdict(run, order, ours)])
    return rows


def _verdict(run: dict[str, Cell], order: Sequence[str], ours: str) -> str:
    rival = next(m for m in order if m != ours)
    test = paired(run[ours], run[rival])
    how = "worse than" if test.worse else "better than" if test.better else "level with"
    values = f"{number(test.mean)} and {number(test.other_mean)}, p = {test.p:.2g}, n = {test.n}"
    return f"{how} {LABELS[rival]} ({values})"


def _as_printed(found: Cells, lines: Sequence[Line]) -> str:
    """Whether Xs with the printed settings comes near the printed regret."""
    texts = []
    for family in FREE_FAMILIES:
        cell, printed = found.get((family, "xs", "paper")), paper.TABLES[family, "xs"].regret
        if cell is not None:
            texts.append(f"{TITLES[family]} {_spread(cell)} (the paper {printed[0]:.2f} ± {printed[1]:.2f})")
    if not texts:
        return ""
    return (
        f"**Xs is not reproduced with its printed settings.** Its regret: {'; '.join(texts)}. Likely causes: "
        "the printed law of f* takes 1000 points as independent, which puts f* far below anything possible, "
        "so that the search explores too long; and an assumed noise of 0.01 is a brake on functions that "
        "have none. The defaults replace both, among other things."
    )


def _baselines(found: Cells, lines: Sequence[Line]) -> str:
    """EI here beside EI there."""
    texts = []
    for family in FREE_FAMILIES[:2]:
        printed = paper.TABLES[family, "ei"].regret
        ours = [
            f"{_spread(found[family, 'ei', block])} with {title}"
            for block, title in BLOCK_TITLES.items()
            if (family, "ei", block) in found
        ]
        if ours:
            texts.append(
                f"{TITLES[family]} {printed[0]:.2f} ± {printed[1]:.2f} there, {', '.join(ours)} here"
            )
    if not texts:
        return ""
    return (
        f"**On Hartmann 6D the paper's EI was a weak baseline.** EI: {'; '.join(texts)}. A spread of 0.00 "
        "over 50 seeds says that all of them ended in the same place; to be ahead of such an EI says little. "
        f"{_beside(found)}"
    )


def _beside(found: Cells) -> str:
    """Xs beside EI, seed by seed."""
    texts = []
    for family, (block, title) in product(FREE_FAMILIES, BLOCK_TITLES.items()):
        run = by_method(found, family, ("ei", "xs"), block)
        if len(run) == 2:
            test = paired(run["xs"], run["ei"])
            texts.append(
                f"{TITLES[family]} with {title} in {test.lower} of {test.n} seeds (p = {test.p:.2g}; "
                f"medians {_median(run['xs'])} and {_median(run['ei'])})"
            )
    return f"Xs ends below our EI on {'; '.join(texts)}." if texts else ""


def _model(found: Cells, lines: Sequence[Line]) -> str:
    """The spread among methods beside that between models."""
    texts = []
    for family in FREE_FAMILIES[:2]:
        means = {
            block: [_mean(cell) for cell in by_method(found, family, methods.FREE, block).values()]
            for block in BLOCK_TITLES
        }
        if all(means.values()):
            worst, best = max(means["default"]), min(means["paper"])
            texts.append(
                f"on {TITLES[family]} the worst of the five methods with the defaults has {number(worst)}, "
                f"the best of them with the paper's settings {number(best)}"
            )
    if not texts:
        return ""
    return f"**The model matters more than the acquisition function**: {'; '.join(texts)}."


def _bound(found: Cells, lines: Sequence[Line]) -> str:
    """Table 3's regret is against -4, which the draws do not reach."""
    texts = []
    for family, ours in (("in-model-free", "xs"), ("in-model", "xsf")):
        own, cell = draws.smallest(lines, family), found.get((family, ours, "paper"))
        if own is not None and cell is not None:
            printed = paper.TABLES[family, ours].regret
            texts.append(
                f"{TITLES[family]}: {mean_and_std(own, '{:.2f}'.format)} for the optimum itself, "
                f"{_spread(cell)} for {LABELS[ours]} with its printed settings, "
                f"{printed[0]:.2f} ± {printed[1]:.2f} in print"
            )
    if not texts:
        return ""
    return (
        "**Table 3's printed values for Xs and XsF are out of reach here.** Regret there is against -4, not "
        f"against each draw's minimum. {'; '.join(texts)}. On these draws, made as App. E says, nothing that "
        "searches them can average what is printed; only the order within our columns says something."
    )


def _significance(found: Cells, lines: Sequence[Line]) -> str:
    """Where XsF with the defaults is significantly worse than the best other method, and why."""
    worse: list[str] = []
    level: list[str] = []
    better: list[str] = []
    for family in LIMITED_FAMILIES:
        run = by_method(found, family, CONSTRAINED, "default")
        if "xsf" not in run or len(run) < 2:
            continue
        rival = min((m for m in run if m != "xsf"), key=lambda m: _mean(run[m]))
        test = paired(run["xsf"], run[rival])
        if test.worse:
            text = (
                f"on {TITLES[family]} than {LABELS[rival]} ({number(test.mean)} and "
                f"{number(test.other_mean)}, p = {test.p:.2g}), where the two make {_failed(run['xsf'])} and "
                f"{_failed(run[rival])} failures of {run['xsf'].lines[0]['failures']}"
            )
            if not run[rival].n_spent:
                text += f"; {LABELS[rival]} never spends the budget, which hardly binds here"
            worse.append(text)
        else:
            what = f"{TITLES[family]} (p = {test.p:.2g} beside {LABELS[rival]})"
            (better if test.better else level).append(what)
    if not worse and not level and not better:
        return ""
    return (
        "**Is XsF with the defaults significantly worse in regret than the best method for constraints?** "
        + (f"Yes, {'; '.join(worse)}. " if worse else "No. ")
        + (f"No difference is significant on {', '.join(level)}. " if level else "")
        + (f"XsF is significantly better on {', '.join(better)}." if better else "")
    ).strip()


def _failures(found: Cells, lines: Sequence[Line]) -> str:
    """Whether any run of XsF made more than B failures, by block."""
    texts = []
    for block, title in BLOCK_TITLES.items():
        group = [c for (f, m, b), c in found.items() if (m, b) == ("xsf", block) and f in LIMITED_FAMILIES]
        beyond = np.concatenate([c.values("beyond") for c in group]) if group else np.empty(0)
        if len(beyond):
            texts.append(f"with {title} {_beyond(beyond)}")
    if not texts:
        return ""
    return (
        f"**Does XsF make more than B failures?** In Tables 1 and 3 {'; '.join(texts)}. The printed rule "
        "goes on at ρ_safe = 0.99 when no failure is left, and takes the model's word for it." + _real(lines)
    )


def _beyond(beyond: NDArray[np.float64]) -> str:
    most = f", by {beyond.max():.0f} at most" if beyond.any() else ""
    return f"in {np.count_nonzero(beyond)} of {len(beyond)} runs{most}"


def _real(lines: Sequence[Line]) -> str:
    """The same for the two problems of Figure 3, whose repetitions are their own."""
    found, texts = cells(lines), []
    for family in ("compression", "cartpole"):
        cell = found.get((family, "xsf", "default"))
        if cell is not None:
            texts.append(f"{TITLES[family]} {_beyond(cell.values('beyond'))}")
    if not texts:
        return ""
    return (
        f" In Figure 3, with the defaults: {'; '.join(texts)}. With nothing found that is surely safe, to go "
        "on is to guess; the sections below tell those runs."
    )


def _safe_share(found: Cells, lines: Sequence[Line]) -> str:
    """Ω of XsF beside the methods that exhaust the budget in some run."""
    texts, higher = [], True
    for family in LIMITED_FAMILIES:
        run = by_method(found, family, CONSTRAINED, "default")
        rivals = {m: cell for m, cell in run.items() if m != "xsf" and cell.n_spent}
        if "xsf" in run and rivals:
            own = float(run["xsf"].values("omega").mean())
            others = {m: float(cell.values("omega").mean()) for m, cell in rivals.items()}
            higher = higher and own > max(others.values())
            texts.append(
                f"{TITLES[family]} {own:.0f} % beside "
                + ", ".join(f"{LABELS[m]} {o:.0f} %" for m, o in others.items())
            )
    if not texts:
        return ""
    return (
        "**Is Ω of XsF higher than that of every method that spends the budget?** "
        f"{'Yes' if higher else 'No'}, with the defaults: {'; '.join(texts)}."
    )


def _mean(cell: Cell) -> float:
    return float(cell.values("regret").mean())


def _median(cell: Cell) -> str:
    return number(float(np.median(cell.values("regret"))))


def _spread(cell: Cell) -> str:
    return mean_and_std(cell.values("regret"), number)


def _failed(cell: Cell) -> str:
    return f"{cell.values('n_failures').mean():.1f}"
