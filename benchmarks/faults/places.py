"""Where the studies of the cases stand: copies of one SQLite file, or of one database of a server."""

from __future__ import annotations

import contextlib
import multiprocessing
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy

from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

from .operations import fill, write_study

MODEL = "faults_model"  # the database that is copied


@dataclass(frozen=True)
class Places:
    """Gives each case a study of its own.

    Parameters
    ----------
    home
        A folder for the study that is copied.
    server
        The address of a PostgreSQL; empty for SQLite.
    """

    home: Path
    server: str = ""

    def prepare(self) -> None:
        """Make the study that is copied, in a process of its own: no connection stays open here."""
        process = multiprocessing.get_context("fork").Process(target=self._prepare)
        process.start()
        process.join()
        assert process.exitcode == 0

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path]:
        """An empty folder for a while."""
        with tempfile.TemporaryDirectory(dir=self.home) as name:
            yield Path(name)

    @contextlib.contextmanager
    def copy(self, folder: Path) -> Iterator[None]:
        """A copy of the study in an empty folder."""
        if not self.server:
            write_study(folder, "sqlite:///faults.db")
            shutil.copy(self.home / "faults.db", folder)
            yield
            return
        name = f"case_{secrets.token_hex(6)}"
        self._command(f"CREATE DATABASE {name} TEMPLATE {MODEL}")
        write_study(folder, self._address(name))
        try:
            yield
        finally:
            self._command(f"DROP DATABASE {name} WITH (FORCE)")

    def _prepare(self) -> None:
        if self.server:
            self._command(f"CREATE DATABASE {MODEL}")
        file = write_study(self.home, self._address(MODEL) if self.server else "sqlite:///faults.db")
        with Ledger(read_study_file(file)) as ledger:
            fill(ledger)

    def _address(self, database: str) -> str:
        return sqlalchemy.make_url(self.server).set(database=database).render_as_string(hide_password=False)

    def _command(self, text: str) -> None:
        engine = sqlalchemy.create_engine(
            self.server, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool
        )
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text(text))
