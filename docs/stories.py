"""A page is a story: its blocks of code are run one after another, and each output stands below its block.

    python -m docs.stories PAGE ...     run pages, and write below each block what it prints

The ``python`` blocks of a page share one namespace. A block with a title is written to the file of that name.
In a ``console`` block every line that starts with ``tumble`` is run, and in a ``text`` block every line that
starts with ``$ tumble``. The ``text`` block that follows a block directly is its output; one with ``...`` is
left as it is. Long searches are cut short, and their outputs are not compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import tumble
from tumble import cli
from tumble.studies.study_file import read_study_file

from .comparing import is_shown

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^([ \t]*)```(\w*)(.*?)\n(.*?)^\1```[ \t]*$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')
MOST, CUT = 40, 10  # trials of a search; a longer one is cut to so many
READ_ONLY = ("sh", "text", "", "json", "diff")  # shown, not run
ENDLESS = ("dashboard", "serve")
DONE = (0, None, 4)  # exit codes; 4 says that nothing is left to ask for


@dataclass(frozen=True)
class Block:
    """A block of a page: what it is, where it stands, and what the page shows as its output."""

    language: str
    title: str | None
    code: str
    line: int
    end: int  # the place of its last character in the page, and one more
    shown: Block | None = None


def blocks(text: str) -> list[Block]:
    """The blocks of a page, in their order."""
    found: list[Block] = []
    begins: list[int] = []
    for match in FENCE.finditer(text):
        indent, language, info, body = match.groups()
        code = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        title = TITLE.search(info)
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(language, title.group(1) if title else None, code, line, match.end()))
        begins.append(match.start())
    if not found:
        return []
    return [
        Block(b.language, b.title, b.code, b.line, b.end, _output(text, b, after, begin))
        for b, after, begin in zip(found, [*found[1:], None], [*begins[1:], 0], strict=True)
    ]


def _output(text: str, block: Block, after: Block | None, begin: int) -> Block | None:
    """The block after it, where that is its output."""
    if after is None or after.language != "text" or block.title is not None:
        return None
    is_run = block.language in ("python", "console") and not after.code.startswith("$ ")
    return after if is_run and not text[block.end : begin].strip() else None


def run(page: Path) -> Iterator[tuple[Block, str]]:
    """Each block that is run to its end, with what it printed; files go to the folder of now."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.title is not None:
            _write(block)
        elif block.language == "python":
            printed = _python(page, block, namespace)
            if printed is not None:
                yield block, printed
        elif block.language == "console":
            lines = [line for line in block.code.splitlines() if line.startswith("tumble ")]
            yield block, "".join(map(command, lines))
        elif block.language == "text" and block.code.startswith("$ tumble "):
            yield block, _dialogue(block)
        elif block.language not in READ_ONLY:
            raise ValueError(f"{page.name}:{block.line}: give the block a title or a known language")


def _write(block: Block) -> None:
    assert block.title is not None
    Path(block.title).write_text(block.code, encoding="utf-8")
    if block.language == "toml":
        read_study_file(Path(block.title))  # a study file that can be used


def _python(page: Path, block: Block, namespace: dict[str, Any]) -> str | None:
    """What a block printed; None where a search was cut short."""
    source = "\n" * (block.line - 1) + block.code  # so that errors name the line of the page
    cut: list[int] = []
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        warnings.catch_warnings(),
        mock.patch.object(tumble, "minimize", _shortened(tumble.minimize, cut)),
    ):
        warnings.simplefilter("ignore")
        exec(compile(source, str(page), "exec"), namespace)
    return None if cut else out.getvalue()


def _shortened(function: Callable[..., Any], cut: list[int]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("trials", CUT) > MOST:
            cut.append(kwargs["trials"])
            kwargs |= {"trials": CUT, "failures": min(kwargs.get("failures") or CUT, CUT)}
        return function(*args, **kwargs)

    return call


def command(line: str, *, may_fail: bool = False) -> str:
    """What `tumble ...` prints, run in this process; with its errors where it may fail."""
    words = shlex.split(line, comments=True)
    if words[1] in ENDLESS:
        return ""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out if may_fail else sys.stderr):
        try:
            cli.main(words[1:])
        except SystemExit as ended:
            if ended.code not in DONE and not may_fail:
                raise ValueError(f"{line} ended with {ended.code}") from None
    return out.getvalue()


def _dialogue(block: Block) -> str:
    """Each command after `$`, and below it all that it says."""
    lines = [line for line in block.code.splitlines() if line.startswith("$ tumble ")]
    return "".join(f"{line}\n{command(line.removeprefix('$ '), may_fail=True)}" for line in lines)


def wrong(page: Path) -> list[str]:
    """One sentence for each block whose output is not the one that the page shows."""
    return [
        f"{page.name}:{block.line}: the block printed\n{printed}"
        for block, printed in run(page)
        if not is_shown(_shown(block), printed)
    ]


def _shown(block: Block) -> str:
    if block.language == "text":
        return block.code
    return "" if block.shown is None else block.shown.code


def written(page: Path) -> str:
    """The page with the outputs of a new run."""
    text = page.read_text(encoding="utf-8")
    for block, printed in reversed(list(run(page))):
        if not is_shown(_shown(block), printed) and "..." not in _shown(block):
            text = text[: block.end] + _fenced(printed) + text[_end(block) :]
    return text


def _end(block: Block) -> int:
    return block.end if block.shown is None else block.shown.end


def _fenced(printed: str) -> str:
    return f"\n\n```text\n{printed.rstrip()}\n```" if printed.strip() else ""


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """A folder in which a story begins; processes that it starts find its files and the repository."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, {"PYTHONPATH": os.pathsep.join([folder, paths])}),
        mock.patch.object(sys, "path", [folder, str(ROOT), *sys.path]),
    ):
        yield


def main(arguments: list[str] | None = None) -> int:
    """Write the outputs of the pages named."""
    for name in sys.argv[1:] if arguments is None else arguments:
        page = Path(name).resolve()
        with empty_folder():
            text = written(page)
        page.write_text(text, encoding="utf-8")
        print(f"{name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
