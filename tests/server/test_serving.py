"""The socket, the token, the QR code, and a study that is driven to its end by curl alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from tests.server.clients import TOKEN, measure, study_by_hand
from tumble.errors import InputError
from tumble.server import serving


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_the_loopback_address_needs_no_token(host: str) -> None:
    assert serving.check_token(host, None) is None
    assert serving.check_token(host, TOKEN) == TOKEN


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::"])
def test_any_other_host_needs_one(host: str) -> None:
    with pytest.raises(InputError, match="so it needs a token"):
        serving.check_token(host, None)
    assert serving.check_token(host, TOKEN) == TOKEN


@pytest.mark.parametrize("token", ["short", "with a space in it", "\xe9" * 20, "\n" * 20])
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(token: str) -> None:
    with pytest.raises(InputError, match="at least 12 printable ASCII"):
        serving.check_token("0.0.0.0", token)


def test_the_qr_code_is_a_block_of_text() -> None:
    lines = serving.qr_code("http://127.0.0.1:8000/#token=" + TOKEN).splitlines()
    assert len(lines) >= 10
    assert len({len(line) for line in lines if line.strip()}) <= 3


def test_a_taken_port_and_an_unknown_host_are_said(tmp_path: Path) -> None:
    file = study_by_hand(tmp_path)
    taken = serving.listen("127.0.0.1", 0)
    with taken, pytest.raises(InputError, match="can't be used"):
        serving.serve(file, "127.0.0.1", taken.getsockname()[1], None, print)
    with pytest.raises(InputError, match="no address of this machine"):
        serving.serve(file, "no such host", 0, TOKEN, print)


class Process:
    """`tumble serve` in a process of its own, and curl."""

    def __init__(self, file: Path, *options: str, **variables: str) -> None:
        command = [sys.executable, "-m", "tumble.cli", "serve", str(file), "--port", "0", *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}
        )
        assert self.process.stdout is not None
        line = next(line for line in self.process.stdout if line.startswith("http://"))
        self.address, _, self.fragment = line.split()[0].partition("#")

    def curl(self, *words: str) -> tuple[int, Any]:
        command = ["curl", "--silent", "--max-time", "60", "--write-out", "\n%{http_code}", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        body, _, code = done.stdout.rpartition("\n")
        return int(code), json.loads(body)

    def post(self, path: str, body: dict[str, Any], *words: str) -> tuple[int, Any]:
        kind = "Content-Type: application/json"
        return self.curl("-H", kind, *words, "-d", json.dumps(body), self.address + path)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    found = Process(study_by_hand(tmp_path, trials=3))
    yield found
    found.close()


@needs_curl
def test_curl_alone_drives_a_study_to_its_end_and_ctrl_c_ends_the_server(process: Process) -> None:
    told = 0
    while True:
        code, trial = process.post("ask", {}, "-H", f"Idempotency-Key: ask-{told}")
        if code != 200:
            break
        body = {"trial": trial["trial"], "results": measure(trial["parameters"])}
        assert process.post("tell", body)[0] == 200
        told += 1
    assert (code, trial["kind"], told) == (409, "TrialsExhausted", 3)
    assert process.curl(process.address + "status")[1]["trials"] == 3
    assert process.curl(process.address + "best")[1]["best"]["trial"] in range(3)
    stream = subprocess.Popen(["curl", "-sN", process.address + "events"], stdout=subprocess.PIPE, text=True)
    assert stream.stdout is not None
    assert stream.stdout.readline() == "event: status\n"
    begin = time.monotonic()
    assert process.end() == 0
    assert time.monotonic() - begin < 10
    assert stream.wait(10) in (0, 18)  # the end of a stream in pieces
    stream.stdout.close()


@needs_curl
def test_another_host_is_served_with_its_token(tmp_path: Path) -> None:
    process = Process(study_by_hand(tmp_path), "--host", "0.0.0.0", TUMBLE_TOKEN=TOKEN)
    try:
        assert process.fragment == f"token={TOKEN}"
        assert process.curl(process.address + "status")[0] == 401
        code, status = process.curl("-H", f"Authorization: Bearer {TOKEN}", process.address + "status")
        assert (code, status["trials_left"]) == (200, 8)
    finally:
        process.close()
