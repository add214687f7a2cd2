"""The command line: `tumble init | run | ask | tell | skip | void | amend | status | best | …`

Exit codes: 0 done; 2 the input can't be used (file, key and remedy are named, nothing was written); 3 the rig
needs someone to look at it; 4 nothing is left to ask for; 130 stopped by Ctrl-C, run it again to go on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

try:
    import click
except ModuleNotFoundError:
    sys.exit("tumble's commands need more packages: pip install -e '.[study]' in the clone")

from tumble import __version__
from tumble.cli import change, read, serve, show, undo
from tumble.cli.options import EPILOG
from tumble.cli.remedies import with_remedy
from tumble.errors import BudgetExhausted, TrialsExhausted, TumbleError

BAD_INPUT, FAULT, NOTHING_LEFT = 2, 3, 4


class InOrder(click.Group):
    """Lists its commands in the order of their use, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were given."""
        return list(self.commands)


app = click.version_option(__version__, message="%(prog)s %(version)s")(
    InOrder(
        name="tumble",
        commands=[*change.COMMANDS, *undo.COMMANDS, *read.COMMANDS, *serve.COMMANDS],
        help="Find the best safe setting of an experiment within T trials and B failures.",
        epilog=EPILOG,
        no_args_is_help=True,
    )
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="tumble")
    except (BudgetExhausted, TrialsExhausted) as error:
        _fail(str(error), NOTHING_LEFT)
    except TumbleError as error:
        _fail(with_remedy(error), BAD_INPUT)
    except Exception as error:
        sentence = _sentence_for(error)
        if sentence is None:
            raise
        _fail(sentence, FAULT)


def _sentence_for(error: Exception) -> str | None:
    """What is said of an error of the storage; nothing is imported where no storage was."""
    if "optuna" not in sys.modules:
        return None
    from tumble.studies.outages import sentence_for

    return sentence_for(error)


def _fail(message: str, code: int) -> None:
    print(f"tumble: {show.printable(message)}", file=sys.stderr)
    sys.exit(code)
