"""The tables of the proving ground as Markdown, from lines alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from benchmarks.tables import table
from experiments.runs.records import Line

from . import compare, curves
from .ablation import FOILS, SWITCHES, XS
from .plan import BASELINES, OURS, PEERS, SLOW_PEERS
from .scores import Reading, Run

View = Literal["stopped", "prefix", "whole"]
XS_MARK = "Xs: "  # before the rows that are compared with Xs in place of EI
SAFE_SET = BASELINES[1].name
_ORDER = {row.name: k for k, row in enumerate((OURS, *SWITCHES, *FOILS, *BASELINES, *PEERS))}
_AGAINST = {row.name: row.against for row in (*SWITCHES, *FOILS)}
_SLOW = {row.name for row in SLOW_PEERS}
VIEWS: dict[View, str] = {"stopped": "stopped when B is spent", "whole": "left to go on"}


def runs_of(lines: Iterable[Line]) -> dict[str, list[Run]]:
    """The runs of each row, in the order of their problems; rows in the order of the tables."""
    found: dict[str, list[Run]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: (line["family"], line["seed"])):
        run = Run.of(line)
        found[run.method].append(run)
    return {name: found[name] for name in sorted(found, key=lambda name: (_ORDER.get(name, 99), name))}


def scores_of(runs: Mapping[str, Sequence[Run]], view: View) -> dict[compare.Problem, dict[str, float]]:
    """The regret of every row on every problem."""
    found: dict[compare.Problem, dict[str, float]] = defaultdict(dict)
    for name, group in runs.items():
        for run in group:
            found[run.problem][name] = reading(run, view).regret
    return dict(found)


def reading(run: Run, view: View) -> Reading:
    """A run, read in one of the ways."""
    return {"stopped": run.stopped, "prefix": run.prefix, "whole": run.whole}[view]


def shared_problems(runs: Mapping[str, Sequence[Run]]) -> set[compare.Problem]:
    """The problems that every row has; a row that needs a safe start is not asked."""
    each = [{run.problem for run in group} for name, group in runs.items() if name != SAFE_SET]
    return set[compare.Problem].intersection(*each) if each else set()


def groups(runs: Mapping[str, Sequence[Run]]) -> dict[str, dict[str, list[Run]]]:
    """The runs on problems that every row has; then, without the rows that have the fewest, on more of them.

    A row that needs a safe start has no run where there is none: it found nothing there.
    """
    counts = {name: len({run.problem for run in group}) for name, group in runs.items() if name != SAFE_SET}
    found = {}
    for least in sorted(set(counts.values())):
        rows = {name: group for name, group in runs.items() if counts.get(name, least) >= least}
        shared = shared_problems(rows)
        kept = {name: [run for run in group if run.problem in shared] for name, group in rows.items()}
        if shared and len(shared) not in found:
            found[len(shared)] = _title(runs, rows), kept
    return {f"{title}, {n} problems": kept for n, (title, kept) in found.items()}


def _title(runs: Iterable[str], rows: Iterable[str]) -> str:
    """Which of the rows `runs` a table of `rows` has, by those that it lacks."""
    missing = [name for name in runs if name not in rows]
    if not missing:
        return "all rows"
    return "without " + ("the slow peers" if set(missing) == _SLOW.intersection(runs) else ", ".join(missing))


def rank_table(runs: Mapping[str, Sequence[Run]], view: View) -> str:
    """Mean ranks with intervals, overall and by family, best first."""
    scores = {
        problem: {name: row.get(name, np.inf) for name in runs}
        for problem, row in scores_of(runs, view).items()
    }
    families = list(dict.fromkeys(p[0] for p in scores))
    overall = compare.mean_ranks(scores, list(runs))
    by_family = {
        f: compare.mean_ranks({p: row for p, row in scores.items() if p[0] == f}, list(runs))
        for f in families
    }
    order = sorted(overall, key=lambda m: overall[m].mean)
    rows = [[m, str(overall[m]), *(f"{by_family[f][m].mean:.1f}" for f in families)] for m in order]
    return table(("method", "mean rank", *families), rows)


def win_table(runs: Mapping[str, Sequence[Run]], mine: str = OURS.name) -> str:
    """Our share of won runs against each other row, in both readings."""
    problems = {name: {run.problem for run in group} for name, group in runs.items()}
    rows = [
        [rival, *shares(runs, (rival,), mine), str(len(problems[rival] & problems[mine]))]
        for rival in runs
        if rival != mine
    ]
    return table(("against", *VIEWS.values(), "problems"), rows)


def shares(runs: Mapping[str, Sequence[Run]], rivals: Sequence[str], mine: str = OURS.name) -> list[str]:
    """Our share of won runs against each rival, reading by reading; "not run" where a rival was not."""
    readings = [scores_of(runs, view) for view in VIEWS]
    wins = [compare.wins(scores, mine, rival) for scores in readings for rival in rivals]
    return [compare.over_problems(won).percent if won else "not run" for won in wins]


def duel_lines(runs: Mapping[str, Sequence[Run]], mine: str = OURS.name) -> list[str]:
    """Where a rival is significantly ahead in a family, in either reading."""
    found = []
    for view, title in VIEWS.items():
        rivals = [m for m in runs if m != mine]
        for duel in compare.duels(scores_of(runs, view), mine, rivals):
            if duel.beaten:
                found.append(
                    f"- {duel.rival} is ahead on {duel.family}, {title}: {duel.losses} to {duel.wins} "
                    f"with {duel.ties} ties, p = {duel.p:.2g} after Holm's correction."
                )
    return found


def budget_table(runs: Mapping[str, Sequence[Run]]) -> str:
    """Failures, Ω, runs beyond B and by how much, and processor seconds a suggestion."""
    rows = []
    for name, group in runs.items():
        stopped, whole = [r.stopped for r in group], [r.whole for r in group]
        asks = sum(len(r.failed) for r in group)
        rows.append(
            [
                name,
                str(len(group)),
                f"{np.mean([r.n_failures for r in stopped]):.1f}",
                f"{np.mean([r.omega for r in stopped]):.0f}",
                f"{sum(not np.isfinite(r.regret) for r in stopped)}",
                f"{sum(r.beyond > 0 for r in stopped)} (by {max(r.beyond for r in stopped)})",
                f"{np.mean([r.omega for r in whole]):.0f}",
                f"{sum(r.beyond > 0 for r in whole)} (by {max(r.beyond for r in whole)})",
                f"{sum(r.seconds for r in group) / max(1, asks):.3f}",
            ]
        )
    header = (
        "method", "runs", "failures", "Ω %", "nothing safe", "beyond B", "Ω %, going on",
        "beyond B, going on", "s a suggestion",
    )  # fmt: skip
    return table(header, rows)


def claim_table(runs: Sequence[Run]) -> str:
    """Claimed against realised risk by level and age."""
    rows = []
    for claim in curves.claims(runs):
        age = f"{claim.age[0]}-{claim.age[1]}" if claim.age[1] < 1000 else f"{claim.age[0]} and more"
        rows.append(
            [
                age,
                f"{claim.low:g} to {claim.high:g}",
                str(claim.n),
                f"{100 * claim.claimed_risk:.2f} %",
                f"{100 * claim.realised.mean:.2f} % "
                f"[{100 * claim.realised.low:.2f}, {100 * claim.realised.high:.2f}]",
            ]
        )
    return table(("trials known", "claimed P(safe)", "claims", "claimed risk", "failed"), rows)


def row_table(runs: Mapping[str, Sequence[Run]], default: str = OURS.name) -> str:
    """Rows against the default, or what else they belong to: wins, median regret, failures, runs beyond B."""
    readings = scores_of(runs, "whole")
    rows = []
    for name, group in runs.items():
        other = _AGAINST.get(name, default)
        against = compare.wins(readings, name, other) if name != default else {}
        regrets = [r.whole.regret for r in group]
        rows.append(
            [
                f"{XS_MARK}{name}" if other == XS.name else name,
                compare.over_problems(against).percent if against else "",
                str(sum(point != 0.5 for point in against.values())),
                f"{np.median(regrets):.2g}",
                f"{np.quantile(regrets, 0.9, method='higher'):.2g}",
                f"{np.mean([r.whole.n_failures for r in group]):.1f}",
                f"{sum(r.whole.beyond > 0 for r in group)} of {len(group)}",
            ]
        )
    header = (
        "row",
        "won",
        "differ",
        "median regret",
        "90 % regret",
        "failures",
        "beyond B",
    )
    return table(header, rows)
