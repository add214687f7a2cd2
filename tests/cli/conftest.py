"""The command line in this process: its exit code, its output and its errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tumble.cli import main

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    def call(*words: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main([str(word) for word in words])
        out, err = capfd.readouterr()
        code = caught.value.code
        return (0 if code is None else int(code)), out, err

    return call
