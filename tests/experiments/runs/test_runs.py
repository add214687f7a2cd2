"""Runs, lines and the pool: one line a run, never twice, never mixed."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tumble
from experiments.__main__ import main
from experiments.runs import machine, pool
from experiments.runs.loop import run
from experiments.runs.records import Spec
from experiments.runs.searcher import NextTrial
from experiments.runs.store import Store
from tests.runs import Inline, echo_specs, inline, line_of
from tumble import Settings, problems
from tumble.errors import BudgetExhausted

__all__ = ["inline"]  # a fixture
ROOT = Path(__file__).parents[3]
SPEC = Spec("branin-disk", "xsf", 0, 2, 2, settings={"a": 1})


class Scripted:
    """A searcher that asks for the points it is given, and remembers what it hears."""

    def __init__(self, points, stop_after=None):
        self.points, self.stop_after, self.heard = iter(points), stop_after, []

    def ask(self):
        if self.stop_after is not None and len(self.heard) >= self.stop_after:
            raise BudgetExhausted("spent")
        x = np.asarray(next(self.points))
        return NextTrial(x, tumble.Suggestion(1, x, "free", 0.1, 0.5, 0.0, 1.0, 1, 1))

    def tell(self, trial, outcome):
        self.heard.append(outcome)

    def inform(self, x, outcome):
        self.informed = (x, outcome)


# ---------------------------------------------------------------------------------------------- one run


def test_a_run_counts_trials_failures_and_regret_by_hand():
    problem = problems.get("gramacy")  # safe start with value 1.4
    record = run(problem, Scripted([(0.0, 0.0), (0.6, 0.6), (0.1, 0.1)]), trials=4, failures=2)
    assert record["failed"] == [True, False, True]
    assert (record["n_trials"], record["n_failures"], record["stopped"]) == (3, 2, "budget")
    assert record["omega"] == 25.0
    np.testing.assert_allclose(np.array(record["regret_curve"]) + problem.f_min, [1.4, 1.2, 1.2])
    assert record["regret"] == pytest.approx(1.2 - problem.f_min)
    assert record["rho"] == [0.1] * 3


def test_a_run_that_may_go_on_counts_what_is_beyond_the_budget():
    record = run(problems.get("gramacy"), Scripted([(0.0, 0.0)] * 3), trials=3, failures=1, stop=False)
    assert (record["beyond"], record["stopped"], record["n_trials"]) == (2, "trials", 3)


def test_a_searcher_may_end_a_run_itself():
    record = run(problems.get("gramacy"), Scripted([(0.6, 0.6)] * 3, stop_after=1), trials=3, failures=1)
    assert (record["stopped"], record["n_trials"]) == ("budget", 1)


def test_a_crash_is_a_failure_without_a_value():
    searcher = Scripted([(0.0, 0.0), (0.6, 0.6)])
    record = run(problems.get("gramacy!"), searcher, trials=2, failures=2)
    assert record["y"] == [None, pytest.approx(1.2)]
    assert record["failed"] == [True, False]
    assert searcher.heard[0] is None


def test_regret_of_a_noisy_problem_is_that_of_the_truth():
    problem = problems.noisy(problems.get("gramacy"), sd=5.0, seed=1)
    record = run(problem, Scripted([(0.6, 0.6)]), trials=1, failures=1)
    assert record["y"][0] != pytest.approx(1.2)
    assert record["regret_curve"][0] <= 1.2 - problem.f_min + 1e-9 or record["failed"][0]


def test_a_run_without_trials_or_initial_points_has_no_regret():
    bare = dataclasses.replace(problems.get("gramacy"), initial=np.empty((0, 2)))
    record = run(bare, Scripted([]), trials=2, failures=0)
    assert record["regret"] is None
    assert record["stopped"] == "budget"


# ------------------------------------------------------------------------------------------ keys and lines


@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"method": "eic"}, {"settings": {"a": 2}}, {"trials": 3}, {"failures": 1},
     {"problem": "cliff"}, {"on_exhausted": "safe"}, {"task": "x:y"}],
)  # fmt: skip
def test_whatever_decides_a_run_changes_its_key(change):
    assert dataclasses.replace(SPEC, **change).key != SPEC.key


def test_a_label_does_not_change_the_key_and_the_order_of_settings_neither():
    assert dataclasses.replace(SPEC, block="other").key == SPEC.key
    one, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert dataclasses.replace(SPEC, settings=one).key == dataclasses.replace(SPEC, settings=other).key


def test_another_format_changes_every_key(monkeypatch):
    before = SPEC.key
    monkeypatch.setattr("experiments.runs.records.FORMAT", 99)
    assert SPEC.key != before


def test_a_line_cut_short_counts_as_not_done_and_the_next_is_whole(tmp_path):
    store = Store(tmp_path)
    store.append(line_of(SPEC))
    with store.path.open("a") as file:
        file.write('{"key": "cut')
    other = dataclasses.replace(SPEC, seed=1)
    store.append(line_of(other))
    assert store.keys() == {SPEC.key, other.key}


def test_lines_of_another_format_and_no_lines_at_all_are_ignored(tmp_path):
    store = Store(tmp_path)
    store.path.write_text('{"key": "k", "format": 0}\n[1]\n{"format": 1}\n')
    assert list(store.lines()) == []


def test_every_file_of_the_folder_is_read_and_the_newest_line_of_a_key_wins(tmp_path):
    Store(tmp_path, "one").append(line_of(SPEC, regret=1.0))
    Store(tmp_path, "two").append(line_of(SPEC, regret=2.0, started="2026-01-02T00:00:00"))
    Store(tmp_path, "zwei").append(line_of(SPEC, regret=3.0, started="2025-01-02T00:00:00"))
    assert [line["regret"] for line in Store(tmp_path).lines()] == [2.0]


def test_keys_can_be_those_of_one_version_of_the_code(tmp_path):
    store = Store(tmp_path)
    store.append(line_of(SPEC))
    assert store.keys("c0") == {SPEC.key}
    assert store.keys("c1") == set()


# ------------------------------------------------------------------------------------------------- the pool


def test_a_run_is_done_once_whatever_is_asked_again(tmp_path, inline):
    store, out = Store(tmp_path), io.StringIO()
    assert pool.run_all(echo_specs([1, 2, 2]), store, out=out) == pool.Summary(2, 0, ())
    assert pool.run_all(echo_specs([1, 2, 3]), store, out=out) == pool.Summary(1, 2, ())
    assert len(store.path.read_text().splitlines()) == 3
    assert "3/3" not in out.getvalue()
    assert "1/1 runs" in out.getvalue()


def test_a_run_that_raises_is_reported_leaves_no_line_and_stops_no_other(tmp_path, inline):
    store = Store(tmp_path)
    summary = pool.run_all(echo_specs([12, 13, 14]), store, out=io.StringIO())
    assert summary.done == 2
    assert "unlucky" in summary.errors[0]
    assert sorted(line["seed"] for line in store.lines()) == [12, 14]


def test_fresh_repeats_lines_of_another_version_of_the_code_but_not_the_peers(tmp_path, inline, monkeypatch):
    store = Store(tmp_path)
    specs = [*echo_specs([1]), dataclasses.replace(echo_specs([1])[0], method="botorch")]
    pool.run_all(specs, store, out=io.StringIO())
    assert pool.run_all(specs, store, fresh=True, out=io.StringIO()).done == 0
    monkeypatch.setattr(machine, "code_hash", lambda: "new")
    assert pool.run_all(specs, store, fresh=True, out=io.StringIO()) == pool.Summary(1, 1, ())


def test_a_line_says_what_ran_where_and_for_how_long(tmp_path, inline):
    store = Store(tmp_path)
    pool.run_all(echo_specs([5]), store, out=io.StringIO())
    (line,) = store.lines()
    assert line["seen"] == line["seed"] == 5
    assert {"versions", "hardware", "code", "wall", "started", "settings", "settings_hash"} <= line.keys()
    assert "numpy" in line["versions"]


def test_processes_with_one_blas_thread_each_do_the_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    specs = [Spec("figure1", "xs", s, 1, settings={**Settings().to_dict(), "grid": 32}) for s in range(2)]
    store = Store(tmp_path)
    assert pool.run_all(specs, store, jobs=2, out=io.StringIO()).errors == ()
    assert len(store.keys()) == 2
    assert os.environ["OMP_NUM_THREADS"] == "1"


def test_a_dask_cluster_does_the_runs(tmp_path, dask_cluster):
    address = dask_cluster.scheduler_address
    assert address.startswith("inproc://")
    spec = Spec("figure1", "xs", 0, 1, settings={**Settings().to_dict(), "grid": 32})
    summary = pool.run_all([spec], Store(tmp_path), executor=address, out=io.StringIO())
    assert summary == pool.Summary(1, 0, ())


def test_the_time_left_weighs_each_kind_of_run_by_its_own_time():
    quick, slow = Spec("a", "xs", 0, 1), Spec("a", "pesc", 0, 1)
    todo = [dataclasses.replace(s, seed=i) for s in (quick, slow) for i in range(3)]
    progress = pool.Progress(todo, jobs=2, out=io.StringIO())
    progress.advance(quick, 1.0)
    progress.advance(slow, 10.0)
    assert progress.left() == pytest.approx((2 * 1.0 + 2 * 10.0) / 2)


def test_on_a_terminal_the_progress_stays_on_one_line():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    progress = pool.Progress([SPEC], jobs=1, out=out)
    progress.advance(SPEC, 2.0)
    progress.close()
    assert out.getvalue().startswith("\r\033[K")
    assert out.getvalue().endswith("\n")


def test_the_number_of_runs_is_said_before_the_first_has_ended(tmp_path, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(pool, "_prepare", lambda todo: pytest.fail(out.getvalue()))
    with pytest.raises(pytest.fail.Exception, match="0/2 runs, 3 at a time"):
        pool.run_all(echo_specs([1, 2]), Store(tmp_path), jobs=3, out=out)


def test_durations_are_words():
    assert [pool.duration(s) for s in (40, 720, 11_100)] == ["40 s", "12 min", "3 h 05 min"]


ASLEEP = """
import os, sys, time
from experiments.runs import pool
def sleep(where):
    open(os.path.join(where, str(os.getpid())), "w").close()
    time.sleep(300)
if __name__ == "__main__":
    with pool._executor(2, "") as workers:
        for future in [workers.submit(sleep, where) for where in sys.argv[1:]]:
            future.result()  # `map` would cancel what is left, while the pool ends it
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
def test_workers_end_when_their_command_is_killed(tmp_path):
    script = tmp_path / "asleep.py"
    script.write_text(ASLEEP)
    folder = tmp_path / "workers"
    folder.mkdir()
    command = [sys.executable, str(script), str(folder), str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT}"})
    _until(lambda: len(list(folder.iterdir())) == 2)
    workers = [int(path.name) for path in folder.iterdir()]
    process.kill()
    process.wait()
    _until(lambda: not any(map(_runs, workers)))


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
@pytest.mark.parametrize("all_of_them", [True, False])
def test_ctrl_c_does_not_wait_for_the_runs_in_hand(tmp_path, all_of_them):
    script = tmp_path / "asleep.py"
    script.write_text(ASLEEP)
    folder = tmp_path / "workers"
    folder.mkdir()
    command = [sys.executable, str(script), *[str(folder)] * 6]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}"},
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    _until(lambda: len(list(folder.iterdir())) == 2)
    workers = [int(path.name) for path in folder.iterdir()]
    (os.killpg if all_of_them else os.kill)(process.pid, signal.SIGINT)  # from a terminal, or with kill -INT
    try:
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert said.count("Traceback") == 1
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert not any(map(_runs, workers))


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no masks of signals")
def test_workers_are_started_deaf_to_ctrl_c(tmp_path, monkeypatch):
    def blocked():
        return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())

    class Listening(Inline):
        def submit(self, function, spec):
            seen.append(blocked())
            return super().submit(function, spec)

    seen: list[bool] = []
    monkeypatch.setattr(pool, "_executor", lambda jobs, address: Listening())
    pool.run_all(echo_specs([1]), Store(tmp_path), out=io.StringIO())
    assert (seen, blocked()) == ([True], False)


def _until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _runs(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_killed_command_goes_on_where_it_stopped(tmp_path, capsys, inline):
    words = ["table1", "--seeds", "3", "--trials", "2", "--methods", "ei", "--blocks", "default",
             "--jobs", "1", "--out", str(tmp_path)]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    path = tmp_path / "table1.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *words],
        cwd=ROOT,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (path.exists() and path.read_text().count("\n") >= 1):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = [json.loads(text)["key"] for text in path.read_text().splitlines() if text.endswith("}")]
    assert main(words) == 0
    keys = [json.loads(text)["key"] for text in path.read_text().splitlines()]
    assert len(kept) >= 1
    assert keys[: len(kept)] == kept
    assert len(keys) == len(set(keys)) == 6
    assert f"{6 - len(kept)} runs done, {len(kept)} were there already" in capsys.readouterr().out


def test_the_hash_of_the_code_reads_every_source_it_names():
    root = Path(tumble.__file__).parent
    assert all(list(root.glob(pattern)) for pattern in machine.SOURCES)
