"""One self-contained page for a study: what to use, what comes next, its figures, and every trial.

The figures are drawn by the program of the page that `tumble serve` shows, from the same numbers.  Everything
scales with the width, nothing is fetched, and it prints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tumble import __version__
from tumble.serialize import plain
from tumble.shown import NOT_SEEN, count, number, safety
from tumble.studies.config import StudyConfig
from tumble.studies.figures import numbers
from tumble.studies.preview import next_setting
from tumble.studies.records import Entry, Status
from tumble.studies.whole_files import write_whole
from tumble.trials import Recommended

if TYPE_CHECKING:
    from tumble.studies.ledger import Ledger

NOTHING = "<p>Nothing was told yet: there is nothing to draw.</p>"
NO_SCRIPT = "<noscript><p>The figures need a browser with scripts.</p></noscript>"


def write_report(ledger: Ledger, path: Path) -> None:
    """Write the page of a study to a file."""
    write_whole(path, page(ledger))


def page(ledger: Ledger) -> str:
    """The page as HTML; a browser needs no network to show it."""
    found = numbers(ledger)
    data = "{}" if found is None else json.dumps(plain(found.to_dict())).replace("<", "\\u003c")
    parts = {
        "TITLE": escape(ledger.config.name),
        "FIGURES_CSS": _static("figures.css"),
        "REPORT_CSS": _static("report.css"),
        "ABOUT": escape(_about(ledger.config)),
        "SUMMARY": _rows(_summary(ledger)),
        "DRAWN": NOTHING if found is None else NO_SCRIPT,
        "TABLE": _table(ledger),
        "NUMBERS": data,
        "FIGURES_JS": _static("figures.js"),
    }
    shell = _static("report.html").split("@@")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(shell))


def _static(name: str) -> str:
    return files("tumble.studies").joinpath("static", name).read_text(encoding="utf-8")


def _about(config: StudyConfig) -> str:
    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    budget = "no limit of failures" if config.failures is None else f"B = {count(config.failures, 'failure')}"
    return (
        f"{now} · tumble {__version__} · seed {config.seed} · T = {count(config.trials, 'trial')}, {budget}"
    )


def _summary(ledger: Ledger) -> dict[str, str]:
    config, status = ledger.config, ledger.status()
    budget = "no limit" if config.failures is None else f"{status.failures_left} left of {config.failures}"
    best = "nothing safe was seen yet"
    if status.best is not None:
        values = _pairs(config.in_words(status.best.parameters))
        best = f"{config.objective} = {_short(status.best.value)} in trial {status.best.trial}: {values}"
    told = f"{status.trials} told, {status.pending} in flight, {status.trials_left} left of {config.trials}"
    running = [
        f"trial {e.trial}: {_pairs(config.in_words(e.parameters))}" for e in ledger.entries() if e.is_running
    ]
    rows = {
        "objective": f"{'maximise' if config.maximize else 'minimise'} {config.objective}",
        "limits": ", ".join(map(str, config.limits)) or "none",
        "known": ", ".join(config.space.known),
        "trials": told,
        "failures": f"{status.failures}, {budget}",
        "changed": f"{status.voided} voided, {status.amended} amended" if _is_changed(status) else "",
        "best": best,
        "recommended": _recommended(ledger.recommend(), config),
        "in flight": "; ".join(running),
        "next": next_setting(ledger),
        "expected gain": _gain(status),
        "min_gain": _short(config.min_gain),
        "alarm": status.alarm or "",
    }
    return {name: text for name, text in rows.items() if text}


def _gain(status: Status) -> str:
    if status.expected_gain is None or not status.trials_left:
        return ""
    bound = "" if status.gain_bound is None else f", at most about {_short(status.gain_bound)}"
    return f"{_short(status.expected_gain)} from the trials that are left{bound}"


def _rows(rows: dict[str, str]) -> str:
    lines = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows.items())
    return f'<table class="summary">{lines}</table>'


def _is_changed(status: Status) -> bool:
    return bool(status.voided or status.amended)


def _recommended(found: Recommended | None, config: StudyConfig) -> str:
    if found is None:
        return "nothing yet"
    sure = "" if found.reached else ", the safest point known"
    is_seen = found.mean == found.mean
    value = f"{config.objective} = {number(found.mean)} ± {found.std:.2g}" if is_seen else NOT_SEEN
    return f"{_pairs(config.in_words(found.x))} ({safety(found.p_safe)}{sure}; {value})"


def _table(ledger: Ledger) -> str:
    titles = ("trial", "outcome", "setting", "results", "mode", "ρ", "P(safe)", "why")
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    rows = "".join(_row(entry, ledger.config, titles) for entry in ledger.entries())
    return f'<table class="trials"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _row(entry: Entry, config: StudyConfig, titles: tuple[str, ...]) -> str:
    note = entry.decision
    values = [
        str(entry.trial),
        f"{entry.outcome}{'' if entry.reading.billed else ', evidence'}{', amended' * entry.is_amended}",
        _pairs(config.in_words(entry.parameters)),
        _pairs(entry.results),
        *(_short(value) for value in (note.get("mode"), note.get("rho"), entry.p_safe)),
        " ".join(filter(None, [str(note.get("why", "")), entry.reason(config), *map(str, entry.changes)])),
    ]
    cells = "".join(f'<td data-name="{t}">{escape(v)}</td>' for t, v in zip(titles, values, strict=True))
    return f'<tr class="{escape(entry.outcome.replace(" ", "-"))}">{cells}</tr>'


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {_short(value)}" for name, value in values.items())


def _short(value: object) -> str:
    if value is None:
        return ""
    return number(value) if isinstance(value, float) else str(value)
