"""The command line: what it prints, what it writes, and how it exits."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

import tumble
from tests.forked import Forked, wait_for
from tests.studies.test_study_file import BAD
from tests.study_files import write_mill, write_study
from tumble.cli import live, show
from tumble.studies.kept import KeptResult
from tumble.studies.ledger import Ledger
from tumble.studies.ownership import this_runner
from tumble.studies.planning import make_plan
from tumble.studies.prediction import Prediction
from tumble.studies.records import Found, Status
from tumble.studies.study_file import read_study_file
from tumble.trials import Recommended

Cli = Callable[..., tuple[int, str, str]]
SOURCES = Path(tumble.__file__).parents[1]


def test_everything_has_help_with_an_example_and_the_exit_codes(cli: Cli) -> None:
    code, out, _ = cli("--help")
    assert code == 0
    names = [
        "init",
        "run",
        "ask",
        "tell",
        "skip",
        "void",
        "amend",
        "status",
        "best",
        "plan",
        "confirm",
        "export",
        "import",
        "report",
        "dashboard",
    ]
    assert all(f"  {name} " in out for name in names)
    for name in names:
        code, out, _ = cli(name, "--help")
        assert code == 0
        assert f"Example: tumble {name} " in out
        assert "Exit codes:" in out


def test_the_example_file_is_a_good_one_and_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "drill.toml"
    code, out, _ = cli("init", path)
    assert (code, out.startswith(str(path))) == (0, True)
    assert out.index("write rig.py") < out.index(f"tumble run {path}") < out.index(f"tumble ask {path}")
    assert read_study_file(path).space.names == ("speed", "flutes", "bit", "feed")
    code, _, err = cli("init", path)
    assert code == 2
    assert "exists already" in err
    assert cli("init", tmp_path / "no" / "folder.toml")[0] == 2


def test_a_rig_by_hand(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="")
    code, out, _ = cli("ask", file)
    assert code == 0
    assert "trial 0" in out
    assert f"tumble tell {file} 0 cost=... load=..." in out
    code, out, _ = cli("ask", file, "--json")
    asked = json.loads(out)
    assert set(asked) >= {
        "trial",
        "parameters",
        "mode",
        "rho",
        "p_safe",
        "why",
        "expected_gain",
        "gain_bound",
    }
    assert asked["trial"] == 1
    assert cli("tell", file, 0, "cost=3.2", "load=-0.5")[0] == 0
    assert cli("tell", file, 1, "load=0.5", "--failed", "bit broke")[0] == 0
    assert cli("ask", file)[0] == 0
    assert cli("tell", file, 2, "--failed", "power cut", "--transient")[0] == 0
    assert cli("ask", file)[0] == 0
    assert cli("skip", file, 3)[0] == 0
    status = json.loads(cli("status", file, "--json")[1])
    assert {k: status[k] for k in ("trials", "trials_left", "failures", "failures_left", "pending")} == {
        "trials": 2,
        "trials_left": 6,
        "failures": 1,
        "failures_left": 2,
        "pending": 0,
    }
    assert status["best"]["value"] == 3.2
    best = json.loads(cli("best", file, "--json")[1])
    assert set(best) == {"best", "expected", "recommended"}
    assert best["expected"] is None  # nothing is noisy
    assert set(best["recommended"]) == {"parameters", "mean", "std", "p_safe", "reached"}
    out = cli("best", file)[1]
    assert "cost = 3.2 in trial 0" in out
    assert "P(safe) =" in out
    code, out, _ = cli("confirm", file, "--json")
    assert json.loads(out)["mode"] == "confirm"


def test_where_results_are_noisy_the_expected_best_is_said_beside_the_luckiest(
    cli: Cli, tmp_path: Path
) -> None:
    file = write_study(tmp_path, command="")
    file.write_text(file.read_text() + "\n[noise]\ncost = 0.5\n")
    for number, cost in enumerate((3.2, 3.0, 2.9)):
        assert cli("ask", file)[0] == 0
        assert cli("tell", file, number, f"cost={cost}", "load=-0.5")[0] == 0
    expected = json.loads(cli("best", file, "--json")[1])["expected"]
    assert set(expected) == {"trial", "parameters", "mean", "std", "p_safe"}
    assert expected["std"] > 0.1
    out = cli("best", file)[1]
    assert "cost = 2.9 in trial 2" in out
    assert "expected     cost = " in out
    assert "\n  expected  cost = " in cli("status", file)[1]


def test_before_anything_is_told_there_is_nothing_to_say(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="")
    assert cli("ask", file)[0] == 0
    assert "nothing safe was seen yet" in cli("best", file)[1]
    assert json.loads(cli("best", file, "--json")[1]) == {"best": None, "expected": None, "recommended": None}
    assert json.loads(cli("status", file, "--json")[1])["best"] is None
    assert cli("confirm", file)[0] == 2


@pytest.mark.parametrize("command", ["status", "best", "export", "report", "dashboard"])
def test_a_study_that_is_not_there_is_not_made_by_a_command_that_looks(
    cli: Cli, tmp_path: Path, command: str
) -> None:
    file = write_study(tmp_path)
    code, _, err = cli(command, file, *([tmp_path / "a.csv"] if command == "export" else []))
    assert code == 2
    assert (
        "bowl.db: nothing was asked yet, or it was moved or deleted; start the study with: tumble ask" in err
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bowl.toml", "rig.py"]


def test_status_says_where_a_grid_ends_and_optuna_warns_of_nothing(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, start=False)
    file.write_text(file.read_text().replace("high = 1.0 }", "high = 1.0, step = 0.3 }"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", UserWarning)
        assert cli("ask", file)[0] == 0
        assert cli("tell", file, 0, "cost=1", "load=-1")[0] == 0
        code, out, _ = cli("status", file)
    assert [str(w.message) for w in seen if "step" in str(w.message)] == []
    assert (code, out.count("  note      ")) == (0, 2)
    assert "  note      x ends at 0.9, because no step of 0.3 from 0 meets high = 1\n" in out


@pytest.mark.parametrize(
    ("limit", "hint"),
    [("laod", "; did you mean load?"), ("heat", ""), ("load2 = '<= 1'\nload", "")],
    ids=["misspelt", "another", "added"],
)
def test_a_limit_that_no_told_trial_has_measured_is_named(
    cli: Cli, tmp_path: Path, limit: str, hint: str
) -> None:
    file = write_study(tmp_path)
    assert cli("ask", file)[0] == 0
    good = file.read_text()
    file.write_text(good.replace('load = "<= 0"', f'{limit} = "<= 0"'))
    assert "no told trial" not in "".join(map(str, (*cli("status", file), *cli("ask", file))))
    file.write_text(good)
    assert cli("tell", file, 0, "cost=1", "load=-1")[0] == 0
    assert "no told trial" not in "".join(map(str, (*cli("status", file), *cli("ask", file))))
    file.write_text(good.replace('load = "<= 0"', f'{limit} = "<= 0"'))
    name = limit.split()[0]
    said = f"no told trial has measured {name}, so that none counts as safe{hint}\n"
    assert f"  note      {said}" in cli("status", file)[1]
    code, out, err = cli("ask", file, "--json")
    assert (code, json.loads(out)["trial"], err) == (0, 3, f"tumble: {said}")
    assert cli("run", file)[2].startswith(f"tumble: {said}")


@pytest.mark.parametrize(
    "words",
    [
        ("tell", 0, "cost=1", "load=0"),
        ("tell", 0, "--failed", "bit broke"),
        ("skip", 0),
        ("void", 0),
        ("amend", 0, "cost=1"),
        ("confirm",),
        ("try", "x=0.5"),
        ("try", "x=0.9", "y=0.9"),
        ("try", "x=5", "y=0.5"),
        ("import", "missing.csv"),
    ],
)
def test_a_command_that_refuses_makes_no_study(cli: Cli, tmp_path: Path, words: tuple[object, ...]) -> None:
    file = write_study(tmp_path, extra='known = ["x + y <= 1.5"]')
    command, *rest = words
    assert cli(command, file, *rest)[0] == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bowl.toml", "rig.py"]


def test_the_help_of_a_number_without_bounds_names_none(cli: Cli) -> None:
    out = cli("plan", "--help")[1]
    assert "--trials INTEGER" in out
    assert "None" not in out


@pytest.mark.parametrize(
    "words",
    [
        ("tell", "drill.toml", "1_0", "cost=1"),
        ("plan", "--trials", "1_0", "--failures", "2"),
        ("run", "drill.toml", "--workers", "1_0"),
        ("ask", "drill.toml", "-n", "1_0"),
        ("dashboard", "drill.toml", "--port", "1_0"),
        ("serve", "drill.toml", "--port", "1_0"),
    ],
)
def test_a_whole_number_has_digits_alone(cli: Cli, words: tuple[str, ...]) -> None:
    code, _, err = cli(*words)
    assert (code, "'1_0' is not a whole number; write it without _" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tell", "FILE", "0", "cost"], "expected name=number such as cost=3.2, but 'cost' came"),
        (["tell", "FILE", "0", "cost=abc"], "cost must be a finite number, but 'abc' came\n"),
        (["tell", "FILE", "0", "cost=1,5"], "cost must be a finite number, but '1,5' came; write 1.5\n"),
        (["tell", "FILE", "0", "cost=1,500"], "but '1,500' came; write 1500, or 1.500\n"),
        (
            ["tell", "FILE", "0", "cost=1_5"],
            "cost must be a finite number, but '1_5' came; write it without _",
        ),
        (
            ["tell", "FILE", "0", "cost=\uff11\uff15"],
            "cost must be a finite number, but '\uff11\uff15' came\n",
        ),
        (["try", "FILE", "x=0_5", "y=0.5"], "x must be a finite number, but '0_5' came; write it without _"),
        (["try", "FILE", "x=0,5", "y=0.5"], "x must be a finite number, but '0,5' came; write 0.5\n"),
        (["tell", "FILE", "9", "cost=1", "load=0"], "there is no trial 9"),
        (
            ["tell", "FILE", "0"],
            "load is missing; a trial that kept its limits needs load, cost; "
            "give load=... cost=..., or tell a trial that failed with --failed",
        ),
        (["tell", "FILE", "0", "--transient"], "--transient belongs to --failed"),
        (
            ["tell", "FILE", "0", "cost=nan", "load=0"],
            "cost must be a finite number, but nan came; tell a crash with --failed",
        ),
        (
            ["tell", "FILE", "0", "cost=1", "laod=0"],
            "unknown result 'laod'; did you mean load? known are cost, load",
        ),
        (
            ["tell", "FILE", "0", "COSTS=1", "load=0"],
            "unknown result 'COSTS'; did you mean cost? known are cost, load",
        ),
        (["tell", "FILE", "0", "zzz=1", "--failed", "fell"], "unknown result 'zzz'; known are cost, load"),
        (["tell", "FILE", str(10**23), "cost=1", "load=0"], f"there is no trial {10**23}: the trials are"),
        (["tell", "FILE", str(10**23), "--failed", "fell"], f"there is no trial {10**23}"),
        (["void", "FILE", str(10**20 - 1)], "there is no trial 99999999999999999999"),
        (["skip", "FILE", "9"], "there is no trial 9"),
        (["import", "FILE", "none.csv"], "tumble: there is no file none.csv; correct its name"),
        (
            ["plan", "--trials", "3", "--failures", "9"],
            "failures (9) cannot exceed trials (3); lower failures, or raise trials",
        ),
        (["export", "FILE", "/no/such/folder/a.csv"], "can't be written"),
        (["report", "FILE", "-o", "/no/such/folder/a.html"], "can't be written"),
    ],
)
def test_wrong_words_are_refused_with_code_2(
    cli: Cli, tmp_path: Path, words: list[str], message: str
) -> None:
    file = write_study(tmp_path, command="")
    cli("ask", file)
    code, _, err = cli(*(str(file) if word == "FILE" else word for word in words))
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_failure_without_a_reason_is_shown_one(cli: Cli, tmp_path: Path) -> None:
    code, _, err = cli("tell", write_study(tmp_path, command=""), 0, "--failed")
    assert (code, err.endswith(' Say why it failed, for example: --failed "bit broke"\n')) == (2, True)


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_study_file_exits_with_2_says_one_line_and_writes_nothing(
    cli: Cli, tmp_path: Path, kind: str
) -> None:
    text, message = BAD[kind]
    path = tmp_path / "drill.toml"
    path.write_text(text)
    code, out, err = cli("run", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"tumble: {path}: ")
    assert message in err
    assert err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["drill.toml"]


@pytest.mark.parametrize("stem", ["my drill", "ofen-größe", "2drill", "a'b#c{d}", 'a?b%c"d\\e', "窑"])
def test_a_study_is_called_as_its_file(cli: Cli, tmp_path: Path, stem: str) -> None:
    path = tmp_path / f"{stem}.toml"
    assert cli("init", path)[0] == 0
    kept = re.sub(r'["\\?%]', "_", stem)
    config = read_study_file(path)
    assert (config.name, config.storage) == (kept, f"sqlite:///{tmp_path}/{kept}.db")
    assert cli("ask", path)[0] == 0
    assert (tmp_path / f"{kept}.db").exists()
    assert cli("status", path)[0] == 0


def test_commands_that_are_printed_quote_the_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "my drill.toml"
    word = f"'{path}'"
    assert f"tumble init {word}" in cli("ask", path)[2]
    out = cli("init", path)[1]
    assert (f"tumble run {word}\n" in out, f"tumble ask {word}," in out) == (True, True)
    assert f"tumble ask {word}  and  tumble tell {word} TRIAL" in path.read_text()
    assert f"start the study with: tumble ask {word}\n" in cli("status", path)[2]
    out = cli("ask", path)[1]
    assert (f"then: tumble tell {word} 0" in out, f"or: tumble tell {word} 0" in out) == (True, True)
    assert cli("skip", path, 0)[0] == cli("tell", path, 0, "--failed", "bit broke")[0] - 2 == 0
    cli("ask", path)
    cli("tell", path, 1, "--failed", "bit broke")
    said = cli("tell", path, 1, "--failed", "bit broke")[2]
    assert f"tumble amend {word} 1 name=value, or tumble void {word} 1\n" in said


def test_a_path_of_bytes_that_are_no_letters_is_written_for_the_shell(cli: Cli, tmp_path: Path) -> None:
    path = os.fsdecode(bytes(tmp_path) + b"/caf\xe9.toml")
    code, _, said = cli("status", path)
    assert (code, said.endswith("/caf\\351.toml'\n")) == (2, True)
    assert "caf\\xe9.toml: there is no such file; write one with: tumble init $'" in said
    assert cli("init", path)[0] == 0
    assert "caf\\351.toml'" in cli("ask", path)[1]


def test_a_file_that_may_not_be_read_gets_one_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, really = write_study(tmp_path), os.open

    def refuse(name: str, *words: Any, **options: Any) -> int:
        if name == str(path):
            raise PermissionError(13, "Permission denied")
        return really(name, *words, **options)

    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(os, "open", refuse)
    said = f"tumble: {path}: can't be read (Permission denied); check the path and its rights\n"
    assert cli("status", path) == (2, "", said)


def test_an_example_of_a_result_has_the_objective_of_the_study(cli: Cli, tmp_path: Path) -> None:
    path = write_study(tmp_path)
    path.write_text(path.read_text().replace('"cost"', '"energy"'))
    cli("ask", path)
    assert "expected name=number such as energy=3.2, but '3' came" in cli("tell", path, 0, "3")[2]
    cli("tell", path, 0, "energy=1", "load=-1")
    assert "expected name=number such as energy=3.2, but '3' came" in cli("amend", path, 0, "3")[2]


def test_a_trial_whose_setting_is_not_decided_yet_is_called_so(cli: Cli, tmp_path: Path) -> None:
    path = write_study(tmp_path)
    cli("ask", path)
    ledger = Ledger(read_study_file(path))
    ledger.storage.create_new_trial(ledger.store.study_id)  # as a trial begins, before it is decided
    out = cli("status", path)[1]
    assert "in flight trial 0 (by hand):  x=0.2  y=0.3\n" in out
    assert "in flight trial 1 (by hand):  its setting is not decided yet\n" in out


def test_a_missing_command_exits_with_2(cli: Cli, tmp_path: Path) -> None:
    code, _, err = cli("run", write_study(tmp_path, command=""))
    assert code == 2
    assert "command: is missing; add the command that runs one trial; or run the trials by hand with" in err


def test_a_missing_or_broken_file_exits_with_2_and_says_what_to_type(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert f"{path}: there is no such file; write one with: tumble init {path}\n" in cli("ask", path)[2]
    path.write_text("name = ")
    remedy = "; for a file to compare it with, write an example: tumble init example.toml\n"
    assert cli("ask", path)[2].endswith(f"not valid TOML: Invalid value (at end of document){remedy}")


@pytest.mark.parametrize("module", ["tumble", "tumble.cli"])
def test_ctrl_c_while_it_is_loaded_gets_a_sentence(tmp_path: Path, module: str) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")  # as if it came at this import
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCES}"}
    command = [sys.executable, "-m", module, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        "",
        "tumble: stopped; run it again to go on\n",
    )


def test_a_port_that_is_taken_exits_with_2_and_names_the_option(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path)
    Ledger(read_study_file(file)).close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = cli("dashboard", file, "--port", taken.getsockname()[1])
    assert code == 2
    assert err.endswith("; choose another with --port\n")


def test_a_rig_by_script_is_run_and_nothing_is_left(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=4)
    code, out, _ = cli("run", file)
    assert code == 0
    assert out.count("safe") >= 1
    assert "4 told, 0 in flight, 0 left of 4" in out
    code, _, err = cli("ask", file)
    assert code == 4
    assert "4 of 4 trials are told; raise" in err
    assert cli("run", file)[0] == 0


def test_one_more_trial_confirms_the_recommendation(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=4)
    ledger = Ledger(read_study_file(file))
    ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -0.5})
    code, out, _ = cli("confirm", file, "--json")
    assert code == 0
    assert json.loads(out)["trial"] == 1


def test_a_fault_of_the_rig_exits_with_3_and_shows_its_output(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command='["echo", "no json", "{x}", "{y}"]')
    code, _, err = cli("run", file)
    assert code == 3
    assert "must be JSON like" in err
    assert "no json 0.2 0.3" in err
    code, _, err = cli("run", file, "--workers", 2)
    assert code == 3
    assert "no json" in err


def test_a_rig_that_always_crashes_says_so_in_every_line(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, failures=1, crash="sys.exit('bit broke')")
    code, out, err = cli("run", file)
    assert code == 3
    assert out.count("failed    (crash: exit code 1: bit broke)") == 1
    assert "trial 0, the setting given under [start], crashed: exit code 1: bit broke; a start is" in err
    assert "--- its output ---\nbit broke" in err
    code, _, err = cli("run", file)
    assert code == 3
    assert "no failure is left (with: exit code 1: bit broke); nothing safe was seen" in err
    assert f"give that trial back (tumble void {file} 0), and run it again" in err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            '["no-such-rig", "{x}", "{y}"]',
            "there is no program 'no-such-rig' on the PATH; install it, or give",
        ),
        ('["./no-such-rig", "{x}", "{y}"]', "there is no file FOLDER/no-such-rig; write it, or correct"),
        ('["./rig.py", "{x}", "{y}"]', "FOLDER/rig.py may not be executed; run: chmod +x FOLDER/rig.py"),
        ('["PYTHON", "-S", "no.py", "{x}", "{y}"]', "there is no script FOLDER/no.py; write it, or correct"),
    ],
)
@pytest.mark.parametrize("words", [["run"], ["run", "--workers", "2"], ["confirm"]])
def test_a_command_that_cannot_be_started_is_refused_before_a_trial_pays_for_it(
    cli: Cli, tmp_path: Path, words: list[str], command: str, message: str
) -> None:
    file = write_study(tmp_path, command=command.replace("PYTHON", sys.executable))
    code, out, err = cli(words[0], file, *words[1:])
    assert (code, out) == (2, "")
    assert err.startswith(f"tumble: {file}: command: {message.replace('FOLDER', str(tmp_path))}")
    assert err.count("\n") == 1
    assert not (tmp_path / "bowl.db").exists()


def test_a_failed_trial_names_the_limits_that_it_broke(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=2, failures=None, load="2.5")
    code, out, _ = cli("run", file)
    assert code == 0
    assert out.count("load=2.5 (breaks load <= 0 by 2.5)  <-  x=") == 2
    other = tmp_path / "other"
    other.mkdir()
    by_hand = write_study(other, command="")
    cli("ask", by_hand)
    out = cli("tell", by_hand, 0, "load=0.25", "--failed", "bit broke")[1]
    assert "load=0.25 (crash: bit broke; breaks load <= 0 by 0.25)  <-  x=" in out


def test_a_recommendation_worse_than_the_best_trial_says_why(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="", extra="maximize = true")
    table = "x,y,cost,load\n.5,.5,5,-.01\n.5,.5,5,.3\n.1,.1,1,-3\n.2,.1,1.1,-2.8\n.1,.2,1.1,-2.8\n"
    (tmp_path / "old.csv").write_text(table)
    cli("import", file, tmp_path / "old.csv")
    out = cli("best", file)[1]
    assert "best         cost = 5 in trial 0" in out
    assert "because      trial 0 was safe, but by the model its setting has P(safe) = " in out
    assert out.endswith(" %, and a recommendation needs 99 %\n")


def test_a_measurement_that_is_partly_noise_is_called_so(tmp_path: Path) -> None:
    config = read_study_file(write_study(tmp_path))
    found = Found(3, {"x": 0.2, "y": 0.2}, 1.0, {})
    choice = Recommended({"x": 0.3, "y": 0.2}, 1.2, 0.1, 0.995, True)
    assert show.is_better(found, choice, config)
    assert not show.is_better(found, replace(choice, x=found.parameters), config)  # that trial's own setting
    assert not show.is_better(found, replace(choice, std=0.3), config)  # no difference to speak of
    assert not show.is_better(replace(found, value=1.3), choice, config)
    noisy, unsafe = Prediction(1.25, 0.05, 0.995, 0.99), Prediction(1.25, 0.05, 0.88, 0.99)
    said = show.because(found, choice, noisy, config)
    assert (
        said == "by the model the setting of trial 3 has cost = 1.25 ± 0.05: one measurement is partly noise"
    )
    said = show.because(found, replace(choice, reached=False), unsafe, config)
    assert said.endswith("by the model its setting has P(safe) = 88 %, less than the recommended one")


def test_a_best_trial_that_breaks_a_known_constraint_is_not_called_noise(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="", extra='known = ["x + y <= 1.5"]')
    (tmp_path / "old.csv").write_text("x,y,cost,load\n.1,.1,3,-3\n.9,.9,1,-3\n.5,.5,2,-3\n")
    cli("import", file, tmp_path / "old.csv")
    out = cli("best", file)[1]
    assert out.endswith('because      the setting of trial 1 does not keep "x + y <= 1.5", which is known\n')


def test_a_method_without_a_safe_start_names_the_file_and_the_ways_out(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="", extra='method = "safe-set"', start=False)
    code, out, err = cli("ask", file)
    assert (code, out) == (2, "")
    assert f"{file}: method: 'safe-set' never leaves what is known to be safe" in err
    for remedy in ("[start]", "tumble try", "import old trials", 'method = "tumble"'):
        assert remedy in err
    assert "opt.tell" not in err


def test_a_setting_of_a_narrow_range_is_printed_with_the_digits_that_matter(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="")
    text = file.read_text().replace("x = { low = 0.0, high = 1.0 }", "x = { low = 2.4e9, high = 2.401e9 }")
    file.write_text(text.replace("x = 0.2", "x = 2400123456.7"))
    assert "\n  x = 2400123457\n  y = 0.3\n" in cli("ask", file)[1]
    _, out, _ = cli("tell", file, 0, "cost=101325.25", "load=-1")
    assert "cost=101325  load=-1  <-  x=2400123457  y=0.3" in out
    assert "best      cost = 101325 in trial 0:  x=2400123457  y=0.3" in out


def test_who_asks_is_told_of_a_result_that_a_killed_runner_had_kept(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path)
    ledger = Ledger(read_study_file(file))
    dead = replace(this_runner(), pid=2**22 + 1, born="gone")
    asked = ledger.ask(dead)
    ledger.kept.keep(KeptResult(0, dict(asked.x), {"cost": 1.0, "load": -1.0}, None, dead))
    code, out, err = cli("ask", file)
    assert (code, "trial 1" in out) == (0, True)
    assert err == "tumble: the result of trial 0, which a killed runner had kept, is told\n"


def test_when_all_trials_are_used_the_one_in_flight_is_named(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="", trials=1, failures=1)
    cli("ask", file)
    code, _, err = cli("ask", file)
    assert code == 4
    assert "1 of 1 trial is told or in flight: trial 0, by hand since " in err
    assert f"(tell or skip it); raise trials in {file} to go on" in err


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version") == (0, f"tumble {tumble.__version__}\n", "")


def test_export_and_import_are_inverse(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=3)
    cli("run", file)
    assert cli("export", file, tmp_path / "a.csv")[1].startswith("3 trials written")
    (tmp_path / "other").mkdir()
    other = write_study(tmp_path / "other")
    assert "3 trials read" in cli("import", other, tmp_path / "a.csv")[1]
    out = cli("import", other, tmp_path / "a.csv")[1]
    assert out == "0 trials read as evidence; none is billed; 3 were there already and are passed over\n"
    assert json.loads(cli("status", other, "--json")[1])["trials"] == 0


def test_an_import_says_what_it_did_not_take(cli: Cli, tmp_path: Path) -> None:
    file, table = write_study(tmp_path, command=""), tmp_path / "old.csv"
    rows = "0.1,0.2,1,-1,safe,A\n0.2,0.2,,,skipped,B\n0.3,0.2,,,transient,B\n0.4,0.2,,,skipped,B\n"
    table.write_text(f"x,y,cost,load,outcome,operator\x1b\n{rows}")
    code, out, err = cli("import", file, table)
    over = "passed over by their outcome: 2 skipped, 1 transient"
    unused = "nothing was read from column operator\\x1b"
    assert (code, err) == (0, "")
    assert out == f"1 trial read as evidence; none is billed; {over}\n{unused}\n"
    again = "1 was there already and is passed over"
    assert cli("import", file, table)[1].startswith(
        f"0 trials read as evidence; none is billed; {again}; {over}"
    )
    table.write_text(f"x,y,cost,load,{','.join(f'c{k}' for k in range(12))}\n0.5,0.5,1,-1\n")
    assert cli("import", file, table)[1].endswith(
        "from columns c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more\n"
    )
    table.write_text("x,y,cost,load\n")
    assert cli("import", file, table)[:2] == (0, "0 trials read: the table has no row below its first line\n")


def owners(file: Path) -> set[int]:
    """The processes that had a trial of a study."""
    with Ledger(read_study_file(file)) as ledger:
        return {e.owner.pid for e in ledger.entries() if e.owner is not None}


def test_workers_share_a_study(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=8, failures=4, extra='on_exhausted = "stop"', seconds=1.0)
    code, out, err = cli("run", file, "--workers", 2)
    assert (code, err) == (0, "")
    assert Ledger(read_study_file(file)).status().trials == 8
    assert len(owners(file)) == 2
    assert "8 told" in out
    assert f"raise trials in {file} to go on" in out


def test_the_first_ctrl_c_finishes_the_trial_in_hand(tmp_path: Path) -> None:
    file = write_study(tmp_path, seconds=2.0)
    process = Forked("run", file)
    wait_for(lambda: (tmp_path / "runs.log").exists())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "finishing the trial in hand" in err
    assert [e.outcome for e in Ledger(read_study_file(file)).entries()] == ["safe"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_terminal_that_is_closed_counts_as_one_ctrl_c(tmp_path: Path, workers: int) -> None:
    """The shell and the system may both tell of it."""
    file = write_study(tmp_path, trials=30, load="-1.0", seconds=2.0)
    process = Forked("run", file, "--workers", workers)
    wait_for(lambda: (tmp_path / "runs.log").exists())
    for _ in range(2):
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert {e.outcome for e in Ledger(read_study_file(file)).entries()} == {"safe"}


def test_a_run_under_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=2, failures=1, seconds=1.0)
    command = ["nohup", sys.executable, "-m", "tumble", "run", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: (tmp_path / "runs.log").exists())
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0
    assert (tmp_path / "runs.log").read_text().split() == ["0", "1"]


def test_the_second_ctrl_c_abandons_it_and_the_next_start_runs_it_again(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=2, failures=1, seconds=3.0)
    process = Forked("run", file)
    wait_for(lambda: (tmp_path / "runs.log").exists())
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert [e.outcome for e in Ledger(read_study_file(file)).entries()] == ["running"]
    (tmp_path / "rig.py").write_text((tmp_path / "rig.py").read_text().replace("sleep(3.0)", "sleep(0)"))
    assert cli("run", file)[0] == 0
    assert (tmp_path / "runs.log").read_text().split() == ["0", "0", "1"]


def _edit(file: Path, text: str) -> None:
    """Written whole, so that a worker never reads half of it."""
    whole = file.with_suffix(".new")
    whole.write_text(text)
    whole.replace(file)


def test_a_study_file_that_is_edited_is_followed_by_every_worker(tmp_path: Path) -> None:
    """Fewer trials end the run early; a bad edit before that is refused and changes nothing."""
    file = write_study(tmp_path, trials=400, failures=5, load="-1.0")
    good, runs = file.read_text(), tmp_path / "runs.log"
    process = Forked("run", file, "--workers", 2)
    try:
        wait_for(lambda: runs.exists() and len(owners(file)) == 2, 200)  # one that starts refuses a bad file
        _edit(file, good.replace("trials = 400", "trials = -1"))
        before = len(runs.read_text().split())
        wait_for(lambda: len(runs.read_text().split()) >= before + 4, 200)
        assert any("trials: must be a whole number of at least 1" in line for line in process.stderr)
        _edit(file, good.replace("trials = 400", "trials = 5"))
        _, err = process.communicate(timeout=200)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err
    assert before + 4 <= len(runs.read_text().split()) < 400
    assert "was edited; from the next trial on: trials 400 -> 5" in err
    assert not any(e.is_running for e in Ledger(read_study_file(file)).entries())


def test_workers_stop_in_good_order(tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=30, failures=5, seconds=1.0)
    process = Forked("run", file, "--workers", 2)
    wait_for(lambda: (tmp_path / "runs.log").exists())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not any(e.outcome == "running" for e in Ledger(read_study_file(file)).entries())


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_workers_that_are_stopped_before_they_have_begun_stop_in_good_order(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tumble", "run", str(write_study(tmp_path)), "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(children(process.pid)) == 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (130, False)


def test_workers_take_no_module_of_the_folder_and_no_name_for_an_option(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write_study(tmp_path, trials=4, load="-1.0").rename(tmp_path / "-bowl.toml")
    Path("platform.py").write_text("raise SystemExit(1)")
    code, _, err = cli("run", "--workers", 2, "--", file.name)
    assert (code, err) == (0, "")
    assert Ledger(read_study_file(file)).status().trials == 4


def test_workers_that_the_machine_has_no_room_for_are_said(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = live._Worker.start

    def start(command: list[str]) -> live._Worker:
        monkeypatch.setattr(live._Worker, "start", full)
        return started(command)

    def full(command: list[str]) -> live._Worker:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(live._Worker, "start", start)
    code, _, err = cli("run", write_study(tmp_path), "--workers", 3)
    assert code == 2
    assert "only 1 of 3 workers could be started (Too many open files); ask for fewer, or raise what" in err


def test_a_storage_that_goes_away_exits_with_3(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_study(tmp_path)
    Ledger(read_study_file(file)).close()

    def gone(self: Ledger) -> None:
        raise sqlalchemy.exc.OperationalError("SELECT", {}, Exception("server closed the connection"))

    monkeypatch.setattr(Ledger, "status", gone)
    code, _, err = cli("status", file)
    assert code == 3
    assert (
        "can't be used any more (server closed the connection); nothing told is lost: check that the" in err
    )
    assert err.count("\n") == 1


def test_a_plan_says_how_long_risk_lasts_and_what_a_failure_costs(cli: Cli) -> None:
    code, out, _ = cli("plan", "--trials", 60, "--failures", 6)
    assert code == 0
    assert "failure 1 in trial 1" in out
    table = json.loads(cli("plan", "--trials", 60, "--failures", 6, "--json")[1])
    assert table["risky_without_failures"] == 60
    assert 1 <= len(table["costs"]) <= 6
    assert table["rho_end"] >= 0.99


@pytest.mark.parametrize(
    ("failures", "words"),
    [
        (0, "risk is taken in 0 of 30 trials."),
        (1, "risk is taken in 8 of 30 trials."),
        (2, "risk is taken in 30 of 30 trials; 1 early one looks where nothing was tried."),
        (3, "risk is taken in 30 of 30 trials; 1 early one looks where nothing was tried."),
        (8, "risk is taken in 30 of 30 trials; 4 early ones look where nothing was tried."),
        (30, "risk is taken in 30 of 30 trials; 6 early ones look where nothing was tried."),
    ],
)
def test_a_plan_says_how_many_trials_a_survey_takes(failures: int, words: str) -> None:
    assert f"If nothing fails: {words}\n" in f"{make_plan(30, failures)}\n"


def test_the_survey_of_a_plan_is_the_one_that_is_made() -> None:
    optimizer = tumble.Optimizer([(0.0, 1.0)] * 2, 30, 8, constraints=1, seed=0)
    made = 0
    for _ in range(7):
        asked = optimizer.ask()
        made += asked.survey
        optimizer.tell(asked, float(sum(asked.x)), [-1.0])
    assert made == make_plan(30, 8).surveyed


@pytest.mark.parametrize(("trials", "failures"), [(1, 0), (1, 1), (10, 0), (10, 10), (25, 1), (200, 3)])
@pytest.mark.parametrize("boldness", [None, 0.0, 0.4])
def test_every_plan_adds_up(trials: int, failures: int, boldness: float | None) -> None:
    plan = make_plan(trials, failures, tumble.Settings(boldness=boldness))
    assert len(plan.costs) <= failures
    ends = [*(cost.trial - 1 for cost in plan.costs[1:]), trials]
    assert [cost.trial + cost.careful for cost in plan.costs] == ends[: len(plan.costs)]
    assert str(plan)


@pytest.mark.parametrize(
    ("trials", "failures", "all_spent"),
    [(40, 5, True), (25, 1, True), (5, 5, False), (3, 3, False), (5, 1, False)],
)
def test_a_plan_says_what_is_asked_for_at_the_end_where_trials_are_left_then(
    trials: int, failures: int, all_spent: bool
) -> None:
    """With B near T not every failure can be spent, and after the last trial nothing is asked for."""
    assert ("With none left after that" in str(make_plan(trials, failures))) == all_spent


def test_a_plan_may_be_that_of_a_study_file(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=20, failures=3, extra="boldness = 0.0")
    code, out, _ = cli("plan", file)
    assert code == 0
    assert out.startswith("20 trials, 3 failures.\nThe first trial asks for P(safe) >= 0.9900.")
    assert cli("plan", file, "--failures", 0, "--trials", 7)[1].startswith("7 trials, 0 failures.\n")
    assert list(tmp_path.glob("*.db")) == []


@pytest.mark.parametrize("words", [(), ("--trials", 3), ("--failures", 3)])
def test_a_plan_needs_a_study_file_or_both_numbers(cli: Cli, words: tuple[object, ...]) -> None:
    code, _, err = cli("plan", *words)
    assert code == 2
    assert "give a study file, or --trials and --failures, such as tumble plan --trials 60" in err


def test_a_study_without_a_budget_has_no_plan(cli: Cli, tmp_path: Path) -> None:
    code, _, err = cli("plan", write_study(tmp_path, failures=None))
    assert code == 2
    assert "limits no failures, so there is nothing to plan; give --failures" in err


def test_importing_tumble_loads_none_of_the_command_line() -> None:
    names = ("optuna", "click", "rich", "plotly", "sqlalchemy")
    code = f"import sys, tumble; print([m for m in {names} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


KILLED_WHILE_WRITING = """\
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("CREATE TABLE junk (x)")
for _ in range(3000):
    connection.execute("INSERT INTO junk VALUES (?)", ("x" * 2000,))
os._exit(9)
"""


def test_a_writer_that_was_killed_leaves_a_study_that_can_be_looked_at(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path)
    assert cli("ask", file)[0] == 0
    database = read_study_file(file).storage.removeprefix("sqlite:///")
    assert subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, database], check=False).returncode == 9
    assert Path(f"{database}-journal").exists()
    code, out, _ = cli("status", file, "--json")
    assert (code, json.loads(out)["pending"]) == (0, 1)


def test_a_folder_may_have_a_strange_name_but_not_one_that_a_url_misreads(cli: Cli, tmp_path: Path) -> None:
    for name in ("a#b", "a b", "é", "a{b}", "{0}", "a{"):
        folder = tmp_path / name
        folder.mkdir()
        assert cli("init", folder / "drill.toml")[0] == 0
        assert cli("ask", folder / "drill.toml")[0] == 0
        assert (folder / "drill.db").exists()
        file = write_study(folder)
        assert cli("ask", file)[0] == 0
        assert json.loads(cli("status", file, "--json")[1])["pending"] == 1
    for name in ("a?b", "a%41"):
        folder = tmp_path / name
        folder.mkdir()
        code, _, err = cli("ask", write_study(folder))
        assert code == 2
        assert "use another name" in err


def test_outputs_never_take_the_place_of_the_study(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path)
    with Ledger(read_study_file(file)) as ledger:
        ledger.tell(ledger.ask().number, {"cost": 1.0, "load": -1.0})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for words in (("export", file, file), ("report", file, "-o", tmp_path / "bowl.db")):
        code, _, err = cli(*words)
        assert (code, "belongs to the study" in err) == (2, True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_escapes_of_a_rig_are_shown_not_obeyed(cli: Cli, tmp_path: Path) -> None:
    command = '["sh", "-c", "printf \'\\\\033]0;owned\\\\007\' >&2; exit 1", "{x}", "{y}"]'
    code, out, err = cli("run", write_study(tmp_path, trials=2, failures=1, command=command))
    assert code == 3
    assert "\x1b" not in out + err
    assert "\\x1b]0;owned\\x07" in out
    assert "\\x1b]0;owned\\x07" in err


def test_a_plan_for_more_trials_than_anyone_runs_is_refused(cli: Cli) -> None:
    code, _, err = cli("plan", "--trials", 30_000_000, "--failures", 3)
    assert (code, "at most 100,000 for a plan" in err) == (2, True)


def test_a_reason_that_is_no_text_is_told_shown_exported_and_reported(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path)
    assert cli("ask", file)[0] == 0
    assert cli("tell", file, 0, "--failed", "bit \udcff\x00\x1b[31m broke")[0] == 0
    assert cli("ask", file)[0] == 0
    assert cli("skip", file, 1, "--reason", "\ud800")[0] == 0
    for words in (("status",), ("status", "--json"), ("export", tmp_path / "out.csv")):
        code, out, err = cli(words[0], file, *words[1:])
        assert (code, err) == (0, "")
        assert "\x1b" not in out
    assert "bit \\udcff\\x00\\x1b[31m broke" in (tmp_path / "out.csv").read_text()
    code, _, err = cli("report", file, "-o", tmp_path / "out.html")
    assert (code, err) == (0, "")
    assert "\x1b" not in (tmp_path / "out.html").read_text()


@pytest.mark.parametrize(
    ("extra", "parameter"),
    [
        ("", "x = { choices = [" + "9" * 400 + ", 1] }"),
        ("", "x = { low = 0.0, high = 10.0, step = 1e-300 }"),
        ("", "x = { low = 0, high = " + "9" * 400 + " }"),
        ('storage = "sqlite:///' + "a" * 300 + '.db"', "x = { low = 0.0, high = 1.0 }"),
        ('storage = "sqlite:///a\\u0000.db"', "x = { low = 0.0, high = 1.0 }"),
        ('storage = "postgresql://h:abc/db"', "x = { low = 0.0, high = 1.0 }"),
    ],
)
def test_numbers_names_and_ports_that_nothing_can_hold_exit_with_2(
    cli: Cli, tmp_path: Path, extra: str, parameter: str
) -> None:
    file = tmp_path / "a.toml"
    file.write_text(f'name = "a"\nobjective = "y"\ntrials = 5\n{extra}\n[parameters]\n{parameter}\n')
    code, _, err = cli("ask", file)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"tumble: {file}: ")


@pytest.mark.parametrize("words", [("status", "a\0b"), ("export", "a.toml", "o\0"), ("init", "x\0")])
def test_a_path_with_nul_exits_with_2(cli: Cli, words: tuple[str, ...]) -> None:
    code, _, err = cli(*words)
    assert (code, "can't contain the character NUL" in err) == (2, True)


def test_status_says_of_which_suggestions_the_gain_is(tmp_path: Path) -> None:
    """The bound may be of another suggestion than the expectation."""
    config = read_study_file(write_study(tmp_path))
    found = Status(3, 5, 0, 3, 0, None, expected_gain=0.0, gain_bound=24.448)
    assert (
        "  to gain   0 expected of the trials left (latest suggestion), at most 24.448 (90 %, largest of the "
        "last five)" in show.status(found, config).split("\n")
    )


def test_a_study_that_has_such_choices_already_goes_on_and_can_be_exported(cli: Cli, tmp_path: Path) -> None:
    file = write_mill(tmp_path, '"1", 1, "auto"')
    with Ledger(read_study_file(file)) as ledger:  # as it was begun before they were refused
        ledger.tell(ledger.ask().number, {"cost": 1.0})
    assert cli("export", file, tmp_path / "mill.csv")[0] == 0
    assert cli("ask", file)[0] == 0


def test_a_spreadsheet_writes_the_texts_true_and_false_in_capitals(cli: Cli, tmp_path: Path) -> None:
    file, table = write_mill(tmp_path, '"true", "false"'), tmp_path / "old.csv"
    table.write_text("bit,cost\nTRUE,1\nFALSE,2\n")
    assert cli("import", file, table)[0] == 0
    with Ledger(read_study_file(file)) as ledger:
        assert [e.parameters["bit"] for e in ledger.entries()] == ["true", "false"]


def test_limits_that_an_export_named_are_no_part_of_why_a_trial_crashed(cli: Cli, tmp_path: Path) -> None:
    file, table = write_mill(tmp_path, '"hss", "carbide"'), tmp_path / "old.csv"
    table.write_text("bit,cost,failed,reason\nhss,,1,crash: bit broke; breaks torque <= 14 by 1\n")
    assert cli("import", file, table)[0] == 0
    with Ledger(read_study_file(file)) as ledger:
        assert [e.reading.reason for e in ledger.entries()] == ["bit broke"]
