"""What became of every attack: lines that are kept with the repository, which the page of guarantees shows.

Each line is a table of JSON: `attack` (which kind), what tells it from others of the kind, the counts, the
command that made it, and the state of the code.  A command that is given again replaces its own lines.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from experiments.runs import machine

from .tables import table

FILE = Path(__file__).parent / "results" / "attacks.jsonl"
FAULTS = {"kill": "kill", "exception": "error", "slow": "slow", "lost": "lost connection"}
KEYS = ("attack", "storage", "operation", "fault", "what", "workers")  # what tells two lines apart
Line: TypeAlias = dict[str, Any]


def read_lines(attack: str = "", file: Path = FILE) -> list[Line]:
    """The lines that are kept, all of them or those of one kind."""
    if not file.exists():
        return []
    lines = [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if attack in ("", line["attack"])]


def store_lines(lines: Sequence[Line], file: Path = FILE) -> None:
    """Keep these lines with the state of the code; each takes the place of the one with the same keys."""
    new = [{"state": machine.commit(), **line} for line in lines]
    known = {_key(line): line for line in (*read_lines(file=file), *new)}
    file.parent.mkdir(exist_ok=True)
    text = "".join(json.dumps(known[key]) + "\n" for key in sorted(known))
    file.write_text(text, encoding="utf-8")


def fault_table(lines: Sequence[Line]) -> str:
    """A table in Markdown: operations by faults, how many were tried, survived and lost."""
    operations = list(dict.fromkeys(line["operation"] for line in lines))
    rows = []
    for operation in (*operations, "all"):
        ours = [line for line in lines if operation in (line["operation"], "all")]
        faults = [sum(line["tried"] for line in ours if line["fault"] == fault) for fault in FAULTS]
        sums = [sum(line[count] for line in ours) for count in ("tried", "survived", "lost")]
        rows.append([operation, *map(str, (*faults, *sums))])
    return table(("operation", *FAULTS.values(), "tried", "survived", "lost"), rows)


def _key(line: Line) -> tuple[str, ...]:
    return tuple(str(line.get(key, "")) for key in KEYS)
