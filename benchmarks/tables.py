"""Plain tables for a terminal, and promises with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned, the first to the left and the others to the right; valid Markdown as well."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def one(row: Sequence[str]) -> str:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)),
        ]
        return "| " + " | ".join(cells) + " |"

    rule = (
        "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    )
    return "\n".join([one(header), rule, *map(one, rows)])


def verdict(promise: str, held: bool | np.bool_) -> str:
    """One line: the promise and whether it held."""
    return f"{'held  ' if held else 'MISSED'}  {promise}"


def number(value: float) -> str:
    """Four digits, or five decimals of something below 1."""
    return f"{value:.4g}" if abs(value) >= 1.0 else f"{value:.5f}"
