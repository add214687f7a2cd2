"""Commands that only read a study: status, best, plan, export, report, dashboard."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from tumble.cli import show
from tumble.cli.change import open_ledger
from tumble.cli.options import EPILOG, PATH, WHOLE, WholeNumberBetween, as_json, study_file
from tumble.errors import InputError
from tumble.shown import count
from tumble.studies import tables
from tumble.studies.outputs import check_output
from tumble.studies.study_file import read_study_file


@click.command(epilog=EPILOG)
@study_file
@as_json
def status(file: Path, json: bool) -> None:
    """Say where the study stands: trials, failures, what is in flight, the best so far.

    Example: tumble status drill.toml --json
    """
    ledger = open_ledger(file, reading=True)
    found = ledger.status()
    if json:
        print(show.as_json(tables.status_table(found)))
        return
    print(show.status(found, ledger.config, None if found.best is None else ledger.expected_best()))
    for entry in ledger.entries():
        if entry.is_running:
            who = "by hand" if entry.owner is None or entry.owner.kind == "hand" else f"by {entry.owner.host}"
            print(f"  in flight trial {entry.trial} ({who}):  {show.setting(entry, ledger.config)}")
        for change in entry.changes:
            print(show.in_line(f"  changed   trial {entry.trial}: {change}"))


@click.command(epilog=EPILOG)
@study_file
@as_json
def best(file: Path, json: bool) -> None:
    """Say the best safe trial, and the setting that is recommended, with its P(safe).

    Example: tumble best drill.toml
    """
    from tumble.studies.prediction import predict

    ledger = open_ledger(file, reading=True)
    found, choice, expected = ledger.status().best, ledger.recommend(), ledger.expected_best()
    if json:
        print(show.as_json(tables.best_table(found, choice, expected)))
        return
    print(f"best         {show.best(found, ledger.config)}")
    if expected is not None:
        print(f"expected     {show.expected(expected, ledger.config)}")
    print(f"recommended  {show.recommended(choice, ledger.config)}")
    if found and choice and show.is_better(found, choice, ledger.config):
        print(f"because      {show.because(found, choice, predict(ledger, found), ledger.config)}")


@click.command(epilog=EPILOG)
@click.argument("file", type=PATH, required=False)
@click.option("--trials", type=WHOLE, help="T, the number of trials; that of the file without.")
@click.option("--failures", type=WHOLE, help="B, the number of failures; that of the file without.")
@as_json
def plan(file: Path | None, trials: int | None, failures: int | None, json: bool) -> None:
    """Say what the controller would do: how long risk lasts, and what each failure costs.

    A study file gives T, B, the boldness and the parameters. The plan begins with the first trial. Without
    a file all parameters are taken to be continuous: where B = 1, the first trials are then more careful.

    Example: tumble plan --trials 60 --failures 6
    """
    from tumble.studies.planning import make_plan, plan_of

    if file is not None:
        found = plan_of(read_study_file(file), trials, failures)
    elif trials is not None and failures is not None:
        found = make_plan(trials, failures)
    else:
        example = "such as tumble plan --trials 60 --failures 6"
        raise InputError(f"give a study file, or --trials and --failures, {example}")
    print(show.as_json(asdict(found)) if json else str(found))


@click.command(epilog=EPILOG)
@study_file
@click.argument("out", type=PATH)
def export(file: Path, out: Path) -> None:
    """Write every trial to a file, with all that is known of it: CSV or JSON, as its name ends.

    Parameters and results keep their names. A column of CSV that would have the name of one gets a prefix:
    `tumble_mode` beside a parameter `mode`. So does a further result: `result_speed` beside a
    parameter `speed`.

    In CSV `failed` is 1 for a crash alone, as `tumble import` reads it. `outcome` is failed for a broken
    limit as well, and `reason` says which limit was broken and by how much.

    Example: tumble export drill.toml trials.csv
    """
    from tumble.studies.exporting import export_trials

    written = export_trials(open_ledger(file, reading=True), out)
    print(f"{count(written, 'trial')} written to {out}")


@click.command(epilog=EPILOG)
@study_file
@click.option("-o", "--out", type=PATH, default="report.html", show_default=True, help="The page to write.")
def report(file: Path, out: Path) -> None:
    """Write one self-contained page with the figures and every trial.

    Example: tumble report drill.toml -o report.html
    """
    from tumble.studies.report import write_report

    ledger = open_ledger(file, reading=True)
    write_report(ledger, check_output(ledger.config, out))
    print(f"{out} written")


@click.command(epilog=EPILOG)
@study_file
@click.option(
    "--port", type=WholeNumberBetween(0, 65535), default=8080, show_default=True, help="0 for any free one."
)
def dashboard(file: Path, port: int) -> None:
    """Serve the study's pages on this machine only (127.0.0.1), until Ctrl-C.

    Example: tumble dashboard drill.toml --port 8080
    """
    from tumble.studies.dashboard import serve

    serve(open_ledger(file, reading=True), port, lambda url: print(f"{url}  (Ctrl-C ends it)"))


COMMANDS = (status, best, plan, export, report, dashboard)
