"""What the page says of the paper's claims, and the sections of Figure 3, from lines made by hand."""

from __future__ import annotations

import pytest

from experiments.__main__ import main
from experiments.compression import experiment as compression
from experiments.compression import lockstep
from experiments.compression import section as compressed
from experiments.paper import cartpole, draws, findings
from experiments.reporting.page import Assets, Picture, Table, Text, markdown
from experiments.runs import machine, pool, statistics
from tests.runs import finished

SEEDS = range(8)


def words(section):
    return " ".join(part.content for part in section.parts if isinstance(part, Text))


def limited(ours, rival, family="michalewicz10-constrained", **more):
    """XsF and EIC on eight seeds, with regrets that differ from seed to seed."""
    return [
        *(finished(family, "xsf", s, ours + 0.002 * s, **more) for s in SEEDS),
        *(finished(family, "eic", s, rival + 0.004 * s) for s in SEEDS),
    ]


def test_a_significant_defeat_of_xsf_is_said_with_its_numbers():
    text = words(findings.section(limited(0.4, 0.3), None))
    assert "Yes, on Michalewicz 10D constrained than EIC (0.407 and 0.314, p = 0.0078)" in text
    assert "EIC never spends the budget" in text


def test_a_victory_is_no_defeat_and_no_failure_too_many_is_said():
    text = words(findings.section(limited(0.3, 0.4), None))
    assert "No. XsF is significantly better on Michalewicz 10D constrained (p = 0.0078 beside EIC)" in text
    assert "In Tables 1 and 3 with tumble's defaults in 0 of 8 runs." in text


def test_runs_beyond_the_budget_are_counted():
    assert "in 8 of 8 runs, by 2 at most" in words(findings.section(limited(0.3, 0.4, beyond=2), None))


def test_a_test_is_read_by_its_ranks_and_not_by_means_that_one_run_decides():
    ours = [1.0, *[1e-4 * (1 + s / 10) for s in range(9)]]
    theirs = [2.9, *[1e-8 for _ in range(9)]]
    one, other = (
        statistics.Cell("f", "m", "b", tuple(finished(seed=s, regret=r) for s, r in enumerate(values)))
        for values in (ours, theirs)
    )
    test = statistics.paired(one, other)
    assert test.mean < test.other_mean
    assert test.rank > 0.0
    assert test.lower == 1
    assert not test.better


def test_the_optimum_of_the_draws_stands_beside_the_printed_regret():
    line = finished(
        "in-model", "xs", block="figure", task=draws.TASK, free=[0.4, 0.6], constrained=[0.8, 0.9]
    )
    both = [finished("in-model-free", m, s, 0.7 + 0.1 * s, "paper") for m in ("ei", "xs") for s in SEEDS]
    assert "0.50 ± 0.14 for the optimum itself" in words(findings.section([*both, line], None))
    assert draws.smallest(both, "in-model-free") is None


def test_without_lines_of_the_tables_nothing_is_claimed():
    assert findings.section([], None) is None


# ---------------------------------------------------------------------------------------------- Figure 3


def controller(method, seed, y, failed):
    return finished(
        "cartpole", method, seed, y=y, failed=failed, n_failures=sum(failed), lqr_cost=7e-4, failures=3,
        omega=50.0, trials=4, task="experiments.paper.cartpole:carry_out",
    )  # fmt: skip


def test_the_cart_poles_section_has_both_methods_and_the_regulator(tmp_path):
    lines = [
        *(controller("xsf", s, [0.0, -3.2 - 0.01 * s], [True, False]) for s in SEEDS),
        *(controller("eic", s, [1.0, 1.5], [True, True]) for s in SEEDS),
    ]
    section = cartpole.section(lines, Assets(tmp_path))
    assert section is not None
    text = words(section)
    assert "regulator from the same starts costs 0.0007" in text
    assert "XsF is below it in 8 of 8 repetitions" in text
    assert "Its mean is below that of EIC, significantly" in text
    table = next(part for part in section.parts if isinstance(part, Table))
    assert [row[0] for row in table.rows] == ["EIC", "XsF"]
    assert table.rows[0][4] == "8 of 8"  # no safe trial
    assert (tmp_path / "fig3-cartpole-default.svg").exists()
    assert "No run of XsF made more than B failures" in text
    assert cartpole.section([], Assets(tmp_path)) is None


@pytest.mark.parametrize(
    ("failed", "said"),
    [([True, True, False], "was its trial 3"), ([True, True, True], "no controller of that run ever stood")],
)
def test_a_controller_that_is_found_too_late_is_told(failed, said, tmp_path):
    late = {**controller("xsf", 0, [1.0, 1.0, -3.0], failed), "failures": 1, "beyond": sum(failed) - 1}
    rival = controller("eic", 0, [1.0, -3.0], [True, False])
    text = words(cartpole.section([late, rival], Assets(tmp_path)))
    assert f"1 of its 1 runs made more than B failures, the worst {sum(failed)} of 1: " in text
    assert said in text


def trained(beta, size, error, seed=0):
    setting = {"beta": beta, "chi": 1e-3, "kappa": 1.0, "seed": seed}
    return {"setting": setting, "size_kb": size, "error": error, "test_error": error + 0.1}


def network(method, seed, trainings, failures=1, **more):
    failed = [t["size_kb"] > 15.0 for t in trainings]
    safe = [t for t, bad in zip(trainings, failed, strict=True) if not bad]
    n = sum(failed)
    return finished(
        "compression", method, seed, trainings=trainings,
        best=min(safe, key=lambda t: t["error"], default=None),
        y=[0.1 * t["error"] for t in trainings], failed=failed, n_failures=n, failures=failures,
        beyond=max(0, n - failures), p_safe=[0.5] * len(failed), omega=50.0, trials=4,
        n_trials=len(failed), **more,
    )  # fmt: skip


def test_the_section_on_compression_says_what_went_wrong(tmp_path):
    noisy = [trained(b, kb, 0.9, s) for b, kb, s in ((1e-8, 16.0, 0), (1.01e-8, 17.0, 0), (1e-6, 14.0, 0))]
    calm = [trained(1e-6, 14.0, 0.8, 1), trained(1.01e-6, 14.2, 0.7, 1)]
    lines = [
        network("xsf", 0, noisy),
        network("xsf", 1, calm, gpu="a GPU"),
        network("eic", 0, noisy[:1], stopped="budget"),
        network("eic", 1, calm),
    ]
    section = compressed.section(lines, Assets(tmp_path, range(1000, 1020)))  # its repetitions are its own
    assert section is not None
    text = words(section)
    assert "5 trainings, side by side on one GPU (NVIDIA H200, a GPU)" in text
    assert "1 of its 2 runs made more than B = 1 failures, the worst 2" in text
    assert "went to the safest ones it knew, with P(safe) from 0.50 to 0.50" in text
    assert "where size costs little (1 pairs)" in text
    assert "EIC | 0 | none | none | none | 1 | 1 | the budget |" in markdown("", [section])
    assert any(isinstance(part, Picture) for part in section.parts)
    assert "No run of XsF made more than B" in words(compressed.section(lines[1:2], Assets(tmp_path)))
    assert compressed.section([], Assets(tmp_path)) is None


@pytest.mark.parametrize("gpu", [True, False])
def test_compression_is_run_in_lockstep_where_there_is_a_gpu(gpu, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    called = []

    def note(name):
        def run_all(specs, store, *args, **kwargs):
            called.append((name, {spec.family for spec in specs}))
            return pool.Summary(len(specs), 0, ())

        return run_all

    monkeypatch.setattr(machine, "gpu", lambda: gpu)
    monkeypatch.setattr(compression, "_gpu_name", lambda: "a GPU")
    monkeypatch.setattr(compression, "_trainer", lambda family, folder=None: None)
    monkeypatch.setattr("experiments.compression.problem.check_there", lambda: None)
    monkeypatch.setattr(lockstep, "run_all", note("lockstep"))
    monkeypatch.setattr(pool, "run_all", note("pool"))
    monkeypatch.setenv(compression.GPU, "")
    assert main(["compression", "--seeds", "1", "--out", str(tmp_path)]) == 0
    wanted = ("lockstep", {"compression"}) if gpu else ("pool", {"compression-reduced"})
    assert called == [wanted]
