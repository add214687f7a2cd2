"""Values far from their prediction: a slip is questioned, a right value is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tumble
from tests.study_files import write_study
from tumble.studies import undo
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file
from tumble.studies.surprise import SurpriseWatch, doubts_about, is_surprising, surprises

SEEN = [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("value", "mean", "std", "seen", "asked"),
    [
        (30.0, 3.0, 0.1, SEEN, True),
        (30.0, 3.0, 0.1, SEEN[:4], False),  # too little was seen
        (4.0, 3.0, 0.1, SEEN, False),  # ten deviations, and within the spread
        (30.0, 3.0, 10.0, SEEN, False),  # outside the spread, and as likely as not
        (7.0, 3.0, 0.1, SEEN, False),  # as much as the spread, not more
        (-9.0, 3.0, 0.1, SEEN, True),
        (1.0 + 1e-9, 1.0, 0.0, [1.0] * 5, True),  # nothing ever moved
        (30.0, float("nan"), float("nan"), SEEN, False),  # nothing was predicted
    ],
)
def test_the_rule(value: float, mean: float, std: float, seen: list[float], asked: bool) -> None:
    assert is_surprising(value, mean, std, seen) is asked


def searched(folder: Path) -> Ledger:
    ledger = Ledger(read_study_file(write_study(folder, trials=12)))
    for _ in range(7):
        s = ledger.ask()
        ledger.tell(s.number, measured(s.x))
    return ledger


def measured(x: dict[str, float]) -> dict[str, float]:
    return {"cost": (x["x"] - 0.4) ** 2 + (x["y"] - 0.6) ** 2, "load": x["x"] + x["y"] - 1.2}


def test_a_slip_in_the_objective_and_in_a_limited_result_is_found(tmp_path: Path) -> None:
    ledger = searched(tmp_path)
    s = ledger.ask()
    right = measured(s.x)
    entry, entries = ledger.entry(s.number), ledger.entries()
    assert surprises(ledger.config, entry, right, entries) == []
    for name in ("cost", "load"):
        found = surprises(ledger.config, entry, {**right, name: 1000.0}, entries)
        assert len(found) == 1
        assert found[0].startswith(f"{name} = 1000, where ")


def test_of_a_correction_only_what_changes_is_questioned(tmp_path: Path) -> None:
    ledger = searched(tmp_path)
    right = ledger.entry(6).results
    assert doubts_about(ledger, 6, right, correcting=True) == []
    (found,) = doubts_about(ledger, 6, {**right, "cost": 1000.0}, correcting=True)
    assert found.startswith("cost = 1000, where ")
    undo.amend(ledger, 6, {"cost": 1000.0})
    assert doubts_about(ledger, 6, {"cost": 1000.0}, correcting=True) == []
    running = ledger.ask().number
    assert doubts_about(ledger, running, {"cost": 1000.0}, correcting=True) == []
    assert doubts_about(ledger, 99, {"cost": 1000.0}, correcting=True) == []


def test_a_watch_says_each_slip_once_and_names_the_remedy(tmp_path: Path) -> None:
    ledger = searched(tmp_path)
    watch = SurpriseWatch(ledger)
    assert watch.look() == []
    s = ledger.ask()
    assert watch.look() == []
    ledger.tell(s.number, {**measured(s.x), "cost": 1000.0})
    (text,) = watch.look()
    assert f"tumble amend {ledger.config.path} 7" in text
    assert watch.look() == []


def test_right_values_of_a_search_are_hardly_ever_questioned() -> None:
    """At most one in a hundred, over functions with narrow valleys and steep walls."""
    asked = total = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        centre, sharp = rng.uniform(0.2, 0.8, 2), 10.0 ** rng.uniform(0, 2)
        opt = tumble.Optimizer([(0.0, 1.0)] * 2, 30, 5, 1, seed=seed)
        values: list[float] = []
        for _ in range(30):
            s = opt.ask()
            off = s.x - centre
            y = float(off[0] ** 2 + sharp * (off[1] - off[0] ** 2) ** 2)
            asked += is_surprising(y, s.mean, s.std, values)
            total += 1
            values.append(y)
            opt.tell(s, y, [float(off.sum() - 0.3)])
    assert asked <= 0.01 * total
