"""Refuse a release whose tag, version, change log or address is not ready: ``check_release.py v0.2.0``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER = "github.com/OWNER/"
NAMING = ("pyproject.toml", "CITATION.cff", "packaging/optunahub/samplers/tumble/README.md")


def version(root: Path = ROOT) -> str:
    """Return the version of the sources: the only place where it is decided."""
    text = (root / "src" / "tumble" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    assert found is not None
    return found.group(1)


def faults(tag: str, root: Path = ROOT) -> list[str]:
    """Return a sentence for everything that stands in the way of releasing `tag`."""
    here = version(root)
    said = []
    if tag != f"v{here}":
        said.append(f"The tag is {tag}, but the version in src/tumble/__init__.py is {here}: tag v{here}.")
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", here):
        said.append(f"{here} is no version to release: take away what follows the three numbers.")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(here)} \(\d{{4}}-\d\d-\d\d\)$", changes, re.MULTILINE):
        said.append(f"CHANGELOG.md has no heading with a date, such as '## {here} (2027-01-31)'.")
    for name in NAMING:
        if PLACEHOLDER in (root / name).read_text(encoding="utf-8"):
            said.append(f"{name} says {PLACEHOLDER}: write the account that hosts the repository.")
    return said


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python packaging/check_release.py TAG")
    sys.exit("\n".join(faults(sys.argv[1])) or None)
