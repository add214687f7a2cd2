"""Trials read from a database in two statements.

Optuna reads one trial with six statements, and several with seven or more.  A study reads trials two dozen
times from one suggestion to the next, and on a server each statement is a journey.  Here the first statement
reads the trials and the second one everything that belongs to them, or some more where trials are many;
Optuna itself makes its `FrozenTrial` of both.

The trials come first, because others may write between two statements.  What was read of a trial that is over
is kept for good: its state must be older than its parts, so that none of them is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import sqlalchemy as sql
from optuna.storages import RDBStorage
from optuna.storages._rdb import models
from optuna.storages._rdb.storage import _create_scoped_session
from optuna.trial import FrozenTrial, TrialState

MOST_IDS = 150  # in one statement, which has each of them five times: an old SQLite takes 999 variables
TRIALS, STUDIES = models.TrialModel.__table__, models.StudyModel.__table__


class QuickReader(RDBStorage):
    """Optuna's storage in SQLite or PostgreSQL, with a quicker way to read what it holds."""

    def get_trial(self, trial_id: int) -> FrozenTrial:
        """One trial; KeyError where there is none with this id."""
        return self._read(_one(), trial=trial_id)[0]

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        """The system attributes of a study; KeyError where there is none with this id."""
        with _create_scoped_session(self.scoped_session) as session:
            found = session.connection().execute(_attributes(), {"study": study_id}).all()
        if not found:
            raise KeyError(models.NOT_FOUND_MSG)
        return {row.key: json.loads(row.value_json) for row in found if row.key is not None}

    def _get_trials(
        self, study_id: int, states: Container[TrialState] | None, included_trial_ids: set[int],
        trial_id_greater_than: int,
    ) -> list[FrozenTrial]:  # fmt: skip
        """The trials of a study with these ids, and those with greater ones, by their ids."""
        ids = [each for each in included_trial_ids if each <= trial_id_greater_than]
        if states is not None or len(ids) > MOST_IDS:
            return super()._get_trials(study_id, states, included_trial_ids, trial_id_greater_than)
        return self._read(_several(), study=study_id, beyond=trial_id_greater_than, ids=ids)

    def _read(self, statement: sql.Select[Any], **which: Any) -> list[FrozenTrial]:
        """The trials that `statement` finds, with everything that belongs to them.

        All rows of a statement are fetched at once: SQLite keeps writers waiting until the last one is.
        """
        with _create_scoped_session(self.scoped_session) as session:
            connection = session.connection()
            found = connection.execute(statement, which).all()
            if not found:
                raise KeyError(models.NOT_FOUND_MSG)
            trials = {row.trial_id: _Stored(row) for row in found if row.trial_id is not None}
            ids = list(trials)
            parts: list[Any] = []
            for first in range(0, len(ids), MOST_IDS):
                parts += connection.execute(_parts(), {"found": ids[first : first + MOST_IDS]}).all()
        for part in sorted(parts, key=lambda part: part.place):
            trials[part.trial_id].add(part)
        return [self._build_frozen_trial_from_trial_model(trial) for trial in trials.values()]  # type: ignore[arg-type]


class _Table(NamedTuple):
    """A table of what belongs to trials. All such tables are read as if they had the same columns.

    Parameters
    ----------
    model
        The table.
    place, name, number, text
        Its columns for the place in a trial's order, a name, a number and a text; None where it has no such
        column.
    read
        Turns the text into what it stands for.
    """

    model: Any
    place: str
    name: str | None
    number: str | None
    text: str
    read: Callable[[str], Any] = str

    def select(self, kept: str, ids: sql.BindParameter[int]) -> sql.Select[Any]:
        """Its rows of some trials; each says under which name Optuna keeps it with its trial."""

        def column(common: str, own: str | None, kind: Any) -> sql.Label[Any]:
            return sql.cast(sql.null() if own is None else getattr(self.model, own), kind).label(common)

        return sql.select(
            sql.literal_column(f"'{kept}'", sql.String).label("kept"),
            self.model.trial_id,
            column("place", self.place, sql.Integer),
            column("name", self.name, sql.String),
            column("number", self.number, sql.Float(53)),
            column("text", self.text, sql.Text),
        ).where(self.model.trial_id.in_(ids))

    def row(self, part: Any) -> SimpleNamespace:
        """One row with the names of its own columns."""
        columns = {self.place: part.place, self.name: part.name, self.number: part.number}
        columns[self.text] = self.read(part.text)
        return SimpleNamespace(**{own: value for own, value in columns.items() if own is not None})


TABLES = {  # by the name under which Optuna keeps their rows with a trial
    "params": _Table(
        models.TrialParamModel, "param_id", "param_name", "param_value", "distribution_json",
    ),
    "values": _Table(
        models.TrialValueModel, "objective", None, "value", "value_type",
        models.TrialValueModel.TrialValueType.__getitem__,
    ),
    "intermediate_values": _Table(
        models.TrialIntermediateValueModel, "step", None, "intermediate_value", "intermediate_value_type",
        models.TrialIntermediateValueModel.TrialIntermediateValueType.__getitem__,
    ),
    "user_attributes": _Table(
        models.TrialUserAttributeModel, "trial_user_attribute_id", "key", None, "value_json",
    ),
    "system_attributes": _Table(
        models.TrialSystemAttributeModel, "trial_system_attribute_id", "key", None, "value_json",
    ),
}  # fmt: skip


class _Stored(SimpleNamespace):
    """A trial as Optuna's tables have it, with the rows that belong to it."""

    # Optuna's properties, which turn what the database has into local time
    datetime_start = models.TrialModel.datetime_start
    datetime_complete = models.TrialModel.datetime_complete

    def __init__(self, row: Any) -> None:
        super().__init__(
            trial_id=row.trial_id, number=row.number, state=row.state,
            _datetime_start_utc=row.datetime_start, _datetime_complete_utc=row.datetime_complete,
            **{kept: [] for kept in TABLES},
        )  # fmt: skip

    def add(self, part: Any) -> None:
        getattr(self, part.kept).append(TABLES[part.kept].row(part))


@cache
def _one() -> sql.Select[Any]:
    """The trial with the id `:trial`."""
    return sql.select(TRIALS).where(TRIALS.c.trial_id == sql.bindparam("trial"))


@cache
def _several() -> sql.Select[Any]:
    """Trials of `:study` with an id above `:beyond` or among `:ids`; an empty row where there are none.

    The two kinds are looked for apart: with an "or" of both, SQLite looks at every trial of the study.
    """
    mine: sql.BindParameter[int] = sql.bindparam("study")
    ids: sql.BindParameter[int] = sql.bindparam("ids", expanding=True)
    of_study = sql.select(TRIALS.c.trial_id).where(TRIALS.c.study_id == mine)
    kinds = TRIALS.c.trial_id > sql.bindparam("beyond"), TRIALS.c.trial_id.in_(ids)
    wanted = TRIALS.c.trial_id.in_(sql.union_all(*(of_study.where(kind) for kind in kinds)))
    trials = sql.select(TRIALS).select_from(STUDIES.outerjoin(TRIALS, wanted))
    return trials.where(STUDIES.c.study_id == mine).order_by(TRIALS.c.trial_id)


@cache
def _parts() -> sql.CompoundSelect[Any]:
    """Everything that belongs to the trials with the ids `:found`."""
    ids: sql.BindParameter[int] = sql.bindparam("found", expanding=True)
    return sql.union_all(*(table.select(kept, ids) for kept, table in TABLES.items()))


@cache
def _attributes() -> sql.Select[Any]:
    """The attributes of `:study`; an empty row where there are none."""
    attributes = models.StudySystemAttributeModel.__table__
    joined = STUDIES.outerjoin(attributes, attributes.c.study_id == STUDIES.c.study_id)
    found = sql.select(attributes.c.key, attributes.c.value_json).select_from(joined)
    return found.where(STUDIES.c.study_id == sql.bindparam("study"))
