"""The report as PDF, by fpdf2 with the fonts that Matplotlib brings: nothing is needed but pip."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import markdown
import matplotlib as mpl
from fpdf import FPDF, FontFace, TextStyle

from docs import figures

FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"
SERIF = {
    "": "DejaVuSerif",
    "B": "DejaVuSerif-Bold",
    "I": "DejaVuSerif-Italic",
    "BI": "DejaVuSerif-BoldItalic",
}
MONO = {
    "": "DejaVuSansMono",
    "B": "DejaVuSansMono-Bold",
    "I": "DejaVuSansMono-Oblique",
    "BI": "DejaVuSansMono-BoldOblique",
}
SIZE = 9.0  # points
WIDTH = 500  # of a figure
FIRST_COLUMN = 36  # per cent of a table


class Report(FPDF):
    """A page with its number at the foot."""

    def footer(self) -> None:
        """Write the number."""
        self.set_y(-12)
        self.set_font("serif", size=8)
        self.cell(0, 6, str(self.page_no()), align="C")


def build(text: str, out: Path) -> Path:
    """Write the report's Markdown as PDF; the file that was written."""
    with tempfile.TemporaryDirectory() as folder:
        page = _new_page()
        page.write_html(
            _html(text, Path(folder)), font_family="serif", tag_styles=_styles(),
            table_line_separators=True, ul_bullet_char="•",
        )  # fmt: skip
        out.parent.mkdir(parents=True, exist_ok=True)
        page.output(str(out))
    return out


def _new_page() -> Report:
    page = Report(format="A4")
    page.set_margins(18, 16)
    page.set_auto_page_break(True, margin=16)
    for family, files in (("serif", SERIF), ("mono", MONO)):
        for style, name in files.items():
            page.add_font(family, style, FONTS / f"{name}.ttf")
    page.set_font("serif", size=SIZE)
    page.set_title("Bayesian optimisation under a budget of failures")
    page.add_page()
    return page


def _styles() -> dict[str, Any]:
    code = FontFace(family="mono", size_pt=SIZE - 1.5)
    return {
        "h1": TextStyle(font_family="serif", font_style="B", font_size_pt=14, t_margin=0, b_margin=0.5),
        "h2": TextStyle(font_family="serif", font_style="B", font_size_pt=11, t_margin=4, b_margin=0.4),
        "code": code,
        "pre": TextStyle(font_family="mono", font_size_pt=SIZE - 1.5, t_margin=2, b_margin=2),
    }


def _html(text: str, folder: Path) -> str:
    """The page in the HTML that fpdf2 knows: figures as files, links within the manual as words."""
    words = re.sub(r"<!--.*?-->", "", text)
    words = re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", words)
    words = re.sub(r"!\[[^\]]*\]\(\.\./([^)]+)\)", lambda found: _figure(found[1], folder), words)
    html = markdown.markdown(words, extensions=["tables", "fenced_code"])
    html = html.replace("</code></pre>", "</pre>").replace('<pre><code class="language-text">', "<pre>")
    return _with_table_widths(html)


def _figure(name: str, folder: Path) -> str:
    """A figure of the manual as an image that fpdf2 can read."""
    path = folder / f"{Path(name).stem}.png"
    if name in figures.FIGURES:
        with mpl.rc_context(figures.STYLE | {"savefig.transparent": False}):
            figures.FIGURES[name]().savefig(path, dpi=200)
    else:
        path = Path(__file__).parents[1] / name
    return f'<center><img src="{path}" width="{WIDTH}"></center>'


def _with_table_widths(html: str) -> str:
    """Tables over the whole width, in small print: words to the left, numbers to the right."""
    html = html.replace("<table>", '<table width="100%"><font size="7">')
    html = html.replace("</table>", "</font></table>").replace("<td>", '<td align="left">')
    html = re.sub(r'style="text-align: (\w+);"', r'align="\1"', html)
    return re.sub(r"<thead>.*?</thead>", _with_column_widths, html, flags=re.DOTALL)


def _with_column_widths(head: re.Match[str]) -> str:
    """A head whose first column is wide and whose others are equal; fpdf2 wants a width of each."""
    count = head[0].count("<th")
    others = (100 - FIRST_COLUMN) / max(count - 2, 1)  # the tag of the head itself begins like a cell's
    first = head[0].replace("<th>", f'<th width="{FIRST_COLUMN}%" align="left">', 1)
    return first.replace("<th align", f'<th width="{others:.0f}%" align')
