"""The page, from lines alone."""

from __future__ import annotations

import dataclasses

import pytest

from experiments import registry, report
from experiments.__main__ import main
from experiments.reporting.page import Assets, Commands, Section, Table, Text, markdown, page
from experiments.runs import machine, methods, plans, pool
from experiments.runs.plans import Options
from experiments.runs.store import Store
from tests.runs import finished, inline
from tumble.errors import InputError

__all__ = ["inline"]  # a fixture


def all_lines():
    found = []
    for seed in range(4):
        for block in plans.BLOCKS:
            for family in ("hartmann6", "michalewicz10", "in-model-free"):
                found += [finished(family, m, seed, 0.1 + 0.01 * seed, block) for m in methods.FREE]
            for family in ("hartmann6-constrained", "michalewicz10-constrained", "in-model"):
                found += [finished(family, m, seed, 0.2 + 0.01 * seed, block) for m in ("eic", "xsf")]
    return found


def table_lines():
    """Lines of one problem, whose page has tables and no figure."""
    return [finished("hartmann6", method, seed) for seed in range(4) for method in methods.FREE]


def figure_lines():
    specs = [*registry.find("fig1").plan(Options()), *registry.find("frechet").plan(Options())]
    return [pool.carry_out(dataclasses.replace(s, settings={**s.settings, **SMALL[s.task]})) for s in specs]


SMALL = {
    "experiments.paper.fig1:compute": {"grid": 41},
    "experiments.paper.frechet:compute": {"posteriors": 8, "samples": 200},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Lines of every table and figure, and the folder of their page."""
    folder = tmp_path_factory.mktemp("report")
    store = Store(folder / "lines")
    for line in [*all_lines(), *figure_lines()]:
        store.append(line)
    report.write(store, folder / "page", seeds=range(0, 3))
    return store, folder / "page"


def test_the_page_is_built_from_the_lines_alone(written):
    _, folder = written
    text, html = ((folder / name).read_text(encoding="utf-8") for name in ("index.md", "report.html"))
    assert "| EI | 3 | **0.110 ± 0.010** | 0.75 ± 0.00 |" in text
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
        assert (folder / f"{name}.svg").exists()
    assert html.count("data:image/svg+xml;base64,") == 4
    assert 'src="http' not in html
    assert "<strong>0.110 ± 0.010</strong>" in html


def test_a_page_made_twice_is_the_same_page(written, tmp_path):
    store, folder = written
    again = report.write(store, tmp_path, seeds=range(0, 3))
    assert [path.name for path in again] == ["index.md", "report.html"]
    first, second = ({p.name: p.read_bytes() for p in where.iterdir()} for where in (folder, tmp_path))
    assert first == second


def test_a_report_says_when_settings_were_left_out(tmp_path):
    lines = all_lines()
    lines.append(finished("hartmann6", "ei", 8, settings_hash="old", started="2020-01-01T00:00:00"))
    section = registry.find("table1").section(lines, Assets(tmp_path))
    assert section is not None
    words = " ".join(part.content for part in section.parts if isinstance(part, Text))
    assert "1 lines with other settings were left out" in words


def test_two_states_of_the_code_in_a_table_are_refused(tmp_path):
    lines = [*all_lines(), finished("hartmann6", "ei", 9, block="paper", code="c1")]
    with pytest.raises(InputError, match=r"2 states of the code \(c0, c1\); .* again with --fresh"):
        registry.find("table1").section(lines, Assets(tmp_path))


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


@pytest.mark.parametrize(
    ("words", "said"),
    [("cartpole --methods foo", "cartpole has no method 'foo'; choose among eic, pesc, safe-set, xsf"),
     ("cartpole --methods xsf,pecs", "cartpole has no method 'pecs'; did you mean pesc?"),
     ("cartpole --methods ei", "cartpole has no method 'ei'"),
     ("all --methods foo", "the paper has no method 'foo'; choose among ei, eic, mes, pesc"),
     ("cartpole --seeds 0", "--seeds must be at least 1, not 0"),
     ("report --seeds 0", "--seeds must be at least 1, not 0"),
     ("cartpole --seed-base -1", "--seed-base must be at least 0, not -1"),
     ("cartpole --trials -3", "--trials must be at least 1, not -3"),
     ("cartpole --jobs 0", "--jobs must be at least 1, not 0")],
)  # fmt: skip
def test_what_could_not_be_run_is_refused_in_a_sentence(tmp_path, capsys, inline, words, said):
    assert main([*words.split(), "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "run_all", interrupt)
    assert main(["fig1", "--out", str(tmp_path)]) == 130
    assert "the same command goes on" in capsys.readouterr().err


@pytest.mark.parametrize("gpu", [True, False])
def test_all_carries_out_every_experiment_once_and_writes_the_page(gpu, monkeypatch, tmp_path, capsys):
    asked = []

    def note(name):
        def run_all(specs, store, **options):
            asked.append(name)
            for line in table_lines() if name == "table1" else ():
                store.append(line)
            return pool.Summary(len(specs), 0, ())

        return run_all

    for name in registry.EXPERIMENTS:
        monkeypatch.setattr(registry.find(name), "run_all", note(name), raising=False)
    monkeypatch.setattr(machine, "gpu", lambda: gpu)
    out, folder = tmp_path / "out", tmp_path / "page"
    assert main(["all", "--out", str(out), "--page", str(folder)]) == 0
    wanted = [name for name in registry.EXPERIMENTS if name != "fig2" and (gpu or name != "compression")]
    assert asked == wanted  # Figure 2 is drawn from the runs of Table 1
    assert ("compression: not run, because" in capsys.readouterr().out) is not gpu
    assert "(seeds 0-3)" in (folder / "index.md").read_text(encoding="utf-8")


def test_all_fails_where_a_run_raised(monkeypatch, tmp_path):
    def run_all(specs, store, **options):
        for line in table_lines():
            store.append(line)
        return pool.Summary(0, 0, ("a run raised",))

    for name in registry.EXPERIMENTS:
        monkeypatch.setattr(registry.find(name), "run_all", run_all, raising=False)
    monkeypatch.setattr(machine, "gpu", lambda: False)
    assert main(["all", "--out", str(tmp_path / "out"), "--page", str(tmp_path / "page")]) == 1


def test_the_page_says_of_which_state_it_is(tmp_path):
    first, other = (
        {**finished(family, "xs", 0), "commit": "c0ffee1"} for family in ("hartmann6", "in-model-free")
    )

    def how(*lines):
        return markdown("", report.build(lines, Assets(tmp_path))[:1])

    assert "All rows come from one state of the code (commit `c0ffee1`, sources `c0`)." in how(first, other)
    assert "The rows come from 2 states of the code, which" in how(first, {**other, "code": "c1"})
