"""`tumble serve` in a process of its own."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.forked import Forked


class Process:
    """`tumble serve` in a process of its own, and curl."""

    def __init__(self, file: Path, *options: str, port: int = 0, **variables: str) -> None:
        self.process = Forked("serve", file, "--port", port, *options, **variables)
        line = next(line for line in self.process.stdout if line.startswith("http://"))
        self.address, _, self.fragment = line.split()[0].partition("#")
        self.port = int(self.address.rstrip("/").rpartition(":")[2])

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
        self.process.close()


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
