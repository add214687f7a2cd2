"""Opening the Optuna study that a study file describes."""

from __future__ import annotations

import optuna
from optuna.storages import RDBStorage

from tumble.studies.config import StudyConfig
from tumble.studies.errors import NoStudy
from tumble.studies.sampler import StudySampler


def open_study(
    config: StudyConfig, storage: RDBStorage, sampler: StudySampler, *, reading: bool
) -> optuna.Study:
    """The study of a file; it is created where it is not there yet, unless it is only looked at.

    Raises
    ------
    NoStudy
        If there is nothing to look at.
    """
    try:  # most of the time the study exists, and then nothing is written
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
