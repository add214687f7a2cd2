"""Every block of code in README and docs is run, page by page, in an empty folder.

A page is a story: its ``python`` blocks share one namespace, a block with a title is written to the file of
that name, and in a ``console`` block every line that starts with ``tumble`` is run. Long searches
are cut short.
"""

import os
import re
import shlex
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

import tumble

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^([ \t]*)```(\w*)(.*?)\n(.*?)^\1```[ \t]*$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')
FEW = 25  # trials
READ_ONLY = ("sh", "text", "", "json", "diff")  # shown, not run
ENDLESS = ("dashboard",)


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    code: str
    line: int


def blocks(page):
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        indent, language, info, body = match.groups()
        code = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        title = TITLE.search(info)
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(language, title.group(1) if title else None, code, line))
    return found


def shortened(function):
    def call(*args, **kwargs):
        kwargs["trials"] = min(kwargs.get("trials", FEW), FEW)
        if kwargs.get("failures") is not None:
            kwargs["failures"] = min(kwargs["failures"], FEW)
        return function(*args, **kwargs)

    return call


def run_command(line):
    """`tumble ...` as this interpreter runs it; exit code 4 says that nothing is left to ask for."""
    words = shlex.split(line, comments=True)
    if words[1] in ENDLESS:
        return
    command = [sys.executable, "-m", "tumble.cli", *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 4), f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setattr(tumble, "minimize", shortened(tumble.minimize))
    namespace = {"__name__": "__main__"}
    for block in blocks(page):
        if block.title is not None:
            Path(block.title).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            source = "\n" * (block.line - 1) + block.code  # so that errors name the line of the page
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(source, str(page), "exec"), namespace)
        elif block.language == "console":
            for line in block.code.splitlines():
                if line.startswith("tumble "):
                    run_command(line)
        else:
            assert block.language in READ_ONLY, (
                f"{page.name}:{block.line}: give it a title or a known language"
            )


def test_the_pages_were_found():
    assert any(blocks(page) for page in PAGES)
    assert (ROOT / "docs" / "guides" / "botorch.md") in PAGES


def test_links_between_pages_lead_somewhere():
    link = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
    for page in PAGES:
        prose = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in link.findall(prose):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
