"""Notebooks as pages of the manual (a hook of MkDocs): text, code, and the outputs that are stored."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FOLDER = "notebooks"


def page(path: Path) -> str:
    """A notebook in Markdown; its figures stand in the page itself."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    title, *parts = [_cell(cell) for cell in cells]
    note = f"*This page is a notebook: [{path.name}]({path.name}){{ download }}.*"
    heading, _, rest = title.partition("\n")
    return "\n\n".join([heading, note, rest.strip(), *parts]) + "\n"


def _cell(cell: Any) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return _to_pages(source)
    return "\n\n".join([_fenced("python", source), *filter(None, map(_output, cell["outputs"]))])


def _to_pages(markdown: str) -> str:
    """Links to notebooks as links to their pages. In a clone the notebook is there, and its page is not."""
    return re.sub(r"(\]\([^):]*)\.ipynb\)", r"\1.md)", markdown)


def _output(output: Any) -> str:
    """What a cell printed or showed; the richest form that a page can hold."""
    if output["output_type"] == "stream":
        return _fenced("text", "".join(output["text"])) if output["name"] == "stdout" else ""
    data = output["data"]
    for kind in ("image/svg+xml", "text/html"):
        if kind in data:
            return _html("".join(data[kind]))
    return _fenced("text", "".join(data["text/plain"]))


def _html(text: str) -> str:
    """A block of HTML: no declaration before it, no empty line in it."""
    inner = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", text, flags=re.DOTALL)
    lines = [line for line in inner.splitlines() if line.strip()]
    return '<div class="output">\n' + "\n".join(lines) + "\n</div>"


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each notebook (MkDocs calls this); the notebook itself can be downloaded."""
    from mkdocs.structure.files import File

    for path in sorted((Path(config.docs_dir) / FOLDER).glob("*.ipynb")):
        files.append(File.generated(config, f"{FOLDER}/{path.stem}.md", content=page(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead to the pages of notebooks (MkDocs calls this); a notebook's own page offers its file."""
    return markdown if page.file.src_uri.startswith(f"{FOLDER}/") else _to_pages(markdown)
