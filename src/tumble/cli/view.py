"""What `tumble run` shows while it runs: the latest trials, what is in hand, and what is left.

A trial has one line: its number, its setting, its outcome, what it measured.  Where the terminal is too
narrow for that, P(safe) and mode go, and then the setting moves to a line of its own.  Reasons are wrapped
below their trial.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Group
from rich.text import Text

from tumble.cli import show
from tumble.studies.config import StudyConfig
from tumble.studies.ledger import Ledger
from tumble.studies.records import Entry, Status
from tumble.studies.waiting import holders

ROWS = 12  # trials that are shown
NARROWEST = 40  # columns
GAP = "  "
COLOURS = {"safe": "green", "failed": "red", "running": "cyan"}


@dataclass(frozen=True)
class Column:
    """A column of the table: its title, and its cells."""

    title: str
    cells: tuple[str, ...]
    right: bool = False

    @property
    def width(self) -> int:
        """Of the widest cell."""
        return max(map(len, (self.title, *self.cells)))

    def padded(self, text: str) -> str:
        """A cell at its width."""
        return text.rjust(self.width) if self.right else text.ljust(self.width)


def live_view(ledger: Ledger, width: int, height: int, now: datetime) -> Group:
    """The view of a study.

    Parameters
    ----------
    ledger
        The study.
    width, height
        How many columns and rows the terminal has; the earliest trials give way.
    now
        The time, by which trials in hand have run so long.
    """
    config, entries, found = ledger.config, ledger.entries(), ledger.status()
    width = max(width, NARROWEST)
    foot = [Text(""), _progress(found, config, entries, width)]
    foot += _wrapped(show.status(found, config) + _held_by(ledger), width)
    titles, *trials = _rows(entries[-ROWS:], config, width, now)
    while len(trials) > 1 and sum(map(len, trials)) + len(foot) + 2 > height:
        trials = trials[1:]
    return Group(*titles, *(line for lines in trials for line in lines), *foot)


def _rows(entries: Sequence[Entry], config: StudyConfig, width: int, now: datetime) -> Iterator[list[Text]]:
    """The line of titles, and the lines of each trial."""
    texts = [show.pairs(config.in_words(e.parameters)) for e in entries]
    settings = Column("setting", tuple(show.printable(text) for text in texts))
    columns = _fitting(_columns(entries, settings, config, now), settings, width)
    yield [Text(GAP.join(column.padded(column.title) for column in columns).rstrip(), style="bold")]
    for k, entry in enumerate(entries):
        line = GAP.join(column.padded(column.cells[k]) for column in columns)
        below = [] if settings in columns or not settings.cells[k] else [settings.cells[k]]
        remarks = [show.printable(text) for text in (*below, *_remarks(entry, config))]
        first = Text(line.rstrip(), style=COLOURS.get(entry.outcome, "dim"), no_wrap=True)
        yield [first, *(line for text in remarks for line in _wrapped(text, width, indent="       "))]


def _columns(entries: Sequence[Entry], settings: Column, config: StudyConfig, now: datetime) -> list[Column]:
    """From what must be there to what may go."""
    names = (*config.result_names, *dict.fromkeys(n for e in entries for n in e.extra_results(config)))
    return [
        Column("trial", tuple(str(e.trial) for e in entries), right=True),
        settings,
        Column("outcome", tuple(_outcome(e, now) for e in entries)),
        *(Column(n, tuple(show.number(e.results.get(n)) for e in entries), right=True) for n in names),
        Column("mode", tuple(str(e.decision.get("mode", "")) for e in entries)),
        Column("P(safe)", tuple(show.percent(e.p_safe) for e in entries), right=True),
    ]


def _fitting(columns: list[Column], settings: Column, width: int) -> list[Column]:
    """The columns that fit; the settings stay among them where it costs no more than P(safe) and mode."""
    for kept in (columns, columns[:-1], columns[:-2]):
        if _width(kept) <= width:
            return kept
    kept = [column for column in columns if column is not settings]
    while _width(kept) > width and len(kept) > 2:
        kept = kept[:-1]
    return kept


def _width(columns: Sequence[Column]) -> int:
    return sum(c.width for c in columns) + len(GAP) * (len(columns) - 1)


def _outcome(entry: Entry, now: datetime) -> str:
    """In a word; of a trial in hand how long it has run."""
    if not entry.is_running or entry.stored.datetime_start is None:
        return entry.outcome
    return f"running {duration(_seconds(entry.stored.datetime_start, now))}"


def _remarks(entry: Entry, config: StudyConfig) -> list[str]:
    """Why a trial failed, and how often it was tried again."""
    again = [f"tried again: {reason}" for reason in entry.retries]
    return [text for text in (entry.reason(config), *again) if text]


def _progress(found: Status, config: StudyConfig, entries: Sequence[Entry], width: int) -> Text:
    """A bar of the trials, and about how long the rest will take."""
    left = time_left(entries, found.trials_left + found.pending)
    words = f"  {found.trials} of {config.trials}{f', about {left} left' if left else ''}"
    length = max(min(width, 100) - len(words), 10)
    filled = min(round(length * found.trials / config.trials), length)
    return Text.assemble(("━" * filled, "green"), ("━" * (length - filled), "dim"), words)


def time_left(entries: Sequence[Entry], trials: int) -> str:
    """About how long so many trials will take, at the pace of the last ten; empty where nothing is known.

    Nothing is known, too, where the clock was set back meanwhile.
    """
    ended = [e.stored.datetime_complete for e in entries if e.reading.billed and e.reading.phase == "told"]
    began = [e.stored.datetime_start for e in entries if e.reading.billed and e.reading.phase == "told"]
    times = sorted(t for t in ended[-10:] if t is not None)
    starts = sorted(t for t in began[-10:] if t is not None)
    if trials == 0 or not times or not starts:
        return ""
    pace = _seconds(starts[0], times[-1]) / len(times)
    return duration(pace * trials) if pace > 0.0 else ""


def _seconds(begin: datetime, end: datetime) -> float:
    """Between two local times; the night in which summer ends is an hour longer than its clocks say."""
    return (end.astimezone(UTC) - begin.astimezone(UTC)).total_seconds()


def duration(seconds: float) -> str:
    """In a word or two: 8 s, 3 min 20 s, 2 h 5 min, 3 d 4 h."""
    whole = max(round(seconds), 0)
    units = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
    for k, (unit, size) in enumerate(units):
        if whole >= size or unit == "s":
            first, rest = divmod(whole, size)
            second = f" {rest // units[k + 1][1]} {units[k + 1][0]}" if rest and k < 3 else ""
            return f"{first} {unit}{'' if second.startswith(' 0 ') else second}"
    raise AssertionError("a duration has a unit")


def _held_by(ledger: Ledger) -> str:
    """Who holds what is left of a hard budget; empty where something is left."""
    found = ledger.status()
    if ledger.config.on_exhausted != "stop" or not 0 < found.failures_left <= found.pending:
        return ""
    return f"\n  held by   {show.printable(holders(ledger.entries()))}"


def _wrapped(text: str, width: int, indent: str = "") -> list[Text]:
    """Lines of at most this width; what goes on is set in by as much as the first words."""
    lines = []
    for line in text.split("\n"):
        deep = indent or " " * (12 if line.startswith("  ") else 0)
        lines += textwrap.wrap(
            line, max(width, NARROWEST), initial_indent=indent, subsequent_indent=deep,
            drop_whitespace=True, break_on_hyphens=False,
        ) or [""]  # fmt: skip
    return [Text(line, style="dim" if indent else "") for line in lines]
