"""The commands as one program: what it is called with, and the code that it exits with."""

from __future__ import annotations

import sys
from collections.abc import Sequence

try:
    import click
except ModuleNotFoundError:
    sys.exit("tumble's commands need more packages: pip install -e '.[study]' in the clone")

from tumble import __version__
from tumble.cli import change, read, serve, show, single, undo
from tumble.cli.codes import BAD_INPUT, FAULT, NOT_SHOWN, NOTHING_LEFT, STOPPED
from tumble.cli.options import EPILOG
from tumble.cli.output import going_on
from tumble.cli.remedies import with_remedy
from tumble.errors import BudgetExhausted, TrialsExhausted, TumbleError
from tumble.studies.schema import did_you_mean

TAKING_BACK = "void takes a told trial out, amend corrects it, and skip withdraws one in flight"
OTHER_WORDS = dict.fromkeys(("undo", "revert", "delete", "remove", "rm"), TAKING_BACK)  # of other programs


class InOrder(click.Group):
    """Lists its commands in the order of their use, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were given."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; where there is none of that name, the one that was meant is named."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            hint = OTHER_WORDS.get(args[0].lower()) or did_you_mean(
                args[0], self.commands, "the commands are"
            )
            ctx.fail(f"there is no command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


app = click.version_option(__version__, message="%(prog)s %(version)s")(
    InOrder(
        name="tumble",
        commands=[command for room in (change, single, undo, read, serve) for command in room.COMMANDS],
        help="Find the best safe setting of an experiment within T trials and B failures.",
        epilog=EPILOG,
        no_args_is_help=True,
    )
)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    with going_on() as output:
        code = _run(None if arguments is None else list(arguments))
    sys.exit(code or (NOT_SHOWN if output.is_lost else 0))


def _run(arguments: list[str] | None) -> int | str | None:
    """Run a command, say what went wrong, and give the exit code."""
    try:
        return int(app.main(args=arguments, prog_name="tumble", standalone_mode=False) or 0)
    except SystemExit as end:
        return end.code
    except click.ClickException as error:
        _with_example(error).show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _failed("stopped; run it again to go on", STOPPED)
    except (BudgetExhausted, TrialsExhausted) as error:
        return _failed(str(error), NOTHING_LEFT)
    except TumbleError as error:
        return _failed(with_remedy(error), BAD_INPUT)
    except Exception as error:
        sentence = _sentence_for(error)
        if sentence is None:
            raise
        return _failed(sentence, FAULT)


def _with_example(error: click.ClickException) -> click.ClickException:
    """The error of a --failed without a reason, with an example of one; any other as it is."""
    if isinstance(error, click.BadOptionUsage) and error.option_name == "--failed":
        example = 'Say why it failed, for example: --failed "bit broke"'
        return click.BadOptionUsage("--failed", f"{error.message} {example}", error.ctx)
    return error


def _sentence_for(error: Exception) -> str | None:
    """What is said of an error of the storage; nothing is imported where no storage was."""
    if "optuna" not in sys.modules:
        return None
    from tumble.studies.outages import sentence_for

    return sentence_for(error)


def _failed(message: str, code: int) -> int:
    print(f"tumble: {show.printable(message)}", file=sys.stderr)
    return code
