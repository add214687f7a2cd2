"""Output that can't be written: the command does its work, says so, and ends with a code of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

from tests.study_files import write_study
from tumble.cli import main
from tumble.cli.output import Output
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no full device")


class Breaking(io.StringIO):
    """A disk that is full until there is room."""

    is_full = True

    def write(self, text: str) -> int:
        if self.is_full:
            raise OSError(28, "No space left on device")
        return super().write(text)


def tumble(*words: object, stdout: TextIO, stderr: TextIO | None = None) -> tuple[int, str]:
    """The command line in this process, with these streams."""
    said = io.StringIO()
    streams = contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr or said)
    with streams[0], streams[1], pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    return int(caught.value.code or 0), said.getvalue()


def tumble_alone(*words: object, stdout: TextIO) -> tuple[int, str]:
    """The command line in a process of its own, to the end of its interpreter."""
    command = [sys.executable, "-m", "tumble", *map(str, words)]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


def test_a_stream_is_lost_once_and_comes_back() -> None:
    said: list[str] = []
    disk = Breaking()
    output = Output(disk, said.append)
    print("one", file=output)
    print("two", file=output)
    assert (said, output.is_lost) == (["No space left on device"], True)
    disk.is_full = False
    print("three", file=output, flush=True)
    assert (disk.getvalue(), output.encoding) == ("three\n", None)


def test_a_closed_stream_loses_what_is_printed_and_only_that() -> None:
    said: list[str] = []
    output = Output(None, said.append)
    output.end()
    assert said == []
    print("one", file=output)
    assert said == ["it is closed"]


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("utf-8", "ρ = 1 ± 2, Säge"),
        ("latin-1", "rho = 1 +- 2, Säge"),
        ("ascii", "rho = 1 +- 2, S\\xe4ge"),
    ],
)
def test_a_letter_that_a_terminal_does_not_know_is_spelt(encoding: str, written: str) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    print("ρ = 1 ± 2, Säge", file=Output(terminal, pytest.fail), end="", flush=True)
    terminal.seek(0)
    assert terminal.read() == written


def test_a_trial_is_asked_on_a_terminal_without_the_sign_of_plus_minus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    file = write_study(tmp_path, command="")
    with Ledger(read_study_file(file)) as ledger:
        for cost in (1.0, 2.0):
            ledger.tell(ledger.ask().number, {"cost": cost, "load": -0.1})
    with (tmp_path / "out").open("w") as out:
        assert tumble_alone("ask", file, stdout=out) == (0, "")
    assert "predicted" in (said := (tmp_path / "out").read_text())
    assert " +- " in said


@needs_full
def test_a_full_disk_loses_no_trial_that_is_asked(tmp_path: Path) -> None:
    file = write_study(tmp_path, command="")
    with FULL.open("w") as full:
        code, err = tumble_alone("ask", file, stdout=full)
        assert (code, err) == (
            5,
            "tumble: the output can't be written (No space left on device); the command goes on without it: "
            "tumble status shows what is stored, with every trial in flight\n",
        )
        assert tumble("status", file, stdout=full) == (5, err)
    with FULL.open("w") as full:
        assert tumble("tell", file, 7, "cost=1", "load=0", stdout=full)[0] == 2  # its own code goes first
    assert Ledger(read_study_file(file), reading=True).status().pending == 1


@needs_full
@pytest.mark.parametrize("with_errors", [False, True])
def test_a_run_goes_on_when_its_log_is_full(tmp_path: Path, with_errors: bool) -> None:
    file = write_study(tmp_path, trials=3)
    with FULL.open("w") as full:
        code, err = tumble("run", file, stdout=full, stderr=full if with_errors else None)
    assert (code, err.count("can't be written")) == (5, 0 if with_errors else 1)
    assert Ledger(read_study_file(file), reading=True).status().trials == 3


def test_a_reader_who_has_seen_enough_is_not_told_so(tmp_path: Path) -> None:
    file = write_study(tmp_path, command="")
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as pipe:
        assert tumble_alone("ask", file, stdout=pipe) == (5, "")


def test_a_run_goes_on_when_nobody_reads_it_any_more(tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=3)
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as pipe:
        code, err = tumble("run", file, stdout=pipe)
    assert (code, err.count("can't be written (Broken pipe)"), err.count("\n")) == (5, 1, 1)
    assert Ledger(read_study_file(file), reading=True).status().trials == 3
