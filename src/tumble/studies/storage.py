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

from tumble.integrations.optuna.reading import QuickReader
from tumble.studies import storage_url
from tumble.studies.config import StudyConfig
from tumble.studies.errors import NoStudy, StudyFileError
from tumble.studies.moved_files import watch_file
from tumble.studies.outages import cause_of, remedy_for

UNUSABLE = (sqlalchemy.exc.SQLAlchemyError, StorageInternalError, RuntimeError)
MISSPELT = (ImportError, ValueError, TypeError, sqlalchemy.exc.ArgumentError)  # no use in trying again
HEARTBEAT, GRACE = 10, 60  # seconds between two heartbeats, and without one until a runner counts as dead
BUSY = 5  # seconds until a file that another program has locked counts as locked
ATTEMPTS = 4  # others may create the tables at the same moment


def open_storage(config: StudyConfig, *, reading: bool = False, creating: bool = True) -> RDBStorage:
    """The database of a study.

    Parameters
    ----------
    config
        The study.
    reading
        Whether the study is only looked at.  It must exist then, and an SQLite file is opened so that nothing
        can be written.
    creating
        Whether an SQLite file that is not there yet is created.

    Raises
    ------
    NoStudy
        If there is nothing to look at, or nothing may be created.
    StudyFileError
        If the database can't be opened.
    """
    sqlite = config.storage.startswith("sqlite")
    options = {"connect_args": {"timeout": BUSY}} if sqlite else _server_options(config.storage)
    if sqlite:
        try:
            _check_rights(config, reading, creating and not reading)
        except OSError as error:  # no such name can be
            raise _not_opened(config, error) from None
    if sqlite and reading:
        options = {"creator": partial(_connect_to_read, _file(config.storage))}
    for attempt in range(ATTEMPTS):
        try:
            storage = _open(config.storage, options, tables_exist=sqlite and reading)
        except (*UNUSABLE, *MISSPELT) as error:
            final = isinstance(error, MISSPELT) or "locked" in cause_of(error)
            if final or attempt == ATTEMPTS - 1:
                if sqlite and reading and _is_half_made(_file(config.storage), error):
                    raise _not_in(config) from None
                raise _not_opened(config, error) from None
            time.sleep(0.1 * 2**attempt)
        else:
            sqlalchemy.event.listen(storage.engine, "handle_error", partial(hide_password, config.storage))
            if sqlite:
                watch_file(storage.engine, _file(config.storage))
            return storage
    raise AssertionError


def give_back(storage: RDBStorage) -> None:
    """Close every connection of a database; the next use opens new ones."""
    storage.remove_session()
    storage.engine.dispose()


class _Database(QuickReader):
    """A database that closes its connections where it can't be used."""

    def __init__(self, *args: Any, **options: Any) -> None:
        try:
            super().__init__(*args, **options)
        except BaseException:
            if hasattr(self, "engine"):
                self.engine.dispose()
            raise


def _open(url: str, options: dict[str, Any], *, tables_exist: bool) -> RDBStorage:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return _Database(
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


def _server_options(url: str) -> dict[str, Any]:
    """A connection is tried before it is used; a server that has gone silent is noticed within a minute."""
    options: dict[str, Any] = {"pool_pre_ping": True}
    if url.partition("://")[0].partition("+")[2] in ("", "psycopg", "psycopg2"):
        options["connect_args"] = {
            "connect_timeout": 10,
            "keepalives_idle": 20,
            "keepalives_interval": 10,
            "keepalives_count": 3,
        }
    return options


def _check_rights(config: StudyConfig, reading: bool, creating: bool) -> None:
    file = _file(config.storage)
    if file.exists() and not file.is_file():  # a pipe that nobody writes to is waited for without end
        what = "a folder" if file.is_dir() else "no plain file"
        raise StudyFileError(
            f'{config.path}: storage: {file} is {what}; name a file, for example: storage = "sqlite:///'
            f'{config.name}.db"'
        )
    if not creating and not file.exists():
        raise NoStudy(config.path, f"there is no {file}")
    if reading and Path(f"{file}-journal").exists() and os.access(file, os.W_OK):
        _undo_half_written(config, file)
    if not reading and file.exists() and not all(os.access(path, os.W_OK) for path in (file, file.parent)):
        raise StudyFileError(
            f"{config.path}: storage: {file} can't be written to; check the rights of the file and its folder"
        )


def _undo_half_written(config: StudyConfig, file: Path) -> None:
    """SQLite undoes what a killed writer left as soon as someone who may write looks at the file."""
    try:
        with contextlib.closing(sqlite3.connect(file, timeout=BUSY)) as connection:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise _not_opened(config, error) from None


def _file(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def _connect_to_read(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=BUSY, check_same_thread=False)


def _is_half_made(file: Path, error: BaseException) -> bool:
    """Whether the maker of a database was killed before it was whole: then reading it wants to write.

    A journal beside the file is another matter: only who may write can undo what is half written.
    """
    return "readonly" in cause_of(error).lower() and not Path(f"{file}-journal").exists()


def _not_in(config: StudyConfig) -> NoStudy:
    return NoStudy(config.path, f"there is no study in {_file(config.storage)}")


def _not_opened(config: StudyConfig, error: BaseException) -> StudyFileError:
    if "no such table" in cause_of(error):  # an empty file, or a database of something else
        return _not_in(config)
    url = storage_url.shown(config.storage)
    why = storage_url.scrub(cause_of(error), config.storage) or type(error).__name__
    return StudyFileError(f"{config.path}: storage: {url} can't be opened ({why}); {remedy_for(error)}")
