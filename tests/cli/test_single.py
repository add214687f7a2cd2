"""`tumble try`, `tumble ask -n`, `tumble skip --never` and `tumble confirm`: one trial, as one likes it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forked import Forked, wait_for
from tests.study_files import write_study
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

Cli = Callable[..., tuple[int, str, str]]


def test_several_are_asked_for_and_fewer_are_handed_out_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=4, command="")
    code, out, err = cli("ask", file, "-n", 3, "--json")
    assert (code, err) == (0, "")
    assert [asked["trial"] for asked in json.loads(out)] == [0, 1, 2]
    code, out, err = cli("ask", file, "-n", 2)
    assert code == 0
    assert "trial 3" in out
    assert err.startswith(
        "tumble: 1 of 2 trials may start now: 4 of 4 trials are told or in flight: trial 0, by hand "
    )
    code, out, err = cli("ask", file, "-n", 2, "--json")
    assert (code, out) == (4, "")
    assert cli("ask", file, "-n", 0)[0] == 2


def test_a_hard_cap_holds_for_several_at_once(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, failures=2, command="", extra='on_exhausted = "stop"')
    code, out, err = cli("ask", file, "-n", 4, "--json")
    assert (code, len(json.loads(out))) == (0, 2)
    assert "2 of 4 trials may start now: 2 failures are left and 2 trials in flight may use every one" in err
    code, _, err = cli("try", file, "x=0.5", "y=0.5")
    assert (code, "tell or skip one of those first" in err) == (4, True)


def test_a_setting_of_ones_own_is_told_like_any_other(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=3, command="")
    code, out, _ = cli("try", file, "x=0.5", "y=0.25")
    assert (code, "A setting of your own; nothing is known of it yet" in out) == (0, True)
    assert cli("tell", file, 0, "cost=1.5", "load=-0.3")[0] == 0
    code, out, _ = cli("try", file, "y=0.25", "x=0.55", "--json")
    asked = json.loads(out)
    assert (code, asked["mode"], asked["rho"], asked["parameters"]) == (
        0,
        "try",
        None,
        {"x": 0.55, "y": 0.25},
    )
    assert 0.0 < asked["p_safe"] <= 1.0
    assert "P(safe) > 99.99 %" in asked["why"] or "P(safe) = " in asked["why"]
    assert cli("tell", file, 1, "cost=1.4", "load=-0.2")[0] == 0
    assert cli("ask", file)[0] == 0
    assert cli("try", file, "x=0.5", "y=0.5")[0] == 4
    assert [e.decision["mode"] for e in Ledger(read_study_file(file)).entries()][:2] == ["try", "try"]


def test_a_setting_of_ones_own_is_run_at_once(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=3)
    code, out, _ = cli("try", file, "x=0.5", "y=0.25", "--run", "--json")
    assert (code, json.loads(out)["outcome"]) == (0, "safe")
    code, out, _ = cli("try", file, "x=0.9", "y=0.9", "--run")
    assert (code, "failed" in out, "(breaks load <= 0 by 0.6)" in out) == (0, True, True)


def test_a_rig_that_says_nothing_exits_with_3(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command='["echo", "no json", "{x}", "{y}"]')
    code, _, err = cli("try", file, "x=0.5", "y=0.25", "--run")
    assert code == 3
    assert "--- its output ---\nno json 0.5 0.25" in err
    assert Ledger(read_study_file(file)).status().trials == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x=0.5"], "y is missing; name every parameter: x=... y=..."),
        (["x=0.5", "y=0.5", "zz=1"], "unknown parameter 'zz'; known are x, y"),
        (["x=0.5", "Y=0.5"], "unknown parameter 'Y'; did you mean y?"),
        (["x=0.5", "y=1.5"], "parameter 'y': expected a number in [0, 1], but 1.5 came"),
        (["x=0.5", "y=fast"], "y must be a finite number, but 'fast' came"),
        (["x=0.5", "y=nan"], "y must be a finite number, but 'nan' came"),
        (["x=0.5", "y"], "expected name=value such as speed=1000, but 'y' came"),
        (["x=0.5", "x=0.6", "y=0.1"], "x is given twice: 0.5 and 0.6; give it once"),
        (
            ["x=0.5", "y=0.5", "--run"],
            "there is no command for --run; leave it out, run it by hand",
        ),
    ],
)
def test_a_setting_that_is_none_is_refused_and_nothing_is_stored(
    cli: Cli, tmp_path: Path, words: list[str], message: str
) -> None:
    file = write_study(tmp_path, command="")
    cli("ask", file)
    code, _, err = cli("try", file, *words)
    assert (code, message in err) == (2, True), err
    assert len(Ledger(read_study_file(file)).entries()) == 1


def test_never_teaches_and_is_not_billed(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, trials=3, command="")
    cli("ask", file)
    code, out, _ = cli("skip", file, 0, "--never", "--reason", "it would boil")
    assert (code, "never" in out, "(it would boil)" in out) == (0, True, True)
    status = json.loads(cli("status", file, "--json")[1])
    assert (status["trials"], status["failures"], status["trials_left"], status["never"]) == (0, 0, 3, 1)
    assert "never     1 setting is never to be tried" in cli("status", file)[1]
    with Ledger(read_study_file(file)) as ledger:
        never = ledger.optimizer().trials[0]
        assert (never.crashed, never.billed) == (True, False)
        assert ledger.ask().x != ledger.entry(0).parameters  # not the start again
    code, _, err = cli("skip", file, 0)
    assert (code, "trial 0 is over already (never)" in err) == (2, True)


def test_a_command_that_is_misspelt_is_named(cli: Cli) -> None:
    code, _, err = cli("aks", "drill.toml")
    assert (code, "there is no command 'aks'; did you mean ask?" in err) == (2, True)


def test_ctrl_c_in_any_command_exits_with_130(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Ledger) -> None:
        raise KeyboardInterrupt

    file = write_study(tmp_path, command="")
    monkeypatch.setattr(Ledger, "ask", interrupted)
    code, _, err = cli("ask", file)
    assert (code, err.strip()) == (130, "tumble: stopped; run it again to go on")


def test_never_holds_also_where_everything_else_was_tried(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    head = 'name = "a"\nobjective = "cost"\ntrials = 9\nfailures = 2\n'
    file.write_text(head + '[parameters]\nbit = { choices = ["a", "b"] }\n')
    cli("try", file, "bit=a")
    cli("skip", file, 0, "--never")
    cli("ask", file)
    cli("tell", file, 1, "cost=1.0")
    settings = set()
    for number in range(2, 5):
        code, out, err = cli("ask", file, "--json")
        if code == 0:
            settings.add(json.loads(out)["parameters"]["bit"])
            cli("tell", file, number, "cost=1.0")
        else:
            assert (code, "skipped with --never" in err) == (4, True)
    assert settings <= {"b"}


def test_after_one_crash_of_one_p_safe_is_low_and_said_everywhere(cli: Cli, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="", start=False)
    cli("ask", file)
    cli("tell", file, 0, "--failed", "fell")
    asked = json.loads(cli("ask", file, "--json")[1])
    assert 0.0 < asked["p_safe"] < 0.6
    assert f"{100 * asked['p_safe']:.3g} %" in asked["why"]
    assert "no value was seen yet" in asked["why"]
    out = cli("tell", file, 1, "cost=1.0", "load=-0.5")[1]
    assert f"{100 * asked['p_safe']:.2f} %" in out.splitlines()[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_command_of_one_trial_that_is_ended_ends_its_rig(tmp_path: Path, number: signal.Signals) -> None:
    file = write_study(tmp_path, seconds=60.0)
    (tmp_path / "rig.py").write_text(
        "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    )
    process = Forked("try", file, "x=0.5", "y=0.5", "--run")
    pid = tmp_path / "pid"
    wait_for(lambda: pid.exists() and pid.read_text() != "")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (130, False)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
