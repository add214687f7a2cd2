"""Who owns a trial: a machine is its host, its boot and its PID namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.study_files import write_study
from tumble.studies import ownership
from tumble.studies.ledger import Ledger
from tumble.studies.ownership import Owner, this_process, this_runner
from tumble.studies.study_file import read_study_file


def may_unshare() -> bool:
    """Whether this user may make a PID namespace."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc"]


def test_this_process_is_alive_and_a_later_one_with_its_number_is_another() -> None:
    me = this_process()
    assert me.is_here()
    assert me.is_alive_here()
    assert not replace(me, born="another").is_alive_here()


@pytest.mark.parametrize("change", [{"machine": "another"}, {"host": "another"}, {"machine": ""}])
def test_a_process_of_another_namespace_boot_or_host_is_not_here(change: dict[str, str]) -> None:
    assert not replace(this_process(), **change).is_here()  # type: ignore[arg-type]


def test_owners_that_were_stored_without_a_machine_are_read_and_are_elsewhere() -> None:
    old = Owner.from_dict({"kind": "run", "host": os.uname().nodename, "pid": 1, "born": "x"})
    assert (old.pid, old.machine, old.is_here()) == (1, "", False)
    assert Owner.from_dict({"kind": "hand", "added": "later"}) == ownership.BY_HAND


def test_two_runners_of_one_process_are_told_apart() -> None:
    assert this_runner() != this_runner()
    assert this_runner().is_alive_here()


def test_a_living_trial_of_another_namespace_is_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same host name, and a process number that is nobody's here."""
    ledger = Ledger(read_study_file(write_study(tmp_path)))
    other = replace(this_process(), pid=2**22 + 1, machine="another")
    ledger.ask(other)
    assert ledger.adopt(this_process()) is None


@pytest.mark.skipif(not may_unshare(), reason="needs the right to make a PID namespace")
def test_workers_in_separate_namespaces_under_one_hostname_run_no_trial_twice(tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=6, seconds=0.5, load="-1.0")
    Ledger(read_study_file(file)).close()
    run = [*UNSHARE, sys.executable, "-m", "tumble.cli", "run", str(file), "--quiet"]
    workers = [subprocess.Popen(run) for _ in range(3)]
    assert [worker.wait(120) for worker in workers] == [0, 0, 0]
    runs = (tmp_path / "runs.log").read_text().split()
    assert sorted(runs) == [str(i) for i in range(6)]
