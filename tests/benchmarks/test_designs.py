"""The designs where many limits meet: the table, its verdicts, and what is refused."""

import pytest

from benchmarks import designs
from tumble import problems


def test_a_run_is_measured_against_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(designs, "TRIALS", 2)
    monkeypatch.setattr(designs, "FAILURES", 2)
    regret, failures = designs.carry_out(("car-side-impact", 0))
    assert 0.0 < regret <= 100.0 * (40.3774 / 22.842969 - 1.0) + 1e-3  # no worse than its start
    assert 0 <= failures <= 2


def test_the_table_has_a_row_and_a_verdict_for_each_design() -> None:
    answer = designs.report(["alkylation", "ten-bar-truss"], [(0.001, 9), (0.003, 8), (0.5, 9), (2.0, 10)])
    assert "| alkylation" in answer[0]
    assert "0.002" in answer[0]
    assert answer[1].startswith("held")
    assert answer[2].startswith("MISSED")
    assert answer[2].endswith("ten-bar-truss: median 1.2 % (at most 0.01 %)")


@pytest.mark.parametrize(
    ("name", "why"),
    [("speed-reducer", "kept for judging"), ("hartmann6", "no design with limits"), ("bicycle", "bicycle")],
)
def test_what_is_reserved_or_no_design_is_refused(
    name: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert designs.main(["--designs", name]) == 2
    assert why in capsys.readouterr().err


def test_every_design_has_seven_parameters_and_ten_limits() -> None:
    for name in designs.DESIGNS:
        problem = problems.get(name)
        assert problem.dimension >= 7
        assert len(problem.constraint_names) >= 10
