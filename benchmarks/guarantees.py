"""The part of docs/guarantees.md that shows the attacks: made from the lines that are kept.

python -m benchmarks.guarantees            print it
python -m benchmarks.guarantees --write    put it into the page
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .attacks import Line, fault_table, read_lines
from .tables import table

PAGE = Path(__file__).parents[1] / "docs" / "guarantees.md"
BEGIN, END = "<!-- attacks: made by python -m benchmarks.guarantees -->", "<!-- attacks: end -->"
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def attacks_part(lines: Sequence[Line]) -> str:
    """The tables of every attack, in Markdown."""
    parts = [_summary(lines), *(_faults(lines, storage) for storage in NAMES), _scale(lines), _studies(lines)]
    return "\n\n".join(part for part in parts if part)


def with_attacks(page: str, part: str) -> str:
    """The page with this part between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{part}\n\n{END}{after}"


def _of(lines: Sequence[Line], attack: str) -> list[Line]:
    return [line for line in lines if line["attack"] == attack]


def _summary(lines: Sequence[Line]) -> str:
    """One row an attack: tried, survived, lost."""
    rows = []
    for storage, name in NAMES.items():
        ours = [line for line in _of(lines, "fault") if line["storage"] == storage]
        if ours:
            sums = {key: sum(line[key] for line in ours) for key in ("cases", "tried", "survived", "lost")}
            tried = sum(line["tried"] + line["unreached"] for line in ours)
            what = f"a fault at every point, {name} ({tried} of {sums['cases']} cases)"
            rows.append([what, *(str(sums[key]) for key in ("tried", "survived", "lost")), _states(ours)])
    rows += [_soak_row(line) for line in _of(lines, "soak")]
    rows += [_outage_row(line) for line in _of(lines, "outage")]
    rows += [
        [
            f"damaged input: {line['what']}",
            *(str(line[key]) for key in ("tried", "survived", "lost")),
            _states([line]),
        ]
        for line in _of(lines, "mutation")
    ]
    return table(("attack", "tried", "survived", "lost", "state"), rows)


def _states(lines: Sequence[Line]) -> str:
    """The states of the code that these lines come from."""
    return ", ".join(sorted({line["state"] for line in lines}))


def _soak_row(line: Line) -> list[str]:
    harm = sum(line[key] for key in ("lost", "twice", "stuck", "wrong"))
    what = (
        f"a soak: {line['kills']} kills and {line['restarts']} restarts of PostgreSQL, {line['workers']} "
        f"workers ({line['died']} of them ended by themselves), B = {line['budget']} with at most "
        f"{line['peak']} in flight; trials told"
    )
    return [what, str(line["told"]), str(line["told"] - harm), str(harm), _states([line])]


def _outage_row(line: Line) -> list[str]:
    what = (
        f"{line['restarts']} restarts of PostgreSQL, {line['workers']} workers ({line['died']} of them ended "
        "by themselves); trials told"
    )
    return [what, str(line["told"]), str(line["told"] - line["lost"]), str(line["lost"]), _states([line])]


def _faults(lines: Sequence[Line], storage: str) -> str:
    ours = [line for line in _of(lines, "fault") if line["storage"] == storage]
    if not ours:
        return ""
    unreached = sum(line["unreached"] for line in ours)
    note = f" {unreached} cases ended before their point and count as not tried." if unreached else ""
    return f"Faults on {NAMES[storage]}, `{ours[0]['command']}`:{note}\n\n{fault_table(ours)}"


def _scale(lines: Sequence[Line]) -> str:
    ours = sorted(_of(lines, "scale"), key=lambda line: int(line["workers"]))
    if not ours:
        return ""
    head = ("workers", "trials", "B", "most in flight", "trials a second", "possible", "to the next trial")
    rows = [
        [
            *(str(line[key]) for key in ("workers", "told", "budget", "peak")),
            f"{line['throughput']:g}",
            f"{line['most_possible']:g}",
            f"{line['ask_median']:g} s",
        ]
        for line in ours
    ]
    return f"Many workers at one study on PostgreSQL, `{ours[0]['command']}`:\n\n{table(head, rows)}"


def _studies(lines: Sequence[Line]) -> str:
    ours = sorted(_of(lines, "studies"), key=lambda line: int(line["studies"]))
    if not ours:
        return ""
    rows = [
        [str(line["studies"]), *(f"{1000 * line[key]:.0f} ms" for key in ("open", "ask", "status"))]
        for line in ours
    ]
    head = ("studies in the database", "open", "ask", "status")
    return f"Many studies in one database, the same command:\n\n{table(head, rows)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the part, or write it into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put it into the page")
    part = attacks_part(read_lines())
    if parser.parse_args(arguments).write:
        PAGE.write_text(with_attacks(PAGE.read_text(encoding="utf-8"), part), encoding="utf-8")
    else:
        print(part)


if __name__ == "__main__":
    main()
