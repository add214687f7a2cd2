"""Cells of Tables 1 and 3: our mean ± std beside the paper's, Ω, failures, and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from tumble.errors import InputError

from ..reporting.page import Assets, Part, Section, Table, Text
from ..runs import methods, plans
from ..runs.methods import LABELS
from ..runs.plans import Options
from ..runs.records import Line, Spec
from ..runs.statistics import Cell, Cells, by_method, cells, mean_and_std, paired
from . import printed as paper

CONSTRAINED = ("eic", "pesc", "xsf")  # the methods of the paper's tables under constraints
BLOCK_TITLES = {"paper": 'settings="paper"', "default": "tumble's defaults"}
CAPTIONS = {"paper": 'settings="paper"', "default": "tumble's defaults, hyperparameters learned"}
TITLES = {
    "hartmann6": "Hartmann 6D",
    "michalewicz10": "Michalewicz 10D",
    "hartmann6-constrained": "Hartmann 6D constrained",
    "michalewicz10-constrained": "Michalewicz 10D constrained",
    "in-model-free": "In-model draws 3D",
    "in-model": "In-model draws 3D constrained",
    "compression": "network compression",
    "compression-reduced": "network compression, reduced protocol",
    "cartpole": "cart-pole",
}


@dataclass(frozen=True)
class Group:
    """Problems and methods that are compared, and which method is ours."""

    title: str
    families: Sequence[str]
    methods: Sequence[str]
    ours: str


def parts(lines: Sequence[Line], seeds: range | None, groups: Sequence[Group]) -> list[Part]:
    """A table for each block and problem, and its ranking in words; `InputError` where states are mixed."""
    found = cells(lines, seeds)
    _check_one_state(found)
    result: list[Part] = []
    for block, group in product(BLOCK_TITLES, groups):
        for family in group.families:
            if any((family, method, block) in found for method in group.methods):
                caption = f"{TITLES[family]}, {group.title}, {CAPTIONS[block]}"
                rows = [_row(found, family, method, block, group.ours) for method in group.methods]
                result.append(Table(caption, _header(group.ours), rows))
                result.append(_ranking(found, family, group.methods, block, group.ours))
    return result + _replaced(found)


def _header(ours: str) -> list[str]:
    header = ["method", "n", "r_T", "paper", "median", f"p ({LABELS[ours]} lower)"]
    return header + (["Ω %", "paper", "failures (most)", "budget spent"] if ours == "xsf" else [])


def _row(found: Cells, family: str, method: str, block: str, ours: str) -> list[str]:
    printed = paper.TABLES.get((family, method))
    theirs = "-" if printed is None else f"{printed.regret[0]:.2f} ± {printed.regret[1]:.2f}"
    cell = found.get((family, method, block))
    if cell is None:
        return [LABELS[method], "0", "not run", theirs, *["-"] * (len(_header(ours)) - 4)]
    regret = cell.values("regret")
    text = mean_and_std(regret, number)
    best = f"**{text}**" if _best(found, family, block) is cell else text
    row = [LABELS[method], str(len(regret)), best, theirs, number(float(np.median(regret)))]
    row.append(_p_value(found, family, method, block, ours))
    return row + (_budget_texts(cell, printed) if ours == "xsf" else [])


def number(value: float) -> str:
    """Three decimals, or two digits of something smaller."""
    return f"{value:.3f}" if abs(value) >= 1e-3 or value == 0.0 else f"{value:.1e}"


def _budget_texts(cell: Cell, printed: paper.Printed | None) -> list[str]:
    omega, failures = cell.values("omega"), cell.values("n_failures")
    theirs = "-" if printed is None or printed.omega is None else "{:.0f} ± {:.0f}".format(*printed.omega)
    return [
        mean_and_std(omega, "{:.0f}".format),
        theirs,
        f"{failures.mean():.1f} ({failures.max():.0f})",
        f"{cell.n_spent} of {len(cell.lines)}",
    ]


def _best(found: Cells, family: str, block: str) -> Cell:
    candidates = [cell for (f, _, b), cell in found.items() if (f, b) == (family, block)]
    return min(candidates, key=lambda cell: float(cell.values("regret").mean()))


def _p_value(found: Cells, family: str, method: str, block: str, ours: str) -> str:
    if method == ours or (family, ours, block) not in found:
        return "-"
    test = paired(found[family, ours, block], found[family, method, block])
    return f"{test.p:.2g} ({test.lower} of {test.n})"


def _ranking(found: Cells, family: str, names: Sequence[str], block: str, ours: str) -> Text:
    """Both orders, and whether ours differs significantly from the best other method."""
    run = by_method(found, family, names, block)
    order = sorted(run, key=lambda m: float(run[m].values("regret").mean()))
    printed = sorted(
        (m for m in run if (family, m) in paper.TABLES), key=lambda m: paper.TABLES[family, m].regret[0]
    )
    text = f"{TITLES[family]}: our order {order_of(order)}; the paper's {order_of(printed)}."
    if ours in run and len(run) > 1:
        rival = next(m for m in order if m != ours)
        test = paired(run[ours], run[rival])
        how = "worse" if test.worse else "better" if test.better else ""
        verdict = f"significantly {how} than" if how else "not significantly different from"
        text += f" {LABELS[ours]} is {verdict} the best other method, {LABELS[rival]}"
        text += f" (p = {test.p:.2g}, n = {test.n})."
        if ours == "xsf":
            text += _omega_sentence(run, ours)
    return Text(text)


def _omega_sentence(run: dict[str, Cell], ours: str) -> str:
    omega = float(run[ours].values("omega").mean())
    spent = {m: float(cell.values("omega").mean()) for m, cell in run.items() if m != ours and cell.n_spent}
    beyond = run[ours].values("beyond")
    text = f" Its Ω is {omega:.0f} %"
    if spent:
        text += "; of the methods that spend the budget: " + ", ".join(
            f"{LABELS[m]} {o:.0f} %" for m, o in spent.items()
        )
    if not beyond.any():
        return f"{text}. No run of XsF has more than B failures."
    most = int(beyond.max())
    over = f"{np.count_nonzero(beyond)} of {len(beyond)}"
    return f"{text}. {over} runs of XsF have more than B failures, by {most} at most."


def order_of(names: Sequence[str]) -> str:
    """Methods from the lowest to the highest: "Xs < EI"."""
    return " < ".join(LABELS[m] for m in names)


def _replaced(found: Cells) -> list[Part]:
    """Say where lines of other settings were left out."""
    replaced = sum(cell.replaced for cell in found.values())
    if not replaced:
        return []
    return [Text(f"{replaced} lines with other settings were left out; a cell never mixes settings.")]


def _check_one_state(found: Cells) -> None:
    """All rows of a table come from one state of tumble's code; a peer's lines do not depend on it."""
    codes = sorted(
        {code for cell in found.values() if cell.method not in methods.PEERS for code in cell.codes}
    )
    if len(codes) > 1:
        raise InputError(
            f"the lines of a table come from {len(codes)} states of the code ({', '.join(codes)}); a table "
            "takes one: run its experiment again with --fresh, which repeats the older runs"
        )


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper: methods without constraints above, those with a budget below."""

    title: str
    free: tuple[str, ...]
    constrained: tuple[str, ...]
    failures: int

    def plan(self, options: Options) -> list[Spec]:
        """20 seeds of every cell, 10 of PESC; the paper had 50."""
        rows = plans.grid(self.free, methods.FREE, options)
        return rows + plans.grid(self.constrained, CONSTRAINED, options)

    def section(self, lines: Sequence[Line], assets: Assets) -> Section | None:
        """The table, in two blocks."""
        mine = [line for line in lines if line["family"] in self.free + self.constrained]
        groups = (
            Group("T = 100", self.free, methods.FREE, "xs"),
            Group(f"T = 100, B = {self.failures}", self.constrained, CONSTRAINED, "xsf"),
        )
        found = parts(mine, assets.seeds, groups)
        return Section(self.title, found) if found else None
