"""Build the technical report: `python -m docs.report [--out FILE]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .pdf import build

TEXT = Path(__file__).parent / "index.md"


def main(arguments: list[str] | None = None) -> int:
    """Write the PDF."""
    parser = argparse.ArgumentParser(prog="python -m docs.report", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/report.pdf"))
    options = parser.parse_args(arguments)
    print(f"{build(TEXT.read_text(encoding='utf-8'), options.out)} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
