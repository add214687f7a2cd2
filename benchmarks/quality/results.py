"""Lines that are kept with the repository: compressed, and of one state of the code.

Peers' lines do not depend on our code; they carry the versions of the packages that made them. Our own lines
carry a hash of the sources that decide a suggestion, and a table never mixes two of them.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.runs.methods import PEERS
from experiments.runs.records import Line, canonical
from tumble.errors import InputError

FOLDER = Path(__file__).parents[1] / "results"
LARGEST = 10_000_000  # bytes of all published lines together


def publish(lines: Iterable[Line], name: str, folder: Path = FOLDER) -> Path:
    """Write lines to `folder`/`name`.jsonl.xz, sorted by key: equal lines give an equal file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl.xz"
    text = "".join(canonical(line) + "\n" for line in sorted(lines, key=lambda line: line["key"]))
    path.write_bytes(lzma.compress(text.encode(), preset=9))
    size = sum(other.stat().st_size for other in folder.glob("*.jsonl.xz"))
    if size > LARGEST:
        raise InputError(f"the published lines are {size / 1e6:.1f} MB; the limit is {LARGEST / 1e6:.0f} MB")
    return path


def published(name: str, folder: Path = FOLDER) -> list[Line]:
    """The lines of a published file; none where there is no such file."""
    path = folder / f"{name}.jsonl.xz"
    if not path.exists():
        return []
    return [json.loads(text) for text in lzma.decompress(path.read_bytes()).decode().splitlines()]


def names(table: str, block: int) -> tuple[str, ...]:
    """The files of a table: a verdict keeps our lines apart from the peers', which outlive our code."""
    ours = "ours" if table in ("verdict", "ours", "peers") else table
    return (f"{ours}-{block}", f"peers-{block}") if ours == "ours" else (f"{ours}-{block}",)


def blocks(folder: Path = FOLDER) -> list[int]:
    """The blocks of seeds whose verdicts are published, in order."""
    stems = (path.name.split(".")[0] for path in folder.glob("ours-*.jsonl.xz"))
    return sorted(int(name.removeprefix("ours-")) for name in stems)


def publish_table(lines: Sequence[Line], table: str, block: int, folder: Path = FOLDER) -> list[Path]:
    """Write the lines of a table to its files; `InputError` where they come from two states of the code."""
    one_state(lines)
    ours = [line for line in lines if line["method"] not in PEERS]
    theirs = [line for line in lines if line["method"] in PEERS]
    parts = zip((ours, theirs), names(table, block), strict=False)
    return [publish(part, name, folder) for part, name in parts if part]


def one_state(lines: Sequence[Line]) -> str:
    """The state of our code that made the lines; `InputError` where there are two."""
    codes = sorted({line["code"] for line in lines if line["method"] not in PEERS})
    if len(codes) > 1:
        raise InputError(
            f"the lines come from {len(codes)} states of the code ({', '.join(codes)}); a table takes one: "
            "run the command again, which repeats the older ones"
        )
    return codes[0] if codes else ""
