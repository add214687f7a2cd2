"""Every block of code in README and docs is run, page by page, in an empty folder.

A page is a story: its ``python`` blocks share one namespace, a block with a title is written to the file of
that name, and in a ``console`` block every line that starts with ``tumble`` is run. Long searches
are cut short.
"""

import importlib.util
import os
import pkgutil
import re
import shlex
import tomllib
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

import tumble
from tumble import cli
from tumble.studies.study_file import read_study_file

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^([ \t]*)```(\w*)(.*?)\n(.*?)^\1```[ \t]*$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')
FEW = 25  # trials
READ_ONLY = ("sh", "text", "", "json", "diff")  # shown, not run
ENDLESS = ("dashboard", "serve")


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
    """`tumble ...` in this process; exit code 4 says that nothing is left to ask for."""
    words = shlex.split(line, comments=True)
    if words[1] in ENDLESS:
        return
    with pytest.raises(SystemExit) as ended:
        cli.main(words[1:])
    assert ended.value.code in (0, None, 4), line


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
            if block.language == "toml":
                read_study_file(Path(block.title))  # a study file that can be used
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


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_extra_that_a_page_names_is_there(page):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r"pip install .*\.\[([\w,]+)\]", page.read_text(encoding="utf-8"))
    assert {name for names in named for name in names.split(",")} <= set(extras)


def test_the_pages_were_found():
    assert any(blocks(page) for page in PAGES)
    assert (ROOT / "docs" / "guides" / "botorch.md") in PAGES


def figures():
    """`docs/figures.py`, which draws while the manual is built."""
    spec = importlib.util.spec_from_file_location("figures", ROOT / "docs" / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_between_pages_lead_somewhere():
    link = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
    drawn = {ROOT / "docs" / name for name in figures().FIGURES}
    for page in PAGES:
        prose = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in link.findall(prose):
            if not re.match(r"[a-z]+:", target):
                path = page.parent / target
                assert path.exists() or path in drawn, f"{page.relative_to(ROOT)} links to {target}"


@pytest.mark.parametrize("name", list(figures().FIGURES))
def test_every_figure_is_drawn_and_shown(name):
    if not name.endswith("study.svg"):  # seconds, and drawn by every build
        assert figures().draw(name).startswith(b"<?xml")
    assert any(name in page.read_text(encoding="utf-8") for page in PAGES)


def test_paper_to_code_names_what_exists():
    text = (ROOT / "docs" / "paper-to-code.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("|")]
    names = {name for row in rows if "test_" in row[4] for name in re.findall(r"`([\w.]+)`", row[3])}
    assert len(names) > 15
    for name in names:
        full = name if name.startswith("tumble.") else f"tumble.core.{name}"
        assert pkgutil.resolve_name(full) is not None
    for file, _, test in set(re.findall(r"`([\w/]*test_\w+\.py)(::(\w+))?`", text)):
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in source, f"{file} has no {test}"


def test_every_page_is_in_the_contents():
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert str(page.relative_to(ROOT / "docs")) in contents
