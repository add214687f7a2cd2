"""Plans, settings, statistics and the page: from what is asked for to what is printed."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from experiments import registry
from experiments.__main__ import main
from experiments.paper import printed as paper
from experiments.reporting import figures, report
from experiments.reporting.page import Assets, Commands, Section, Table, Text, markdown, page
from experiments.runs import methods, plans, pool, settings, statistics
from experiments.runs.plans import Options
from experiments.runs.records import Spec
from experiments.runs.store import Store
from tests.runs import finished, inline
from tumble import Settings, problems
from tumble.errors import InputError
from tumble.problems import Evaluation

__all__ = ["inline"]  # a fixture


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
    "experiments.paper.fig1:compute": {"grid": 41},
    "experiments.paper.frechet:compute": {"posteriors": 8, "samples": 200},
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
    assert "What holds, and what does not" in text
    assert "Xs is not reproduced with its printed settings" in text
    assert "Is XsF with the defaults significantly worse" in text
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
    monkeypatch.setattr("experiments.runs.loop.get", lambda name: 1 / 0)
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
