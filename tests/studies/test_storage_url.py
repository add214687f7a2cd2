"""Storage URLs: no part of a password reaches a reader, however the URL is written."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.study_files import write_study
from tumble.cli import main
from tumble.errors import TumbleError
from tumble.studies import storage
from tumble.studies.errors import StudyFileError
from tumble.studies.ledger import Ledger
from tumble.studies.storage_url import scrub, shown
from tumble.studies.study_file import read_study_file

SERVER = "127.0.0.1:1/rig"  # where nobody listens

# How a password can stand in a study file, as TOML after "storage = ".
SPELLINGS: dict[str, Callable[[str], object]] = {
    "plain": lambda p: f"postgresql://drill:{quote(p, safe='')}@{SERVER}",
    "with a driver": lambda p: f"postgresql+psycopg://drill:{quote(p, safe='')}@{SERVER}",
    "the old scheme": lambda p: f"postgres://drill:{quote(p, safe='')}@{SERVER}",
    "capitals": lambda p: f"POSTGRESQL://drill:{quote(p, safe='')}@{SERVER}",
    "a leading space": lambda p: f" postgresql://drill:{p}@{SERVER}",
    "a list": lambda p: [f"postgresql://drill:{p}@{SERVER}"],
    "a table": lambda p: {"url": f"postgresql://drill:{p}@{SERVER}"},
    "in the query": lambda p: f"postgresql+psycopg://drill@{SERVER}?password={quote(p, safe='')}",
    "in the query, as it is": lambda p: f"postgresql+psycopg://{SERVER}?user=drill&password={p}",
    "not escaped": lambda p: f"postgresql+psycopg://drill:{p}@{SERVER}",
    "with an @ inside": lambda p: f"postgresql+psycopg://drill:a@{p}@{SERVER}",
    "with a / inside": lambda p: f"postgresql+psycopg://drill:a/{p}@{SERVER}",
    "no user": lambda p: f"postgresql+psycopg://:{p}@{SERVER}",
    "no server": lambda p: f"postgresql+psycopg://drill:{p}",
    "a coded colon": lambda p: f"postgresql+psycopg://drill%3A{quote(p, safe='')}@{SERVER}",
    "no slashes": lambda p: f"postgresql:drill:{p}@{SERVER}",
    "mysql": lambda p: f"mysql+pymysql://drill:{p}@{SERVER}",
    "a dialect that is none": lambda p: f"postgresql+nothing://drill:{p}@{SERVER}",
    "sqlite": lambda p: f"sqlite://drill:{p}@{SERVER}",
    "sqlite with a query": lambda p: f"sqlite:///drill.db?password={p}",
    "the password alone": lambda p: p,
}
# No piece of one is part of a word or a line number, as "edge" is of Ledger.
PASSWORDS = st.text(
    st.sampled_from("bcdfgxzBCDFGXZ89@:/?#%&=+ {}[]()'\"\\!$;,.~<>|é\u2028"), min_size=4, max_size=16
)


def write(folder: Path, given: object) -> Path:
    if isinstance(given, dict):
        value = "{ " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in given.items()) + " }"
    else:
        value = json.dumps(given)
    return write_study(folder, extra=f"storage = {value}")


def pieces(password: str) -> set[str]:
    return {password[i : i + 4] for i in range(len(password) - 3)}


def hears_nothing(folder: Path, given: object, password: str, read: Callable[[], tuple[str, str]]) -> None:
    """No piece of the password is printed by a command, or in an error and its trace."""
    file = write(folder, given)
    for words in (["ask", file], ["status", file, "--json"], ["tell", file, "0", "cost=1"]):
        with pytest.raises(SystemExit) as caught:
            main([str(word) for word in words])
        said = "".join(read()).replace(str(folder), "")
        assert caught.value.code in (2, 3), said
        assert [piece for piece in pieces(password) if piece in said] == []
    with pytest.raises(TumbleError) as error:
        Ledger(read_study_file(file))
    shown_to_all = "".join(traceback.format_exception(error.value)).replace(str(folder), "")
    assert [piece for piece in pieces(password) if piece in shown_to_all] == []


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("password", ["hunter2secret", "p@ss:w/o?r#d", "a%62cd{0}e", "Passwörter"])
def test_no_piece_of_a_password_is_heard(
    spelling: str,
    password: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(storage, "ATTEMPTS", 1)
    hears_nothing(tmp_path, SPELLINGS[spelling](password), password, capfd.readouterr)


@given(st.sampled_from(sorted(SPELLINGS)), PASSWORDS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_piece_of_any_password_is_heard(
    tmp_path_factory: pytest.TempPathFactory, capfd: pytest.CaptureFixture[str], spelling: str, password: str
) -> None:
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage, "ATTEMPTS", 1)
        hears_nothing(folder, SPELLINGS[spelling](password), password, capfd.readouterr)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://drill:secret@db:5432/rig", "postgresql://***@db:5432/rig"),
        ("postgresql+psycopg://drill@db/rig?sslmode=require", "postgresql+psycopg://***@db/rig"),
        ("postgresql://[::1]:5432/rig", "postgresql://[::1]:5432/rig"),
        ("postgresql://drill:a@b@db/rig", "postgresql://***"),
        ("postgresql://drill:secret", "postgresql://***"),
        ("postgresql://db/rig?password=a@b", "postgresql://***"),
        (" POSTGRES://drill:secret@db/rig", "postgres://***@db/rig"),
        ("sqlite:////data/a@b.db", "sqlite:////data/a@b.db"),
        ("secret", "***"),
        ("secret://drill@db", "***"),
        ("mysqlx://drill:secret@db", "mysqlx://***"),
        ("Sqllite+secret:///drill.db", "sqllite://***"),
    ],
)
def test_a_url_is_shown_where_nothing_is_in_doubt(url: str, expected: str) -> None:
    assert shown(url) == expected


def test_what_others_say_loses_the_password_as_it_stands_and_decoded() -> None:
    url = "postgresql://drill:h%40nter%2Fsecret@db/rig"
    assert scrub("no host h@nter/secret, H@NTER%2Fsec; user drill on db", url) == (
        "no host ***, ***; user drill on db"
    )
    assert scrub("cannot open x.db", "sqlite:///x.db") == "cannot open x.db"


def test_an_error_of_the_database_after_the_opening_has_no_password_either(tmp_path: Path) -> None:
    config = read_study_file(write_study(tmp_path))
    with Ledger(config) as ledger:
        sqlalchemy.event.listen(
            ledger.storage.engine,
            "handle_error",
            lambda context: storage.hide_password("postgresql://drill:no_such_table@db/rig", context),
        )
        with pytest.raises(sqlalchemy.exc.SQLAlchemyError) as error, ledger.storage.engine.connect() as c:
            c.exec_driver_sql("SELECT * FROM my_no_such_table")
    assert "such_table" not in str(error.value.args) + str(error.value.orig)  # type: ignore[attr-defined]


def test_a_config_is_shown_without_its_storage(tmp_path: Path) -> None:
    file = write(tmp_path, f"postgresql://drill:hunter2@{SERVER}")
    assert "hunter2" not in repr(read_study_file(file))


# ------------------------------------------------------------------------------------ environment variables


def test_a_storage_may_stand_in_an_environment_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, "env:DRILL_STORAGE")
    monkeypatch.setenv("DRILL_STORAGE", "sqlite:///elsewhere.db")
    config = read_study_file(file)
    assert config.storage == f"sqlite:///{tmp_path}/elsewhere.db"
    Ledger(config).close()
    assert (tmp_path / "elsewhere.db").exists()


@pytest.mark.parametrize("value", [None, "", " "])
def test_a_variable_that_is_not_set_is_named(
    value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DRILL_STORAGE", raising=False)
    if value is not None:
        monkeypatch.setenv("DRILL_STORAGE", value)
    with pytest.raises(StudyFileError, match="the environment variable DRILL_STORAGE is not set; set it to"):
        read_study_file(write(tmp_path, "env:DRILL_STORAGE"))


@pytest.mark.parametrize("value", ["postgres://drill:hunter2@db/rig", "hunter2", "sqlite://hunter2"])
def test_the_value_of_a_variable_is_never_printed(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DRILL_STORAGE", value)
    hears_nothing(tmp_path, "env:DRILL_STORAGE", "hunter2", capfd.readouterr)
