"""The socket, the token, the QR code, and a study that is driven to its end by curl alone."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from tests.server.clients import TOKEN, measure, study_by_hand
from tests.server.processes import Process, needs_curl
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


def test_ctrl_c_as_the_address_is_printed_ends_it_as_later(tmp_path: Path) -> None:
    handlers: list[object] = []

    def interrupted(address: str, code: str | None) -> None:
        handlers.append(signal.getsignal(signal.SIGINT))
        signal.raise_signal(signal.SIGINT)

    serving.serve(study_by_hand(tmp_path), "127.0.0.1", 0, None, interrupted)
    assert handlers != [signal.default_int_handler]  # which would break what asyncio has half set up


def test_a_taken_port_and_an_unknown_host_are_said(tmp_path: Path) -> None:
    file = study_by_hand(tmp_path)
    taken = serving.listen("127.0.0.1", 0)
    with taken, pytest.raises(InputError, match="can't be used"):
        serving.serve(file, "127.0.0.1", taken.getsockname()[1], None, print)
    with pytest.raises(InputError, match="no address of this machine"):
        serving.serve(file, "no such host", 0, TOKEN, print)
    with pytest.raises(InputError, match="no host has such a name"):
        serving.listen("\u200b", 0)


def test_a_connection_whose_client_went_away_without_a_word_is_let_go() -> None:
    listening = serving.listen("127.0.0.1", 0)
    with listening, socket.create_connection(listening.getsockname(), 30), listening.accept()[0] as accepted:
        assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60


@pytest.mark.skipif(not Path("/proc/sys/net/ipv6").exists(), reason="needs IPv6")
def test_an_address_of_one_interface_is_called_no_address_rather_than_a_taken_port() -> None:
    with pytest.raises(InputError, match="fe80::1 is no address of this machine"):
        serving.listen("fe80::1", 0)


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
def test_a_connection_that_breaks_before_the_body_starts_no_trial_and_spends_no_key(process: Process) -> None:
    head = f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{process.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", process.port), 30) as connection:
        connection.sendall(f"{head}Content-Length: 8\r\nIdempotency-Key: k\r\n\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1000) == b""  # the server has seen it
    code, answer = process.post("ask", {"n": 2}, "-H", "Idempotency-Key: k")
    assert (code, [trial["trial"] for trial in answer["trials"]]) == (200, [0, 1])


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
