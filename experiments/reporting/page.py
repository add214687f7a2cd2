"""A report as data (sections of text, tables and figures), written as Markdown and as one HTML page."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Text:
    """A paragraph; **bold** and `code` are understood."""

    content: str


@dataclass(frozen=True)
class Table:
    """Rows of text under a header, with a caption."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """An SVG file beside the Markdown; embedded in the HTML page."""

    file: str
    caption: str


@dataclass(frozen=True)
class Commands:
    """Lines for a shell."""

    lines: Sequence[str]


Part = Text | Table | Picture | Commands


@dataclass(frozen=True)
class Section:
    """A title and its parts."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Assets:
    """Where figures go, and which seeds are reported (all when None)."""

    folder: Path
    seeds: range | None = None

    def save(self, drawing: Drawing, name: str, caption: str) -> Picture:
        """Write a figure as SVG, the same bytes for the same numbers."""
        import matplotlib

        with matplotlib.rc_context({"svg.hashsalt": "tumble", "svg.fonttype": "path"}):
            drawing.savefig(self.folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
        return Picture(f"{name}.svg", caption)


_NUMBER = re.compile(r"\W*\d|-$|not run|none")  # how a cell among numbers begins


def markdown(title: str, sections: Sequence[Section]) -> str:
    """The report as Markdown."""
    blocks = [f"# {title}"]
    for section in sections:
        blocks.append(f"## {section.title}")
        blocks += [_markdown_part(part) for part in section.parts]
    return "\n\n".join(blocks) + "\n"


def _markdown_part(part: Part) -> str:
    if isinstance(part, Text):
        return _starred(part.content)
    if isinstance(part, Commands):
        return "\n".join(["```sh", *part.lines, "```"])
    if isinstance(part, Picture):
        return f"![{part.caption}]({part.file})\n\n*{_starred(part.caption)}*"
    rule = ["---:" if right else "---" for right in _right(part)]
    escaped = [[_starred(cell).replace("|", "\\|") for cell in row] for row in (part.header, *part.rows)]
    rows = ["| " + " | ".join(row) + " |" for row in (escaped[0], rule, *escaped[1:])]
    return f"*{_starred(part.caption)}*\n\n" + "\n".join(rows)


def _starred(text: str) -> str:
    """The text with its single stars, as in f*, kept from meaning emphasis."""
    return re.sub(r"(?<!\*)\*(?!\*)", r"\\*", text)


def _right(table: Table) -> list[bool]:
    """Which columns hold numbers, and so are set to the right."""
    columns: list[tuple[str, ...]] = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    return [bool(column) and all(_NUMBER.match(cell) for cell in column) for column in columns]


def page(title: str, sections: Sequence[Section], folder: Path) -> str:
    """The report as one HTML page that needs nothing beside it."""
    body = [f"<h1>{html.escape(title)}</h1>"]
    for section in sections:
        body.append(f"<h2>{html.escape(section.title)}</h2>")
        body += [_html_part(part, folder) for part in section.parts]
    return _PAGE.format(title=html.escape(title), body="\n".join(body))


def _html_part(part: Part, folder: Path) -> str:
    if isinstance(part, Text):
        return f"<p>{_inline(part.content)}</p>"
    if isinstance(part, Commands):
        return "<pre>" + html.escape("\n".join(part.lines)) + "</pre>"
    if isinstance(part, Picture):
        data = base64.b64encode((folder / part.file).read_bytes()).decode()
        alt = html.escape(part.caption, quote=True)
        caption = f"<figcaption>{_inline(part.caption)}</figcaption>"
        return f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{data}">{caption}</figure>'
    sides = ["" if right else " class=left" for right in _right(part)]
    head = "".join(f"<th{side}>{_inline(c)}</th>" for side, c in zip(sides, part.header, strict=True))
    rows = "".join(
        "<tr>" + "".join(f"<td{side}>{_inline(c)}</td>" for side, c in zip(sides, row, strict=True)) + "</tr>"
        for row in part.rows
    )
    caption = f"<caption>{_inline(part.caption)}</caption>"
    return (
        f"<div class=wide><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _inline(text: str) -> str:
    escaped = html.escape(text, quote=False)
    escaped = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escaped)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escaped)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 Georgia, serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #111; }}
h1, h2 {{ font-family: Helvetica, Arial, sans-serif; line-height: 1.2; }}
h2 {{ margin-top: 2.5rem; border-top: 1px solid #999; padding-top: 1rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; font-size: .85rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; font-style: italic; padding-bottom: .4rem; }}
th, td {{ padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }}
th {{ border-bottom: 1px solid #111; }}
th.left, td.left {{ text-align: left; }}
td {{ vertical-align: top; white-space: nowrap; }}
td.left {{ white-space: normal; }}
figure {{ margin: 1.5rem 0; }}
figure img {{ max-width: 100%; }}
figcaption {{ font-style: italic; font-size: .9rem; }}
pre {{ background: #f4f4f4; padding: .8rem; overflow-x: auto; }}
@media print {{ body {{ max-width: none; }} h2, figure, table {{ break-inside: avoid; }} }}
</style></head><body>
{body}
</body></html>
"""
