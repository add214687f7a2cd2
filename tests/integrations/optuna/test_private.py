"""The private names of Optuna that tumble uses; each test says what breaks when Optuna changes one."""

from __future__ import annotations

from pathlib import Path

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import InMemoryStorage, RDBStorage
from optuna.trial import TrialState

from tumble.integrations.optuna import private

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def beating(folder: Path, grace: int | None = None) -> RDBStorage:
    return RDBStorage(f"sqlite:///{folder}/a.db", heartbeat_interval=1, grace_period=grace)


def running(study: optuna.Study) -> optuna.trial.FrozenTrial:
    """A trial that was created, and that no `Trial` object stands for."""
    number = private.storage_of(study).create_new_trial(private.study_id_of(study))
    return next(t for t in study.get_trials() if private.trial_id_of(t) == number)


def test_a_study_has_a_storage_and_an_id_there() -> None:
    """Without them the sampler can write no note, and the ledger can create no trial with an owner."""
    storage = InMemoryStorage()
    optuna.create_study(study_name="other", storage=storage)
    study = optuna.create_study(study_name="mine", storage=storage)
    assert private.storage_of(study) is storage
    assert storage.get_study_name_from_id(private.study_id_of(study)) == "mine"


def test_a_trial_has_an_id_in_the_storage_that_is_not_its_number() -> None:
    """Without it every note goes astray."""
    storage = InMemoryStorage()
    optuna.create_study(storage=storage).ask()
    trial = optuna.create_study(storage=storage).ask()
    assert trial.number == 0
    assert private.trial_id_of(trial) == 1
    assert storage.get_trial(1).number == 0


def test_an_attribute_is_stored_and_read_back() -> None:
    """Without it decisions, outcomes and tickets are not stored."""
    study = optuna.create_study()
    trial = running(study)
    private.set_attribute(study, trial, "tumble:test", {"a": [1.0, None]})
    assert private.stored_trial(study, trial).system_attrs == {"tumble:test": {"a": [1.0, None]}}
    assert trial.system_attrs == {}


def test_a_trial_that_exists_is_entered_under_its_number() -> None:
    """Without it `tumble ask` can't give its owner to a trial, nor go on with one whose runner died."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    running(study)
    second = running(study)
    trial = private.enter_trial(study, private.trial_id_of(second))
    assert trial.number == 1
    assert 0.0 <= trial.suggest_float("x", 0.0, 1.0) <= 1.0
    assert len(study.trials) == 2


def test_the_loop_of_optimize_is_told_from_asking_by_hand() -> None:
    """Without it a trial asked by hand is taken for dead, because it sends no heartbeats."""
    study = optuna.create_study()
    seen: list[bool] = []

    def objective(trial: optuna.Trial) -> float:
        seen.append(private.is_in_optimize(study))
        return trial.suggest_float("x", 0.0, 1.0)

    assert not private.is_in_optimize(study)
    study.optimize(objective, n_trials=1)
    assert seen == [True]
    assert not private.is_in_optimize(study)


def test_stopping_outside_of_optimize_is_a_runtime_error() -> None:
    """The gate relies on this public behaviour: otherwise a trial told by hand would stop another loop."""
    with pytest.raises(RuntimeError):
        optuna.create_study().stop()


@pytest.mark.parametrize(
    ("distribution", "inside", "outside"),
    [
        (FloatDistribution(0.0, 1.0), [0.0, 1.0], [1.1, -0.1, "a"]),
        (FloatDistribution(0.0, 1.0, step=0.25), [0.25, 0.75], [0.3]),
        (IntDistribution(1, 9, step=2), [1, 3], [2, 11]),
        (CategoricalDistribution(["a", None]), ["a", None], ["b"]),
    ],
)
def test_a_distribution_says_what_it_contains(
    distribution: optuna.distributions.BaseDistribution, inside: list[object], outside: list[object]
) -> None:
    """Without it a setting from an earlier space could be taken as one of the space of now."""
    assert all(private.contains(distribution, value) for value in inside)  # type: ignore[arg-type]
    assert not any(private.contains(distribution, value) for value in outside)  # type: ignore[arg-type]


def test_the_grace_of_a_heartbeat_is_known(tmp_path: Path) -> None:
    """Without it nobody knows when a silent worker is dead."""
    assert private.heartbeat_grace(InMemoryStorage()) is None
    assert private.heartbeat_grace(beating(tmp_path, grace=7)) == 7.0
    study = optuna.create_study(storage=beating(tmp_path))
    assert private.heartbeat_grace(private.storage_of(study)) == 2.0  # also behind Optuna's cache


def test_a_first_heartbeat_is_seen(tmp_path: Path) -> None:
    """Without it a worker that died before its first heartbeat blocks the others for ever."""
    study = optuna.create_study(storage=beating(tmp_path))
    storage, trial_id = private.storage_of(study), private.trial_id_of(running(study))
    assert not private.has_heartbeat(storage, trial_id)
    private.record_heartbeat(storage, trial_id)
    assert private.has_heartbeat(storage, trial_id)
    private.record_heartbeat(InMemoryStorage(), 0)  # no heartbeats there: nothing happens


def test_a_silent_trial_is_found(tmp_path: Path) -> None:
    """Without it the trial of a dead worker keeps its place in the budget for ever."""
    backend = beating(tmp_path, grace=60)
    study = optuna.create_study(storage=backend)
    storage, study_id = private.storage_of(study), private.study_id_of(study)
    trial_id = private.trial_id_of(running(study))
    private.record_heartbeat(storage, trial_id)
    assert private.silent_trial_ids(storage, study_id) == set()
    backend.grace_period = -1
    assert private.silent_trial_ids(storage, study_id) == {trial_id}
    assert private.silent_trial_ids(InMemoryStorage(), 0) == set()


@pytest.mark.parametrize("error", [RuntimeError("fell over"), KeyboardInterrupt(), None])
def test_the_error_of_the_objective_is_found_by_the_sampler(error: BaseException | None) -> None:
    """Without it Ctrl-C is billed as a failure, and a failure has no reason and no constraints."""
    found: list[BaseException | None] = []

    class Sampler(optuna.samplers.RandomSampler):
        def after_trial(self, *arguments: object) -> None:
            found.append(private.error_of_objective())

    def objective(trial: optuna.Trial) -> float:
        if error is not None:
            raise error
        return 1.0

    study = optuna.create_study(sampler=Sampler())
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            study.optimize(objective, n_trials=1)
    else:
        study.optimize(objective, n_trials=1, catch=(RuntimeError,))
    assert found == [error]
    study.tell(study.ask(), state=TrialState.FAIL)
    assert found == [error, None]


def test_a_trial_told_by_optimize_is_told_from_one_told_by_hand() -> None:
    """Without it a trial whose objective returned no number is said to have been told as failed."""
    found: list[tuple[int, bool]] = []

    class Sampler(optuna.samplers.RandomSampler):
        def after_trial(self, study: optuna.Study, trial: optuna.trial.FrozenTrial, *rest: object) -> None:
            found.append((trial.number, private.is_told_by_optimize(trial)))

    study = optuna.create_study(sampler=Sampler())
    other = study.ask()

    def objective(trial: optuna.Trial) -> float:
        study.tell(other, state=TrialState.FAIL)
        return 1.0

    study.optimize(objective, n_trials=1)
    study.tell(study.ask(), 1.0)
    assert found == [(0, False), (1, True), (2, False)]


def test_an_error_of_suggest_is_told_from_one_of_the_objective() -> None:
    """Without it a trial that never got its setting is billed as a failure."""

    def refuse(study: optuna.Study, name: str, *bounds: float) -> BaseException:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the words are Optuna's)
            study.ask().suggest_float(name, *bounds)
        return caught.value

    study = optuna.create_study()
    study.enqueue_trial({"x": "high"})
    assert private.is_from_suggest(refuse(study, "x", 0.0, 1.0))
    assert private.is_from_suggest(refuse(study, "y", 1.0, 0.0))
    with pytest.raises(ValueError, match="NaN") as caught:
        study.ask().set_constraint("load", float("nan"))
    assert not private.is_from_suggest(caught.value)
    assert not private.is_from_suggest(None)


def test_a_constraint_is_stored_under_its_name() -> None:
    """Without it the constraints of `constraints_func` and of a study file are not seen by Optuna."""
    study = optuna.create_study()
    trial = study.ask()
    trial.set_constraint("load", 0.5)
    assert study.trials[0].system_attrs == {f"{private.CONSTRAINT}load": 0.5}


def test_a_storage_lists_its_studies_by_name() -> None:
    """Without it the dashboard shows no study."""
    storage = InMemoryStorage()
    optuna.create_study(study_name="mine", storage=storage)
    (study,) = storage.get_all_studies()
    assert isinstance(study, private.FrozenStudy)
    assert study.study_name == "mine"


def test_a_trial_is_found_by_an_attribute(tmp_path: Path) -> None:
    """Without it nobody knows whether a server created a trial before its answer was lost."""
    database = RDBStorage(f"sqlite:///{tmp_path}/a.db")
    study, other = (optuna.create_study(storage=database) for _ in range(2))
    trial = running(study)
    private.set_attribute(study, trial, "mark", "a1")
    study_id = private.study_id_of(study)
    assert private.find_trial(database, study_id, "mark", "a1") == private.trial_id_of(trial)
    assert private.find_trial(database, study_id, "mark", "a2") is None
    assert private.find_trial(database, private.study_id_of(other), "mark", "a1") is None


def test_choices_are_added_to_the_trials_that_are_stored(tmp_path: Path) -> None:
    """Without it a study file can't get one more choice: Optuna refuses the next trial."""
    database = RDBStorage(f"sqlite:///{tmp_path}/a.db")
    study = optuna.create_study(storage=database)
    study.tell(study.ask({"bit": CategoricalDistribution(("a", "b"))}), 1.0)
    before = study.trials[0].params
    private.widen_choices(database, private.study_id_of(study), "bit", ("a", "b", "c"))
    private.forget_distributions(study)
    trial = study.ask({"bit": CategoricalDistribution(("a", "b", "c"))})
    again = optuna.load_study(study_name=study.study_name, storage=f"sqlite:///{tmp_path}/a.db")
    assert again.trials[0].params == before
    assert again.trials[0].distributions == trial.distributions
    private.forget_distributions(optuna.create_study())  # a storage without a cache


def test_the_trials_in_progress_are_known_by_number(tmp_path: Path) -> None:
    """Without it every trial that waits reads every other one again and again."""
    study = optuna.create_study(storage=beating(tmp_path))
    running(optuna.create_study(storage=beating(tmp_path)))
    first, second, third = running(study), running(study), running(study)
    study.tell(second.number, 1.0)
    numbers = private.running_numbers(private.storage_of(study), private.study_id_of(study))
    assert numbers == {first.number, third.number}


def test_no_database_is_needed_where_a_study_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optuna loads its models with the first database; a trial that waits in memory never sees one."""
    monkeypatch.delattr(optuna.storages._rdb, "models", raising=False)
    assert private.running_numbers(InMemoryStorage(), 0) is None
