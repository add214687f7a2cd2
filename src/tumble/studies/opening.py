"""Opening the Optuna study that a study file describes."""

from __future__ import annotations

from typing import Any

import optuna
from optuna.storages import RDBStorage

from tumble.studies.config import StudyConfig
from tumble.studies.errors import NoStudy, StartedOtherwise
from tumble.studies.sampler import StudySampler

PARAMETERS = "tumble:parameters"  # system attributes of the study, written when it is first opened
OBJECTIVE = "tumble:objective"


def open_study(
    config: StudyConfig, storage: RDBStorage, sampler: StudySampler, *, reading: bool
) -> optuna.Study:
    """The study of a file; it is created where it is not there yet, unless it is only looked at.

    Raises
    ------
    NoStudy
        If there is nothing to look at.
    StartedOtherwise
        If parameters or objective are not those that the study was started with.
    """
    study = _load_or_create(config, storage, sampler, reading)
    _check_unchanged(config, storage, reading)
    return study


def _load_or_create(
    config: StudyConfig, storage: RDBStorage, sampler: StudySampler, reading: bool
) -> optuna.Study:
    """Most of the time the study exists, and then nothing is written."""
    try:
        return optuna.load_study(study_name=config.name, storage=storage, sampler=sampler)
    except KeyError:
        if reading:
            raise NoStudy(config.path, f"there is no study {config.name!r} in it") from None
    return optuna.create_study(
        study_name=config.name,
        storage=storage,
        sampler=sampler,
        direction="maximize" if config.maximize else "minimize",
        load_if_exists=True,
    )


def _check_unchanged(config: StudyConfig, storage: RDBStorage, reading: bool) -> None:
    """Parameters and objective are fixed when the study is first opened."""
    now: dict[str, Any] = {
        PARAMETERS: config.space.to_dict(),
        OBJECTIVE: [config.objective, config.maximize],
    }
    study_id = storage.get_study_id_from_name(config.name)
    then = storage.get_study_system_attrs(study_id)
    for key, value in now.items():
        if key not in then:
            if not reading:
                storage.set_study_system_attr(study_id, key, value)
        elif then[key] != value:
            raise StartedOtherwise(
                config.path, config.name, "parameters" if key == PARAMETERS else "objective"
            )
