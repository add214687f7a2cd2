"""The notebooks of the manual, run in a kernel of their own.

python -m docs.run_notebooks            run them, and say which print something else than they show
python -m docs.run_notebooks --write    run them, and keep their outputs
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from .comparing import is_shown

FOLDER = Path(__file__).parent / "notebooks"
TIMEOUT = 300  # seconds a cell


def notebooks() -> list[Path]:
    """Every notebook of the manual."""
    return sorted(FOLDER.glob("*.ipynb"))


def _read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def run(path: Path) -> Any:
    """The notebook with the outputs of a new run, in an empty folder.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell raises.
    """
    notebook = _read(path)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=TIMEOUT, kernel_name="python3", resources={"metadata": {"path": folder}},
            record_timing=False,
        )  # fmt: skip
        client.execute()
    return notebook


def printed(cell: Any) -> str:
    """The text that a cell printed, or that stands for its value."""
    texts = []
    for output in cell.get("outputs", ()):
        if output.output_type == "stream" and output.name == "stdout":
            texts.append(output.text)
        elif output.output_type in ("execute_result", "display_data"):
            texts.append(_plain(output.data))
    return "".join(texts)


def _plain(data: Any) -> str:
    """The plain text of a value; a figure's names the place of an object in memory."""
    pictures = any(kind.startswith("image/") for kind in data)
    return "" if pictures else str(data.get("text/plain", ""))


def differences(stored: Any, found: Any) -> list[str]:
    """The cells that now print something else, each with what it printed."""
    pairs = zip(stored.cells, found.cells, strict=True)
    return [
        f"cell {number} printed:\n{printed(new)}"
        for number, (old, new) in enumerate(pairs)
        if not is_shown(printed(old), printed(new))
    ]


def main(arguments: list[str] | None = None) -> int:
    """Run them; 0 where each prints what it shows."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.run_notebooks", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", help="notebooks; all of them where none is named")
    options = parser.parse_args(arguments)
    wrong = 0
    for path in (FOLDER / f"{name}.ipynb" for name in options.names) if options.names else notebooks():
        stored, found = _read(path), run(path)
        if options.write:
            nbformat.write(found, path)  # type: ignore[no-untyped-call]
        else:
            told = differences(stored, found)
            wrong += len(told)
            print("\n".join([path.name, *told]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
