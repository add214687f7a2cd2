"""The manual's page: filled from published lines, and never older than they are."""

from __future__ import annotations

import pytest

from benchmarks.quality import ablation, manual, page, plan, results
from tumble.errors import InputError

ROWS = (plan.OURS, *plan.BASELINES, *plan.PEERS)


def line(row, family, seed, regret=0.1):
    return {
        "key": f"{row.name}{family}{seed}", "family": family, "problem": f"{family}:{seed}", "seed": seed,
        "block": row.name, "method": row.method, "trials": 4, "failures": 1, "regrets": [0.5, None, regret],
        "failed": [False, True, False], "p_safe": [0.9, 0.6, 0.99], "rho": [0.5, 0.7, 0.9], "start": 0.9,
        "seconds_total": 1.0, "code": "abc", "commit": "c0ffee1", "versions": {"optuna": "5.0"},
    }  # fmt: skip


@pytest.fixture
def lines():
    """Three problems by every row, one more without slow peers; nothing safe to begin with on the last."""
    found = []
    for family, seed in (("classic", 1), ("classic", 2), ("crash", 1), ("crash", 2)):
        for k, row in enumerate(ROWS):
            if (family, seed) == ("crash", 2) and (row in plan.SLOW_PEERS or row.method == "safe-set"):
                continue
            found.append(line(row, family, seed, 0.01 * k))
    return found


def test_ranks_are_over_problems_that_every_row_has(lines):
    found = page.groups(page.runs_of(lines))
    assert list(found) == ["all rows, 3 problems", "without the slow peers, 4 problems"]
    ranks = page.rank_table(found["without the slow peers, 4 problems"], "whole")
    assert ranks.splitlines()[2].split("|")[1:3] == [" tumble    ", " 1.00 (n = 4) "]


def test_rows_that_were_stopped_early_are_ranked_on_what_they_have(lines):
    late = [each for each in lines if (each["block"], each["problem"]) != ("SCBO", "crash:1")]
    assert list(page.groups(page.runs_of(late))) == [
        "all rows, 2 problems", "without SCBO, 3 problems", "without the slow peers, 4 problems",
    ]  # fmt: skip


def test_a_verdict_says_what_it_is_of(lines):
    text = manual.verdict(lines, "assets")
    assert text.startswith(
        "*tumble as of commit `c0ffee1` (sources `abc`); 4 problems of 2 families, T of 4;"
    )
    assert "optuna 5.0" in text
    assert "(assets/profiles.svg)" in text
    assert "4 of 4 failures were spent where P(safe) was below the ρ asked for." in text
    with pytest.raises(InputError, match="2 states of the code"):
        manual.verdict([*lines, {**lines[0], "code": "def"}])


def test_the_page_is_filled_between_its_marks(lines, tmp_path):
    results.publish_table(lines, "verdict", manual.VERDICT, tmp_path / "lines")
    path = tmp_path / "page.md"
    path.write_text(
        "".join(
            f"# {n}\n<!-- {n} -->\nold\n<!-- /{n} -->\n" for n in ("verdict", "blocks", "ablation", "foils")
        )
    )
    written = manual.rebuild(path, tmp_path / "assets", tmp_path / "lines")
    assert [p.name for p in written] == ["page.md", "profiles.svg", "claims.svg"]
    text = path.read_text()
    assert "old" not in text
    assert text.count("*Nothing is published yet.*") == 2
    manual.rebuild(path, tmp_path / "assets", tmp_path / "lines")
    assert path.read_text() == text


def test_an_ablation_is_over_the_problems_that_every_row_has(lines):
    other = plan.Row("no gap", "xsf")
    some = [line for line in lines if line["block"] == plan.OURS.name]
    text = manual.rows([*some, line(other, "classic", 1)])
    assert "1 problem of 1 family" in text
    assert text.splitlines()[-1].startswith("| Xs: no gap")
    assert manual.rows([*some[:1], line(other, "crash", 9)]) == "*Nothing is published yet.*"


def test_a_table_of_rows_says_where_nothing_safe_was_found():
    nothing = {"regrets": [None, None, None], "start": None}
    lines = [{**line(plan.OURS, "classic", seed), **(nothing if seed < 3 else {})} for seed in range(5)]
    assert manual.rows(lines).splitlines()[-1].split("|")[4:6] == ["           inf ", "         inf "]


def test_a_switch_of_xs_is_compared_with_xs():
    rows = (plan.OURS, ablation.XS, next(row for row in ablation.SWITCHES if row.name == "no gap"))
    text = manual.rows(
        [line(row, "classic", 1, regret) for row, regret in zip(rows, (0.1, 0.3, 0.2), strict=True)]
    )
    won = {cells[1].strip(): cells[2].strip() for r in text.splitlines() if len(cells := r.split("|")) > 3}
    assert (won["Xs in place of EI"], won["Xs: no gap"]) == ("0 of 1", "1 of 1")


def test_the_short_of_a_verdict_is_its_wins_and_its_state(lines, tmp_path):
    assert manual.won(tmp_path) == "*Nothing is published yet.*"
    results.publish_table(lines, "verdict", manual.VERDICT, tmp_path)
    table, _, state = manual.won(tmp_path).rpartition("\n\n")
    assert table.startswith("| against")
    assert state.startswith("*tumble as of commit `c0ffee1`")


def test_every_verdict_has_its_line_among_those_before(lines, tmp_path):
    assert manual.blocks(tmp_path) == "*Nothing is published yet.*"
    some = [line for line in lines if line["block"] in ("tumble", "random", "GPSampler")]
    results.publish_table(some, "verdict", 42_000, tmp_path)
    results.publish_table(lines, "verdict", 9_000, tmp_path)
    early, late = manual.blocks(tmp_path).splitlines()[2:]
    assert [cell.strip() for cell in early.split("|")[1:-1]] == [
        "9000", "`c0ffee1`", "4 of 4", "3 of 3", "4 of 4", "3 of 3",
    ]  # fmt: skip
    assert [cell.strip() for cell in late.split("|")[1:-1]] == [
        "42000", "`c0ffee1`", "4 of 4", "not run", "4 of 4", "not run",
    ]  # fmt: skip


def test_peers_alone_are_no_verdict(lines, tmp_path):
    results.publish([line for line in lines if line["method"] == "tpe"], f"peers-{manual.VERDICT}", tmp_path)
    assert manual.sections(tmp_path)["verdict"] == "*Nothing is published yet.*"


def test_a_page_without_its_marks_is_refused():
    with pytest.raises(InputError, match="needs the marks <!-- foils --> and <!-- /foils -->"):
        manual.filled("# A page\n", {"foils": "x"})


def test_the_manual_is_what_the_published_lines_say():
    text = manual.PAGE.read_text(encoding="utf-8")
    assert manual.filled(text, manual.sections()) == text
