"""Databases that a test opens through Optuna are closed at its end; Optuna leaves that to the caller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from optuna.storages import RDBStorage


@pytest.fixture(autouse=True)
def closed_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[RDBStorage] = []
    open_ = RDBStorage.__init__

    def note(self: RDBStorage, *args: object, **options: object) -> None:
        open_(self, *args, **options)  # type: ignore[arg-type]
        opened.append(self)

    monkeypatch.setattr(RDBStorage, "__init__", note)
    yield
    for database in opened:
        database.remove_session()
        database.engine.dispose()
