"""Running a command: what it may say, and what is made of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tumble.parameters import Choice
from tumble.studies import processes, rig
from tumble.studies.config import StudyConfig
from tumble.studies.study_file import read_study_file

PYTHON = sys.executable


def study(folder: Path, *command: str, extra: str = "") -> StudyConfig:
    words = ", ".join("'''" + word + "'''" for word in command)
    text = f"""
name = "a"
objective = "cost"
trials = 5
command = [{words}]
transient_exit_codes = [75]
{extra}
[parameters]
x = {{ low = 0.0, high = 1.0 }}
word = {{ choices = ["plain", "; rm -rf /", "$(id)", "{{x}}", "-", "a b"] }}
[constraints]
torque = "<= 12"
"""
    path = folder / "a.toml"
    path.write_text(text)
    return read_study_file(path)


def script(folder: Path, code: str, extra: str = "") -> StudyConfig:
    return study(folder, PYTHON, "-c", code, "{x}", "{word}", extra=extra)


SETTING: dict[str, Choice] = {"x": 0.25, "word": "plain"}


def test_the_last_line_of_the_output_is_the_result(tmp_path: Path) -> None:
    code = "import json, sys; print('hi'); print(json.dumps({'cost': float(sys.argv[1]), 'torque': 3}))"
    code += "; print()"
    assert rig.run(script(tmp_path, code), SETTING, 0) == rig.Measured({"cost": 0.25, "torque": 3.0})


@pytest.mark.parametrize("word", ["plain", "; rm -rf /", "$(id)", "{x}", "-", "a b"])
def test_a_parameter_reaches_the_command_as_one_word_whatever_it_holds(tmp_path: Path, word: str) -> None:
    code = "import sys; open('seen', 'w').write(sys.argv[2]); print('{\"cost\": 1, \"torque\": 2}')"
    verdict = rig.run(script(tmp_path, code), {"x": 0.25, "word": word}, 0)
    assert verdict == rig.Measured({"cost": 1.0, "torque": 2.0})
    assert (tmp_path / "seen").read_text() == word


def test_placeholders_inside_a_word_are_replaced_and_other_braces_left() -> None:
    words = rig.command_line(("rig", "--x={x}:{trial}", '{"a": 1}'), {"x": True}, 7)
    assert words == ["rig", "--x=true:7", '{"a": 1}']


def test_floats_are_passed_to_the_last_digit() -> None:
    assert rig.command_line(("{x}",), {"x": 0.1 + 0.2}, 0) == ["0.30000000000000004"]


def test_the_setting_stands_in_the_environment_and_the_folder_is_the_files(tmp_path: Path) -> None:
    code = (
        "import os, json; p = json.loads(os.environ['TUMBLE_PARAMETERS']); assert os.path.exists('a.toml');"
        "print(json.dumps({'cost': p['x'], 'torque': int(os.environ['TUMBLE_TRIAL'])}))"
    )
    assert rig.run(script(tmp_path, code), SETTING, 9) == rig.Measured({"cost": 0.25, "torque": 9.0})


def test_another_exit_code_is_a_failure_that_may_carry_what_was_measured(tmp_path: Path) -> None:
    code = 'import sys; print(\'{"torque": 14.5, "cost": 3}\'); sys.exit(4)'
    assert rig.run(script(tmp_path, code), SETTING, 0) == rig.Crashed(
        "exit code 4", {"torque": 14.5, "cost": 3.0}
    )


def test_a_transient_exit_code_is_no_failure(tmp_path: Path) -> None:
    assert rig.run(script(tmp_path, "exit(75)"), SETTING, 0) == rig.Transient("exit code 75")


def test_the_last_line_of_the_error_stream_is_part_of_the_reason(tmp_path: Path) -> None:
    code = "import sys; print('first\\nbit broke\\n', file=sys.stderr); exit({code})"
    assert rig.run(script(tmp_path, code.format(code=4)), SETTING, 0) == rig.Crashed(
        "exit code 4: bit broke", {}, "first\nbit broke\n\n"
    )
    assert rig.run(script(tmp_path, code.format(code=75)), SETTING, 0) == rig.Transient(
        "exit code 75: bit broke", "first\nbit broke\n\n"
    )
    long = rig.run(script(tmp_path, "import sys; sys.exit('x' * 9999)"), SETTING, 0)
    assert isinstance(long, rig.Crashed)
    assert (len(long.reason), len(long.output)) == (len("exit code 1: ") + rig.LAST, rig.TAIL)


def test_a_signal_is_a_failure_with_its_name(tmp_path: Path) -> None:
    code = "import os; os.kill(os.getpid(), 11)"
    assert rig.run(script(tmp_path, code), SETTING, 0) == rig.Crashed("ended by signal 11 (SIGSEGV)")


def test_a_value_that_is_not_finite_is_a_failure(tmp_path: Path) -> None:
    code = 'print(\'{"cost": NaN, "torque": 2}\')'
    assert rig.run(script(tmp_path, code), SETTING, 0) == rig.Crashed("returned nan", {"torque": 2.0})


def test_a_value_beyond_1e300_is_a_failure_too(tmp_path: Path) -> None:
    code = 'print(\'{"cost": 1e301, "torque": 2}\')'
    assert rig.run(script(tmp_path, code), SETTING, 0) == rig.Crashed("returned 1e+301", {"torque": 2.0})


@pytest.mark.parametrize(
    ("line", "reason", "kept"),
    [
        ('{"cost": 1, "torque": NaN}', "returned nan as torque", {"cost": 1.0}),
        ("cost=1 torque=-inf", "returned -inf as torque", {"cost": 1.0}),
        ('{"cost": 1, "torque": 1e301}', "returned 1e+301 as torque", {"cost": 1.0}),
        ('{"cost": NaN, "torque": NaN}', "returned nan", {}),
    ],
)
def test_a_limited_result_that_is_not_finite_is_a_failure_as_in_minimize(
    tmp_path: Path, line: str, reason: str, kept: dict[str, float]
) -> None:
    assert rig.judge(0, line, script(tmp_path, "")) == rig.Crashed(reason, kept)


def test_running_too_long_is_a_failure_and_ends_the_command_with_its_children(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']);"
        "print(p.pid, file=open('pid', 'w'), flush=True);"
        "print('{\"torque\": 1}', flush=True); time.sleep(60)"
    )
    verdict = rig.run(script(tmp_path, code, "timeout = 1.0"), SETTING, 0, beat_seconds=0.1)
    assert verdict == rig.Crashed("ran longer than 1 s", {"torque": 1.0})
    child = int((tmp_path / "pid").read_text())
    stat = Path(f"/proc/{child}/stat")
    end = time.monotonic() + 10.0
    while stat.exists() and stat.read_text().split()[2] not in "ZX":  # killed, and perhaps not gone yet
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "",
            'there was no output; its last line must be JSON like {"cost": 1.5, "torque": 1.5}, or cost=1.5',
        ),
        (
            "cost=3 torque=0,2",
            "'torque' in the last line of the output must be a number, but is '0,2'; write",
        ),
        ("cost=3,5; torque=1", "'cost' in the last line of the output must be a number, but is '3,5'; write"),
        ('{"cost": "3,5", "torque": 1}', "must be a number, but is '3,5'; write 3.5"),
        ("3.2", "must be JSON like"),
        ("cost=3", "lacks 'torque'; expected JSON like"),
        ("cost 3", "must be JSON like"),
        ('{"cost": 1}', "lacks 'torque'"),
        ('{"torque": 1}', "lacks 'cost'"),
        (
            '{"cost": "low", "torque": 1}',
            "'cost' in the last line of the output must be a number, but is 'low'",
        ),
        ("cost=1 torque=1_000", "'torque' in the last line of the output must be a number, but is '1_000'"),
        ('{"cost": true, "torque": 1}', "must be a number, but is True"),
        ('{"cost": 1, "torque": null}', "'torque' in the last line of the output must be a number"),
    ],
)
def test_an_unusable_last_line_is_nobodys_failure_and_is_shown(
    tmp_path: Path, line: str, message: str
) -> None:
    verdict = rig.run(
        script(tmp_path, f"import sys; print({line!r}); sys.stderr.write('warned')"), SETTING, 0
    )
    assert isinstance(verdict, rig.Unusable)
    assert message in verdict.reason
    assert line in verdict.output
    assert "warned" in verdict.output


def test_a_command_that_is_not_there_is_unusable(tmp_path: Path) -> None:
    verdict = rig.run(study(tmp_path, "no-such-program", "{x}", "{word}"), SETTING, 0)
    assert isinstance(verdict, rig.Unusable)
    assert "'no-such-program' can't be started: No such file" in verdict.reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "print('cost=1')",
            "Exec format error; if it is a script, begin it with a line such as #!/usr/bin/env python3",
        ),
        ("", 'or name the program that reads it first: command = ["python3", "rig.py", ...]'),
        (
            "#!/no/such/python\n",
            "there is no such program as its first line names, '#!/no/such/python'; correct that line",
        ),
        (
            "#!/bin/sh\r\n",
            r"'#!/bin/sh\r', where the end of a line as Windows writes it counts; correct that line",
        ),
    ],
)
def test_of_a_script_that_cannot_be_started_its_first_line_is_said(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "rig.py"
    file.write_bytes(text.encode())
    file.chmod(0o755)
    verdict = rig.run(study(tmp_path, "./rig.py", "{x}", "{word}"), SETTING, 0)
    assert isinstance(verdict, rig.Unusable)
    assert message in verdict.reason


@pytest.mark.parametrize(
    "command",
    [
        ("./{word}", "{x}"),
        (PYTHON, "-c", "import rig; rig.run()", "{x}", "{word}"),
        (PYTHON, "-m", "rig", "{x}", "{word}", "out.py"),
        (PYTHON, "{word}.py", "{x}"),
        (PYTHON, "models/{word}.py", "{x}"),
        ("sh", "-c", "train.sh", "{x}", "{word}"),
        (PYTHON, "-m", "rig.m", "{x}", "{word}"),
        ("echo", "no.py", "{x}", "{word}"),
    ],
)
def test_what_only_a_trial_can_tell_is_not_refused(tmp_path: Path, command: tuple[str, ...]) -> None:
    rig.check(study(tmp_path, *command))


def test_the_heart_beats_while_the_command_runs(tmp_path: Path) -> None:
    beats: list[int] = []
    code = 'import time; time.sleep(0.5); print(\'{"cost": 1, "torque": 2}\')'
    rig.run(script(tmp_path, code), SETTING, 0, beat=lambda: beats.append(1), beat_seconds=0.05)
    assert len(beats) >= 2


def test_a_runner_that_gives_up_ends_the_command(tmp_path: Path) -> None:
    def give_up() -> None:
        if (tmp_path / "pid").exists():
            raise KeyboardInterrupt

    code = "import os, time; print(os.getpid(), file=open('pid', 'w'), flush=True); time.sleep(60)"
    with pytest.raises(KeyboardInterrupt):
        rig.run(script(tmp_path, code), SETTING, 0, beat=give_up, beat_seconds=0.3)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_command_that_ignores_the_polite_signal_is_ended_all_the_same(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.2)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    verdict = rig.run(script(tmp_path, code, "timeout = 0.5"), SETTING, 0, beat_seconds=0.1)
    assert verdict == rig.Crashed("ran longer than 0.5 s")


def test_an_unknown_signal_still_has_a_number() -> None:
    assert rig._signal_name(signal.SIGKILL) == "SIGKILL"
    assert rig._signal_name(200) == "unknown"


@pytest.mark.parametrize(
    "extra", ["NaN", "Infinity", "-Infinity", "1" + "0" * 400, "[" * 100_000, '"text"', "null"]
)
def test_an_odd_extra_in_the_last_line_is_left_out(tmp_path: Path, extra: str) -> None:
    """What the study file does not ask for can't stop a study."""
    config = script(tmp_path, "")
    closed = extra + "]" * extra.count("[")
    verdict = rig.judge(0, f'{{"cost": 1, "torque": 2, "extra": {closed}}}\n', config)
    if "[" in extra:  # no reader of JSON takes so deep a table
        assert isinstance(verdict, rig.Unusable)
    else:
        assert verdict == rig.Measured({"cost": 1.0, "torque": 2.0})


@pytest.mark.parametrize("cost", ["1" + "0" * 400, "Infinity", "NaN"])
def test_an_objective_beyond_every_number_is_a_crash(tmp_path: Path, cost: str) -> None:
    verdict = rig.judge(0, f'{{"cost": {cost}, "torque": 2}}', script(tmp_path, ""))
    assert isinstance(verdict, rig.Crashed)
    assert verdict.results == {"torque": 2.0}


@pytest.mark.parametrize("name", ["\\ud800", "\\u001b[2J", "\\u0000", "a\\nb", "n" * 201])
def test_an_extra_whose_name_cannot_be_shown_is_left_out(tmp_path: Path, name: str) -> None:
    verdict = rig.judge(0, f'{{"cost": 1, "torque": 2, "{name}": 3, "power": 4}}', script(tmp_path, ""))
    assert verdict == rig.Measured({"cost": 1.0, "torque": 2.0, "power": 4.0})


def test_only_ends_of_lines_part_the_output(tmp_path: Path) -> None:
    config = script(tmp_path, "")
    text = 'half\r\n50 %\r{"cost": 1, "torque": 2, "note": "a\u2028b\x85c"}\r\n\n'
    assert rig.judge(0, text, config) == rig.Measured({"cost": 1.0, "torque": 2.0})


def test_a_result_that_is_no_number_is_quoted_in_short(tmp_path: Path) -> None:
    long = "x" * 500_000
    verdict = rig.judge(0, f'{{"cost": 1, "torque": "{long}"}}', script(tmp_path, ""))
    assert isinstance(verdict, rig.Unusable)
    assert len(verdict.reason) < 200


@pytest.mark.parametrize(
    "line",
    [b"\xff\xfe\x00", b"{" * 3_000_000, b'{"cost": 1, "torque": ' + b"9" * 5000 + b"}", b"\xed\xa0\x80"],
)
def test_output_that_no_one_can_read_is_unusable_and_the_next_trial_runs(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "line").write_bytes(line)
    verdict = rig.run(
        script(tmp_path, "import sys; sys.stdout.buffer.write(open('line', 'rb').read())"), SETTING, 0
    )
    assert isinstance(verdict, rig.Unusable)
    assert len(verdict.output) <= rig.TAIL


@pytest.mark.parametrize("line", ["z" * 2**20, "cost=1 torque=2 " + "z" * 2**20, "cost=1,x" * 2**17])
def test_a_last_line_of_a_million_letters_is_read_to_its_end(tmp_path: Path, line: str) -> None:
    """In a moment: the search for a decimal comma took hours."""
    verdict = rig.judge(0, line, script(tmp_path, ""))
    assert isinstance(verdict, rig.Unusable)
    assert verdict.reason.startswith("the last line of the output must be JSON")


def test_the_output_of_a_talkative_rig_costs_no_memory(tmp_path: Path) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = """
import sys
for _ in range(200): sys.stdout.buffer.write(b"x" * 2**20)
print(); print('{"cost": 1, "torque": 2}')
"""
    assert rig.run(script(tmp_path, code), SETTING, 0) == rig.Measured({"cost": 1.0, "torque": 2.0})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024  # KiB


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("cost=3.1 torque=-0.5", {}),
        ("cost=3.1, torque=-0.5, wear=0.25", {"wear": 0.25}),
        ("cost=3.1;torque=-0.5;state=ok", {}),
        ('{"cost": 3.1, "torque": -0.5, "wear": 0.25, "state": "ok"}', {"wear": 0.25}),
    ],
)
def test_results_are_json_or_name_and_value_and_more_of_them_are_kept(
    tmp_path: Path, line: str, extra: dict[str, float]
) -> None:
    config = study(tmp_path, "true")
    told = {"cost": 3.1, "torque": -0.5} | extra
    assert rig.judge(0, f"chatter\n{line}\n", config) == rig.Measured(told)
    assert rig.judge(1, f"{line}\n", config) == rig.Crashed("exit code 1", told)


@pytest.mark.parametrize("line", ['{"cost": 1, "torque": 9, "torque": 2}', "cost=1 torque=9 torque=2"])
def test_a_result_that_stands_twice_is_no_number(tmp_path: Path, line: str) -> None:
    config = script(tmp_path, "")
    verdict = rig.judge(0, line, config)
    assert isinstance(verdict, rig.Unusable)
    assert verdict.reason == "'torque' is given twice in the last line of the output; print it once"
    assert rig.judge(1, line, config) == rig.Crashed("exit code 1", {"cost": 1.0})
