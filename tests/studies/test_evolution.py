"""Parameters that are edited after the study began: what is followed, and what is refused with its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tumble.parameters import Categorical
from tumble.studies.errors import StudyFileError
from tumble.studies.evolution import PARAMETERS
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

HEAD = 'name = "drill"\nobjective = "cost"\ntrials = 20\nfailures = 5\n'
SPEED, TEETH = "speed = { low = 1.0, high = 2.0 }", "teeth = { low = 2, high = 6 }"
BIT = 'bit = { choices = ["hss", "carbide"] }'
START = '[start]\nspeed = 1.5\nteeth = 3\nbit = "hss"\n'


def write(folder: Path, *parameters: str, start: str = "") -> Path:
    path = folder / "drill.toml"
    path.write_text(HEAD + "[parameters]\n" + "\n".join(parameters) + "\n" + start)
    return path


def begin(folder: Path) -> None:
    """A study with two told trials: one at speed 1.5, 3 teeth, hss; one that was suggested."""
    with Ledger(read_study_file(write(folder, SPEED, TEETH, BIT, start=START))) as ledger:
        for _ in range(2):
            ledger.tell(ledger.ask().number, {"cost": 1.0})


def go_on(folder: Path, *parameters: str) -> Ledger:
    return Ledger(read_study_file(write(folder, *parameters)))


def test_a_wider_range_and_one_more_choice_are_followed(tmp_path: Path) -> None:
    begin(tmp_path)
    wider = ("speed = { low = 0.5, high = 4.0 }", "teeth = { low = 1, high = 9 }")
    more = 'bit = { choices = ["cobalt", "hss", "carbide"] }'
    with go_on(tmp_path, *wider, more) as ledger:
        assert ledger.config.space.parameters["bit"] == Categorical(("hss", "carbide", "cobalt"))
        assert ledger.entry(0).parameters["speed"] == 1.5
        assert len(ledger.optimizer().trials) == 2
        for _ in range(6):
            ledger.tell(ledger.ask().number, {"cost": 1.0})
        bits = {e.parameters["bit"] for e in ledger.entries()}
        assert len(ledger.optimizer().trials) == 8
    assert "cobalt" in bits
    with go_on(tmp_path, *wider, more) as again:  # a fresh process reads every trial with its own choice
        assert {e.parameters["bit"] for e in again.entries()} == bits
        again.tell(again.ask().number, {"cost": 1.0})


def test_a_running_ledger_follows_one_more_choice(tmp_path: Path) -> None:
    begin(tmp_path)
    ledger = go_on(tmp_path, SPEED, TEETH, BIT)
    ledger.tell(ledger.ask().number, {"cost": 1.0})
    ledger.follow(read_study_file(write(tmp_path, SPEED, TEETH, BIT.replace("]", ', "cobalt"]'))))
    for _ in range(3):
        ledger.tell(ledger.ask().number, {"cost": 1.0})
    assert len(ledger.optimizer().trials) == 6


def test_a_new_parameter_has_its_default_in_the_trials_before(tmp_path: Path) -> None:
    begin(tmp_path)
    new = "coolant = { low = 0.0, high = 1.0, default = 0.25 }"
    with go_on(tmp_path, SPEED, TEETH, BIT, new) as ledger:
        assert [e.parameters["coolant"] for e in ledger.entries()] == [0.25, 0.25]
        assert len(ledger.optimizer().trials) == 2
        assert "coolant" in ledger.ask().x
    other = new.replace("0.25", "0.5")
    with pytest.raises(
        StudyFileError, match=r"default was 0.25 for the trials before it was added, and can't"
    ):
        go_on(tmp_path, SPEED, TEETH, BIT, other)


def test_a_start_need_not_name_a_parameter_that_was_added_later(tmp_path: Path) -> None:
    start = "[start]\nspeed = 1.5\nteeth = 3\n"
    with Ledger(read_study_file(write(tmp_path, SPEED, TEETH, start=start))) as ledger:
        ledger.tell(ledger.ask().number, {"cost": 1.0})
    new = "coolant = { low = 0.0, high = 1.0, default = 0.25 }"
    with Ledger(read_study_file(write(tmp_path, SPEED, TEETH, new, start=start))) as ledger:
        assert ledger.config.starts == ({"speed": 1.5, "teeth": 3, "coolant": 0.25},)
        assert ledger.ask().mode != "start"  # it was tried


def test_a_fixed_parameter_is_told_with_every_trial_and_may_get_a_range(tmp_path: Path) -> None:
    begin(tmp_path)
    with go_on(tmp_path, SPEED, TEETH, BIT, "depth = 12.5") as ledger:
        assert [e.parameters["depth"] for e in ledger.entries()] == [12.5, 12.5]
        suggestion = ledger.ask()
        assert suggestion.x["depth"] == 12.5
        ledger.tell(suggestion.number, {"cost": 2.0})
        found = ledger.recommend()
        assert found is not None
        assert found.x["depth"] == 12.5
    ranged = "depth = { low = 10.0, high = 20.0, default = 12.5 }"
    with go_on(tmp_path, SPEED, TEETH, BIT, ranged) as ledger:
        assert [t.x["depth"] for t in ledger.optimizer().trials] == [12.5] * 3


def test_a_range_is_cut_where_no_trial_was(tmp_path: Path) -> None:
    with Ledger(
        read_study_file(write(tmp_path, SPEED, TEETH, start="[start]\nspeed = 1.5\nteeth = 3\n"))
    ) as a:
        a.tell(a.ask().number, {"cost": 1.0})
    with go_on(tmp_path, "speed = { low = 1.4, high = 1.6 }", "teeth = 3") as ledger:
        assert 1.4 <= ledger.ask().x["speed"] <= 1.6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            ("speed = { low = 1.6, high = 2.0 }", TEETH, BIT),
            r"speed: trial 0 had 1.5, which lies outside now; a range is widened, or cut where",
        ),
        (("speed = { low = 1.0, high = 2.0, log = true }", TEETH, BIT), r"speed: log was false, and can't"),
        (
            (SPEED, TEETH, 'bit = { choices = ["hss", "steel"] }'),
            r"bit: the choice carbide was dropped; write",
        ),
        (
            (SPEED, TEETH),
            r"bit: is missing; write it again, or fix it at one value \(bit = \.\.\.\); or give",
        ),
        (
            (SPEED, "teeth = 4", BIT),
            r"teeth: trial 0 had 3, and it is fixed at 4; change it back, or give it a",
        ),
        ((SPEED, TEETH.replace("2,", "2.0,"), BIT), r"teeth: type was int, and can't change; change it back"),
        (
            (SPEED, TEETH, BIT, "coolant = { low = 0.0, high = 1.0 }"),
            r"coolant: is new: trial 0 was run without it; say what it was then: default = \.\.\.; or give",
        ),
    ],
)
def test_what_the_trials_do_not_fit_is_refused(
    tmp_path: Path, parameters: tuple[str, ...], message: str
) -> None:
    begin(tmp_path)
    with pytest.raises(StudyFileError, match=message):
        go_on(tmp_path, *parameters)
    with go_on(tmp_path, SPEED, TEETH, BIT) as ledger:
        assert len(ledger.entries()) == 2


def test_whole_bounds_of_an_old_study_stay_any_number(tmp_path: Path) -> None:
    path = write(tmp_path, "speed = { low = 1, high = 8 }")
    with Ledger(read_study_file(path)) as ledger:
        old: dict[str, Any] = {
            "speed": {"type": "float", "low": 1.0, "high": 8.0, "log": False, "step": None}
        }
        study_id = ledger.storage.get_study_id_from_name("drill")
        ledger.storage.set_study_system_attr(study_id, PARAMETERS, old)
    with Ledger(read_study_file(path)) as ledger:
        assert ledger.config.space.to_dict() == old
        assert isinstance(ledger.ask().x["speed"], float)


def test_starts_are_run_in_their_order_also_when_asked_at_once(tmp_path: Path) -> None:
    starts = "".join(f"[[start]]\nspeed = {v}\nteeth = 3\n" for v in (1.1, 1.2, 1.3))
    path = write(tmp_path, SPEED, TEETH, start=starts)
    with Ledger(read_study_file(path)) as ledger:
        first = [ledger.ask() for _ in range(2)]
        ledger.skip(first[0].number)
        ledger.tell(first[1].number, {"cost": 1.0})
        rest = [ledger.ask() for _ in range(3)]
    assert [s.x["speed"] for s in (*first, *rest[:2])] == [1.1, 1.2, 1.1, 1.3]
    assert [s.mode for s in (*first, *rest)] == ["start", "start", "start", "start", "bold"]
