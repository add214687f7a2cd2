"""Old trials from a CSV file into a study: they teach, and are not billed."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import optuna
from optuna.trial import FrozenTrial, TrialState

from tumble.errors import InputError
from tumble.integrations.optuna.distributions import searchable, to_distributions
from tumble.integrations.optuna.notes import BILLED, FIXED, OUTCOME, VoidKind, outcome, outcome_of, setting
from tumble.parameters import Choice
from tumble.studies import bookkeeping
from tumble.studies.config import StudyConfig
from tumble.studies.csv_table import THOUSANDS, CsvTable, read_csv
from tumble.studies.parameter_tables import exact
from tumble.studies.records import RESULTS
from tumble.studies.values import parse_number, parse_value

if TYPE_CHECKING:
    from tumble.studies.ledger import Ledger

YES = ("1", "1.0", "1,0", "true", "t", "yes", "y", "x")  # under failed, in small letters
NO = ("", "0", "0.0", "0,0", "false", "f", "no", "n")
TAKEN = ("safe", "failed", "unmeasured", "no value", "never")  # under outcome, of a trial that was told
CRASHES = ("fail", "fails", "failing", "failure", "failures", "crash", "crashed", "crashes")  # for failed
BROKEN = re.compile(r"(; breaks [^;]+ by [^;]+)+$")  # what an export adds to the reason of a crash
NEAR = 0.75  # how alike two names are before one is taken for a slip: faild, outcom
PASSED_OVER = ("running", "lost", *get_args(VoidKind))


def old_trial(
    config: StudyConfig,
    parameters: Mapping[str, Choice],
    results: Mapping[str, float],
    failed: str | None,
    never: bool = False,
) -> FrozenTrial:
    """A finished Optuna trial that is not billed: measured, failed with a reason, or never to be tried."""
    values = exact(config.space, parameters)
    attributes: dict[str, Any] = {BILLED: False} | ({FIXED: config.fixed} if config.fixed else {})
    if failed is not None:
        attributes[OUTCOME] = outcome("never" if never else "failure", failed)
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


class Parsed(NamedTuple):
    """A trial in a file: its setting, what was measured, and why it failed or is never to be tried."""

    parameters: dict[str, Choice]
    results: dict[str, float]
    failed: str | None
    never: bool = False


class Old(NamedTuple):
    """What a file holds: its trials, how many rows were passed over by outcome, and the columns of no use."""

    trials: list[FrozenTrial]
    passed_over: Counter[str]
    unused: tuple[str, ...]


@dataclass(frozen=True)
class Imported:
    """What was read, and what was not.

    Parameters
    ----------
    read
        How many trials were read.
    known
        How many were passed over because the study had them already.
    passed_over
        How many rows ran or were void when the table was exported, by outcome.
    unused
        The columns that nothing was read from, without those that an export writes for people alone.
    """

    read: int
    known: int
    passed_over: Mapping[str, int] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.read + self.known + sum(self.passed_over.values())


def import_csv(ledger: Ledger, path: Path) -> Imported:
    """Read old trials from a CSV file into a study; they teach, and are not billed.

    Rows that ran or were void in an exported study are passed over, and so is a trial that the study has:
    reading a file twice teaches no more than once.  A trial that stands twice in the file was measured twice.

    Parameters
    ----------
    ledger
        The study.
    path
        The file.  It needs a column for each parameter and each result.  `failed` (1 for a crash, which needs
        no result), `reason` and `outcome` are used where they are there; with tumble_ before them where the
        study has a parameter or a result of that name.  The objective of a crash is kept with it, and teaches
        nothing, as where it is told.

    Returns
    -------
    Imported
        How many trials were read, how many were passed over, and which columns were of no use.

    Raises
    ------
    InputError
        If the file or a row of it can't be used.  Nothing is imported then.
    """
    config = ledger.config
    found = read_old_trials(config, path)
    had = Counter(_identity(config, e.stored) for e in ledger.entries() if e.reading.phase == "told")
    new = []
    for trial in found.trials:
        identity = _identity(config, trial)
        if had[identity] > 0:
            had[identity] -= 1
        else:
            new.append(trial)
    for trial in new:
        ledger.store.add(trial)
    return Imported(len(new), len(found.trials) - len(new), found.passed_over, found.unused)


def read_old_trials(config: StudyConfig, path: Path) -> Old:
    """The trials of a CSV file, as `import_csv` takes them; an `InputError` where one can't be used."""
    own = (*config.space.names, *config.result_names)
    table = read_csv(path, own)
    names = bookkeeping.names_to_read(table.columns, own)
    unused = _check_columns(config, table, names, path)
    trials, passed_over = [], Counter[str]()
    for line, cells in table.rows:
        try:
            ended = _outcome(names, cells)
            if ended in PASSED_OVER:
                passed_over[ended] += 1
            else:
                trials.append(old_trial(config, *_parse_row(config, cells, table, names, ended)))
        except InputError as error:
            raise InputError(f"{path}: line {line}: {error}") from None
    return Old(trials, passed_over, unused)


def _identity(config: StudyConfig, trial: FrozenTrial) -> tuple[object, ...]:
    """What two trials must share to be the same one: the setting, the results, and how it ended."""
    results = trial.user_attrs.get(RESULTS, {})
    setting_ = config.completed(setting(trial))
    values = [setting_.get(name) for name in config.space.names]
    values += [results.get(name) for name in config.result_names]
    never = outcome_of(trial).get("kind") == "never"
    return trial.state, never, *(float(f"{v:.9g}") if isinstance(v, float) else v for v in values)


def _check_columns(
    config: StudyConfig, table: CsvTable, names: Mapping[str, str], path: Path
) -> tuple[str, ...]:
    """The columns that nothing is read from; refuse a table that lacks one, or where one may be meant."""
    own = (*config.space.names, *config.result_names)
    needed = [name for name in config.space.names if name not in config.fixed]
    for name in (*needed, config.objective):
        if name not in table.columns:
            near = {column.lower(): column for column in table.columns}
            close = difflib.get_close_matches(name.lower(), near, n=1)
            hint = f"; is it {near[close[0]]!r}?" if close else ""
            why = f"column {name} is missing{hint}; the first line must name every column"
            raise InputError(f"{path}: {why}")
    for name in (*own, *names.values()):
        if table.columns.count(name) > 1:
            raise InputError(f"{path}: column {name} stands twice; name each column once")
    others = [column for column in table.columns if column and column not in (*own, *names.values())]
    for column in others:
        _check_not_meant(column, table, names, path)
    return tuple(dict.fromkeys(column for column in others if not bookkeeping.is_written(column)))


def _parse_row(
    config: StudyConfig,
    cells: Mapping[str, str | None],
    table: CsvTable,
    names: Mapping[str, str],
    ended: str,
) -> Parsed:
    known, comma = config.space.parameters, table.decimal_comma
    given = {name: _cell(name, cells[name], table) for name in known if name in cells}
    values = {name: parse_value(name, known[name], cell, comma) for name, cell in given.items()}
    parameters = {**config.fixed, **values}
    config.space.encode(parameters)
    measured = {name: cells[name] or "" for name in config.result_names if (cells.get(name) or "").strip()}
    results = {n: parse_number(n, _cell(n, cell, table), comma) for n, cell in measured.items()}
    reason = (cells.get(names["reason"]) or "").strip()
    if ended == "never":
        return Parsed(parameters, results, reason, never=True)
    if _has_failed(names["failed"], cells.get(names["failed"]) or ""):
        return Parsed(parameters, results, _why_crashed(reason))
    broken = config.is_violated(results)
    if ended == "failed" and not broken and not (cells.get(names["failed"]) or "").strip():
        raise InputError(
            f"{names['outcome']} is 'failed', but no limit is broken; write 1 under {names['failed']} for a "
            "crash, or 0 where it was safe by these limits"
        )
    if config.objective not in results and not broken:
        raise InputError(f"{config.objective} is empty; give a number, or 1 under {names['failed']}")
    unknown = [name for name in config.result_names if name not in results]
    if unknown and not broken:
        raise InputError(f"{unknown[0]} is not there; what was not measured can't be taken as safe")
    return Parsed(parameters, results, None)


def _why_crashed(reason: str) -> str:
    """Why a trial crashed, without what an export adds: that it did, and the limits that it broke as well."""
    said = BROKEN.sub("", reason)
    return "" if said == "crash" else said.removeprefix("crash: ") or "failed"


def _check_not_meant(column: str, table: CsvTable, names: Mapping[str, str], path: Path) -> None:
    """Refuse a column that is likely meant as one that is looked for: a crash would be taken for safe."""
    said = column.lower()
    word = re.sub(r"^(is|has|did)_", "", re.sub(r"[^a-z]+", "_", said).strip("_"))
    for plain, name in names.items():
        slips = () if plain == "reason" else difflib.get_close_matches(word, [plain], cutoff=NEAR)
        is_meant = said == name or slips or (plain == "failed" and word in CRASHES)
        if is_meant and name not in table.columns:
            what = ", with 1 for a crash and 0 or nothing for any other" if plain == "failed" else ""
            raise InputError(
                f"{path}: column {column}: write {name}{what}, or rename it where it means another thing"
            )


def _outcome(names: Mapping[str, str], cells: Mapping[str, str | None]) -> str:
    """How a trial ended, in the word that an export writes; another word is refused."""
    ended = (cells.get(names["outcome"]) or "").strip()
    if ended and ended not in TAKEN + PASSED_OVER:
        raise InputError(
            f"{names['outcome']} is {ended!r}; known are {', '.join(TAKEN)}, and of trials that are passed "
            f"over {', '.join(PASSED_OVER)}; leave it empty otherwise, and write 1 under {names['failed']} "
            "for a crash"
        )
    return ended


def _has_failed(name: str, cell: str) -> bool:
    """Whether a cell under `failed` says so; what says neither is refused."""
    said = cell.strip().lower()
    if said not in YES + NO:
        raise InputError(
            f"{name} is {cell.strip()!r}; write 1 for a trial that failed, and 0 or nothing for any other"
        )
    return said in YES


def _cell(name: str, cell: str | None, table: CsvTable) -> str:
    """A cell that is there, and that can be read in one way only."""
    if cell is None:
        raise InputError(f"{name} is not there; the line ends too early")
    if table.decimal_comma and not table.comma_is_sure and THOUSANDS.fullmatch(cell.strip()):
        said = cell.strip()
        raise InputError(
            f"{name} is {said!r}, which can be read in two ways; write {said.replace(',', '')}, or {said}0 "
            "where decimals follow the comma"
        )
    if table.decimal_comma and re.fullmatch(r"\s*[-+]?[\d.]*\.\d{3}(,\d+)?\s*", cell):
        raise InputError(
            f"{name} is {cell.strip()!r}, with a point where other numbers have a comma; write it without "
            "separators of thousands"
        )
    return cell
