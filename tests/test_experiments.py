"""Experiments: one line a run, never twice, never mixed; and the page from the lines alone."""

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

from experiments import figures, machine, methods, paper, plans, pool, registry, report, settings, statistics
from experiments.__main__ import main
from experiments.loop import Proposal, run
from experiments.page import Assets, Commands, Section, Table, Text, markdown, page
from experiments.plans import Options
from experiments.records import Spec
from experiments.store import Store
from tumble import Settings, problems
from tumble.errors import BudgetExhausted, InputError
from tumble.problems import Evaluation

ROOT = Path(__file__).parents[1]
SPEC = Spec("branin-disk", "xsf", 0, 2, 2, settings={"a": 1})


def line_of(spec, **content):
    base = {"key": spec.key, **dataclasses.asdict(spec), "family": spec.family, "code": "c0"}
    return {
        **base,
        "settings_hash": spec.settings_hash,
        "started": "2026-01-01T00:00:00",
        "wall": 1.0,
        **content,
    }


def finished(family="michalewicz10", method="xs", seed=0, regret=0.5, block="default", **more):
    failures = 3 if family.endswith("-constrained") or family == "in-model" else None
    problem = f"{family}:{seed}" if family.startswith("in-model") else family
    spec = Spec(problem, method, seed, 4, failures, block=block, settings={"block": block})
    content = {
        "regret": regret, "regret_curve": [1.0, 0.8, regret], "omega": 50.0, "n_trials": 3, "n_failures": 2,
        "beyond": 0, "failed": [True, False, True], "rho": [0.1, 0.5, None], "p_safe": [0.995, 0.3, 0.999],
        "seconds_total": 0.3, "stopped": "trials", "hardware": {"processor": "p", "cores": 2, "system": "s"},
        "versions": {"numpy": "2"},
    }  # fmt: skip
    return line_of(spec, **{**content, **more})


class Scripted:
    """A searcher that proposes what it is told to, and remembers what it hears."""

    def __init__(self, points, stop_after=None):
        self.points, self.stop_after, self.heard = iter(points), stop_after, []

    def ask(self):
        if self.stop_after is not None and len(self.heard) >= self.stop_after:
            raise BudgetExhausted("spent")
        return Proposal(np.asarray(next(self.points)), "risky", 0.1, 0.5)

    def tell(self, proposal, outcome):
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
    monkeypatch.setattr("experiments.records.FORMAT", 99)
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


def echo(spec):
    if spec.seed == 13:
        raise ValueError("unlucky")
    return {"seen": spec.seed}


def echo_specs(seeds):
    return [Spec("gramacy", "xsf", seed, 1, 1, task="tests.test_experiments:echo") for seed in seeds]


class Inline:
    """An executor that runs at once, in this process."""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def submit(self, function, spec):
        from concurrent.futures import Future

        future: Future = Future()
        future.set_result(function(spec))
        return future


@pytest.fixture
def inline(monkeypatch):
    monkeypatch.setattr(pool, "_executor", lambda jobs, address: Inline())
    monkeypatch.setattr(sys.modules[__name__], "__name__", "tests.test_experiments", raising=False)
    monkeypatch.setitem(sys.modules, "tests.test_experiments", sys.modules[__name__])


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


def test_a_dask_cluster_does_the_runs(tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
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


def test_durations_are_words():
    assert [pool.duration(s) for s in (40, 720, 11_100)] == ["40 s", "12 min", "3 h 05 min"]


def test_a_killed_command_goes_on_where_it_stopped(tmp_path):
    command = [sys.executable, "-m", "experiments", "table1", "--seeds", "3", "--trials", "2", "--methods",
               "ei", "--blocks", "default", "--jobs", "1", "--out", str(tmp_path)]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    path = tmp_path / "table1.jsonl"
    process = subprocess.Popen(
        command,
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
    again = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    keys = [json.loads(text)["key"] for text in path.read_text().splitlines()]
    assert len(kept) >= 1
    assert keys[: len(kept)] == kept
    assert len(keys) == len(set(keys)) == 6
    assert f"{6 - len(kept)} runs done, {len(kept)} were there already" in again.stdout


# ------------------------------------------------------------------------------------- plans and settings


def test_table_1_is_planned_whole_with_fewer_seeds_of_pesc():
    specs = registry.find("table1").plan(Options())
    count = {m: len({s.seed for s in specs if s.method == m}) for m in ("ei", "xs", "eic", "pesc", "xsf")}
    assert count == {"ei": 20, "xs": 20, "eic": 20, "pesc": 10, "xsf": 20}
    assert len(specs) == len({s.key for s in specs}) == 2 * (2 * 5 * 20 + 2 * (20 + 10 + 20))
    assert {s.on_exhausted for s in specs if s.method == "xsf"} == {"safe"}
    assert {s.on_exhausted for s in specs if s.method == "eic"} == {"stop"}
    assert {(s.trials, s.failures) for s in specs if s.problem.endswith("constrained")} == {(100, 10)}


def test_figure_2_needs_no_run_that_table_1_has_not():
    one, two = ({s.key for s in registry.find(name).plan(Options())} for name in ("table1", "fig2"))
    assert two < one


def test_table_3_takes_one_draw_a_seed_with_hyperparameters_fixed_in_the_papers_block():
    specs = registry.find("table3").plan(Options(seeds=2, seed_base=1000, methods=("xsf",)))
    assert sorted({s.problem for s in specs}) == ["in-model:1000", "in-model:1001"]
    fixed = next(s for s in specs if s.block == "paper").settings["objective"]
    assert (fixed["lengthscale"]["low"], fixed["lengthscale"]["high"]) == (0.1, 0.1)
    assert {(s.trials, s.failures) for s in specs} == {(100, 15)}


@pytest.mark.parametrize("block", plans.BLOCKS)
def test_the_settings_of_a_block_can_be_read_back(block):
    for problem in ("hartmann6", "michalewicz10-constrained", "in-model:3"):
        written = methods.settings_of("xsf", block, problem)
        assert Settings.from_dict(json.loads(json.dumps(written))).to_dict() == written


def test_the_papers_constants_are_those_of_its_settings():
    made = settings.paper_settings("hartmann6")
    for name in (
        "rho_safe",
        "rho_risk",
        "rho_0",
        "rho_b",
        "delta",
        "kernel",
        "restarts",
        "minima",
        "n_minima",
    ):
        assert getattr(made, name) == settings.SEARCH[name].value, name
    assert made.grid == settings.SEARCH["grid"].value


def test_table_2_is_mapped_by_family():
    assert settings.table_row("michalewicz10-constrained").lengthscale_f == settings.Law("uniform", 0.01, 0.3)
    assert settings.table_row("hartmann6").lengthscale_g == settings.Law("gamma", 1.0, 5.0)
    assert settings.table_row("in-model-free:7").variance_f == settings.Law("uniform", 1.0, 1.0)
    assert settings.table_row("branin-disk") == settings.TABLE_2["hartmann6"]


def test_every_constant_says_where_it_comes_from():
    for constant in (*settings.SEARCH.values(), *settings.BUDGETS.values()):
        assert constant.origin in (settings.PAPER, settings.SCRIPTS, settings.OURS)


def test_the_paper_has_a_value_for_every_cell_of_its_tables():
    for name in ("table1", "table3"):
        for spec in registry.find(name).plan(Options(seeds=1)):
            assert (spec.family, spec.method) in paper.TABLES


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(InputError, match="unknown experiment 'table2'; choose one of fig1"):
        registry.find("table2")
    with pytest.raises(InputError, match="unknown method 'bo'; choose among ei"):
        methods.settings_of("bo", "default", "hartmann6")
    with pytest.raises(InputError, match="unknown block"):
        methods.settings_of("xs", "mine", "hartmann6")


def test_a_peers_settings_are_part_of_its_key():
    assert methods.settings_of("botorch", "default", "hartmann6")["num_restarts"] == 10


def test_a_crash_is_told_to_tumble_as_a_crash():
    problem = problems.get("gramacy!")
    searcher = methods.TumbleSearcher(
        Spec("gramacy!", "xsf", 0, 4, 2, settings=Settings().to_dict()), problem
    )
    searcher.inform(problem.initial[0], Evaluation(1.4, np.empty(0)))
    searcher.tell(searcher.ask(), None)
    assert searcher._optimizer.failures_left == 1


# ------------------------------------------------------------------------------------------- statistics


def test_a_cell_never_mixes_settings_and_says_what_it_left_out():
    old = finished(seed=1, settings_hash="old", started="2025-01-01T00:00:00")
    cell = statistics.cells([old, finished(seed=2), finished(seed=0)])["michalewicz10", "xs", "default"]
    assert cell.seeds == (0, 2)
    assert cell.replaced == 1


def test_only_the_seeds_asked_for_enter_a_cell():
    lines = [finished(seed=s) for s in (0, 1000, 1001)]
    assert statistics.cells(lines, range(1000, 1040))["michalewicz10", "xs", "default"].seeds == (1000, 1001)


def test_a_paired_test_uses_the_shared_seeds_and_knows_which_is_worse():
    def cell(offset, seeds):
        lines = tuple(finished(seed=s, regret=offset + 0.01 * s) for s in seeds)
        return statistics.Cell("f", "m", "b", lines)

    test = statistics.paired(cell(0.5, range(12)), cell(0.1, range(2, 14)))
    assert test.n == 10
    assert test.p < 0.01
    assert test.worse
    assert not statistics.paired(cell(0.1, range(12)), cell(0.5, range(12))).worse
    assert statistics.paired(cell(0.1, range(5)), cell(0.1, range(5))).p == 1.0


def test_average_ranks_share_ties():
    ranks = statistics.average_ranks([{"a": 1.0, "b": 1.0, "c": 2.0}, {"a": 1.0, "b": 3.0, "c": 2.0}])
    assert ranks == {"a": 1.25, "b": 2.25, "c": 2.5}


def test_claims_of_safety_are_counted_against_what_happened():
    assert statistics.claimed_and_kept([finished()]) == (2, 0)
    assert statistics.claimed_and_kept([finished()], threshold=0.2) == (3, 1)


def test_the_trial_at_which_a_budget_is_gone():
    assert statistics.exhausted_at({"failures": 2, "failed": [True, False, True, False]}) == 3
    assert statistics.exhausted_at({"failures": 5, "failed": [True, False]}) is None
    assert statistics.exhausted_at({"failures": None, "failed": [True]}) is None
    assert statistics.exhausted_at({"failures": 0, "failed": [False]}) == 0


def test_curves_of_stopped_runs_keep_their_last_value():
    cell = statistics.Cell("f", "m", "b", (finished("michalewicz10-constrained"),))
    np.testing.assert_array_equal(figures.regret_curves(cell, 5), [[1.0, 0.8, 0.5, 0.5, 0.5]])
    np.testing.assert_array_equal(figures.failures_left(cell, 5), [[2, 2, 1, 1, 1]])
    assert np.isnan(figures.rho(cell.lines[0], 5)[2:]).all()


# -------------------------------------------------------------------------------------------- the report


def all_lines():
    found = []
    for seed in range(4):
        for block in plans.BLOCKS:
            for family in ("hartmann6", "michalewicz10", "in-model-free"):
                found += [finished(family, m, seed, 0.1 + 0.01 * seed, block) for m in methods.FREE]
            for family in ("hartmann6-constrained", "michalewicz10-constrained", "in-model"):
                found += [finished(family, m, seed, 0.2 + 0.01 * seed, block) for m in ("eic", "xsf")]
    return found


def figure_lines(tmp_path):
    store = Store(tmp_path / "figures")
    specs = [*registry.find("fig1").plan(Options()), *registry.find("frechet").plan(Options())]
    return [
        pool.carry_out(dataclasses.replace(s, settings={**s.settings, **SMALL[s.task]})) for s in specs
    ], store


SMALL = {
    "experiments.fig1:compute": {"grid": 41},
    "experiments.frechet:compute": {"posteriors": 8, "samples": 200},
}


def test_the_page_is_built_from_the_lines_alone(tmp_path):
    store = Store(tmp_path / "lines")
    for line in [*all_lines(), *figure_lines(tmp_path)[0]]:
        store.append(line)
    written = report.write(store, tmp_path / "page", seeds=range(0, 3))
    text, html = (path.read_text(encoding="utf-8") for path in written)
    assert "| EI | 3 | **0.110 ± 0.008** | 0.75 ± 0.00 |" in text
    assert "PESC | 0 | not run | 0.14 ± 0.22" in text
    assert "50 ± 0 | 90 ± 16 | 2.0 (2) | 0 of 3" in text
    assert "the paper's XsF < EIC" in text
    assert "f/\\|f_min\\|" in text
    assert "seeds 0-2" in text
    for name in ("fig1", "fig2-paper", "fig2-default", "frechet"):
        assert f"{name}.svg" in text
        assert (tmp_path / "page" / f"{name}.svg").exists()
    assert html.count("data:image/svg+xml;base64,") == 4
    assert 'src="http' not in html
    assert "<strong>0.110 ± 0.008</strong>" in html


def test_a_page_made_twice_is_the_same_page(tmp_path):
    store = Store(tmp_path / "lines")
    for line in all_lines():
        store.append(line)
    first, again = (report.write(store, tmp_path / name) for name in ("a", "b"))
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in again]


def test_a_report_says_when_settings_were_left_out_or_versions_of_the_code_mixed(tmp_path):
    lines = [*all_lines(), finished("hartmann6", "ei", 9, block="paper", code="c1")]
    lines.append(finished("hartmann6", "ei", 8, settings_hash="old", started="2020-01-01T00:00:00"))
    section = registry.find("table1").section(lines, Assets(tmp_path))
    assert section is not None
    words = " ".join(part.content for part in section.parts if isinstance(part, Text))
    assert "1 lines with other settings were left out" in words
    assert "Made by more than one version of the code: hartmann6 EI (paper)" in words


def test_a_report_without_lines_says_what_to_run(tmp_path, capsys):
    assert main(["report", "--out", str(tmp_path / "none"), "--page", str(tmp_path)]) == 2
    assert "run an experiment first" in capsys.readouterr().err


def test_text_is_escaped_in_html_and_pipes_in_markdown(tmp_path):
    section = Section("a < b", [Text("**x** `y` <z>"), Table("t", ["h"], [["|"]]), Commands(["a > b"])])
    html, text = page("T", [section], tmp_path), markdown("T", [section])
    assert "<strong>x</strong> <code>y</code> &lt;z&gt;" in html
    assert "a &lt; b" in html
    assert "a &gt; b" in html
    assert "| \\| |" in text
    assert "```sh\na > b\n```" in text


# ------------------------------------------------------------------------------------------ the command


def test_the_command_runs_and_then_finds_nothing_left_to_do(tmp_path, capsys, inline):
    arguments = [
        "table1",
        "--seeds",
        "1",
        "--trials",
        "1",
        "--methods",
        "ei",
        "--blocks",
        "default",
        "--out",
        str(tmp_path),
    ]
    assert main(arguments) == 0
    assert "2 runs done, 0 were there already" in capsys.readouterr().out
    assert main(arguments) == 0
    assert "0 runs done, 2 were there already" in capsys.readouterr().out
    assert main(["report", "--out", str(tmp_path), "--page", str(tmp_path / "p"), "--seeds", "1"]) == 0


def test_the_command_reports_runs_that_raised_and_bad_input(tmp_path, capsys, inline, monkeypatch):
    monkeypatch.setattr("experiments.loop.get", lambda name: 1 / 0)
    arguments = ["fig2", "--seeds", "1", "--methods", "xs", "--blocks", "default", "--out", str(tmp_path)]
    assert main(arguments) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert main([*arguments, "--blocks", "mine"]) == 2
    assert "unknown block" in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "run_all", interrupt)
    assert main(["fig1", "--out", str(tmp_path)]) == 130
    assert "the same command goes on" in capsys.readouterr().err
