"""Opening a study's storage, with one clear message where it can't be."""

from __future__ import annotations

import contextlib
import sqlite3
import time
import warnings
from pathlib import Path
from typing import Any

import optuna
import optuna.storages._rdb.storage as rdb
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
                return _connect(config.storage, options)
        except (sqlalchemy.exc.SQLAlchemyError, RuntimeError, ImportError) as error:
            if attempt == 3 or isinstance(error, ImportError):
                raise _unreadable(config, error) from None
            time.sleep(0.1 * 2**attempt)
    raise AssertionError


def _connect(url: str, options: dict[str, Any]) -> RDBStorage:
    """Optuna's storage; its check of versions is left out where the file is known to be of this version.

    That check imports a migration tool with four SQL dialects, a template engine and a syntax highlighter: a
    fifth of the time that `tumble ask` takes.
    """
    beats: dict[str, Any] = {"heartbeat_interval": HEARTBEAT, "grace_period": GRACE}
    if not _made_by_this_optuna(url):
        return RDBStorage(url, options, **beats)
    checked = rdb._VersionManager
    try:
        rdb._VersionManager = _Known  # type: ignore[misc, assignment]
        return RDBStorage(url, options, skip_compatibility_check=True, skip_table_creation=True, **beats)
    finally:
        rdb._VersionManager = checked  # type: ignore[misc]


class _Known:
    """Stands in for Optuna's manager of versions."""

    def __init__(self, *ignored: object) -> None:
        """There is nothing to look up."""


def _made_by_this_optuna(url: str) -> bool:
    """Whether the URL is an SQLite file whose tables were all made by the Optuna that is running."""
    path = Path(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or not path.is_file():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            made_by = connection.execute("SELECT library_version FROM version_info").fetchone()
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return False
    return made_by == (optuna.__version__,) and revision is not None


def _unreadable(config: StudyConfig, error: Exception) -> StudyFileError:
    url = sqlalchemy.engine.make_url(config.storage).render_as_string(hide_password=True)
    why = str(getattr(error, "orig", None) or error).splitlines()[0]
    remedy = "check that the folder or server exists and may be written to"
    return StudyFileError(f"{config.path}: storage: {url} can't be opened ({why}); {remedy}")
