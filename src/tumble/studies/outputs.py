"""Where a page or a table may be written: never over the study that it comes from."""

from __future__ import annotations

import os
from pathlib import Path

from tumble.errors import InputError
from tumble.studies.config import StudyConfig
from tumble.studies.kept import KeptFiles

BESIDE = ("", "-journal", "-wal", "-shm", ".lock", ".requests.lock")  # the files of an SQLite database


def check_output(config: StudyConfig, out: Path) -> Path:
    """The path, unless it is a file of the study.

    Raises
    ------
    InputError
        If it is the study file, its database, or a file that belongs to one of them.
    """
    where, pending = Path(os.path.realpath(out)), KeptFiles(config).folder
    for file in _files(config):
        if where == Path(os.path.realpath(file)) or _is_same(where, file):
            raise InputError(f"{out}: belongs to the study ({file}); choose another path")
    if Path(os.path.realpath(pending)) in where.parents:
        raise InputError(f"{out}: {pending} belongs to the study; choose another path")
    return out


def _files(config: StudyConfig) -> list[Path]:
    database = config.storage.removeprefix("sqlite:///")
    if database == config.storage:
        return [config.path]
    return [config.path, *(Path(database + ending) for ending in BESIDE)]


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are links to one file."""
    try:
        return one.samefile(other)
    except OSError:
        return False
