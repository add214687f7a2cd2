"""Figure 3 and its table from lines made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.paper import fig3
from experiments.runs.store import Store


def line(method, seed, y, failed, family="cartpole", trials=4):
    return {
        "key": f"{family}-{method}-{seed}", "family": family, "method": method, "block": "default",
        "seed": seed, "trials": trials, "y": y, "failed": failed, "n_failures": sum(failed), "code": "c",
        "settings_hash": f"h-{method}", "started": "2026",
    }  # fmt: skip


LINES = [
    *(line("xsf", s, [0.0, -3.0 - 0.01 * s, -2.0, -3.1], [True, False, False, False]) for s in range(6)),
    *(line("eic", s, [0.0, -2.5 + 0.01 * s], [True, False]) for s in range(6)),
]


def test_the_best_safe_value_is_kept_after_a_run_has_stopped():
    np.testing.assert_allclose(
        fig3.best_safe(line("eic", 0, [-5.0, -2.0, -1.0], [True, False, False])), [np.nan, 1e-2, 1e-2, 1e-2]
    )


def test_crashes_without_a_value_take_no_part():
    np.testing.assert_allclose(
        fig3.best_safe(line("eic", 0, [None, -1.0], [True, False])), [np.nan, 0.1, 0.1, 0.1]
    )


def test_a_run_without_a_safe_trial_counts_its_worst_value():
    rows = fig3.rows([line("xsf", 0, [1.0, 2.0], [True, True])])
    assert rows[0].mean == pytest.approx(100.0)


def test_the_table_pairs_every_method_with_the_best():
    eic, xsf = fig3.rows(LINES)
    assert (eic.method, xsf.method) == ("eic", "xsf")
    assert xsf.p is None
    assert eic.p is not None
    assert eic.p < 0.05
    assert xsf.mean == pytest.approx(10**-3.1)
    assert (xsf.n, xsf.failures, xsf.most_failures) == (6, 1.0, 1)
    assert "XsF" in fig3.table([eic, xsf])
    assert "best" in fig3.table([xsf])


def test_the_figure_has_a_panel_for_each_experiment_with_lines(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    store = Store(tmp_path, "both")
    for content in [*LINES, line("xsf", 0, [0.0, -0.1], [False, False], "compression")]:
        store.append(content)
    assert fig3.main(["--lines", str(tmp_path), "--out", str(tmp_path / "fig3.png")]) == 0
    assert (tmp_path / "fig3.png").read_bytes().startswith(b"\x89PNG")
    assert "compression" in capsys.readouterr().out
    assert fig3.draw([], tmp_path / "none.png") is None
