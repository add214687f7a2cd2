import json
from types import SimpleNamespace

import pytest

from docs import notebook_pages
from docs.run_notebooks import notebooks


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_page_has_the_text_the_code_and_the_outputs_of_its_notebook(path):
    page = notebook_pages.page(path)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert page.startswith("# ")
    assert page.count("```python\n") == sum(cell["cell_type"] == "code" for cell in cells)
    assert page.count("```text\n") >= 1
    assert f"[{path.name}]({path.name})" in page


def test_a_link_to_a_notebook_leads_to_its_page(tmp_path):
    cells = [{"cell_type": "markdown", "source": ["# A\n", "[b](b.ipynb), [c](https://c/c.ipynb)"]}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    assert "[b](b.md), [c](https://c/c.ipynb)" in notebook_pages.page(tmp_path / "a.ipynb")


def test_a_figure_is_one_block_of_html():
    output = {
        "output_type": "display_data",
        "data": {"image/svg+xml": ['<?xml version="1.0"?>\n', "<svg>\n\n</svg>"]},
    }
    cell = {"cell_type": "code", "source": ["draw()"], "outputs": [output]}
    title = {"cell_type": "markdown", "source": ["# A"]}
    assert notebook_pages._cell(cell).endswith('<div class="output">\n<svg>\n</svg>\n</div>')
    assert notebook_pages._cell(title) == "# A"


@pytest.mark.parametrize(
    ("where", "shown"),
    [("index.md", "[a](notebooks/a.md)"), ("notebooks/a.md", "[a](notebooks/a.ipynb)")],
)
def test_a_page_of_the_manual_leads_to_the_page_of_a_notebook(where, shown):
    page = SimpleNamespace(file=SimpleNamespace(src_uri=where))
    assert notebook_pages.on_page_markdown("[a](notebooks/a.ipynb)", page=page) == shown
