"""What the commands share: the study file, --json, and the exit codes at the end of each help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

EPILOG = (
    "Exit codes: 0 done, 2 the input can't be used, 3 the rig needs someone to look at it, 4 nothing is left "
    "to ask for, 130 stopped by Ctrl-C (run it again to go on)."
)


class FilePath(click.Path):
    """A path without the character NUL, which no file has in its name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if "\0" in str(value):
            self.fail("a path can't contain the character NUL", param, ctx)
        return super().convert(value, param, ctx)


PATH = FilePath(path_type=Path)

study_file = click.argument("file", type=PATH)
trial_number = click.argument("trial", type=int)
as_json = click.option("--json", is_flag=True, help="One line of JSON.")
