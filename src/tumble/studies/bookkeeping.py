"""The columns of a table that say what became of a trial, beside those that the study itself names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tumble.studies.tables import DECIDED

FIRST = "trial"
LAST = ("failed", "reason", "outcome", "billed", *DECIDED, "started", "ended", "by", "retries", "changes")
READ = ("failed", "reason", "outcome")  # those that an import looks at
PREFIX = "tumble_"


def written_names(taken: Collection[str]) -> dict[str, str]:
    """What each column is called in a table: its own name, or one with a prefix where that is taken."""
    return {name: _free(name, taken) for name in (FIRST, *LAST)}


def names_to_read(columns: Sequence[str], own: Collection[str]) -> dict[str, str]:
    """Under which column of a table each of `READ` is looked for.

    A prefix is written only where the plain name is taken.  So the column with the most prefixes is meant.

    Parameters
    ----------
    columns
        The columns of the table.
    own
        The names of the study's parameters and results, which mean nothing else.
    """
    found = {}
    for name in READ:
        there = [column for column in columns if column not in own and _plain(column) == name]
        found[name] = max(there, key=len, default=_free(name, own))
    return found


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = PREFIX + name
    return name


def _plain(name: str) -> str:
    while name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name
