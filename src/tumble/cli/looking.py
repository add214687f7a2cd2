"""Commands that only look: status, best, plan, export, report, dashboard. They write nothing to a study."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tumble.cli import show
from tumble.cli.driving import File, Json, open_ledger
from tumble.errors import InputError


def status(file: File, json: Json = False) -> None:
    """Say where the study stands: trials, failures, what is in flight, the best so far.

    Example: tumble status drill.toml --json
    """
    ledger = open_ledger(file, reading=True)
    found = ledger.status()
    if json:
        typer.echo(show.as_json(asdict(found)))
        return
    typer.echo(show.status(found, ledger.config))
    for entry in ledger.entries():
        if entry.reading.phase == "running":
            who = "by hand" if entry.owner is None or entry.owner.kind == "hand" else f"by {entry.owner.host}"
            typer.echo(f"  in flight trial {entry.trial} ({who}):  {show.pairs(entry.parameters)}")


def best(file: File, json: Json = False) -> None:
    """Say the best safe trial, and the setting that is recommended, with its P(safe).

    Example: tumble best drill.toml
    """
    ledger = open_ledger(file, reading=True)
    found, choice = ledger.status().best, ledger.recommend()
    if json:
        typer.echo(show.as_json(show.best_table(found, choice)))
        return
    typer.echo(f"best         {show.best(found, ledger.config)}")
    typer.echo(f"recommended  {show.recommended(choice, ledger.config)}")


def plan(
    trials: Annotated[int, typer.Option(help="T, the number of trials.", show_default=False)],
    failures: Annotated[int, typer.Option(help="B, the number of failures.", show_default=False)],
    json: Json = False,
) -> None:
    """Say what the controller would do: how long risk lasts, and what each failure costs.

    Example: tumble plan --trials 60 --failures 6
    """
    from tumble.studies.planning import make_plan

    found = make_plan(trials, failures)
    typer.echo(show.as_json(asdict(found)) if json else str(found))


def export(
    file: File, out: Annotated[Path, typer.Argument(help="The CSV file to write.", show_default=False)]
) -> None:
    """Write every trial to a CSV file.

    Example: tumble export drill.toml trials.csv
    """
    from tumble.studies import evidence

    ledger = open_ledger(file, reading=True)
    try:
        with out.open("w", newline="", encoding="utf-8") as handle:
            count = evidence.write(ledger, handle)
    except OSError as error:
        raise InputError(f"{out}: can't be written ({error.strerror}); choose another path") from None
    typer.echo(f"{count} trials written to {out}")


def report(
    file: File,
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one self-contained page with the figures and every trial.

    Example: tumble report drill.toml -o report.html
    """
    from tumble.report import write_report

    ledger = open_ledger(file, reading=True)
    try:
        write_report(ledger, out)
    except OSError as error:
        raise InputError(f"{out}: can't be written ({error.strerror}); choose another path") from None
    typer.echo(f"{out} written")


def dashboard(
    file: File,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free one.")] = 8080,
) -> None:
    """Serve the study's pages on this machine only (127.0.0.1), until Ctrl-C.

    Example: tumble dashboard drill.toml --port 8080
    """
    from tumble.studies.dashboard import serve

    serve(open_ledger(file, reading=True), port, lambda url: typer.echo(f"{url}  (Ctrl-C ends it)"))


COMMANDS = (status, best, plan, export, report, dashboard)
