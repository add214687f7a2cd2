"""Opening a study's storage, with one clear message where it can't be."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import optuna
import optuna.storages._rdb.storage as rdb
import sqlalchemy
from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage

from tumble.studies.config import StudyConfig, StudyFileError

UNUSABLE = (sqlalchemy.exc.SQLAlchemyError, StorageInternalError, RuntimeError)
HEARTBEAT, GRACE = 10, 60  # seconds between two signs of life, and without one until a runner is dead


class NoStudy(StudyFileError):
    """There is no study to look at."""


def open_storage(config: StudyConfig, *, reading: bool = False) -> RDBStorage:
    """The storage; a short patience for others who create its tables at the same moment.

    reading: only to look at a study that is there; an SQLite file is opened so that nothing can be written.
    """
    sqlite = config.storage.startswith("sqlite")
    options: dict[str, Any] = {"connect_args": {"timeout": 60}} if sqlite else {"pool_pre_ping": True}
    if sqlite:
        _check_rights(config, reading)
    for attempt in range(4):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                return _connect(config.storage, options, reading and sqlite)
        except (*UNUSABLE, ImportError) as error:
            if attempt == 3 or isinstance(error, ImportError):
                raise _unreadable(config, error) from None
            time.sleep(0.1 * 2**attempt)
    raise AssertionError


def no_study(config: StudyConfig, where: str) -> NoStudy:
    """What to say where there is none."""
    return NoStudy(
        f"{config.path}: storage: {where}: nothing was asked yet, or it was moved or deleted; "
        f"start the study with: tumble ask {config.path}"
    )


def _check_rights(config: StudyConfig, reading: bool) -> None:
    file = _file(config.storage)
    if reading and not file.exists():
        raise no_study(config, f"there is no {file}")
    if reading and Path(f"{file}-journal").exists() and os.access(file, os.W_OK):
        with contextlib.closing(sqlite3.connect(file, timeout=60)) as connection:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # undoes what a killed writer left
    if not reading and file.exists() and not all(os.access(path, os.W_OK) for path in (file, file.parent)):
        raise StudyFileError(
            f"{config.path}: storage: {file} can't be written to; check the rights of the file and its folder"
        )


def _file(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def _connect(url: str, options: dict[str, Any], frozen: bool) -> RDBStorage:
    """Optuna's storage; its check of versions is left out where the file is known to be of this version.

    That check imports a migration tool with four SQL dialects, a template engine and a syntax highlighter: a
    fifth of the time that `tumble ask` takes.
    """
    beats: dict[str, Any] = {"heartbeat_interval": HEARTBEAT, "grace_period": GRACE}
    if frozen:
        options = {"creator": partial(_connect_to_read, _file(url))}
    if not _made_by_this_optuna(url):
        return RDBStorage(url, options, skip_table_creation=frozen, **beats)
    checked = rdb._VersionManager
    try:
        rdb._VersionManager = _Known  # type: ignore[misc, assignment]
        return RDBStorage(url, options, skip_compatibility_check=True, skip_table_creation=True, **beats)
    finally:
        rdb._VersionManager = checked  # type: ignore[misc]


def _connect_to_read(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=60, check_same_thread=False)


class _Known:
    """Stands in for Optuna's manager of versions."""

    def __init__(self, *ignored: object) -> None:
        """There is nothing to look up."""


def _made_by_this_optuna(url: str) -> bool:
    """Whether the URL is an SQLite file whose tables were all made by the Optuna that is running."""
    path = _file(url)
    if not url.startswith("sqlite:///") or not path.is_file():
        return False
    try:
        with contextlib.closing(_connect_to_read(path)) as connection:
            made_by = connection.execute("SELECT library_version FROM version_info").fetchone()
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return False
    return made_by == (optuna.__version__,) and revision is not None


def _unreadable(config: StudyConfig, error: BaseException) -> StudyFileError:
    url = sqlalchemy.engine.make_url(config.storage).render_as_string(hide_password=True)
    cause = error.__cause__ if isinstance(error, StorageInternalError) else error
    why = str(getattr(cause, "orig", None) or cause).splitlines()[0]
    remedy = "check that the folder or server exists and may be written to, and that a file is a study's"
    return StudyFileError(f"{config.path}: storage: {url} can't be opened ({why}); {remedy}")
