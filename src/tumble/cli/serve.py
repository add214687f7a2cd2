"""`tumble serve`: the page for the phone at the rig, and the HTTP door."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from tumble.cli.change import notice, quiet_optuna
from tumble.cli.options import EPILOG, WholeNumberBetween, study_file
from tumble.errors import InputError
from tumble.studies.study_file import read_study_file

FOR_A_PHONE = (
    "only this machine can open this address; for a phone or another machine give --host 0.0.0.0 and a token "
    "in TUMBLE_TOKEN"
)


@click.command(epilog=EPILOG)
@study_file
@click.option(
    "--port", type=WholeNumberBetween(0, 65535), default=8000, show_default=True, help="0 for any free one."
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="0.0.0.0 for the whole network; needs a token."
)
@click.option("--token", envvar="TUMBLE_TOKEN", show_envvar=True, help="What a client must show.")
def serve(file: Path, port: int, host: str, token: str | None) -> None:
    """Serve the study: a page for phone and screen, and an HTTP door, until Ctrl-C.

    On 127.0.0.1 only this machine can reach it. A phone or another machine can on another host, with the
    token, which the page takes from the QR code.

    Example: tumble serve drill.toml

    Example: TUMBLE_TOKEN=... tumble serve drill.toml --host 0.0.0.0
    """
    read_study_file(file)  # before anything slow is imported
    try:
        from tumble.server import serving
    except ModuleNotFoundError as error:
        raise InputError(
            f"tumble serve needs more packages ({error.name} is missing): pip install -e '.[serve]'"
        ) from None
    quiet_optuna()
    try:
        serving.serve(file, host, port, token or None, _show, notice)
    except serving.NoToken as error:
        raise InputError(f"{error}; for example TUMBLE_TOKEN={secrets.token_urlsafe(16)}") from None


def _show(address: str, code: str | None) -> None:
    print(FOR_A_PHONE if code is None else code)
    print(f"{address}  (Ctrl-C ends it)", flush=True)


COMMANDS = (serve,)
