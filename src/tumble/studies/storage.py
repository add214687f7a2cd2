"""Opening the database of a study, with one clear message where it can't be opened."""

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
import sqlalchemy
from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage

from tumble.studies import storage_url
from tumble.studies.config import StudyConfig
from tumble.studies.errors import NoStudy, StudyFileError

UNUSABLE = (sqlalchemy.exc.SQLAlchemyError, StorageInternalError, RuntimeError)
MISSPELT = (ImportError, ValueError, TypeError, sqlalchemy.exc.ArgumentError)  # no use in trying again
HEARTBEAT, GRACE = 10, 60  # seconds between two heartbeats, and without one until a runner counts as dead
ATTEMPTS = 4  # others may create the tables at the same moment


def open_storage(config: StudyConfig, *, reading: bool = False) -> RDBStorage:
    """The database of a study.

    Parameters
    ----------
    config
        The study.
    reading
        Whether the study is only looked at.  It must exist then, and an SQLite file is opened so that nothing
        can be written.

    Raises
    ------
    NoStudy
        If there is nothing to look at.
    StudyFileError
        If the database can't be opened.
    """
    sqlite = config.storage.startswith("sqlite")
    options: dict[str, Any] = {"connect_args": {"timeout": 60}} if sqlite else {"pool_pre_ping": True}
    if sqlite:
        _check_rights(config, reading)
    if sqlite and reading:
        options = {"creator": partial(_connect_to_read, _file(config.storage))}
    for attempt in range(ATTEMPTS):
        try:
            storage = _open(config.storage, options, tables_exist=sqlite and reading)
        except (*UNUSABLE, *MISSPELT) as error:
            if attempt == ATTEMPTS - 1 or isinstance(error, MISSPELT):
                raise _not_opened(config, error) from None
            time.sleep(0.1 * 2**attempt)
        else:
            sqlalchemy.event.listen(storage.engine, "handle_error", partial(hide_password, config.storage))
            return storage
    raise AssertionError


def _open(url: str, options: dict[str, Any], *, tables_exist: bool) -> RDBStorage:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return RDBStorage(
            url.replace("{", "{{").replace("}", "}}"),  # Optuna takes a URL for a format string
            options,
            skip_table_creation=tables_exist,
            heartbeat_interval=HEARTBEAT,
            grace_period=GRACE,
        )


def hide_password(url: str, context: sqlalchemy.engine.ExceptionContext) -> None:
    """Take the password out of what a driver says, wherever it is shown later."""
    for error in (context.original_exception, context.sqlalchemy_exception):
        if error is not None:
            error.args = tuple(storage_url.scrub(a, url) if isinstance(a, str) else a for a in error.args)


def _check_rights(config: StudyConfig, reading: bool) -> None:
    file = _file(config.storage)
    if reading and not file.exists():
        raise NoStudy(config.path, f"there is no {file}")
    if reading and Path(f"{file}-journal").exists() and os.access(file, os.W_OK):
        with contextlib.closing(sqlite3.connect(file, timeout=60)) as connection:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # undoes what a killed writer left
    if not reading and file.exists() and not all(os.access(path, os.W_OK) for path in (file, file.parent)):
        raise StudyFileError(
            f"{config.path}: storage: {file} can't be written to; check the rights of the file and its folder"
        )


def _file(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def _connect_to_read(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=60, check_same_thread=False)


def _not_opened(config: StudyConfig, error: BaseException) -> StudyFileError:
    url = storage_url.shown(config.storage)
    cause = error.__cause__ if isinstance(error, StorageInternalError) else error
    said = storage_url.scrub(str(getattr(cause, "orig", None) or cause), config.storage).strip()
    why = said.partition("\n")[0] or type(cause).__name__
    remedy = "check that the folder or server exists and may be written to, and that a file is a study's"
    return StudyFileError(f"{config.path}: storage: {url} can't be opened ({why}); {remedy}")
