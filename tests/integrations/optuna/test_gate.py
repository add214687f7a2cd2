"""The gate: who waits is told for whom, and waits for no dead worker."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import FrozenTrial, TrialState

import tumble
from tumble.integrations.optuna import gate
from tumble.integrations.optuna.changes import changed_trials

optuna.logging.set_verbosity(optuna.logging.ERROR)
pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def test_a_trial_that_waits_for_long_says_for_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial that was asked for by hand and never told is named, not adopted."""
    monkeypatch.setattr(gate, "LONG_WAIT", 0.1)
    sampler = tumble.TumbleSampler(trials=5, failures=1, on_exhausted="stop", seed=0)
    study = optuna.create_study(sampler=sampler)
    forgotten = study.ask({"x": FloatDistribution(0.0, 1.0)})

    def tell_later() -> None:
        time.sleep(1.5)
        study.tell(forgotten, 1.0)

    helper = threading.Thread(target=tell_later)
    helper.start()
    with pytest.warns(UserWarning, match=r"trial 1 waits, .*: 0 \(since .*study\.tell") as caught:
        study.ask()
    helper.join()
    assert len(caught) == 1


@pytest.mark.parametrize("in_optimize", [True, False])
def test_ctrl_c_while_a_trial_waits_leaves_nothing_running(
    in_optimize: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = tumble.TumbleSampler(trials=5, failures=1, on_exhausted="stop", seed=0)
    study = optuna.create_study(sampler=sampler)
    first = study.ask({"x": FloatDistribution(0.0, 1.0)})

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    def go_on() -> None:
        study.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=1)

    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            (go_on if in_optimize else study.ask)()
    assert study.trials[1].state == TrialState.FAIL
    assert sampler.reader(study)(study.trials[1]).phase == "void"
    study.tell(first, 1.0)
    go_on()
    assert study.trials[2].state == TrialState.COMPLETE


def test_an_error_while_a_trial_waits_is_raised_also_where_the_storage_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sampler = tumble.TumbleSampler(trials=5, failures=1, on_exhausted="stop", seed=0)
    study = optuna.create_study(sampler=sampler)
    study.ask()

    def fail(*arguments: object) -> None:
        raise ConnectionError("the server is away")

    monkeypatch.setattr(time, "sleep", fail)
    monkeypatch.setattr(study._storage, "set_trial_state_values", fail)
    monkeypatch.setattr(study._storage, "set_trial_system_attr", fail)
    with pytest.raises(ConnectionError, match="the server is away") as raised:
        study.ask()
    stays = "trial 1 stays in flight, because the storage does not answer: the server is away"
    assert raised.value.__notes__ == [stays]


def test_a_retry_that_lost_its_worker_before_its_first_heartbeat_frees_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "EXTRA_GRACE", 0.0)
    storage = optuna.storages.RDBStorage(
        f"sqlite:///{tmp_path / 'a.db'}", heartbeat_interval=1, grace_period=1
    )
    sampler = tumble.TumbleSampler(trials=5, failures=1, on_exhausted="stop", seed=0)
    study = optuna.create_study(storage=storage, sampler=sampler)
    lost = optuna.trial.create_trial(state=TrialState.RUNNING, system_attrs={"failed_trial": 0})
    study._storage.create_new_trial(study._study_id, lost)
    begin = time.monotonic()
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert time.monotonic() - begin < 60
    assert [t.state for t in study.trials] == [TrialState.FAIL, TrialState.COMPLETE]


def test_a_trial_that_waits_looks_at_every_trial_only_where_one_ahead_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "LOOKING", 1e-9)  # never by the clock
    looks: list[optuna.Study] = []

    def look(study: optuna.Study) -> list[FrozenTrial]:
        looks.append(study)
        return changed_trials(study)

    monkeypatch.setattr(gate, "changed_trials", look)
    sampler = tumble.TumbleSampler(trials=9, failures=2, on_exhausted="stop", seed=0)
    study = optuna.create_study(storage=f"sqlite:///{tmp_path / 'a.db'}", sampler=sampler)
    first, second = (study.ask({"x": FloatDistribution(0.0, 1.0)}) for _ in range(2))
    before = len(looks)

    def tell_later() -> None:
        time.sleep(1.0)
        study.tell(second, 1.0)

    helper = threading.Thread(target=tell_later)
    helper.start()
    third = study.ask()
    helper.join()
    assert len(looks) - before == 2
    assert {first.number, third.number} == {t.number for t in study.trials if t.state == TrialState.RUNNING}
