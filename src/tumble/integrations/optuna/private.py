"""Every name of Optuna that its documentation does not promise, each behind a function with a plain name.

No other module of tumble touches a private name of Optuna, but for `reading`, which knows its tables.  When
Optuna changes one of them, one function here and one test in
``tests/integrations/optuna/test_private.py`` change with it.  What stands here has no public counterpart in
Optuna 5; the reason stands with each function.
"""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, distribution_to_json
from optuna.storages import BaseStorage, RDBStorage
from optuna.study import Study
from optuna.study._frozen import (
    FrozenStudy as FrozenStudy,  # the type that `BaseStorage.get_all_studies` gives
)
from optuna.trial import FrozenTrial, Trial, TrialState
from sqlalchemy import select

from tumble.parameters import Choice

CONSTRAINT = "constraints:"  # `Trial.set_constraint` stores a value under this prefix and the name


def storage_of(study: Study) -> BaseStorage:
    """The storage of a study.

    A sampler is handed a study and a `FrozenTrial`.  Neither has a public method that writes to the trial.
    """
    return study._storage


def study_id_of(study: Study) -> int:
    """The number under which the storage knows the study."""
    return study._study_id


def trial_id_of(trial: FrozenTrial | Trial) -> int:
    """The number under which the storage knows the trial; `trial.number` counts within its study."""
    return trial._trial_id


def stored_trial(study: Study, trial: FrozenTrial) -> FrozenTrial:
    """The trial as it is stored now."""
    return study._storage.get_trial(trial._trial_id)


def set_attribute(study: Study, trial: FrozenTrial, key: str, value: Any) -> None:
    """Store a system attribute of a trial in progress."""
    study._storage.set_trial_system_attr(trial._trial_id, key, value)


def enter_trial(study: Study, trial_id: int) -> Trial:
    """The trial in progress with this id, with its parameters sampled.

    `Study.ask` always makes a new trial, or takes one that waits.  This goes on with one that exists.
    """
    return Trial(study, trial_id)


def is_in_optimize(study: Study) -> bool:
    """Whether this thread runs `study.optimize`, rather than `study.ask` and `study.tell`.

    Optuna sends heartbeats in the first case only.
    """
    return bool(study._thread_local.in_optimize_loop)


def contains(distribution: BaseDistribution, value: Choice) -> bool:
    """Whether a value belongs to a distribution."""
    try:
        return distribution._contains(distribution.to_internal_repr(value))
    except ValueError:
        return False


def heartbeat_grace(storage: BaseStorage) -> float | None:
    """Seconds after which a silent trial counts as dead; None where the storage keeps no heartbeats."""
    interval = getattr(storage, "get_heartbeat_interval", lambda: None)()
    if interval is None:
        return None
    return float(getattr(_backend(storage), "grace_period", None) or 2 * interval)


def record_heartbeat(storage: BaseStorage, trial_id: int) -> None:
    """Send a heartbeat for a trial, where the storage keeps heartbeats."""
    if heartbeat_grace(storage) is not None:
        storage.record_heartbeat(trial_id)  # type: ignore[attr-defined]


def has_heartbeat(storage: BaseStorage, trial_id: int) -> bool:
    """Whether a heartbeat was ever recorded for a trial; the storage must keep heartbeats.

    Optuna fails a trial whose last heartbeat is too old, and never one that has none.
    """
    with contextlib.closing(_backend(storage).scoped_session()) as session:
        model = optuna.storages._rdb.models.TrialHeartbeatModel
        return model.where_trial_id(trial_id, session) is not None


def silent_trial_ids(storage: BaseStorage, study_id: int) -> set[int]:
    """The trials in progress whose last heartbeat is older than the grace; none without heartbeats."""
    if heartbeat_grace(storage) is None:
        return set()
    return set(storage._get_stale_trial_ids(study_id))  # type: ignore[attr-defined]


def running_numbers(storage: BaseStorage, study_id: int) -> set[int] | None:
    """The numbers of the trials in progress, by one cheap query; None where the storage has no database."""
    backend = _backend(storage)
    if not isinstance(backend, RDBStorage):  # Optuna has not loaded its models then
        return None
    trial = optuna.storages._rdb.models.TrialModel
    with contextlib.closing(backend.scoped_session()) as session:
        found = session.query(trial.number).filter(
            trial.study_id == study_id, trial.state == TrialState.RUNNING
        )
        return {number for (number,) in found}


def find_trial(database: RDBStorage, study_id: int, key: str, value: str) -> int | None:
    """The id of the trial of a study with this system attribute; None where there is none.

    Optuna locks the study while it creates a trial.  So does this: a creation whose end nobody heard is over
    when the answer comes.
    """
    models = optuna.storages._rdb.models
    trial, attribute = models.TrialModel, models.TrialSystemAttributeModel
    with database.scoped_session.session_factory.begin() as session:
        models.StudyModel.find_or_raise_by_id(study_id, session, for_update=True)
        found = session.query(trial.trial_id).join(attribute, attribute.trial_id == trial.trial_id)
        mine = found.filter(trial.study_id == study_id, attribute.key == key)
        number = mine.filter(attribute.value_json == json.dumps(value)).scalar()
    return None if number is None else int(number)


def widen_choices(database: RDBStorage, study_id: int, name: str, choices: Sequence[Choice]) -> None:
    """Store more choices of a categorical parameter with every trial that has it, in one transaction.

    The first choices must be those that are stored, in their order, because a trial keeps the place of its
    choice.  Optuna refuses a trial whose choices are others than those of the trials before it.
    """
    models = optuna.storages._rdb.models
    written = distribution_to_json(CategoricalDistribution(tuple(choices)))
    with contextlib.closing(database.scoped_session()) as session:
        of_study = select(models.TrialModel.trial_id).where(models.TrialModel.study_id == study_id)
        rows = session.query(models.TrialParamModel).filter(
            models.TrialParamModel.param_name == name, models.TrialParamModel.trial_id.in_(of_study)
        )
        rows.update({"distribution_json": written}, synchronize_session=False)
        session.commit()


def forget_distributions(study: Study) -> None:
    """Forget the distributions that Optuna's cache compares new trials with."""
    known = getattr(study._storage, "_studies", {}).get(study._study_id)
    if known is not None:
        known.param_distribution.clear()


def error_of_objective() -> BaseException | None:
    """What the objective of the running `study.optimize` raised; None where a trial was told by hand.

    Optuna stores FAIL for Ctrl-C and for a failure alike, and hands the sampler nothing to tell them apart.
    The exception is a local variable of the function that calls the sampler, and nowhere else.
    """
    error = _locals_of_optimize().get("func_err")
    return error if isinstance(error, BaseException) else None


def is_told_by_optimize(trial: FrozenTrial) -> bool:
    """Whether the running `study.optimize` tells this trial, rather than a call of `study.tell`."""
    told = _locals_of_optimize().get("trial")
    return isinstance(told, Trial) and told._trial_id == trial._trial_id


def is_from_suggest(error: BaseException | None) -> bool:
    """Whether an error arose while a trial asked for a parameter.

    Optuna raises a bare ValueError for a parameter that it can't give, as an objective may do for a failure.
    Only the functions that the error passed through tell the two apart.
    """
    place = error.__traceback__ if error is not None else None
    while place is not None:
        module, function = place.tb_frame.f_globals.get("__name__"), place.tb_frame.f_code.co_name
        if module == "optuna.trial._trial" and function.removeprefix("_").startswith("suggest"):
            return True
        place = place.tb_next
    return False


def _locals_of_optimize() -> dict[str, Any]:
    """The local variables of the function of `study.optimize` that runs one trial; empty outside of it."""
    frame = inspect.currentframe()
    while frame is not None:
        module, function = frame.f_globals.get("__name__"), frame.f_code.co_name
        if (module, function) == ("optuna.study._optimize", "_run_trial"):
            return dict(frame.f_locals)
        frame = frame.f_back
    return {}


def _backend(storage: BaseStorage) -> Any:
    """The database behind Optuna's cache of it."""
    return getattr(storage, "_backend", storage)
