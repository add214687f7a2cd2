"""The study file: the good one is read, and every bad one gets one clear message."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

from tumble.errors import InputError
from tumble.integrations.optuna.distributions import to_distribution
from tumble.parameters import Categorical, Float, Int
from tumble.studies.errors import StudyFileError
from tumble.studies.keys import FILE
from tumble.studies.schema import Key
from tumble.studies.study_file import read_study_file

GOOD = """\
name = "drill"
objective = "cost"
trials = 60
failures = 6
on_exhausted = "safe"
storage = "sqlite:///drill.db"
command = ["python", "rig.py", "--speed", "{speed}", "--n", "{flutes}", "--bit", "{bit}", "--feed={feed}"]
timeout = 600
transient_exit_codes = [75]
retries = 3

[parameters]
speed = { low = 500.0, high = 4000.0, log = true }
flutes = { low = 2, high = 6, type = "int" }
bit = { choices = ["hss", "carbide"] }
feed = { low = 0.05, high = 0.4 }

[constraints]
torque = "<= 12"
temperature = ">= -80.5e0"

[start]
speed = 900.0
flutes = 4
bit = "carbide"
feed = 0.1
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "drill.toml"
    path.write_text(text)
    return path


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("written", "last", "said"),
    [
        (
            "{ low = 0.5, high = 4.0, step = 0.3 }",
            3.8,
            "feed ends at 3.8, because no step of 0.3 from 0.5 meets high = 4",
        ),
        ("{ low = 2, high = 9, step = 3 }", 8, "feed ends at 8, because no step of 3 from 2 meets high = 9"),
        (
            "{ low = 0.8, high = 0.95, step = 0.1 }",
            0.9,
            "feed ends at 0.9, because no step of 0.1 from 0.8 meets high = 0.95",
        ),
        ("{ low = 0.1, high = 0.4, step = 0.1 }", 0.4, None),
        ("{ low = 2, high = 9 }", 9, None),
        ("{ low = 1, high = 1000, log = true }", 1000, None),
    ],
)
def test_a_grid_ends_at_its_last_step_and_that_is_said(
    tmp_path: Path, written: str, last: float, said: str | None
) -> None:
    """Optuna warns of a range that no step divides, wherever it is made; it never sees one."""
    text = GOOD.replace("{ low = 0.05, high = 0.4 }", written).partition("[start]")[0]
    config = read_study_file(write(tmp_path, text))
    feed = config.space.parameters["feed"]
    assert isinstance(feed, Float | Int)
    assert (feed.high, config.remarks) == (last, () if said is None else (said,))
    assert to_distribution(feed).high == last  # type: ignore[attr-defined]


def test_the_example_of_the_guide_is_read_whole(tmp_path: Path) -> None:
    config = read_study_file(write(tmp_path, GOOD))
    assert (config.name, config.objective, config.maximize) == ("drill", "cost", False)
    assert (config.trials, config.failures, config.on_exhausted) == (60, 6, "safe")
    assert config.storage == f"sqlite:///{tmp_path}/drill.db"
    assert config.timeout == 600.0
    assert config.transient_exit_codes == {75}
    assert config.space.parameters == {
        "speed": Float(500.0, 4000.0, log=True),
        "flutes": Int(2, 6),
        "bit": Categorical(("hss", "carbide")),
        "feed": Float(0.05, 0.4),
    }
    assert config.starts == ({"speed": 900.0, "flutes": 4, "bit": "carbide", "feed": 0.1},)
    assert [str(limit) for limit in config.limits] == ["torque <= 12", "temperature >= -80.5"]


def test_a_limit_is_a_constraint_with_safe_at_or_below_zero(tmp_path: Path) -> None:
    config = read_study_file(write(tmp_path, GOOD))
    assert config.excesses({"torque": 13.0, "temperature": -81.0}) == {"torque": 1.0, "temperature": 0.5}
    assert config.excesses({"torque": 12.0, "cost": 1.0}) == {"torque": 0.0}


def test_what_is_not_written_has_sensible_values(tmp_path: Path) -> None:
    config = read_study_file(
        write(tmp_path, 'name = "a"\nobjective = "y"\ntrials = 5\n[parameters]\nx = {low = 0, high = 1}\n')
    )
    assert config.storage == f"sqlite:///{tmp_path}/drill.db"
    assert config.failures is None
    assert config.command is None
    assert config.limits == ()
    assert config.starts == ()
    assert config.retries == 3


def test_a_known_noise_goes_to_the_objective_and_to_both_sides_of_a_limit(tmp_path: Path) -> None:
    text = edit('"<= 12"', '"3 <= torque <= 12"') + "[noise]\ncost = 0.2\ntorque = 1\n"
    config = read_study_file(write(tmp_path, text))
    assert config.noise == {"cost": 0.2, "torque": 1.0}
    assert config.model_noise == {"value": 0.2, "torque": 1.0, "torque (low)": 1.0}
    assert read_study_file(write(tmp_path, GOOD)).model_noise == {}


def test_a_limit_on_a_result_that_is_called_value_has_a_noise_of_its_own(tmp_path: Path) -> None:
    text = edit('torque = "<= 12"', 'value = "3 <= value <= 12"') + "[noise]\n"
    both = read_study_file(write(tmp_path, text + "cost = 0.2\nvalue = 1\n"))
    assert both.model_noise == {"value": 0.2, "value (constraint)": 1.0, "value (low)": 1.0}
    assert read_study_file(write(tmp_path, text + "cost = 0.2\n")).model_noise == {"value": 0.2}
    one = read_study_file(write(tmp_path, text + "value = 1\n"))
    assert one.model_noise == {"value (constraint)": 1.0, "value (low)": 1.0}


def test_a_server_url_is_taken_as_it_is(tmp_path: Path) -> None:
    url = "postgresql+psycopg://me@host/db"
    assert read_study_file(write(tmp_path, GOOD.replace("sqlite:///drill.db", url))).storage == url


def edit(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


BAD = {
    "not toml": ("name = ", "not valid TOML"),
    "text without quotes": (
        edit('objective = "cost"', "objective = cost"),
        "not valid TOML: Invalid value (at line 2, column 13); write text in quotes, such as objective =",
    ),
    "a capital truth": (edit("retries = 3", "maximize = True"), "and true and false in small letters"),
    "an address without quotes": (
        edit('"sqlite:///drill.db"', "postgresql://me:secret@db/rig"),
        'column 11); write text in quotes, such as objective = "cost", and true and false in small letters',
    ),
    "parameters without their table": (
        edit("[parameters]\n", ""),
        "parameters: is missing; write [parameters] in a line above speed",
    ),
    "empty file": ("", "name: is missing; add it, for example: name ="),
    "no objective": (edit('objective = "cost"\n', ""), "objective: is missing"),
    "no trials": (edit("trials = 60\n", ""), "trials: is missing; add it, for example: trials = 60"),
    "no parameters": (
        GOOD[: GOOD.index("[parameters]")],
        "parameters: is missing; add it, for example: parameters.speed = { low = 500.0, high = 4000.0 }",
    ),
    "empty parameters": (
        'name = "a"\nobjective = "y"\ntrials = 5\n[parameters]\n',
        "parameters: must not be empty; write for example: speed = { low = 500.0, high = 4000.0 }",
    ),
    "a key twice": (
        edit("retries = 3\n", "retries = 3\ntrials = 50\n"),
        "not valid TOML: trials stands twice (the second is at line 11, column 12); keep one of them",
    ),
    "a key twice within a line": (
        edit("{ low = 0.05,", "{ low = 0.05, low = 0.06,"),
        "not valid TOML: low stands twice (the second is at line 16, column 32); keep one of them",
    ),
    "a table twice": (
        GOOD + "[constraints]\n",
        "the table constraints begins twice (the second is at line 27, column 13); put all under one "
        "[constraints]",
    ),
    "empty name": (edit('name = "drill"', 'name = ""'), "name: must not be empty"),
    "name of the wrong type": (
        edit('name = "drill"', "name = 3"),
        "name: must be text, not 3",
    ),
    "objective of the wrong type": (
        edit('objective = "cost"', 'objective = ["cost"]'),
        "objective: must be text",
    ),
    "objective with spaces": (
        edit('objective = "cost"', 'objective = "the cost"'),
        "can't be the name of a result",
    ),
    "trials as text": (
        edit("trials = 60", 'trials = "sixty"'),
        "trials: must be a whole number of at least 1, not 'sixty'",
    ),
    "trials as a float": (
        edit("trials = 60", "trials = 60.0"),
        "trials: must be a whole number of at least 1, not 60.0",
    ),
    "no trials at all": (
        edit("trials = 60", "trials = 0"),
        "trials: must be a whole number of at least 1, not 0",
    ),
    "negative failures": (
        edit("failures = 6", "failures = -1"),
        "failures: must be a whole number of at least 0, not -1",
    ),
    "more failures than trials": (
        edit("failures = 6", "failures = 61"),
        "failures: must be at most trials = 60",
    ),
    "failures as a boolean": (
        edit("failures = 6", "failures = true"),
        "failures: must be a whole number of at least 0, not True",
    ),
    "stop without a budget": (
        edit('failures = 6\non_exhausted = "safe"', 'on_exhausted = "stop"'),
        'on_exhausted: "stop" needs a budget',
    ),
    "stop with a budget of nothing": (
        edit('failures = 6\non_exhausted = "safe"', 'failures = 0\non_exhausted = "stop"'),
        'failures: 0 with on_exhausted = "stop" lets no trial start; write "safe" there, or failures = 1',
    ),
    "unknown end": (edit('"safe"', '"never"'), 'on_exhausted: must be "safe" or "stop", not \'never\''),
    "a required key misspelt": (
        edit("trials = 60", "trails = 60"),
        "trails: unknown key; did you mean trials?",
    ),
    "a limit with another word": (
        edit('"<= 12"', '"5 <= torqe <= 12"'),
        "the middle word must be torque, the key of the line, but '5 <= torqe <= 12' came; "
        'write for example: torque = "5 <= torque <= 12"',
    ),
    "a limit without a word": (edit('"<= 12"', '"5 <= 12"'), 'for example: torque = "5 <= torque <= 12"'),
    "a limit without a word between": (edit('"<= 12"', '"5 <= <= 12"'), ': torque = "5 <= torque <= 12"'),
    "a limit upside down": (
        edit('"<= 12"', '"12 <= torque <= 5"'),
        "the lower side must be below the higher one, and 12 is not, but '12 <= torque <= 5' came; "
        'write for example: torque = "5 <= torque <= 12"',
    ),
    "a limit of one value": (edit('"<= 12"', '"5 <= torque <= 5"'), "the two sides must differ"),
    "a limit with signs apart": (edit('"<= 12"', '"5 <= torque >= 2"'), "both signs must point the same way"),
    "a limit with its name": (edit('"<= 12"', '"torque <= 12"'), 'write for example: torque = "<= 12"'),
    "a fixed parameter with a range": (
        edit("feed = { low = 0.05,", "feed = { value = 1, low = 0.05,"),
        "parameters.feed: is fixed by value, and has low too; keep one of them",
    ),
    "a fixed parameter that is no number": (
        edit("feed = { low = 0.05, high = 0.4 }", "feed = nan"),
        "parameters.feed: a fixed value must be finite, not nan",
    ),
    "only fixed parameters": (
        'name = "a"\nobjective = "y"\ntrials = 5\n[parameters]\nx = 3\n',
        "parameters: nothing is left to search, because every parameter is fixed; give one of them a range",
    ),
    "a default outside": (
        edit("feed = { low = 0.05,", "feed = { default = 7.0, low = 0.05,"),
        "parameters.feed: parameter 'default': expected a number in [0.05, 0.4], but 7 came",
    ),
    "a start against a fixed parameter": (
        edit("feed = { low = 0.05, high = 0.4 }", "feed = 0.2"),
        "start: parameter 'feed': is fixed at 0.2, but 0.1 came; give a setting inside",
    ),
    "unknown key": (edit("failures = 6", "failure = 6"), "failure: unknown key; did you mean failures?"),
    "unknown key without a neighbour": (
        edit("failures = 6", "zzz = 6"),
        "zzz: unknown key; known keys are name",
    ),
    "unknown key of a parameter": (
        edit("low = 0.05", "lo = 0.05"),
        "parameters.feed.lo: unknown key; did you mean low?",
    ),
    "letters of a key that changed places": (
        edit("low = 0.05", "lgo = true, low = 0.05"),
        "parameters.feed.lgo: unknown key; did you mean log?",
    ),
    "a name with a letter beyond a to z": (
        edit("feed = {", "'größe' = {"),
        "parameters.größe: a name has letters from a to z, digits and _ . - only",
    ),
    "reversed bounds": (
        edit("low = 0.05, high = 0.4", "low = 0.4, high = 0.05"),
        "parameters.feed: low must be below",
    ),
    "equal bounds": (
        edit("low = 0.05, high = 0.4", "low = 0.4, high = 0.4"),
        "parameters.feed: low and high are both",
    ),
    "infinite bound": (edit("high = 0.4", "high = inf"), "parameters.feed.high: must be finite, not inf"),
    "bound as text": (edit("high = 0.4", 'high = "0.4"'), "parameters.feed.high: must be a number"),
    "no upper bound": (edit("low = 0.05, high = 0.4", "low = 0.05"), "parameters.feed: high is missing"),
    "log from zero": (
        edit("low = 500.0", "low = 0.0"),
        "parameters.speed: a logarithmic parameter needs low > 0",
    ),
    "fractional integer": (
        edit("low = 2, high = 6", "low = 2, high = 6.5"),
        "parameters.flutes: high must be a whole number",
    ),
    "step too large": (edit("high = 0.4 }", "high = 0.4, step = 5 }"), "parameters.feed: step must lie in"),
    "unknown type": (
        edit('type = "int"', 'type = "integer"'),
        'parameters.flutes.type: must be "float", "int" or',
    ),
    "one choice": (edit('["hss", "carbide"]', '["hss"]'), "parameters.bit: choices need at least two values"),
    "no choices": (
        edit('["hss", "carbide"]', "[]"),
        "but [] came: add another, or give the parameter one fixed value; write for example: { choices = [",
    ),
    "the same choice twice": (
        edit('["hss", "carbide"]', '["hss", "hss"]'),
        "parameters.bit: choices must differ from each other, but 'hss' and 'hss' are equal: drop one of "
        'them, or write them as text; write for example: { choices = ["hss", "carbide"] }',
    ),
    "choices that are no list": (
        edit('["hss", "carbide"]', '"hss"'),
        "parameters.bit.choices: must be a list, not 'hss'; write for example: bit = { choices = [\"hss\",",
    ),
    "choices that are equal": (
        edit('["hss", "carbide"]', "[1, true]"),
        "parameters.bit: choices must differ from each other, but 1 and True are equal",
    ),
    "a choice that is not a number": (
        edit('["hss", "carbide"]', "[nan, 1.0]"),
        "parameters.bit: a choice can't be nan",
    ),
    "choices and a range": (
        edit("choices =", "low = 0, choices ="),
        "parameters.bit: has both choices and a range",
    ),
    "choices with log": (
        edit("choices =", "log = true, choices ="),
        "parameters.bit: choices take no type, log or",
    ),
    "categorical without choices": (
        edit('choices = ["hss", "carbide"]', 'type = "categorical"'),
        "parameters.bit: needs choices",
    ),
    "a parameter that is a list": (
        edit("feed = { low = 0.05, high = 0.4 }", "feed = [3]"),
        "parameters.feed: must be a table such as { low = 500.0, high = 4000.0 }, or a fixed value such as",
    ),
    "a parameter's bad name": (
        edit("feed = { low", '"my feed" = { low'),
        "parameters.my feed: a name has letters from a to z",
    ),
    "the reserved name": (edit("feed = { low", "trial = { low"), "is not 'trial'; rename it"),
    "a limit without a sense": (edit('"<= 12"', '"12"'), 'constraints.torque: expected "<= number"'),
    "a limit that is a number": (
        edit('"<= 12"', "12"),
        'constraints.torque: must be text, not 12; write for example: torque = "<= 12"',
    ),
    "a limit that is not a number": (
        edit('"<= 12"', '"<= twelve"'),
        'constraints.torque: expected "<= number"',
    ),
    "the objective limited": (edit("torque =", "cost ="), "constraints.cost: is the objective too"),
    "a parameter limited": (
        edit("torque =", "speed ="),
        "constraints.speed: 'speed' is a parameter and a result",
    ),
    "empty command": (edit(GOOD.splitlines()[6], "command = []"), "command: must not be empty"),
    "command as text": (
        edit(GOOD.splitlines()[6], 'command = "rig"'),
        "command: must be a list",
    ),
    "command with an empty word": (edit('["python",', '["",'), "command: its first word is empty"),
    "unknown placeholder": (
        edit("{speed}", "{sped}"),
        "command: {sped} is not a parameter; did you mean speed?",
    ),
    "placeholder with a format": (
        edit("{speed}", "{speed:.3f}"),
        "command: {speed:.3f} is no placeholder, which is a name in braces only; write {speed}",
    ),
    "placeholder with a conversion": (edit("{feed}", "{feed!r}"), "command: {feed!r} is no placeholder"),
    "placeholder with an index": (edit("{bit}", "{bit[0]}"), "command: {bit[0]} is no placeholder"),
    "placeholder with blanks": (edit("{feed}", "{ feed }"), "command: { feed } is no placeholder, which"),
    "placeholder that is not closed": (
        edit("{feed}", "{feed"),
        "command: one brace has no partner beside feed in '--feed={feed'; write {feed}",
    ),
    "placeholder that is not opened": (edit("{feed}", "feed}"), "one brace has no partner beside feed in"),
    "placeholder with a brace too many": (edit("{feed}", "{feed}}"), "one brace has no partner beside feed"),
    "a limit of crashes": (
        edit("torque =", "crash ="),
        "constraints.crash: is the name for trials with no measurement; rename it, for example: crash_force",
    ),
    "parameter not passed on": (edit(', "--feed={feed}"', ""), "command: parameter feed is never passed on"),
    "negative timeout": (
        edit("timeout = 600", "timeout = -1"),
        "timeout: must be above 0, not -1",
    ),
    "boldness beyond 1": (
        edit("timeout = 600", "timeout = 600\nboldness = 2"),
        "boldness: must be a number from 0 to 1, not 2; write for example: boldness = 0.5",
    ),
    "boldness with the paper": (
        edit("timeout = 600", 'timeout = 600\nboldness = 0.5\nsettings = "paper"'),
        'boldness: does not go with settings = "paper", which has constants of its own; drop one of the two',
    ),
    "a gain of nothing": (
        edit("timeout = 600", "timeout = 600\nmin_gain = 0"),
        "min_gain: must be above 0, not 0; write for example: min_gain = 0.1",
    ),
    "timeout as text": (edit("timeout = 600", 'timeout = "10 min"'), "timeout: must be a number"),
    "exit code zero as transient": (
        edit("[75]", "[0]"),
        "transient_exit_codes.0: must be a whole number from 1 to 255, not 0",
    ),
    "negative retries": (
        edit("retries = 3", "retries = -2"),
        "retries: must be a whole number of at least 0",
    ),
    "a limit beyond every number": (
        edit('"<= 12"', '"<= 1e999"'),
        "constraints.torque: a limit must be finite, but '<= 1e999' came",
    ),
    "storage that is no url": (
        edit("sqlite:///drill.db", "drill.db"),
        "storage: expected a URL of sqlite, postgresql",
    ),
    "storage of a misspelt kind": (
        edit("sqlite:///drill.db", "mysqlx://foo"),
        "storage: expected a URL of sqlite, postgresql, but mysqlx://*** came; write for example: storage =",
    ),
    "storage in memory": (
        edit("sqlite:///drill.db", "sqlite:///:memory:"),
        "storage: sqlite:///:memory: keeps",
    ),
    "storage with two slashes": (
        edit("sqlite:///drill.db", "sqlite://drill.db"),
        "three slashes, then the path",
    ),
    "start outside": (
        edit("feed = 0.1\n", "feed = 9.0\n"),
        "start: parameter 'feed': expected a number in [0.05, 0.4]",
    ),
    "start incomplete": (
        edit("flutes = 4\n", ""),
        "start: flutes is missing; give a value here, or, where trials were run without it, a default under "
        "[parameters]",
    ),
    "start without two of four": (
        edit('flutes = 4\nbit = "carbide"\n', ""),
        "start: flutes, bit are missing; give a value here",
    ),
    "start with a misspelt parameter": (
        edit("feed = 0.1\n", "fed = 0.1\n"),
        "start.fed: is not a parameter; did you mean feed?",
    ),
    "start with an unknown parameter": (
        edit("feed = 0.1\n", "zzz = 0.1\n"),
        "start.zzz: is not a parameter; known are speed, flutes, bit, feed",
    ),
    "start with another choice": (
        edit('bit = "carbide"', 'bit = "wood"'),
        "start: parameter 'bit': expected one of",
    ),
    "start with a choice in other letters": (
        edit('bit = "carbide"', 'bit = "Carbide"'),
        "['hss', 'carbide'], but 'Carbide' came; did you mean carbide?",
    ),
    "a noise below 0": (GOOD + "[noise]\ncost = -0.2\n", "noise.cost: must be at least 0, not -0.2"),
    "a noise that is no number": (GOOD + "[noise]\ncost = 'loud'\n", "noise.cost: must be a number"),
    "a noise of nothing": (
        GOOD + "[noise]\ncots = 0.2\n",
        "noise.cots: 'cots' is neither the objective nor a result with a limit; did you mean cost?",
    ),
    "unknown settings": (edit("retries = 3", 'settings = "fast"'), 'settings: must be "default" or "paper"'),
    "unknown method": (edit("retries = 3", 'method = "magic"'), "method: unknown method 'magic'"),
    "a method without constraints": (
        edit("retries = 3", 'method = "ei"'),
        "method: 'ei' takes no constraints; use one of ",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_gets_one_clear_message_and_leaves_nothing(
    tmp_path: Path, text: str, message: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(StudyFileError) as caught:
        read_study_file(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value).removesuffix("\n")
    assert [p.name for p in tmp_path.iterdir()] == ["drill.toml"]


@pytest.mark.parametrize(
    "word",
    [
        "{{feed}}",
        '{"feed": 1, "other": {}}',
        "{feed: 1, bit: {bit}}",
        "{feed:1,bit:2}",
        "{ echo $1; }",
        "{",
        "${feed:-3}",
        "{other:.3f}",
    ],
)
def test_braces_of_a_command_s_own_are_left_alone(tmp_path: Path, word: str) -> None:
    text = edit('"python", "rig.py"', f"'python', 'rig.py', '{word}'")
    assert word in (read_study_file(write(tmp_path, text)).command or ())


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    assert read_study_file(write(tmp_path, "\ufeff" + GOOD)).name == "drill"


def test_a_missing_file_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.toml: there is no such file"):
        read_study_file(tmp_path / "none.toml")


def test_a_folder_and_a_binary_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyFileError, match="can't be read"):
        read_study_file(tmp_path)
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyFileError, match="UTF-8"):
        read_study_file(tmp_path / "b.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("trials = 1" + "0" * 5000, "not valid TOML: Exceeds the limit"),
        ('name = "a\\u0000b"', "must not contain the character NUL"),
        (
            'name = "a"\nobjective = "y"\ntrials = 4\nstorage = "mysql://me@h/db"',
            "a URL of sqlite, postgresql",
        ),
    ],
)
def test_what_no_reader_expects_is_refused_in_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "a.toml"
    file.write_text(text + ("\n[parameters]\nx = { low = 0.0, high = 1.0 }\n" if "mysql" in text else ""))
    with pytest.raises(StudyFileError, match=message):
        read_study_file(file)


def test_two_sided_limits_are_one_limit_and_two_constraints(tmp_path: Path) -> None:
    config = read_study_file(write(tmp_path, edit('"<= 12"', '"12 >= torque >= 5"')))
    assert str(config.limits[0]) == "5 <= torque <= 12"
    assert config.limited_names == ("torque", "temperature")
    assert config.constraint_names == ("torque", "torque (low)", "temperature")
    assert config.excesses({"torque": 3.0}) == {"torque": -9.0, "torque (low)": 2.0}
    assert config.violations({"torque": 3.0, "temperature": 0.0}) == ["breaks 5 <= torque <= 12 by 2"]
    assert config.violations({"torque": 12.5}) == ["breaks 5 <= torque <= 12 by 0.5"]
    assert not config.is_violated({"torque": 5.0})
    assert config.limits[0].predicted({"torque": [-2.0, 0.1]}) == (10.0, 0.1)


@pytest.mark.parametrize("written", ["feed = 0.2", "feed = { value = 0.2 }"])
def test_a_fixed_parameter_is_passed_on_and_not_searched(tmp_path: Path, written: str) -> None:
    text = edit("feed = { low = 0.05, high = 0.4 }", written).replace("\nfeed = 0.1\n", "\n")
    config = read_study_file(write(tmp_path, text))
    assert config.fixed == {"feed": 0.2}
    assert config.space.names == ("speed", "flutes", "bit", "feed")
    assert config.space.dim == 3


def test_several_starts_keep_their_order_and_their_numbers(tmp_path: Path) -> None:
    one = 'speed = {}\nflutes = 4\nbit = "carbide"\nfeed = 0.1\n'
    text = GOOD[: GOOD.index("[start]")] + "".join(f"[[start]]\n{one.format(v)}" for v in (900, 1100.5))
    assert [start["speed"] for start in read_study_file(write(tmp_path, text)).starts] == [900.0, 1100.5]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("{ low = 1, high = 8 }", Int(1, 8)),
        ("{ low = 500, high = 4000, log = true }", Int(500, 4000, log=True)),
        ("{ low = 0, high = 10, step = 5 }", Int(0, 10, step=5)),
        ("{ low = 0, high = 10, step = 2.5 }", Float(0.0, 10.0, step=2.5)),
        ("{ low = 1.0, high = 8 }", Float(1.0, 8.0)),
        ("{ low = 0, high = 1 }", Float(0.0, 1.0)),
        ('{ low = 1, high = 8, type = "float" }', Float(1.0, 8.0)),
        ('{ low = 0, high = 1, type = "int" }', Int(0, 1)),
    ],
)
def test_whole_bounds_make_whole_numbers(tmp_path: Path, table: str, expected: Float | Int) -> None:
    text = f'name = "a"\nobjective = "y"\ntrials = 5\n[parameters]\nx = {table}\n'
    assert read_study_file(write(tmp_path, text)).space.parameters == {"x": expected}


# -- known constraints ---------------------------------------------------------------------------------------


def with_known(folder: Path, known: str, start: str = "feed = 0.1") -> Path:
    text = GOOD.replace("retries = 3\n", f"retries = 3\nknown = {known}\n").replace(
        "feed = 0.1\n", f"{start}\n"
    )
    return write(folder, text)


def test_known_constraints_belong_to_the_space(tmp_path: Path) -> None:
    config = read_study_file(
        with_known(tmp_path, "['speed * feed <= 300', 'bit == \"carbide\" or flutes <= 4']")
    )
    assert config.space.known == ("speed * feed <= 300", 'bit == "carbide" or flutes <= 4')
    assert config.space.broken({"speed": 4000.0, "flutes": 4, "bit": "hss", "feed": 0.4}) == [
        "speed * feed <= 300"
    ]


@pytest.mark.parametrize(
    ("known", "start", "message"),
    [
        ('"speed <= 3"', "feed = 0.1", "known: must be a list, not 'speed <= 3'"),
        ("[3]", "feed = 0.1", "known.0: must be text, not 3"),
        (
            '["speed * fed <= 300"]',
            "feed = 0.1",
            "known: there is no parameter 'fed'; did you mean feed?\n    speed * fed <= 300\n"
            + "            ^^^",
        ),
        (
            '["speed <= 1e3", "feed <= 1 +"]',
            "feed = 0.1",
            "known: known constraint 2: the constraint ends too early",
        ),
        ('["speed >= 9000"]', "feed = 0.1", "known: no setting was found that keeps what is known"),
        (
            '["speed * feed <= 300"]',
            "feed = 0.4",
            'start: speed = 900, flutes = 4, bit = carbide, feed = 0.4 does not keep "speed * feed <= 300"',
        ),
    ],
)
def test_known_constraints_that_can_not_be_used_are_refused(
    tmp_path: Path, known: str, start: str, message: str
) -> None:
    with pytest.raises(StudyFileError) as refused:
        read_study_file(with_known(tmp_path, known, start))
    assert message in str(refused.value)


@pytest.mark.parametrize("key", FILE.values(), ids=FILE)
def test_the_example_of_each_key_is_toml(key: Key) -> None:
    tomllib.loads(key.example)


@pytest.mark.parametrize("name", ["parameters", "constraints", "start", "noise"])
def test_the_example_for_a_table_is_a_line_that_the_reader_takes(tmp_path: Path, name: str) -> None:
    def write_with(line: str) -> Path:
        table = "" if name == "parameters" else "[parameters]\nspeed = { low = 500.0, high = 4000.0 }\n"
        return write(tmp_path, f'name = "a"\nobjective = "cost"\ntrials = 5\n{line}\n{table}')

    with pytest.raises(StudyFileError) as caught:
        read_study_file(write_with(f"{name} = 3"))
    read_study_file(write_with(str(caught.value).partition("write for example: ")[2]))


def test_a_pipe_that_nobody_writes_to_is_refused_and_one_with_a_writer_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "drill.toml"
    os.mkfifo(pipe)
    with pytest.raises(StudyFileError, match=f"^{pipe}: a pipe that nobody writes to; name the TOML"):
        read_study_file(pipe)
    reading, writing = os.pipe()
    os.write(writing, GOOD.encode())
    os.close(writing)
    try:
        assert read_study_file(f"/dev/fd/{reading}").name == "drill"
    finally:
        os.close(reading)


def test_a_folder_with_a_question_mark_is_named_whole(tmp_path: Path) -> None:
    folder = tmp_path / "is it?"
    folder.mkdir()
    with pytest.raises(StudyFileError, match=f"storage: {re.escape(str(folder))}/drill.db: . and % mean"):
        read_study_file(write(folder, GOOD))


def test_a_file_that_is_too_large_for_a_study_is_not_read_whole(tmp_path: Path) -> None:
    """A slip of the hand may name the database, or a device that never ends."""
    database = tmp_path / "drill.db"
    database.write_bytes(bytes(2**20 + 1))
    for file in (database, Path("/dev/zero")):
        with pytest.raises(StudyFileError, match=f"^{file}: no study file is larger than 1 MB; name"):
            read_study_file(file)
