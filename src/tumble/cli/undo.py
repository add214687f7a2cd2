"""Commands that take something back: void, amend; and the question before it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tumble.cli import show
from tumble.cli.change import open_ledger
from tumble.cli.options import EPILOG, parse_results, study_file, trial_number, why_failed, without_question
from tumble.cli.questions import confirm_at_terminal, warn_elsewhere
from tumble.errors import InputError
from tumble.studies.results import check_names

if TYPE_CHECKING:
    from tumble.studies.records import Entry
    from tumble.studies.undo import Amended


@click.command(epilog=EPILOG)
@study_file
@trial_number
@click.option("--reason", default="", metavar="WHY", help="Why.")
@without_question
def void(file: Path, trial: int, reason: str, yes: bool) -> None:
    """Take a told trial out: it teaches nothing, and gives back its trial and its failure.

    Its number is never used again, and the storage keeps what was told. A trial in flight is skipped instead.

    Example: tumble void drill.toml 7 --reason "the sensor was loose"
    """
    ledger = open_ledger(file, creating=False)
    from tumble.studies import undo  # after the file was read: it is slow

    entry = ledger.entry(trial)
    undo.check_may_void(entry)
    confirm_at_terminal(f"{show.line(entry, ledger.config)}\nvoid this trial?", yes)
    changed = undo.void(ledger, trial, reason)
    print(show.line(changed, ledger.config))
    print(show.status(ledger.status(), ledger.config))


@click.command(epilog=EPILOG)
@study_file
@trial_number
@click.argument("results", nargs=-1)
@why_failed
@click.option("--not-failed", "not_failed", is_flag=True, help="It was told as failed, and did not fail.")
@without_question
def amend(
    file: Path, trial: int, results: tuple[str, ...], failed: str | None, not_failed: bool, yes: bool
) -> None:
    """Replace results of a told trial, or say that it failed, or that it did not.

    Results that are not named stay as they were told, and so does a failure that was told with --failed. With
    --failed only the named results are kept. A value that is far from its prediction is questioned as by
    `tell`. The storage keeps what was told before.

    Example: tumble amend drill.toml 7 cost=3.2

    Example: tumble amend drill.toml 8 torque=14.9 --failed "bit broke"

    Example: tumble amend drill.toml 8 cost=3.4 torque=11.9 --not-failed
    """
    if failed is not None and not_failed:
        raise InputError("--failed and --not-failed contradict each other: give one of them")
    said: str | Literal[False] | None = False if not_failed else failed
    ledger = open_ledger(file, creating=False)
    measured = parse_results(results, ledger.config.objective)
    from tumble.studies import undo  # after the file was read: it is slow
    from tumble.studies.surprise import doubts_about, warning

    check_names(ledger.config, measured)
    entry = ledger.entry(trial)
    becomes = _becomes(entry, undo.amended(ledger, entry, measured, said))
    doubts = doubts_about(ledger, trial, measured, correcting=True)
    doubt = f"\ntrial {trial}: {'; '.join(doubts)}" if doubts else ""
    confirm_at_terminal(f"{show.line(entry, ledger.config)}{doubt}\namend it to {becomes}?", yes)
    changed = undo.amend(ledger, trial, measured, said)
    if doubts:
        warn_elsewhere(warning(ledger.config, trial, doubts), yes)
    print(show.line(changed, ledger.config))
    print(show.status(ledger.status(), ledger.config))


def _becomes(entry: Entry, now: Amended) -> str:
    """What a trial would be, in words; another outcome is set against that of now."""
    is_other = now.outcome != entry.outcome
    outcome = now.outcome if is_other or now.crash is not None else ""
    why = f"({show.in_line(now.crash)})" if now.crash else ""
    was = f"instead of {entry.outcome}" if is_other else ""
    return " ".join(filter(None, (show.pairs(now.results), outcome, why, was)))


COMMANDS = (void, amend)
