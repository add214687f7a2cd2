"""Processes of a rig: the clock ends them, together, whatever else goes on."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from tests.studies.test_rig import SETTING, script
from tumble.studies import processes, rig

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def is_alive(pid: int) -> bool:
    fields = processes._fields(pid)
    return fields is not None and fields[0] not in "ZX"


def test_a_beat_that_hangs_does_not_delay_the_time_limit(tmp_path: Path) -> None:
    begin = time.monotonic()
    verdict = rig.run(
        script(tmp_path, "import time; time.sleep(60)", "timeout = 1.0"),
        SETTING,
        0,
        beat=lambda: time.sleep(20),
        beat_seconds=0.1,
    )
    assert verdict == rig.Crashed("ran longer than 1 s")
    assert time.monotonic() - begin < 10


def test_what_a_command_leaves_in_its_group_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import subprocess; p = subprocess.Popen(['sleep', '60']); open('pid', 'w').write(str(p.pid));"
        'print(\'{"cost": 1, "torque": 2}\')'
    )
    assert isinstance(rig.run(script(tmp_path, code), SETTING, 0), rig.Measured)
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_ctrl_c_while_a_command_is_ended_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third one of `tumble run`: the second abandons the trial."""
    stubborn = 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open("on", "w"); '
    code = (
        f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', '{stubborn}time.sleep(60)']);"
        "open('pid', 'w').write(str(p.pid)); p.wait()"
    )
    ended: list[float | None] = []
    politely = processes.end

    def impatient(process: subprocess.Popen[bytes], patience: float | None = None) -> None:
        ended.append(patience)
        if len(ended) == 1:
            raise KeyboardInterrupt
        politely(process, patience)

    monkeypatch.setattr(processes, "end", impatient)

    def give_up() -> None:
        if (tmp_path / "on").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rig.run(script(tmp_path, code), SETTING, 0, beat=give_up, beat_seconds=0.1)
    child = int((tmp_path / "pid").read_text())
    assert ended == [None, 0.0]
    end = time.monotonic() + 10
    while is_alive(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(child)


def test_without_proc_and_waitid_a_command_is_ended_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS."""
    monkeypatch.setattr(processes, "_has_proc", lambda: False)
    monkeypatch.delattr(os, "waitid")
    code = (
        "import subprocess, time; p = subprocess.Popen(['sleep', '60']); open('pid', 'w').write(str(p.pid));"
        "time.sleep(60)"
    )
    verdict = rig.run(script(tmp_path, code, "timeout = 2.0"), SETTING, 0)
    assert verdict == rig.Crashed("ran longer than 2 s")
    end = time.monotonic() + 10
    while is_alive(int((tmp_path / "pid").read_text())):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert processes.end_marked("any") == 0


def test_marked_processes_are_found_and_ended_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.3)
    mark = secrets.token_hex(8)
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    ours = subprocess.Popen(
        [sys.executable, "-c", stubborn],
        env={processes.MARK: mark},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    other = subprocess.Popen(["sleep", "60"], env={processes.MARK: mark + "0"})
    assert ours.stdout is not None
    ours.stdout.readline()
    try:
        assert processes.end_marked(mark) == 1
        assert ours.wait(10) == -9
        assert other.poll() is None
        assert processes.end_marked(mark) == 0
    finally:
        ours.stdout.close()
        other.kill()
        other.wait()


def test_a_huge_output_costs_little_memory(tmp_path: Path) -> None:
    code = (
        "import sys\nfor _ in range(64): sys.stdout.write('x' * 2**20 + '\\n')\n"
        'print(\'{"cost": 1, "torque": 2}\')'
    )
    config = script(tmp_path, code)
    tracemalloc.start()
    try:
        assert rig.run(config, SETTING, 0) == rig.Measured({"cost": 1.0, "torque": 2.0})
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()
