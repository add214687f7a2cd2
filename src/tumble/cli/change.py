"""Commands that change a study: init, run, ask, tell, skip, import."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from tumble.cli import show
from tumble.cli.codes import FAULT, STOPPED
from tumble.cli.example import EXAMPLE, study_name
from tumble.cli.options import (
    EPILOG,
    PATH,
    WholeNumberBetween,
    as_json,
    parse_results,
    study_file,
    trial_number,
    why_failed,
    without_question,
)
from tumble.cli.questions import confirm_at_terminal, warn_elsewhere
from tumble.errors import InputError
from tumble.shown import as_word
from tumble.studies import rig, tables
from tumble.studies.config import StudyConfig
from tumble.studies.results import check_names
from tumble.studies.study_file import read_study_file
from tumble.studies.whole_files import write_whole

if TYPE_CHECKING:
    from tumble.studies.ledger import Ledger
    from tumble.studies.runner import End


def open_ledger(
    file: Path,
    *,
    reading: bool = False,
    running: bool = False,
    creating: bool = True,
    first: Callable[[StudyConfig], object] = lambda config: None,
) -> Ledger:
    """The study of a file, to be changed, run or only read; Optuna's own messages are switched off.

    Where there is none yet, it is created, unless it is only read or not `creating`.  What `first` refuses is
    refused before that, so that nothing is written.
    """
    config = read_study_file(file)  # before anything slow is imported
    if running:
        rig.check(config)
    with _without_garbage_collection():
        from tumble.studies.beginning import open_or_begin

        quiet_optuna()
        return open_or_begin(config, reading=reading, creating=creating, first=first)


def quiet_optuna() -> None:
    """Switch off what Optuna says of every trial."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Keep the garbage collector away from what is imported: it would take a fifth of `tumble ask`."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@click.command(epilog=EPILOG)
@study_file
def init(file: Path) -> None:
    """Write a commented example of a study file.

    Example: tumble init drill.toml
    """
    if os.path.lexists(file):
        raise InputError(f"{file}: exists already; choose another name")
    word = as_word(file)
    write_whole(file, EXAMPLE.format(file=show.in_line(word), name=study_name(file)))
    print(f"{file} written; edit it, and write rig.py, the program that carries out a trial")
    print(f"then: tumble run {word}")
    print(f"  or: tumble ask {word}, to go by hand, without rig.py")


@click.command(epilog=EPILOG)
@study_file
@click.option("--workers", type=WholeNumberBetween(1, 256), default=1, help="How many trials at a time.")
@click.option("--quiet", is_flag=True, help="Print nothing but faults.")
def run(file: Path, workers: int, quiet: bool) -> None:
    """Run the study's command, trial after trial, until nothing is left.

    Ctrl-C finishes the trial in hand; a second one abandons it, to be run again by the next start. A terminal
    that is closed counts as one Ctrl-C. A trial whose runner died is run again first, under its number.

    Example: tumble run drill.toml --workers 4
    """
    from tumble.cli.live import run_here, run_workers

    ledger = open_ledger(file, running=True)
    if not quiet:
        _say_remarks(ledger)
    end = run_here(ledger, quiet) if workers == 1 else run_workers(ledger, workers, quiet)
    if end.kind == "fault":
        exit_with_fault(end)
    if not quiet:
        print(end.why)
        print(show.status(ledger.status(), ledger.config))
    if end.kind == "stopped":
        sys.exit(STOPPED)


def _say_remarks(ledger: Ledger) -> None:
    """Say on the error stream of which limits nothing was measured."""
    for remark in ledger.status().remarks:
        notice(remark)


def notice(text: str) -> None:
    """Say something on the error stream."""
    print(f"tumble: {show.printable(text)}", file=sys.stderr)


def exit_with_fault(end: End) -> NoReturn:
    """Say why someone has to look at the rig, and exit with 3."""
    notice(end.why)
    if end.output:
        print(f"--- its output ---\n{show.printable(end.output.rstrip())}", file=sys.stderr)
    sys.exit(FAULT)


@click.command(epilog=EPILOG)
@study_file
@click.option("-n", "count", type=WholeNumberBetween(1, 1000), help="How many trials to start at once.")
@as_json
def ask(file: Path, count: int | None, json: bool) -> None:
    """Ask for the next trial, to be run by hand and told later.

    Where fewer trials may start than -n asks for, those are handed out, and it says why. With -n --json
    prints a list.

    Example: tumble ask drill.toml --json

    Example: tumble ask drill.toml -n 2
    """
    ledger = open_ledger(file)
    from tumble.studies.batches import ask_for  # after the file was read: it is slow

    _say_remarks(ledger)
    ledger.kept.say = notice
    found, why = ask_for(ledger, count or 1)
    if json:
        asked = [tables.suggestion_table(suggestion) for suggestion in found]
        print(show.as_json(asked[0] if count is None else asked))
    else:
        print("\n\n".join(show.suggestion(suggestion, ledger.config) for suggestion in found))
    if why:
        notice(f"{len(found)} of {count} trials may start now: {why}")


@click.command(epilog=EPILOG)
@study_file
@trial_number
@click.argument("results", nargs=-1)
@why_failed
@click.option("--transient", is_flag=True, help="With --failed: the infrastructure's fault, not billed.")
@without_question
def tell(
    file: Path, trial: int, results: tuple[str, ...], failed: str | None, transient: bool, yes: bool
) -> None:
    """Tell what came of a trial: its results, or that it failed.

    A failed trial may carry what was measured before it failed. At a terminal a value that is far from its
    prediction is asked about; elsewhere it is recorded with a warning.

    Example: tumble tell drill.toml 7 cost=3.2 torque=11.4

    Example: tumble tell drill.toml 8 torque=14.9 --failed "bit broke"
    """
    if transient and failed is None:
        raise InputError('--transient belongs to --failed: give --failed "why" as well')
    ledger = open_ledger(file, creating=False)
    measured = parse_results(results, ledger.config.objective)
    check_names(ledger.config, measured)
    from tumble.studies.surprise import doubts_about, warning

    doubts = doubts_about(ledger, trial, measured)
    if doubts:
        confirm_at_terminal(f"trial {trial}: {'; '.join(doubts)}\nreally?", yes)
    if failed is not None:
        entry = ledger.fail(trial, failed, measured, transient)
    else:
        entry = ledger.tell(trial, measured)
    if doubts:
        warn_elsewhere(warning(ledger.config, trial, doubts), yes)
    print(show.line(entry, ledger.config))
    print(show.status(ledger.status(), ledger.config))


@click.command(epilog=EPILOG)
@study_file
@trial_number
@click.option("--reason", default="", metavar="WHY", help="Why.")
@click.option("--never", is_flag=True, help="Never suggest its setting again.")
def skip(file: Path, trial: int, reason: str, never: bool) -> None:
    """Withdraw a trial: nothing is charged.

    Nothing is learned either, unless it is --never: then the search learns from it as from a crash, and keeps
    away from its setting.

    Example: tumble skip drill.toml 7

    Example: tumble skip drill.toml 8 --never --reason "the coolant would boil"
    """
    ledger = open_ledger(file, creating=False)
    entry = ledger.skip(trial, reason, kind="never" if never else "skipped")
    print(show.line(entry, ledger.config))
    print(show.status(ledger.status(), ledger.config))


@click.command("import", epilog=EPILOG)
@study_file
@click.argument("table", type=PATH)
def import_(file: Path, table: Path) -> None:
    """Read old trials as evidence: they teach, and charge neither trials nor failures.

    The file needs a column for each parameter and result; `failed` (1 for a crash, 0 or nothing for none) and
    `reason` may be there. Where the study has a parameter or result of such a name, it is `tumble_failed`.
    Trials that the study has already, with the same setting and the same results, are passed over; so are
    those that ran, or were skipped or void, when the table was exported. Columns of no use are named.

    Example: tumble import drill.toml last-year.csv
    """
    from tumble.studies.csv_io import import_csv, read_old_trials

    ledger = open_ledger(file, first=lambda config: read_old_trials(config, table))
    found = import_csv(ledger, table)
    for line in show.imported(found):
        print(line)


COMMANDS = (init, run, ask, tell, skip, import_)
