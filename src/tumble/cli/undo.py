"""Commands that take something back: void, amend; and the question before it."""

from __future__ import annotations

from pathlib import Path

import click

from tumble.cli import show
from tumble.cli.change import open_ledger
from tumble.cli.options import EPILOG, parse_results, study_file, trial_number, without_question
from tumble.cli.questions import confirm_at_terminal
from tumble.studies.results import check_names


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
@click.option("--failed", metavar="WHY", help="It failed, and why.")
@without_question
def amend(file: Path, trial: int, results: tuple[str, ...], failed: str | None, yes: bool) -> None:
    """Replace results of a told trial, or make it failed.

    Results that are not named stay as they were told. With --failed only the named ones are kept. The storage
    keeps what was told before.

    Example: tumble amend drill.toml 7 cost=3.2

    Example: tumble amend drill.toml 8 torque=14.9 --failed "bit broke"
    """
    measured = parse_results(results)
    ledger = open_ledger(file, creating=False)
    from tumble.studies import undo  # after the file was read: it is slow

    check_names(ledger.config, measured)
    entry = ledger.entry(trial)
    now = undo.amended_results(ledger, entry, measured, failed)
    becomes = show.pairs(now) + ("" if failed is None else f" failed ({failed})")
    confirm_at_terminal(f"{show.line(entry, ledger.config)}\namend it to {becomes.strip()}?", yes)
    changed = undo.amend(ledger, trial, measured, failed)
    print(show.line(changed, ledger.config))
    print(show.status(ledger.status(), ledger.config))


COMMANDS = (void, amend)
