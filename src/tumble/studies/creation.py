"""Creating a trial once, also where a server's answer to the commit is lost.

Optuna creates a trial again after any error, and can't know whether the first one is there.  On a server it
may be: the server commits, and its answer is lost on the way.  Here an error at the commit is one that Optuna
does not try again, every trial carries a mark of its own, and the server is asked whether that mark is there.
A file has no answer to lose.
"""

from __future__ import annotations

import contextlib
import copy
import secrets
import threading
from collections.abc import Callable, Iterator

import sqlalchemy
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial
from sqlalchemy.engine import Connection, ExceptionContext

from tumble.integrations.optuna import private

CREATION = "tumble:creation"  # the system attribute of a trial: a mark that no other trial has


class CommitInDoubt(Exception):
    """An error at a commit, which may have happened all the same; no error that Optuna tries again."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class Creator:
    """Creates trials in a database, each of them once.

    Parameters
    ----------
    database
        The database of a study.
    """

    def __init__(self, database: RDBStorage) -> None:
        self._database = database
        self._is_server = database.engine.dialect.name != "sqlite"
        self._now = _Moment()
        if self._is_server:
            sqlalchemy.event.listen(database.engine, "begin", self._note_begin)
            sqlalchemy.event.listen(database.engine, "commit", self._note_commit)
            sqlalchemy.event.listen(database.engine, "handle_error", self._doubt, retval=True)

    def create(self, study_id: int, trial: FrozenTrial, create: Callable[[FrozenTrial], int]) -> int:
        """The id of a trial that `create` stores; a fault of the storage is raised where it is not there.

        Parameters
        ----------
        study_id
            The study of the trial.
        trial
            What is to be stored.
        create
            Stores it by Optuna's own means and gives its id; it is handed the trial with its mark.
        """
        if not self._is_server:
            return create(trial)
        marked, mark = copy.copy(trial), secrets.token_hex(8)
        marked.system_attrs = {**trial.system_attrs, CREATION: mark}
        try:
            with self._without_second_try():
                return create(marked)
        except CommitInDoubt as doubt:
            found = private.find_trial(self._database, study_id, CREATION, mark)
            if found is None:
                raise doubt.error from None
            return found

    @contextlib.contextmanager
    def _without_second_try(self) -> Iterator[None]:
        self._now.is_creating = True
        try:
            yield
        finally:
            self._now.is_creating = self._now.is_committing = False

    def _note_begin(self, connection: Connection) -> None:
        self._now.is_committing = False

    def _note_commit(self, connection: Connection) -> None:
        self._now.is_committing = True

    def _doubt(self, context: ExceptionContext) -> BaseException | None:
        if not (self._now.is_creating and self._now.is_committing):
            return None
        return CommitInDoubt(context.sqlalchemy_exception or context.original_exception)


class _Moment(threading.local):
    """What this thread does at the moment."""

    is_creating = False
    is_committing = False
