"""Opening the Optuna study that a study file describes."""

from __future__ import annotations

import optuna
from optuna.storages import RDBStorage

from tumble.studies.config import StudyConfig
from tumble.studies.errors import NoStudy
from tumble.studies.sampler import StudySampler


def open_study(
    config: StudyConfig, storage: RDBStorage, sampler: StudySampler, *, creating: bool
) -> optuna.Study:
    """The study of a file; where it is not there yet, it is created if that may be.

    Raises
    ------
    NoStudy
        If it is not there and may not be created.
    """
    try:  # most of the time the study exists, and then nothing is written
        return optuna.load_study(study_name=config.name, storage=storage, sampler=sampler)
    except KeyError:
        if not creating:
            raise NoStudy(config.path, f"there is no study {config.name!r} in it") from None
    return optuna.create_study(
        study_name=config.name,
        storage=storage,
        sampler=sampler,
        direction="maximize" if config.maximize else "minimize",
        load_if_exists=True,
    )
