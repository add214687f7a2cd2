"""Commands for one trial whose setting is not searched for: try, confirm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tumble.cli import show
from tumble.cli.change import exit_with_fault, open_ledger
from tumble.cli.options import EPILOG, as_json, parse_pairs, study_file
from tumble.errors import InputError
from tumble.studies import tables
from tumble.studies.values import parse_setting

if TYPE_CHECKING:
    from tumble.parameters import Choice
    from tumble.studies.config import StudyConfig
    from tumble.studies.ledger import Ledger
    from tumble.studies.runner import Runner
    from tumble.trials import Suggestion


@click.command("try", epilog=EPILOG)
@study_file
@click.argument("parameters", nargs=-1, required=True)
@click.option("--run", "at_once", is_flag=True, help="Run the study's command with it at once.")
@as_json
def try_(file: Path, parameters: tuple[str, ...], at_once: bool, json: bool) -> None:
    """Try a setting of your own: one more trial, billed and told like any other.

    Every parameter is named; fixed ones need not be. It says P(safe) there.

    Example: tumble try drill.toml speed=1000 flutes=4 bit=carbide feed=0.1
    """
    words = parse_pairs(parameters, "speed=1000")

    def check(config: StudyConfig) -> dict[str, Choice]:
        setting = parse_setting(config.space, words)
        config.space.check_known(setting)
        if at_once and config.command is None:
            raise InputError(f"{file}: there is no command for --run; leave it out, run it by hand")
        return setting

    ledger = open_ledger(file, running=at_once, first=check)
    setting = check(ledger.config)
    if at_once:
        _run(ledger, lambda runner: runner.try_(setting), json)
    else:
        _hand_out(ledger, ledger.try_(setting), json)


@click.command(epilog=EPILOG)
@study_file
@as_json
def confirm(file: Path, json: bool) -> None:
    """Measure the recommendation again: one more trial, billed like any other.

    With a command it is run at once; without one it is handed out like `ask` does.

    Example: tumble confirm drill.toml
    """
    ledger = open_ledger(file, running=True, creating=False)
    if ledger.config.command is None:
        _hand_out(ledger, ledger.confirm(), json)
    else:
        _run(ledger, lambda runner: runner.confirm(), json)


def _hand_out(ledger: Ledger, found: Suggestion, json: bool) -> None:
    print(show.as_json(tables.suggestion_table(found)) if json else show.suggestion(found, ledger.config))


def _run(ledger: Ledger, start: Callable[[Runner], Suggestion], json: bool) -> None:
    """Run one trial with the study's command, and say what came of it."""
    from tumble.cli.live import one_ctrl_c
    from tumble.studies.runner import RigFault, Runner

    runner = Runner(ledger)
    suggestion = start(runner)
    if not json:
        print(show.printable(suggestion.why), flush=True)
    try:
        with one_ctrl_c():
            entry = runner.run_single(suggestion)
    except RigFault as fault:
        exit_with_fault(fault.end)
    table = {"trial": entry.trial, "outcome": entry.outcome, "results": entry.results}
    print(show.as_json(table) if json else show.line(entry, ledger.config))


COMMANDS = (try_, confirm)
