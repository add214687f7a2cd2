"""Whether an output is the one that a page shows.

Words must be the same, and numbers agree to a thousandth. Three dots stand for anything. Searches are
chaotic: another kind of processor rounds otherwise and may end elsewhere, so that there nothing is compared.
"""

from __future__ import annotations

import math
import platform
import re

COMPUTED_ON = "aarch64"  # the pages' outputs
TOLERANCE = 1e-3
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
PIECE = re.compile(rf"\.\.\.|\s+|{NUMBER.pattern}")


def is_shown(shown: str, printed: str) -> bool:
    """Whether a page that shows the one may stand above a block that printed the other."""
    if platform.machine() != COMPUTED_ON:
        return True
    found = _pattern(shown.strip()).fullmatch(printed.strip())
    numbers = [float(text) for text in NUMBER.findall(shown)]
    return found is not None and all(map(_agree, numbers, map(float, found.groups())))


def _agree(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-9)


def _pattern(shown: str) -> re.Pattern[str]:
    """What a printed text must match; each number is a group."""
    parts, at = [], 0
    for piece in PIECE.finditer(shown):
        parts.append(re.escape(shown[at : piece.start()]))
        parts.append(_piece(piece.group()))
        at = piece.end()
    return re.compile("".join(parts) + re.escape(shown[at:]), re.DOTALL)


def _piece(text: str) -> str:
    if text == "...":
        return ".*?"
    return r"\s+" if text.isspace() else rf"({NUMBER.pattern})"
