"""`tumble serve`: what it refuses before it serves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.study_files import write_study

Cli = Callable[..., tuple[int, str, str]]


def test_another_host_without_a_token_is_refused_with_one_to_use(cli: Cli, tmp_path: Path) -> None:
    code, _, err = cli("serve", write_study(tmp_path), "--host", "0.0.0.0")
    assert (code, "so it needs a token; for example TUMBLE_TOKEN=" in err) == (2, True)


def test_without_its_packages_the_extra_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("tumble.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "segno", None)
    code, _, err = cli("serve", write_study(tmp_path))
    assert (code, "segno is missing" in err, "'.[serve]'" in err) == (2, True, True)


def test_a_study_file_that_is_not_there_is_said(cli: Cli, tmp_path: Path) -> None:
    assert cli("serve", tmp_path / "no.toml")[0] == 2


@pytest.mark.parametrize(("host", "has_code"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_a_qr_code_is_shown_only_for_an_address_that_a_phone_can_open(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, has_code: bool
) -> None:
    serving = pytest.importorskip("tumble.server.serving")
    monkeypatch.setattr(serving._Server, "run", lambda server, sockets: server._ready())
    file = write_study(tmp_path)
    code, out, _ = cli("serve", file, "--host", host, "--port", 0, "--token", "long-enough-token")
    assert (code, "http://" in out) == (0, True)
    assert ("█" in out) is has_code
    assert ("only this machine can open this address" in out) is not has_code
    assert ("--host 0.0.0.0 and a token" in out) is not has_code
