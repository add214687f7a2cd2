"""Keys of a study file that stand too low: below a [table] TOML takes them for a part of that table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tumble.studies.keys import FILE
from tumble.studies.schema import Wrong


def check_no_key_is_a_fixed_parameter(table: Mapping[str, Any]) -> None:
    """Refuse a key of the file below [parameters]: the study would go on without what it says.

    Raises
    ------
    Wrong
        If there is one.  A fixed parameter of such a name is written as a table.
    """
    given = table.get("parameters")
    for name, value in given.items() if isinstance(given, dict) else ():
        if name in FILE and not isinstance(value, dict):
            key = f"{name} is a key of the file: it must stand above [{_first_table(table)}]"
            parameter = f"a fixed parameter of this name is written {name} = {{ value = ... }}"
            raise Wrong(f"{key}; {parameter}", "parameters", name)


def hint(table: Mapping[str, Any], keys: Sequence[str]) -> str:
    """What to add to a message about the place `keys`, as its end; empty where no key stands too low."""
    least = 3 if keys[0] == "parameters" else 2  # below [parameters] it is a parameter of that name
    if len(keys) >= least and keys[-1] in FILE:
        return f"; a key of the file such as {keys[-1]} stands above [{_first_table(table)}]"
    within = [one for one in table if _is_table(table[one]) and keys[0] in _names_in(table[one])]
    if keys[0] in table or not within:
        return ""
    return f"; it stands above [{_first_table(table)}], and the one in [{within[0]}] belongs to that table"


def _first_table(table: Mapping[str, Any]) -> str:
    return next(name for name, value in table.items() if _is_table(value))


def _is_table(value: object) -> bool:
    """Whether this is a table, or several of one name."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value))


def _names_in(value: Any) -> set[str]:
    """The names in a table, or in several."""
    tables = [value] if isinstance(value, dict) else value
    return {name for one in tables if isinstance(one, dict) for name in one}
