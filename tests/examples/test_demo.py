"""The demonstration that `make run` shows, in a few trials."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from tests.house import ROOT
from tumble import Failure

SPEC = importlib.util.spec_from_file_location("demo", ROOT / "examples" / "demo.py")
assert SPEC is not None
assert SPEC.loader is not None
demo = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(demo)


def test_the_known_setting_is_safe_and_the_resonance_breaks_the_bit():
    assert all(g <= 0 for g in demo.drill(demo.START).constraints)
    with pytest.raises(Failure, match="bit broke"):
        demo.drill(np.array([2300.0, 0.2, 3.0]))


def test_a_search_prints_every_trial_and_keeps_to_its_budget(capsys):
    opt = demo.search("xsf", 0, live=True, trials=6)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(opt.trials) - 1 == 6
    assert all("P(safe)" in line and "failures left" in line for line in lines)
    assert opt.n_failures <= demo.FAILURES


def test_a_line_says_what_went_wrong():
    opt = demo.search("eic", 0, live=False, trials=4)
    wrong = [demo.came_of_it(t) for t in opt.trials if t.failed]
    assert all(text == "bit broke" or text.endswith("too high") for text in wrong)


def test_the_whole_demonstration_prints_a_result_and_draws_its_pictures(tmp_path, capsys, monkeypatch):
    search = demo.search
    monkeypatch.setattr(demo, "search", lambda method, seed, live: search(method, seed, live=live, trials=6))
    assert demo.main(["--out", str(tmp_path), "--seed", "1"]) == 0
    text = capsys.readouterr().out
    assert "best safe setting   speed" in text
    assert "of 6 in 6 trials\n" in text  # nothing is said of the gain where no trial is left
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "budget-dark.png",
        "budget.png",
        "crossings.png",
    ]


def test_a_search_is_cut_at_its_last_allowed_failure():
    opt = demo.search("eic", 0, live=False, trials=8)
    assert demo.until_failure(opt, 99) == list(opt.trials)
    assert sum(t.failed for t in demo.until_failure(opt, 1)) == min(1, opt.n_failures)


def test_a_search_that_fails_beyond_its_budget_ends_and_says_so(monkeypatch, capsys):
    drilled = demo.drill

    def breaks(x):
        if np.array_equal(x, demo.START):
            return drilled(x)
        raise Failure("bit broke")

    monkeypatch.setattr(demo, "drill", breaks)
    monkeypatch.setattr(demo, "FAILURES", 0)
    opt = demo.search("tumble", 0, live=False)
    assert opt.n_failures == 1
    assert "1 trial failed where 0 may" in capsys.readouterr().out
