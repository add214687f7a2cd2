"""The page of the paper's tables and figures, from the JSON lines alone: Markdown, SVG and HTML."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tumble.errors import InputError

from . import registry
from .paper import findings
from .paper.tables import TITLES
from .reporting.page import Assets, Commands, Section, Table, Text, markdown, page
from .runs.methods import LABELS
from .runs.pool import duration
from .runs.records import Line
from .runs.settings import BUDGETS, SEARCH, TABLE_2, Constant, Law
from .runs.store import Store

TITLE = "The paper again"
COMMANDS = (
    "python -m experiments all --seed-base 1000    # §5.3 trains networks: on a GPU, with MNIST in the cache",
)


def write(store: Store, folder: Path, seeds: range | None = None) -> list[Path]:
    """Write index.md, report.html and the figures into a folder, and say which files."""
    lines = list(store.lines())
    if not lines:
        raise InputError(f"no lines in {store.folder}; run an experiment first, for instance table1")
    folder.mkdir(parents=True, exist_ok=True)
    sections = build(lines, Assets(folder, seeds))
    texts = {"index.md": markdown(TITLE, sections), "report.html": page(TITLE, sections, folder)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def build(lines: Sequence[Line], assets: Assets) -> list[Section]:
    """Every section that has lines, between how it was made and with what."""
    found = [_how(lines, assets.seeds)]
    holds = findings.section(lines, assets.seeds)
    found += [holds] if holds is not None else []
    for name, module in registry.EXPERIMENTS.items():
        if importlib.util.find_spec(module) is not None:
            make = getattr(registry.find(name), "section", None)  # an experiment may only have a plan
            section = None if make is None else make(lines, assets)
            found += [section] if section is not None else []
    return [*found, _settings(), _machines(lines)]


def _how(lines: Sequence[Line], seeds: range | None) -> Section:
    runs = [line["seed"] for line in lines if line["block"] != "figure"]
    used = [seed for seed in runs if seeds is None or seed in seeds]
    which = f"seeds {min(used)}-{max(used)}" if used else "none yet"
    text = (
        "Every table and figure of Marco et al. 2020, with the paper's value beside ours. Two blocks, the "
        "same seeds in both: the paper's settings as printed, and tumble's defaults, with which every "
        f"hyperparameter is learned, also where App. E fixes them at the truth. {_state(lines)} Regret is "
        "mean ± standard "
        f"deviation over the runs ({which}), the sum of squares divided by n − 1; p is Wilcoxon's "
        "signed-rank test, two-sided, paired by seed, with the number of seeds on which the method named has "
        "the lower value; **bold** is the lowest mean. Methods without a controller are stopped when the "
        "budget is spent and keep their last regret, as in the paper; Ω counts the safe evaluations among "
        "all T."
    )
    return Section("How this was made", [Text(text), Commands(COMMANDS)])


def _state(lines: Sequence[Line]) -> str:
    """Which code made the lines."""
    codes = sorted({str(line["code"]) for line in lines})
    if len(codes) > 1:
        return f"The rows come from {len(codes)} states of the code, which the last table names."
    commits = sorted({line["commit"] for line in lines if not line.get("commit", "+").endswith("+")})
    named = "".join(f"commit `{commit}`, " for commit in commits)
    return f"All rows come from one state of the code ({named}sources `{codes[0]}`)."


def _settings() -> Section:
    header = ("constant", "value", "origin", "where")
    rows = [_constant_row(name, constant) for name, constant in (*SEARCH.items(), *BUDGETS.items())]
    laws = [
        [
            name,
            *(_law(law) for law in (r.lengthscale_f, r.variance_f, r.lengthscale_g, r.variance_g)),
            r.origin,
        ]
        for name, r in TABLE_2.items()
    ]
    table_2 = ("problem", "lengthscale of f", "variance of f", "lengthscale of g", "variance of g", "origin")
    origin = (
        "Written from the paper, with these constants from its authors' scripts where the origin says so."
    )
    return Section(
        "Settings of the paper",
        [
            Text(origin),
            Table("Constants", header, rows),
            Table("Table 2: priors (no width: fixed)", table_2, laws),
        ],
    )


def _constant_row(name: str, constant: Constant) -> list[str]:
    return [name, str(constant.value), constant.origin, constant.where]


def _law(law: Law) -> str:
    return f"{law.name}({law.first:g}, {law.second:g})"


def _machines(lines: Sequence[Line]) -> Section:
    """Hardware, versions and time of the runs."""
    groups: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in lines:
        hardware = line["hardware"]
        machine = f"{hardware['processor']}, {hardware['cores']} cores, {hardware['system']}"
        versions = ", ".join(f"{name} {version}" for name, version in line["versions"].items())
        module = str(line["task"]).partition(":")[0].rpartition(".")[2]
        what = module if line["block"] == "figure" else str(line["family"])
        groups[TITLES.get(what, what), machine, versions, line["code"]].append(line)
    header = ("what", "machine", "versions", "code", "runs", "time of one core", "from first to last")
    rows = [
        [*key, str(len(group)), duration(sum(line["wall"] for line in group)), duration(_span(group))]
        for key, group in sorted(groups.items())
    ]
    by_method: dict[str, float] = defaultdict(float)
    for line in lines:
        by_method[line["method"]] += line["wall"]
    times = ", ".join(f"{LABELS[m]} {duration(s)}" for m, s in sorted(by_method.items()))
    text = (
        f"Time by method: {times}. The problems of Tables 1 and 3 were run together. The code is a hash of "
        "the sources that decide a suggestion; where it differs, so does at least a comment in them."
    )
    return Section("Hardware and time", [Table("Runs, one BLAS thread each", header, rows), Text(text)])


def _span(lines: Sequence[Line]) -> float:
    """Seconds from the start of the first run to the end of the last."""
    begun = [datetime.fromisoformat(line["started"]).timestamp() for line in lines]
    ended = [b + float(line["wall"]) for b, line in zip(begun, lines, strict=True)]
    return max(ended) - min(begun)
