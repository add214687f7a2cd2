"""`tumble void`, `tumble amend` and the question of `tumble tell`, with and without a terminal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from tests.study_files import write_study
from tumble.cli.questions import confirm_at_terminal
from tumble.errors import InputError
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study by hand with seven told trials."""
    file = write_study(tmp_path_factory.mktemp("told"), trials=12, command="")
    with Ledger(read_study_file(file)) as ledger:
        for _ in range(7):
            s = ledger.ask()
            ledger.tell(s.number, measured(s.x))
    return file.parent


@pytest.fixture
def study(told: Path, tmp_path: Path) -> Path:
    """That study, for one test."""
    shutil.copytree(told, tmp_path, dirs_exist_ok=True)
    return tmp_path / "bowl.toml"


def measured(x: dict[str, float]) -> dict[str, float]:
    return {"cost": (x["x"] - 0.4) ** 2 + (x["y"] - 0.6) ** 2, "load": x["x"] + x["y"] - 1.2}


def answer(monkeypatch: pytest.MonkeyPatch, word: str | None) -> list[str]:
    """Pretend that a person sits at a terminal and answers; the questions are kept."""
    questions: list[str] = []

    def confirm(question: str, err: bool) -> bool:
        questions.append(question)
        if word is None:
            raise click.Abort
        return word == "y"

    monkeypatch.setattr("tumble.cli.questions.is_at_terminal", lambda: True)
    monkeypatch.setattr("click.confirm", confirm)
    return questions


def counts(cli: Cli, file: Path) -> dict[str, int]:
    found = json.loads(cli("status", file, "--json")[1])
    return {key: found[key] for key in ("trials", "voided", "amended")}


def test_without_a_terminal_no_answer_is_needed(cli: Cli, study: Path) -> None:
    code, out, _ = cli("void", study, 2, "--reason", "sensor loose")
    assert (code, "voided" in out, "(sensor loose)" in out) == (0, True, True)
    code, out, _ = cli("amend", study, 3, "cost=0.5")
    assert (code, "cost=0.5" in out, "amended" in out) == (0, True, True)
    code, out, _ = cli("amend", study, 4, "--failed", "bit broke")
    assert (code, "failed" in out, "bit broke" in out) == (0, True, True)
    assert counts(cli, study) == {"trials": 6, "voided": 1, "amended": 2}
    out = cli("status", study)[1]
    assert "changed   1 voided, 2 amended" in out
    assert "changed   trial 2: voided 20" in out
    assert cli("best", study)[0] == 0


@pytest.mark.parametrize("command", [("void", 2), ("amend", 2, "cost=0.5")])
def test_at_a_terminal_the_trial_is_shown_and_asked_about(
    cli: Cli, study: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[object, ...]
) -> None:
    name, *rest = command
    for no in ("n", None):
        questions = answer(monkeypatch, no)
        code, _, err = cli(name, study, *rest)
        assert (code, "nothing was changed" in err) == (2, True)
        assert "cost=" in questions[0]
    assert counts(cli, study) == {"trials": 7, "voided": 0, "amended": 0}
    questions = answer(monkeypatch, "n")
    assert cli(name, study, *rest, "--yes")[0] == 0
    assert questions == []


@pytest.mark.parametrize(("end", "code"), [(EOFError, 2), (KeyboardInterrupt, 130)])
def test_ctrl_c_at_a_question_ends_the_command_as_anywhere(
    cli: Cli, study: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException], code: int
) -> None:
    def stop(*_: object) -> str:
        raise end

    monkeypatch.setattr("tumble.cli.questions.is_at_terminal", lambda: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", stop)
    assert cli("void", study, 2)[0] == code
    assert counts(cli, study) == {"trials": 7, "voided": 0, "amended": 0}


def test_yes_at_a_terminal_changes_it(cli: Cli, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = answer(monkeypatch, "y")
    assert cli("amend", study, 2, "cost=0.5")[0] == 0
    assert cli("void", study, 2)[0] == 0
    assert len(questions) == 2
    assert "amend it to cost=0.5" in questions[0]
    assert counts(cli, study) == {"trials": 6, "voided": 1, "amended": 0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("void", 99), "there is no trial 99"),
        (("void", 7), "trial 7 is in flight: skip it"),
        (("void", "seven"), "not a valid integer"),
        (("amend", 7, "cost=1"), "trial 7 is in flight: tell it"),
        (("amend", 2), "nothing to amend"),
        (("amend", 2, "cots=1"), "did you mean cost?"),
        (("amend", 2, "cost"), "expected name=number"),
        (("amend", 2, "cost=nan"), "cost"),
        (("amend", 2, "cost=1_5"), "cost must be a finite number, but '1_5' came; write it without _"),
        (("amend", 99, "cost=1"), "there is no trial 99"),
        (("amend", 2, "--not-failed"), "trial 2 did not fail: there is nothing to amend"),
        (("amend", 2, "cost=1", "--failed", "x", "--not-failed"), "contradict each other: give one of them"),
    ],
)
def test_bad_input_ends_with_2_and_changes_nothing(
    cli: Cli, study: Path, words: tuple[object, ...], message: str
) -> None:
    cli("ask", study)
    name, *rest = words
    code, _, err = cli(name, study, *rest)
    assert (code, message in err) == (2, True), err
    assert counts(cli, study) == {"trials": 7, "voided": 0, "amended": 0}


def test_a_crash_stays_one_until_it_is_said_that_it_did_not_fail(
    cli: Cli, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = answer(monkeypatch, "y")
    cli("ask", study)
    cli("tell", study, 7, "cost=0.3", "load=-0.4", "--failed", "bit broke")
    assert 'or give --failed "why" or --not-failed' in cli("amend", study, 7)[2]
    out = cli("amend", study, 7, "load=-0.5")[1]
    assert "failed   cost=0.3  load=-0.5 (crash: bit broke) amended" in out
    assert questions[-1].endswith("amend it to cost=0.3  load=-0.5 failed (bit broke)?")
    out = cli("amend", study, 7, "--not-failed")[1]
    assert "safe     cost=0.3  load=-0.5 amended" in out
    assert questions[-1].endswith("amend it to cost=0.3  load=-0.5 safe instead of failed?")
    cli("amend", study, 7, "load=0.5")
    assert questions[-1].endswith("amend it to cost=0.3  load=0.5 failed instead of safe?")
    cli("amend", study, 7, "load=-0.5")
    cli("amend", study, 7, "load=0.2", "--failed", "it slipped")
    assert questions[-1].endswith("amend it to load=0.2 failed (it slipped) instead of safe?")


@pytest.mark.parametrize(("command", "trial"), [("tell", 7), ("amend", 2)])
@pytest.mark.parametrize("why", ["", "  "])
def test_a_failure_without_a_word_is_refused(
    cli: Cli, study: Path, command: str, trial: int, why: str
) -> None:
    cli("ask", study)
    code, _, err = cli(command, study, trial, "cost=1", "load=-1", "--failed", why)
    assert (code, err) == (
        2,
        "tumble: --failed is empty: say why it failed, and leave it out where it did not\n",
    )
    assert counts(cli, study) == {"trials": 7, "voided": 0, "amended": 0}


@pytest.mark.parametrize("command", ["tell", "amend"])
def test_a_result_that_is_given_twice_is_refused(cli: Cli, study: Path, command: str) -> None:
    code, _, err = cli(command, study, 0, "cost=1", "load=9", "load=-90")
    assert (code, "load is given twice: 9 and -90; give it once" in err) == (2, True), err


def test_telling_twice_is_refused_with_the_commands_that_correct_a_trial(cli: Cli, study: Path) -> None:
    code, _, err = cli("tell", study, 2, "cost=1", "load=-1")
    assert code == 2
    assert err.endswith(
        "each trial is told or skipped once; "
        f"correct it with: tumble amend {study} 2 name=value, or tumble void {study} 2\n"
    )
    assert cli("void", study, 2)[0] == 0
    code, _, err = cli("tell", study, 2, "cost=1", "load=-1")
    assert (code, err.endswith("(voided); each trial is told or skipped once\n")) == (2, True)


def test_what_was_measured_before_a_transient_fault_is_shown(cli: Cli, study: Path) -> None:
    cli("ask", study)
    out = cli("tell", study, 7, "cost=2", "load=4", "--failed", "pump", "--transient")[1]
    assert "transient cost=2  load=4 (pump)  <-" in out
    assert counts(cli, study)["trials"] == 7


def test_a_reason_of_two_lines_is_printed_in_one_and_kept_as_it_was_told(cli: Cli, study: Path) -> None:
    cli("ask", study)
    out = cli("tell", study, 7, "--failed", "one\ntwo")[1]
    assert "(crash: one\\ntwo)  <-" in out.splitlines()[0]
    out = cli("amend", study, 7, "load=-1")[1]
    assert "(crash: one\\ntwo) amended  <-" in out.splitlines()[0]
    cli("void", study, 7, "--reason", "three\nfour")
    assert "(three\\nfour), was failed" in cli("status", study)[1]
    with Ledger(read_study_file(study)) as ledger:
        assert [change.reason for change in ledger.entry(7).changes] == ["one\ntwo", "three\nfour"]


@pytest.mark.parametrize("word", ["undo", "Undo", "delete", "rm"])
def test_a_word_of_other_programs_for_taking_back_is_answered_with_ours(cli: Cli, word: str) -> None:
    code, _, err = cli(word, "drill.toml", 3)
    assert (code, f"there is no command {word!r}; void takes a told trial out, amend corrects it" in err) == (
        2,
        True,
    )


def test_voiding_twice_is_refused(cli: Cli, study: Path) -> None:
    assert cli("void", study, 0)[0] == 0
    code, _, err = cli("void", study, 0)
    assert (code, "trial 0 is voided already" in err) == (2, True)
    code, _, err = cli("amend", study, 0, "cost=1")
    assert (code, "trial 0 is voided" in err) == (2, True)


def test_a_far_value_is_recorded_with_a_warning_where_nobody_can_be_asked(cli: Cli, study: Path) -> None:
    cli("ask", study)
    code, out, err = cli("tell", study, 7, "cost=1000", "load=-0.5")
    assert (code, "cost=1000" in out) == (0, True)
    assert f"tumble amend {study} 7" in err


def test_a_far_value_is_asked_about_at_a_terminal(
    cli: Cli, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("ask", study)
    questions = answer(monkeypatch, "n")
    code, _, err = cli("tell", study, 7, "cost=1000", "load=-0.5")
    assert (code, "nothing was changed" in err) == (2, True)
    assert "cost = 1000, where" in questions[0]
    assert questions[0].endswith("really?")
    assert counts(cli, study)["trials"] == 7
    assert cli("tell", study, 7, "cost=1000", "load=-0.5", "--yes")[0] == 0
    assert len(questions) == 1


def test_a_correction_that_is_far_off_is_questioned_too(
    cli: Cli, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = cli("amend", study, 6, "cost=1000")
    assert (code, "trial 6: cost = 1000, where" in err) == (0, True)
    assert f"It is recorded; if it is a slip: tumble amend {study} 6 name=value" in err
    assert cli("amend", study, 6, "cost=1000", "load=-0.3")[2] == ""  # what stays the same is passed over
    assert cli("amend", study, 6, "cost=2000", "--yes")[2] == ""
    questions = answer(monkeypatch, "n")
    assert cli("amend", study, 6, "cost=3000")[0] == 2
    assert "\ntrial 6: cost = 3000, where" in questions[0]
    assert questions[0].splitlines()[-1].startswith("amend it to cost=3000")


def test_a_value_as_predicted_is_not_asked_about(
    cli: Cli, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = json.loads(cli("ask", study, "--json")[1])["parameters"]
    questions = answer(monkeypatch, "n")
    results = [f"{name}={value}" for name, value in measured(x).items()]
    assert cli("tell", study, 7, *results)[0] == 0
    assert questions == []


def test_a_run_warns_of_a_far_value(cli: Cli, tmp_path: Path) -> None:
    load = "x + y - 1.2 + (1000 if trial == '7' else 0)"
    file = write_study(tmp_path, trials=8, load=load)
    code, _, err = cli("run", file)
    assert (code, f"tumble amend {file} 7" in err) == (0, True)
    assert err.count("tumble amend") == 1


def test_a_question_is_printed_so_that_it_cannot_move_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = answer(monkeypatch, "n")
    with pytest.raises(InputError, match="the answer was no"):
        confirm_at_terminal("a\x1b[2Jb", yes=False)
    assert questions == ["a\\x1b[2Jb"]
