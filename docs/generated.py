"""Parts of the manual that are made: the command line, the keys of a study file, the tables of stored lines.

python -m docs.generated            say which pages are out of date
python -m docs.generated --write    write them
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from benchmarks import attacks, guarantees, psafe, timings
from benchmarks.quality import manual
from tumble.cli.app import app
from tumble.cli.options import EXIT_CODES
from tumble.studies.keys import FILE
from tumble.studies.parameter_tables import TABLE
from tumble.studies.schema import REQUIRED, Key

from .marks import between_marks

DOCS = Path(__file__).parent
ARGUMENTS = {
    "FILE": "the study file",
    "TRIAL": "the number of a trial",
    "PARAMETERS": "`name=value` for every parameter that is not fixed",
    "RESULTS": "`name=number` for each result that was measured",
    "TABLE": "a file of old trials, CSV",
    "OUT": "the file to write, `.csv` or `.json`",
}
MORE = {
    2: "one line names the file, the key and the remedy, and nothing was written",
    3: "a fault that stayed after `retries`, unusable output, a storage that went away, no failure left and "
    "nothing safe seen; of `run` also a start that crashed before a trial was safe, and more failures than B",
    4: "trials or failures are spent; `run` has done its work then, and ends with 0",
    5: "the disk is full, or nobody reads the pipe any more; a run goes on to its end all the same",
    130: "`serve` and `dashboard` end with 0 then, since Ctrl-C is how they are ended",
}


def command_line() -> str:
    """The page of the command line: every command, argument, option and exit code."""
    context = click.Context(app, info_name="tumble")
    parts = [
        "# The command line",
        "*Made from the code by `python -m docs.generated --write`.*",
        f"{app.help} `tumble COMMAND --help` says what stands here.",
        "```text\n" + app.get_usage(context).removeprefix("Usage: ") + "\n```",
        _contents(),
        "## Exit codes",
        "Of every command:",
        _table(("code", "means"), [[str(code), _exit_code(code)] for code in EXIT_CODES]),
        "## Arguments",
        _table(("argument", "is"), [[f"`{name}`", text] for name, text in ARGUMENTS.items()]),
    ]
    for command in app.commands.values():
        parts += _command(command, context)
    return "\n\n".join(parts) + "\n"


def _contents() -> str:
    rows = []
    for name, command in app.commands.items():
        first, _ = _paragraphs(command)
        rows.append([f"[`{name}`](#tumble-{name})", first[0]])
    return _table(("command", "does"), rows)


def _exit_code(code: int) -> str:
    return EXIT_CODES[code] + (f": {MORE[code]}" if code in MORE else "")


def _paragraphs(command: click.Command) -> tuple[list[str], list[str]]:
    """The paragraphs of a command's help, and its examples."""
    assert command.help is not None
    paragraphs = [" ".join(part.split()) for part in command.help.split("\n\n")]
    examples = [part.removeprefix("Example: ") for part in paragraphs if part.startswith("Example: ")]
    return [_coded(part) for part in paragraphs if not part.startswith("Example: ")], examples


def _command(command: click.Command, parent: click.Context) -> list[str]:
    """A section of the page."""
    assert command.name is not None
    context = click.Context(command, info_name=command.name, parent=parent)
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            assert parameter.make_metavar(context).strip("[].") in ARGUMENTS, parameter.name
    text, examples = _paragraphs(command)
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    options = [p for p in command.params if isinstance(p, click.Option)]
    found = [f"## tumble {command.name}", *text, f"```text\n{usage}\n```"]
    if options:
        found.append(_table(("option", "value", "left out", "means"), [_option(o, context) for o in options]))
    return [*found, "```sh\n" + "\n".join(examples) + "\n```"]


def _option(option: click.Option, context: click.Context) -> list[str]:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.is_flag:
        return [names, "none: it is a flag", "", _sentence(option)]
    return [names, _value(option, context), _left_out(option), _sentence(option)]


def _value(option: click.Option, context: click.Context) -> str:
    if isinstance(option.type, click.IntRange):
        return f"whole number from {option.type.min} to {option.type.max}"
    if isinstance(option.type, click.types.IntParamType):
        return "whole number"
    return f"`{option.make_metavar(context)}`"


def _left_out(option: click.Option) -> str:
    if option.required:
        return "must be there"
    if option.envvar:
        return f"the environment variable `{option.envvar}`"
    default = option.to_info_dict()["default"]
    return "" if default is None or default == "" else f"`{default}`"


def _sentence(option: click.Option) -> str:
    assert option.help, option.name
    return _coded(option.help)


def keys(known: Mapping[str, Key]) -> str:
    """A table of keys: type, what it is, what is taken where it is left out, an example."""
    rows = [
        [f"`{name}`", _coded(key.type), _coded(key.means), _default(key), _lines(key.example)]
        for name, key in known.items()
    ]
    return _table(("key", "type", "is", "left out", "example"), rows)


def _lines(example: str) -> str:
    """An example as code, line by line."""
    return "<br>".join(f"`{line}`" for line in example.split("\n"))


def _default(key: Key) -> str:
    if key.default is REQUIRED:
        return "must be there"
    if key.left_out:
        return _coded(key.left_out)
    if isinstance(key.default, bool):
        return f"`{str(key.default).lower()}`"
    return f'`"{key.default}"`' if isinstance(key.default, str) else f"`{key.default}`"


def _coded(text: str) -> str:
    """Text in which code is shown as such: quoted words, names in braces, options."""
    return re.sub(r'(?<![`\w-])("[\w:]*"|\{\w+\}|--?[a-z]+)', r"`\1`", text)


def _table(header: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def pages() -> dict[Path, str]:
    """Every page that is made, or has a part that is: its text as the code and the stored lines have it."""
    parts = {
        "study-file.md": {"keys": keys(FILE), "keys of a parameter": keys(TABLE)},
        "benchmarks.md": {"speed": timings.manual_part(), "psafe": psafe.manual_part()},
        "index.md": {"won": manual.won()},
        "report/index.md": report_parts(),
    }
    made = {DOCS / name: _filled(DOCS / name, part) for name, part in parts.items()}
    return {DOCS / "cli.md": command_line()} | made


def _filled(page: Path, parts: Mapping[str, str]) -> str:
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = between_marks(text, name, part)
    return text


def report_parts() -> dict[str, str]:
    """The tables of the technical report, from stored lines."""
    quality = manual.sections()
    return {
        "verdict": quality["verdict"].replace("](assets/", "](../assets/"),
        "ablation": quality["ablation"],
        "speed": timings.manual_part(),
        "attacks": guarantees.attacks_part(attacks.read_lines()),
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the pages, or say which differ; 0 where none does."""
    parser = argparse.ArgumentParser(prog="python -m docs.generated", description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    stale = [page for page, text in pages().items() if not page.exists() or page.read_text("utf-8") != text]
    for page in stale:
        if options.write:
            page.write_text(pages()[page], encoding="utf-8")
        print(f"{page.name} {'written' if options.write else 'is out of date'}")
    return 0 if options.write or not stale else 1


if __name__ == "__main__":
    sys.exit(main())
