"""A whole run may be stopped and gone on with: its verdicts are kept in a file as they come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .cases import Case, Verdict


class Progress:
    """The verdicts of a run that goes on.

    Parameters
    ----------
    file
        Where they are kept; None keeps nothing.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def known(self, cases: Sequence[Case]) -> list[Verdict]:
        """The verdicts of those of these cases that were tried already."""
        if self._file is None or not self._file.exists():
            return []
        tables = [json.loads(text) for text in self._file.read_text().splitlines()]
        found = {json.dumps(table["case"]): table for table in tables}
        tried = [(case, found[_key(case)]) for case in cases if _key(case) in found]
        return [Verdict(case, table["was_reached"], tuple(table["problems"])) for case, table in tried]

    def add(self, verdict: Verdict) -> None:
        """Keep one more."""
        if self._file is not None:
            table: dict[str, Any] = asdict(verdict)
            with self._file.open("a") as file:
                file.write(json.dumps(table) + "\n")


def _key(case: Case) -> str:
    return json.dumps(asdict(case))
