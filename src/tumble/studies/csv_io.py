"""Trials as CSV: out of a study, and into another one as old data, which are not billed."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import optuna
from optuna.trial import FrozenTrial, TrialState

from tumble.errors import InputError
from tumble.integrations.optuna.distributions import searchable, to_distributions
from tumble.integrations.optuna.notes import BILLED, FIXED, OUTCOME, outcome, outcome_of, setting
from tumble.parameters import Categorical, Choice, Fixed
from tumble.studies.config import StudyConfig
from tumble.studies.parameter_tables import exact
from tumble.studies.records import RESULTS, Entry

if TYPE_CHECKING:
    from tumble.studies.ledger import Ledger

SURPLUS = "surplus cells"  # where the reader puts what is beyond the last column


def old_trial(
    config: StudyConfig, parameters: Mapping[str, Choice], results: Mapping[str, float], failed: str | None
) -> FrozenTrial:
    """A finished Optuna trial that is not billed: measured, or failed with a reason."""
    values = exact(config.space, parameters)
    attributes: dict[str, Any] = {BILLED: False} | ({FIXED: config.fixed} if config.fixed else {})
    if failed is not None:
        attributes[OUTCOME] = outcome("failure", failed)
    searched = searchable(to_distributions(config.space))
    measured = failed is None and config.objective in results
    unmeasured = TrialState.FAIL if failed is not None else TrialState.PRUNED
    return optuna.trial.create_trial(
        state=TrialState.COMPLETE if measured else unmeasured,
        value=results[config.objective] if measured else None,
        params={name: values[name] for name in searched},
        distributions=searched,
        user_attrs={RESULTS: dict(results)},
        system_attrs=attributes,
        constraints=config.excesses(results),
    )


def columns(config: StudyConfig) -> list[str]:
    """The columns of the file: the setting, what was measured, and what became of it."""
    rest = ["failed", "reason", "outcome", "billed", "mode", "rho", "p_safe", "why", "started", "ended"]
    return ["trial", *config.space.names, *config.result_names, *rest, "changes"]


def row(config: StudyConfig, entry: Entry) -> dict[str, Any]:
    """One trial, as a row of the file."""
    stored, note = entry.stored, entry.decision
    return {
        "trial": entry.trial,
        **entry.parameters,
        **{name: entry.results.get(name) for name in columns(config) if name in entry.results},
        "failed": int(entry.reading.crashed),
        "reason": entry.reading.reason or outcome_of(stored).get("reason", ""),
        "outcome": entry.outcome,
        "billed": int(entry.reading.billed and entry.reading.phase != "void"),
        **{key: note.get(key) for key in ("mode", "rho", "p_safe", "why")},
        "started": stored.datetime_start,
        "ended": stored.datetime_complete,
        "changes": "; ".join(map(str, entry.changes)),
    }


def export_csv(ledger: Ledger, file: TextIO) -> int:
    """Write every trial of a study as CSV.

    Returns
    -------
    int
        How many trials there were.
    """
    writer = csv.DictWriter(file, columns(ledger.config), extrasaction="ignore")
    writer.writeheader()
    entries = ledger.entries()
    writer.writerows(row(ledger.config, entry) for entry in entries)
    return len(entries)


@dataclass(frozen=True)
class Imported:
    """How many trials were read, and how many were passed over because the study had them already."""

    read: int
    known: int


def import_csv(ledger: Ledger, path: Path) -> Imported:
    """Read old trials from a CSV file into a study; they teach, and are not billed.

    Rows that were void in an exported study are passed over, and so is a trial that the study has: reading a
    file twice teaches no more than once.  A trial that stands twice in the file was measured twice.

    Parameters
    ----------
    ledger
        The study.
    path
        The file.  It needs a column for each parameter and each result.  `failed` (1 for a crash, which needs
        no result) and `reason` are used where they are there.

    Returns
    -------
    Imported
        How many trials were read, and how many were passed over.

    Raises
    ------
    InputError
        If the file or a row of it can't be used.  Nothing is imported then.
    """
    config = ledger.config
    found = [old_trial(config, *parsed) for parsed in _parse(config, path) if parsed is not None]
    had = Counter(_identity(config, e.stored) for e in ledger.entries() if e.reading.phase == "told")
    new = []
    for trial in found:
        identity = _identity(config, trial)
        if had[identity] > 0:
            had[identity] -= 1
        else:
            new.append(trial)
    for trial in new:
        ledger.store.add(trial)
    return Imported(len(new), len(found) - len(new))


def _identity(config: StudyConfig, trial: FrozenTrial) -> tuple[object, ...]:
    """What two trials must share to be the same one: the setting, the results, and how it ended."""
    results = trial.user_attrs.get(RESULTS, {})
    setting_ = config.completed(setting(trial))
    values = [setting_.get(name) for name in config.space.names]
    values += [results.get(name) for name in config.result_names]
    return trial.state, *(float(f"{v:.9g}") if isinstance(v, float) else v for v in values)


def _parse(
    config: StudyConfig, path: Path
) -> list[tuple[dict[str, Choice], dict[str, float], str | None] | None]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read ({error}); give a CSV file in UTF-8") from None
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey=SURPLUS)
    try:
        return _parse_rows(config, path, reader)
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: {error}; save it as plain CSV") from None


def _parse_rows(
    config: StudyConfig, path: Path, reader: csv.DictReader[str]
) -> list[tuple[dict[str, Choice], dict[str, float], str | None] | None]:
    missing = [n for n in (*config.space.names, config.objective) if n not in (reader.fieldnames or ())]
    if missing:
        raise InputError(f"{path}: column {missing[0]} is missing; the first line must name every column")
    rows = []
    for line, cells in enumerate(reader, start=2):
        try:
            rows.append(_parse_row(config, cells))
        except ValueError as error:
            raise InputError(f"{path}: line {line}: {error}") from None
    return rows


def _parse_row(
    config: StudyConfig, cells: Mapping[str, str]
) -> tuple[dict[str, Choice], dict[str, float], str | None] | None:
    if any(cell.strip() for cell in cells.get(SURPLUS) or ()):
        raise ValueError("there are more cells than columns; put text with a comma in quotes")
    if (cells.get("outcome") or "") not in ("", "safe", "failed", "unmeasured", "no value"):
        return None  # running or void when it was exported
    parameters = {name: _value(config, name, cells[name]) for name in config.space.names}
    config.space.encode(parameters)
    names = config.result_names
    results = {name: _number(name, cells[name]) for name in names if (cells.get(name) or "").strip()}
    if (cells.get("failed") or "").strip().lower() in ("1", "true", "yes"):
        results.pop(config.objective, None)
        return parameters, results, (cells.get("reason") or "").strip() or "failed"
    broken = config.is_violated(results)
    if config.objective not in results and not broken:
        raise ValueError(f"{config.objective} is empty; give a number, or 1 under failed")
    unknown = [name for name in names if name not in results]
    if unknown and not broken:
        raise ValueError(f"{unknown[0]} is not there; what was not measured can't be taken as safe")
    return parameters, results, None


def _value(config: StudyConfig, name: str, cell: str | None) -> Choice:
    parameter = config.space.parameters[name]
    choices = parameter.choices if isinstance(parameter, Categorical) else ()
    if isinstance(parameter, Fixed):
        choices = (parameter.value,)
    if not choices:
        return _number(name, cell)
    if cell is None:
        raise ValueError(f"{name} is not there; the line ends too early")
    written = {"true" if c is True else "false" if c is False else str(c): c for c in choices}
    lowered = cell if cell in written else cell.lower()
    if lowered not in written:
        raise ValueError(f"{name} must be one of {', '.join(written)}, but {cell!r} came")
    return written[lowered]


def _number(name: str, cell: str | None) -> float:
    if cell is None:
        raise ValueError(f"{name} is not there; the line ends too early")
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, but {cell!r} came")
    return number
