"""The comparison of two states of the sources: it repeats itself, and it notices."""

import math

import pytest

from benchmarks.fingerprint import running
from benchmarks.fingerprint.__main__ import main
from benchmarks.fingerprint.comparing import Difference, comparison, difference, report
from benchmarks.fingerprint.rows import row
from benchmarks.fingerprint.running import ROOT, Passage, run


def test_a_door_has_one_hash_a_seed():
    first, again, other = (run(["ei, default"], seed)["ei, default"] for seed in (0, 0, 1))
    assert len(first.rows) == 18
    assert first.hash == again.hash != other.hash
    assert len(first.hash) == 16


def test_a_name_stands_for_all_doors_that_begin_with_it():
    assert list(run(["ei"], 0)) == ["ei, default", "ei, paper"]


def test_only_the_chosen_door_is_run_on_both_states(capsys):
    assert main(["--only", "box", "--against", str(ROOT)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith("| box ")
    assert lines[-1].endswith(" yes |")


def test_without_another_state_the_hashes_are_printed(capsys):
    assert main(["--only", "box"]) == 0
    assert run(["box"], 0)["box"].hash in capsys.readouterr().out


def test_a_door_that_is_not_there_and_a_folder_without_sources_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="there is no door 'window'; choose among: xs, default; "):
        run(["window"], 0)
    with pytest.raises(SystemExit, match=r"is no checkout of tumble: there is no src/tumble in it"):
        main(["--only", "box", "--against", str(tmp_path)])


def test_a_row_keeps_every_bit_and_knows_one_kind_of_unknown():
    assert row([0.1 + 0.2], 0.3) == [(0.1 + 0.2).hex(), (0.3).hex()]
    assert row({"n": 3, "bit": "hss"}, None, math.nan) == [(3.0).hex(), "=hss", "nan", "nan"]


def test_a_difference_says_from_where_on_and_by_how_much():
    here = [row([0.0], 0.5), row([1.0], 0.5), row([2.0], None)]
    assert difference(here, list(here)) is None
    assert difference(here, [here[0], row([1.25], 0.5), row([1.5], None)]) == Difference(1, 0.5)
    assert difference(here, [*here[:2], row([2.0], 0.5)]) == Difference(2, math.inf)
    assert difference([row({"bit": "hss"})], [row({"bit": "carbide"})]) == Difference(0, math.inf)
    assert difference(here, here[:2]) == Difference(2, math.inf)


def test_a_comparison_reports_what_differs_what_raised_and_what_was_skipped():
    same, other = Passage([row([1.0], 0.5)]), Passage([row([1.0], 0.25)])
    absent, broken = Passage([], skipped="ax is not installed"), Passage([], error="Traceback ...")
    text, equal = comparison({"xs": same, "ax": absent}, {"xs": same, "ax": absent})
    assert equal
    assert "ax: skipped here, ax is not installed" in text
    text, equal = comparison({"xs": same}, {"xs": other})
    assert not equal
    assert f"{same.hash} | {other.hash} |    NO |" in text
    assert "xs: differs from suggestion 0 on, by at most 0.25" in text
    text, equal = comparison({"xs": same}, {"xs": broken})
    assert not equal
    assert "xs: raised there\nTraceback ..." in text
    assert "raised" in report({"xs": broken})


def test_a_door_whose_extra_is_not_there_is_skipped(monkeypatch):
    monkeypatch.setitem(running.NEEDS, "box", ["no_such_package"])
    assert run(["box"], 0)["box"].skipped == "no_such_package is not installed"


def test_the_search_under_a_hard_cap_ends_before_its_trials():
    assert 4 <= len(run(["stop"], 0)["stop"].rows) <= 20
