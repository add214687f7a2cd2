"""README and docs: every block of code is run, page by page, and prints what the page shows below it."""

import importlib.util
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

from docs import comparing, stories
from docs.stories import FENCE

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_of_a_page_runs_and_prints_what_is_shown(page):
    with stories.empty_folder():
        assert stories.wrong(page) == [], f"run: python -m docs.stories {page.relative_to(ROOT)}"


def test_what_the_pages_show_is_compared_here():
    """Where it isn't, a skip says so: the blocks still run, but they may print other digits."""
    if comparing.arithmetic() != comparing.COMPUTED_WITH:
        pytest.skip("this machine rounds otherwise than the one that computed the outputs of the pages")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_extra_that_a_page_names_is_there(page):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r"pip install .*\.\[([\w,]+)\]", page.read_text(encoding="utf-8"))
    assert {name for names in named for name in names.split(",")} <= set(extras)


def test_the_pages_were_found():
    assert any(stories.blocks(page.read_text(encoding="utf-8")) for page in PAGES)
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
    drawn = {(ROOT / "docs" / name).resolve() for name in figures().FIGURES}
    for page in PAGES:
        prose = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in link.findall(prose):
            if not re.match(r"[a-z]+:", target):
                path = (page.parent / target).resolve()
                made = path in drawn or path.with_suffix(".ipynb").exists()  # while the manual is built
                assert path.exists() or made, f"{page.relative_to(ROOT)} links to {target}"


@pytest.mark.parametrize("name", list(figures().FIGURES))
def test_every_figure_is_drawn_and_shown(name):
    if not name.endswith("study.svg"):  # seconds, and drawn by every build
        assert figures().draw(name).startswith(b"<?xml")
    assert any(name in page.read_text(encoding="utf-8") for page in PAGES)


MADE = re.compile(
    r"<!-- ([^/][^>]*?) -->.*?<!-- /\1 -->|<!-- attacks: made .*?<!-- attacks: end -->", re.DOTALL
)
MEASURED = re.compile(r"\d ± \.?\d|\d times (?:as fast|as long|tumble|faster)|s/ask|\bp = 0?\.\d")


def without_source(text):
    """Parts with measured figures that are not made from stored lines, nor say what they were measured on."""
    by_hand = FENCE.sub("", MADE.sub("", text))
    parts = re.split(r"^(?:#+ .*|- (?=\*\*))", by_hand, flags=re.MULTILINE)
    return [part for part in parts if MEASURED.search(part) and "easured on version" not in part]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_measured_figure_comes_from_stored_lines_or_says_its_version(page):
    if page == ROOT / "docs" / "paper" / "index.md":
        assert "python -m experiments all" in page.read_text(encoding="utf-8")  # made as a whole
    else:
        assert without_source(page.read_text(encoding="utf-8")) == []


def test_a_measured_figure_without_a_source_is_found():
    assert without_source("## Speed\n\nIt is 12 times as fast.\n\n## More\n\n0.3 ± 0.1\n")
    assert not without_source("## More\n\n0.3 ± 0.1, measured on version 9\n")
    assert not without_source("<!-- speed -->\n0.3 ± 0.1\n<!-- /speed -->\n")


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
