"""Opening a study's storage, with one clear message where it can't be."""

from __future__ import annotations

import time
import warnings
from typing import Any

import optuna
import sqlalchemy
from optuna.storages import RDBStorage

from tumble.studies.config import StudyConfig, StudyFileError

HEARTBEAT, GRACE = 10, 60  # seconds between two signs of life, and without one until a runner is dead


def open_storage(config: StudyConfig) -> RDBStorage:
    """The storage; a short patience for others who create its tables at the same moment."""
    sqlite = config.storage.startswith("sqlite")
    options: dict[str, Any] = {"connect_args": {"timeout": 60}} if sqlite else {"pool_pre_ping": True}
    for attempt in range(4):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                return RDBStorage(config.storage, options, heartbeat_interval=HEARTBEAT, grace_period=GRACE)
        except (sqlalchemy.exc.SQLAlchemyError, RuntimeError, ImportError) as error:
            if attempt == 3 or isinstance(error, ImportError):
                raise _unreadable(config, error) from None
            time.sleep(0.1 * 2**attempt)
    raise AssertionError


def _unreadable(config: StudyConfig, error: Exception) -> StudyFileError:
    url = sqlalchemy.engine.make_url(config.storage).render_as_string(hide_password=True)
    why = str(getattr(error, "orig", None) or error).splitlines()[0]
    remedy = "check that the folder or server exists and may be written to"
    return StudyFileError(f"{config.path}: storage: {url} can't be opened ({why}); {remedy}")
