"""What the columns of a table are called: those that the study itself names, and those beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tumble.studies.config import StudyConfig
from tumble.studies.records import Entry
from tumble.studies.tables import DECIDED

FIRST = "trial"
LAST = ("failed", "reason", "outcome", "billed", *DECIDED, "started", "ended", "by", "retries", "changes")
READ = ("failed", "reason", "outcome")  # those that an import looks at
PREFIX = "tumble_"


@dataclass(frozen=True)
class OwnColumns:
    """What the columns are called that the study names, by the name of the parameter or of the result."""

    parameters: dict[str, str]
    results: dict[str, str]

    @property
    def header(self) -> list[str]:
        """All of them, parameters first."""
        return [*self.parameters.values(), *self.results.values()]


def own_columns(config: StudyConfig, entries: Iterable[Entry]) -> OwnColumns:
    """The columns of the setting, and of all that was measured.

    Where a parameter and a result share a name, the one that the study file names has it, and the other one
    gets a prefix.

    Parameters
    ----------
    config
        What the study file says.
    entries
        The trials: they may have more results than the file, and parameters that it no longer has.
    """
    parameters, results = dict.fromkeys(config.space.names), dict.fromkeys(config.result_names)
    for entry in entries:
        parameters.update(dict.fromkeys(entry.parameters))
        results.update(dict.fromkeys(entry.results))
    taken = {*parameters, *results}
    own = OwnColumns({name: name for name in parameters}, {name: name for name in results})
    for name in (name for name in parameters if name in results):
        dropped = name in config.result_names
        columns, prefix = (own.parameters, "parameter_") if dropped else (own.results, "result_")
        columns[name] = _free(name, taken, prefix)
        taken.add(columns[name])
    return own


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


def is_written(column: str) -> bool:
    """Whether a column has a name that an export writes beside the study's own."""
    return _plain(column) in (FIRST, *LAST)


def _free(name: str, taken: Collection[str], prefix: str = PREFIX) -> str:
    while name in taken:
        name = prefix + name
    return name


def _plain(name: str) -> str:
    while name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name
