"""The manual's page: its tables and figures from the published lines alone, between marks in its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.tables import table
from experiments.runs.methods import PEERS
from experiments.runs.records import Line
from tumble.errors import InputError
from tumble.shown import count

from . import curves, page, pictures, results
from .plan import OURS
from .scores import Run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
ASSETS = ROOT / "docs" / "assets" / "benchmarks"
VERDICT, TUNING = 43_000, 0  # the blocks of the page
RIVALS = ("GPSampler", "LogCEI")  # whom every verdict is read against


def rebuild(path: Path = PAGE, assets: Path = ASSETS, folder: Path = results.FOLDER) -> list[Path]:
    """Write the page and its figures anew; the files that were written."""
    path.write_text(filled(path.read_text(encoding="utf-8"), sections(folder)), encoding="utf-8")
    return [path, *draw(page.runs_of(_verdict_lines(folder, VERDICT)), assets)]


def sections(folder: Path = results.FOLDER) -> dict[str, str]:
    """The text of each part of the page, by the name of its mark."""
    lines = _verdict_lines(folder, VERDICT)
    found = {"verdict": verdict(lines, "assets/benchmarks") if lines else state(lines)}
    found["blocks"] = blocks(folder)
    for name in ("ablation", "foils"):
        found[name] = rows(results.published(f"{name}-{TUNING}", folder))
    return found


def won(folder: Path = results.FOLDER) -> str:
    """The short of the verdict: the share of runs that tumble won against each other row."""
    lines = _verdict_lines(folder, VERDICT)
    return f"{page.win_table(page.runs_of(lines))}\n\n{state(lines)}" if lines else state(lines)


def blocks(folder: Path = results.FOLDER) -> str:
    """Every verdict that was published, a line each: the share of runs won against `RIVALS`."""
    found = []
    for block in results.blocks(folder):
        lines = _verdict_lines(folder, block)
        results.one_state(lines)
        runs = page.runs_of(lines)
        commit = next(line["commit"] for line in lines if line["method"] not in PEERS)
        found.append([str(block), f"`{commit}`", *page.shares(runs, RIVALS)])
    header = [f"{title}: {rival}" for title in page.VIEWS.values() for rival in RIVALS]
    return table(("block", "commit", *header), found) if found else state(())


def _verdict_lines(folder: Path, block: int) -> list[Line]:
    """Ours and the peers'; none while there are only the peers', which nobody should look at before."""
    ours, theirs = (results.published(name, folder) for name in results.names("verdict", block))
    return [*ours, *theirs] if ours else []


def filled(text: str, parts: Mapping[str, str]) -> str:
    """`text` with each part between its marks; `InputError` where a mark is missing."""
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise InputError(f"the page needs the marks {begin} and {end}: put both where the part belongs")
        text = f"{before}{begin}\n\n{part}\n\n{end}{after}"
    return text


def state(lines: Sequence[Line]) -> str:
    """Which code, which packages, which problems."""
    if not lines:
        return "*Nothing is published yet.*"
    results.one_state(lines)
    ours = next((line for line in lines if line["method"] not in PEERS), None)
    problems = sorted({(line["family"], line["seed"]) for line in lines})
    trials = sorted({line["trials"] for line in lines})
    families = {family for family, _ in problems}
    counts = f"{count(len(problems), 'problem')} of {count(len(families), 'family', 'families')}"
    words = [f"{counts}, T of {', '.join(map(str, trials))}"]
    if ours is not None:
        words.insert(0, f"tumble as of commit `{ours['commit']}` (sources `{ours['code']}`)")
    theirs: dict[str, str] = next((line["versions"] for line in lines if line["method"] in PEERS), {})
    packages = [f"{name} {theirs[name]}" for name in PACKAGES if name in theirs]
    return f"*{'; '.join([*words, *([', '.join(packages)] if packages else [])])}.*"


PACKAGES = ("botorch", "gpytorch", "torch", "optuna", "bayesian-optimization")


def verdict(lines: Sequence[Line], assets: str | None = None) -> str:
    """Ranks, wins, the budget and what P(safe) is worth; `assets` is where the page finds its figures."""
    runs = page.runs_of(lines)
    parts = [state(lines)]
    for title, group in page.groups(runs).items():
        parts += [
            f"**Mean rank, {v}** ({title})\n\n{page.rank_table(group, k)}" for k, v in page.VIEWS.items()
        ]
    if assets:
        parts.append(f"![The share of problems and targets solved over the trials]({assets}/profiles.svg)")
    if OURS.name in runs:
        parts.append(f"**Runs won by tumble**\n\n{page.win_table(runs)}")
        parts.append("\n".join(page.duel_lines(runs)) or "No rival is significantly ahead in any family.")
    parts.append(f"**The budget**\n\n{page.budget_table(runs)}")
    if OURS.name in runs:
        parts.append(f"**What P(safe) is worth**\n\n{page.claim_table(runs[OURS.name])}")
        below, failures = curves.failures_below_rho(runs[OURS.name])
        parts.append(f"{below} of {failures} failures were spent where P(safe) was below the ρ asked for.")
        if assets:
            parts.append(f"![The share that failed against the claimed risk]({assets}/claims.svg)")
    return "\n\n".join(parts)


def rows(lines: Sequence[Line]) -> str:
    """Each row against the default, on the problems that every row has."""
    shared = page.shared_problems(page.runs_of(lines))
    kept = [line for line in lines if (line["family"], line["seed"]) in shared]
    return "\n\n".join([state(kept), *([page.row_table(page.runs_of(kept))] if kept else [])])


def draw(runs: Mapping[str, Sequence[Run]], folder: Path) -> list[Path]:
    """The figures of a verdict: data profiles of the problems that every row has, and claims."""
    if not runs:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    shared = next(iter(page.groups(runs).values()))
    profiles = {
        title: {name: curves.profile(group, stopped=view == "stopped") for name, group in shared.items()}
        for view, title in page.VIEWS.items()
    }
    written = [folder / "profiles.svg"]
    pictures.draw_profiles(profiles, written[0])
    if OURS.name in runs:
        written.append(folder / "claims.svg")
        pictures.draw_claims(curves.claims(runs[OURS.name]), written[1])
    return written
