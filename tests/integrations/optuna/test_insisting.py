"""A failure is billed although the storage fails while it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.exceptions import StorageInternalError
from optuna.trial import TrialState

import tumble
from tumble.errors import InputError
from tumble.integrations.optuna import insisting, private
from tumble.integrations.optuna.insisting import insist

QUICK = tumble.Settings(restarts=3, raw_samples=64, grid=64, n_minima=5)
optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insisting, "FIRST_PAUSE", 0.001)


class Flaky:
    """Writes of a storage, of which the first ones fail."""

    def __init__(self, write: Any, faults: int) -> None:
        self.write, self.left = write, faults

    def __call__(self, *args: Any) -> None:
        self.left -= 1
        if self.left >= 0:
            raise StorageInternalError("the server closed the connection")
        self.write(*args)


def new_study(folder: Path, **options: Any) -> optuna.Study:
    sampler = tumble.TumbleSampler(trials=9, failures=2, seed=0, settings=QUICK, **options)
    return optuna.create_study(storage=f"sqlite:///{folder}/a.db", sampler=sampler)


def failures(study: optuna.Study) -> int:
    """As a worker that comes later counts them."""
    sampler = tumble.TumbleSampler(trials=9, failures=2)
    return sum(sampler.reader(study)(trial).failed for trial in study.get_trials())


def fail_writes(study: optuna.Study, monkeypatch: pytest.MonkeyPatch, faults: int) -> Flaky:
    storage = private.storage_of(study)
    flaky = Flaky(storage.set_trial_system_attr, faults)
    monkeypatch.setattr(storage, "set_trial_system_attr", flaky)
    return flaky


def test_a_crash_told_while_the_storage_fails_is_billed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = new_study(tmp_path)
    trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
    flaky = fail_writes(study, monkeypatch, faults=3)
    study.tell(trial, state=TrialState.FAIL)
    assert flaky.left < 0
    assert failures(study) == 1


def test_a_violation_told_while_the_storage_fails_is_billed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = new_study(tmp_path, constraints_func=lambda trial: [0.5])
    trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
    fail_writes(study, monkeypatch, faults=3)
    study.tell(trial, 1.0)
    assert failures(study) == 1


def test_an_objective_that_raises_while_the_storage_fails_is_billed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = new_study(tmp_path)

    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        fail_writes(study, monkeypatch, faults=3)
        raise tumble.Failure("bit broke")

    study.optimize(objective, n_trials=1, catch=tumble.Failure)
    assert failures(study) == 1
    assert tumble.TumbleSampler().reader(study)(study.trials[0]).reason == "bit broke"


def test_a_storage_that_never_answers_is_said_once_and_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(insisting, "PATIENCE", 0.05)
    monkeypatch.setattr(insisting._logger, "warning", said.append)
    with pytest.raises(StorageInternalError):
        insist(Flaky(print, 99), 7)
    assert len(said) == 1
    assert said[0].startswith("trial 7 is over, and the storage does not answer (the server closed the")


def test_what_can_never_be_written_is_raised_at_once() -> None:
    calls = []

    def write() -> None:
        calls.append(1)
        raise InputError("nan")

    with pytest.raises(InputError):
        insist(write, 7)
    assert calls == [1]
