"""Lines on disk: one JSON object for each finished run. A line that was cut short is not read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from .records import FORMAT, Line, canonical


class Store:
    """The lines of a directory: every ``*.jsonl`` in it is read, new lines go to ``<name>.jsonl``.

    A line cut short by a kill is dropped, so its run counts as not done. Lines of another format are ignored.
    """

    def __init__(self, folder: Path, name: str = "runs") -> None:
        self.folder = folder
        self.path = folder / f"{name}.jsonl"
        folder.mkdir(parents=True, exist_ok=True)

    def lines(self) -> Iterator[Line]:
        """Every whole line of this format, one for each key (the last that was started)."""
        latest: dict[str, Line] = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            for text in path.read_text(encoding="utf-8").splitlines():
                line = _parse(text)
                if line is not None:
                    known = latest.get(line["key"])
                    if known is None or line["started"] >= known["started"]:
                        latest[line["key"]] = line
        yield from latest.values()

    def keys(self, code: str | None = None) -> set[str]:
        """The keys of the runs that are done; with ``code`` only those that this version of tumble did."""
        return {line["key"] for line in self.lines() if code is None or line["code"] == code}

    def append(self, line: Line) -> None:
        """Write one line and force it to disk."""
        text = canonical({**line, "format": FORMAT}) + "\n"
        with self.path.open("ab+") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a kill cut the last line short: end it, it will not parse
                    file.write(b"\n")
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())


def _parse(text: str) -> Line | None:
    try:
        line = json.loads(text)
    except json.JSONDecodeError:
        return None
    return line if isinstance(line, dict) and line.get("format") == FORMAT and "key" in line else None
