"""The rows and the runs of a table, and two tiny problems played by the command."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.families import draw
from benchmarks.quality import ablation, page, plan
from benchmarks.quality.__main__ import main
from experiments.runs import pool
from tests.runs import inline
from tumble import Settings

__all__ = ["inline"]  # a fixture
LITTLE = {"restarts": 2, "raw_samples": 32, "grid": 32, "n_minima": 4}


def test_every_run_is_named_by_its_family_its_seed_and_its_row():
    found = plan.specs([plan.OURS], [[("design", 3)], [("design", 4)]])
    assert [(s.problem, s.method, s.block, s.seed) for s in found] == [
        ("design:3", "tumble", "tumble", 3),
        ("design:4", "tumble", "tumble", 4),
    ]


def test_safe_set_expansion_is_left_out_where_no_start_is_safe():
    rows = [plan.BASELINES[1]]
    with_start = plan.specs(rows, plan.rounds(0, 1, ["design"]))
    without = plan.specs(rows, plan.rounds(0, 6, ["start"]))
    assert len(with_start) == 1
    assert len(without) < 6


def test_rounds_take_the_first_seeds_that_draw_this_number_of_trials():
    found = plan.rounds(0, 2, ["classic", "crash"], 30)
    for k, group in enumerate(found):
        assert [family for family, _ in group] == ["classic", "crash"]
        for family, seed in group:
            shorter = [s for s in range(seed) if draw(family, s).trials == 30]
            assert draw(family, seed).trials == 30
            assert len(shorter) == k


def test_slow_peers_come_last_in_each_round():
    slow, fast = plan.SLOW_PEERS[0], plan.FAST_PEERS[0]
    found = plan.specs([slow, fast], plan.rounds(0, 2, ["design", "classic"]))
    assert [spec.block for spec in found] == 2 * [fast.name, fast.name, slow.name, slow.name]


def test_a_row_changes_what_it_names_and_nothing_else():
    for row in (*ablation.SWITCHES, *ablation.FOILS):
        settings = Settings.from_dict(row.settings())
        changed = {name for name in vars(settings) if getattr(settings, name) != getattr(Settings(), name)}
        assert changed <= set(row.changes)


def test_no_row_has_the_name_of_another():
    rows = {plan.OURS.name: plan.OURS}
    for row in (*plan.BASELINES, *plan.PEERS, *ablation.SWITCHES, *ablation.FOILS):
        assert rows.setdefault(row.name, row) is row  # Xs stands in both tables
    for row in rows.values():
        assert row.against in rows


def test_what_takes_too_long_is_left_out():
    slow = plan.SLOW_PEERS[0]
    assert [s.problem for s in plan.specs([slow], [[("mixed", 0), ("design", 0)]])] == ["design:0"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Two problems of six trials, by ours with little effort and by random search, through the command."""
    out = tmp_path_factory.mktemp("quality")
    patch = pytest.MonkeyPatch()
    real = plan.specs

    def short(*args, **kwargs):
        return [
            replace(s, trials=6, settings={**s.settings, **(LITTLE if "grid" in s.settings else {})})
            for s in real(*args, **kwargs)
        ]

    patch.setattr(plan, "specs", short)
    yield out
    patch.undo()


def test_the_command_plays_prints_and_finds_nothing_left_to_do(tiny, capsys, inline):
    words = ["verdict", "--rows", "tumble,random,EIC", "--families", "design,crash", "--seeds", "1"]
    words += ["--jobs", "1", "--out", str(tiny)]
    assert main([*words, "--pictures", str(tiny / "pictures")]) == 0
    shown = capsys.readouterr().out
    assert "**Mean rank, stopped when B is spent** (all rows, 2 problems)" in shown
    assert "What P(safe) is worth" in shown
    pictures = [tiny / "pictures" / name for name in ("profiles.svg", "claims.svg")]
    assert set((tiny / "pictures").iterdir()) == set(pictures)
    assert main(words) == 0
    assert shown.splitlines() == [*capsys.readouterr().out.splitlines(), *map(str, pictures)]


def test_a_missing_peer_is_named_and_left_out(tiny, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.quality.__main__.find_spec", lambda name: None)
    monkeypatch.setattr(pool, "run_all", lambda specs, *a, **k: pool.Summary(0, len(specs), ()))
    main(["--rows", "tumble,TPE", "--families", "design", "--seeds", "1", "--out", str(tiny)])
    assert "left out: TPE needs the package optuna" in capsys.readouterr().err


def test_a_quick_look_leaves_slow_peers_out_and_says_so(tiny, capsys, monkeypatch):
    asked = []

    def note(specs, *args, **kwargs):
        asked.extend(specs)
        return pool.Summary(0, 0, ())

    monkeypatch.setattr(pool, "run_all", note)
    main(["--quick", "--families", "design", "--rows", "random,SCBO,LogCEI", "--out", str(tiny)])
    assert [spec.block for spec in asked] == ["random"]
    assert "left out of a quick look: LogCEI, SCBO" in capsys.readouterr().err


def test_bad_words_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["nonsense"])
    assert main(["--families", "nowhere", "--seeds", "1"]) == 2
    assert "unknown family 'nowhere'" in capsys.readouterr().err


def test_the_tables_are_markdown(tiny):
    assert page.win_table({}).startswith("| against")
