"""Every trial of a study in a file: CSV or JSON, as its name says, with all that is known of each."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tumble.errors import InputError
from tumble.integrations.optuna.notes import outcome_of
from tumble.serialize import plain
from tumble.studies import bookkeeping
from tumble.studies.outputs import check_output
from tumble.studies.records import Entry
from tumble.studies.tables import DECIDED, entry_table
from tumble.studies.whole_files import replacing

if TYPE_CHECKING:
    from tumble.studies.config import StudyConfig
    from tumble.studies.ledger import Ledger

FORMATS = (".csv", ".json")
DIGITS = 15  # of a number: 900, not 900.0000000000001


def export_trials(ledger: Ledger, path: Path) -> int:
    """Write every trial of a study to a file; its ending says whether as CSV or JSON.

    Returns
    -------
    int
        How many trials there were.

    Raises
    ------
    InputError
        If the file has another ending, belongs to the study, or can't be written.
    """
    check_output(ledger.config, path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"{path}: a table is written as {' or '.join(FORMATS)}, and this name ends otherwise; "
            f"write for example: {path.stem or 'trials'}.csv"
        )
    write = export_csv if path.suffix.lower() == ".csv" else export_json
    with replacing(path) as handle:
        return write(ledger, handle)


def export_csv(ledger: Ledger, file: TextIO) -> int:
    """Write every trial of a study as CSV; how many there were."""
    entries = ledger.entries()
    own = bookkeeping.own_columns(ledger.config, entries)
    names = bookkeeping.written_names(own.header)
    header = [names[bookkeeping.FIRST], *own.header, *(names[name] for name in bookkeeping.LAST)]
    writer = csv.DictWriter(file, header)
    writer.writeheader()
    writer.writerows(row(entry, ledger.config, own, names) for entry in entries)
    return len(entries)


def export_json(ledger: Ledger, file: TextIO) -> int:
    """Write every trial of a study as a JSON list; how many there were."""
    entries = ledger.entries()
    trials = [entry_table(entry, ledger.config) | _history(entry) for entry in entries]
    json.dump(_meant(plain(trials)), file, indent=1, ensure_ascii=False)
    file.write("\n")
    return len(entries)


def row(
    entry: Entry, config: StudyConfig, own: bookkeeping.OwnColumns, names: Mapping[str, str]
) -> dict[str, Any]:
    """One trial, as a row of a table.

    `failed` is 1 for a crash alone, as an import reads it; `outcome` is "failed" for a broken limit, too.

    Parameters
    ----------
    entry
        The trial.
    config
        What the study file says: a reason names the limits that were broken.
    own
        The columns that the study names.
    names
        What each of the other columns is called.
    """
    stored, note = entry.stored, entry.decision
    kept = {
        bookkeeping.FIRST: entry.trial,
        "failed": int(entry.reading.crashed),
        "reason": entry.reason(config) or outcome_of(stored).get("reason", ""),
        "outcome": entry.outcome,
        "billed": int(entry.is_billed),
        **{key: note.get(key) for key in DECIDED},
        "p_safe": entry.p_safe,
        **_history(entry),
        "retries": "; ".join(entry.retries),
        "changes": "; ".join(map(str, entry.changes)),
    }
    values = {own.parameters[name]: value for name, value in entry.parameters.items()}
    values |= {own.results[name]: value for name, value in entry.results.items()}
    values |= {names[key]: value for key, value in kept.items()}
    return {column: _meant(value) for column, value in values.items()}


def _moment(local: datetime | None) -> str | None:
    """A time in UTC, whatever zone this machine is in: several machines may share a study."""
    return None if local is None else local.astimezone(UTC).isoformat(timespec="milliseconds")


def _history(entry: Entry) -> dict[str, Any]:
    """When a trial ran, who ran it, and what was tried again."""
    stored, owner = entry.stored, entry.owner
    return {
        "started": _moment(stored.datetime_start),
        "ended": _moment(stored.datetime_complete),
        "by": "" if owner is None else "hand" if owner.kind == "hand" else owner.host,
        "retries": list(entry.retries),
    }


def _meant(value: Any) -> Any:
    """A number as it was meant: what differs in the sixteenth digit is rounding."""
    if isinstance(value, float):
        rounded = float(f"{value:.{DIGITS}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 10**DIGITS else rounded
    if isinstance(value, Mapping):
        return {key: _meant(one) for key, one in value.items()}
    return [_meant(one) for one in value] if isinstance(value, list) else value
