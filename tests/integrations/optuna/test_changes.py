"""Changes of told trials in an Optuna study: the sampler and its gate read them, whatever the storage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import optuna.storages.journal
import pytest
from optuna.trial import TrialState

import tumble
from tumble.errors import BudgetExhausted
from tumble.integrations.optuna.changes import (
    StoredChange,
    changed_trials,
    changes_of,
    last_change,
    store_change,
    stored_changes,
)

TINY = tumble.Settings(raw_samples=16, restarts=2, grid=16, n_minima=4)


def change(number: int, kind: Any = "voided", **more: Any) -> StoredChange:
    return StoredChange(number, kind, "2026-01-31T12:00:00+00:00", "ann@rig", **more)


def make_study(storage: Any, sampler: tumble.TumbleSampler | None = None) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(storage=storage, study_name="s", sampler=sampler, load_if_exists=True)


def sampler(**more: Any) -> tumble.TumbleSampler:
    return tumble.TumbleSampler(trials=12, failures=2, seed=0, settings=TINY, **more)


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -1.0, 1.0)
    trial.set_constraint("load", 0.1 - x)
    return x**2


@pytest.fixture(params=["memory", "sqlite", "journal"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        return optuna.storages.InMemoryStorage()
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 's.db'}"
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "s.log"))
    return optuna.storages.JournalStorage(backend)


def test_changes_are_laid_over_trials_and_the_original_stays(storage: Any) -> None:
    study = make_study(storage, sampler())
    study.optimize(objective, n_trials=4)
    original = study.get_trials()
    store_change(study, change(1, reason="slip", since=4))
    store_change(study, change(2, "amended", value=7.0, constraints={"load": -1.0}, since=4))
    store_change(study, change(2, "amended", failed=True, reason="broke", since=4))
    now = changed_trials(study)
    assert [t.number for t in now] == [0, 1, 2, 3]
    assert (now[1].state, now[2].state, now[2].values) == (TrialState.FAIL, TrialState.FAIL, None)
    assert [c.kind for c in changes_of(now[2])] == ["amended", "amended"]
    assert (now[0], now[3]) == (original[0], original[3])
    assert last_change(now) == 4
    assert study.get_trials() == original
    assert len(stored_changes(study)) == 3


def test_the_sampler_leaves_a_voided_trial_out_and_takes_an_amended_one_as_it_is_now() -> None:
    study = make_study(None, sampler())
    study.optimize(objective, n_trials=4)
    chosen = study.sampler
    assert isinstance(chosen, tumble.TumbleSampler)
    before = chosen.optimizer(study)
    assert before is not None
    assert before.fitted is not None
    store_change(study, change(1, since=4))
    store_change(study, change(2, "amended", value=7.0, constraints={"load": -1.0}, since=4))
    after = chosen.optimizer(study)
    assert after is not None
    assert [t.number for t in after.trials] == [0, 2, 3]
    assert (after.trials[1].value, after.trials[1].constraints) == (7.0, (-1.0,))
    assert after.fitted is None
    fresh = sampler().optimizer(study)
    assert fresh is not None
    assert fresh.suggest(4).x == after.suggest(4).x


def test_the_gate_gives_a_voided_failure_back(storage: Any) -> None:
    study = make_study(storage, sampler(on_exhausted="stop"))
    for _ in range(2):
        trial = study.ask()
        trial.suggest_float("x", -1.0, 1.0)
        study.tell(trial, state=TrialState.FAIL)
    with pytest.raises(BudgetExhausted):
        study.ask()
    store_change(study, change(0))
    assert study.ask().number == 3  # the number of the one that was refused is used


def test_a_later_version_may_store_more() -> None:
    stored = {"trial": 1, "kind": "voided", "at": "", "by": "", "colour": "red"}
    assert StoredChange.from_dict(stored) == StoredChange(1, "voided", "", "")
