"""Keys of the file that stand too low: what is refused, and what is a parameter all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies.test_study_file import GOOD, edit, write
from tumble.studies.errors import StudyFileError
from tumble.studies.keys import FILE
from tumble.studies.misplaced import check_no_key_is_a_fixed_parameter
from tumble.studies.schema import Wrong
from tumble.studies.study_file import read_study_file

TOO_LOW = {
    "a key of the file below the parameters": (
        edit("trials = 60\nfailures = 6\n", "trials = 60\n").replace("feed = {", "failures = 2\nfeed = {"),
        "parameters.failures: failures is a key of the file: it must stand above [parameters]; a fixed "
        "parameter of this name is written failures = { value = ... }",
    ),
    "a list of the file below the parameters": (
        edit("[constraints]", 'known = ["speed <= 900"]\n[constraints]'),
        "parameters.known: known is a key of the file: it must stand above [parameters]",
    ),
    "a key of the file below the limits, which come first": (
        'objective = "y"\ntrials = 5\n[constraints]\ny = "<= 3"\n[parameters]\nname = "a"\n',
        "parameters.name: name is a key of the file: it must stand above [constraints]",
    ),
    "a key of the file below one parameter": (
        edit("[constraints]", "[parameters.depth]\nlow = 1.0\nhigh = 2.0\nseed = 3\n[constraints]"),
        "; a key of the file such as seed stands above [parameters]",
    ),
    "a key of the file below the start": (
        GOOD + "seed = 3\n",
        "start.seed: is not a parameter; known are speed, flutes, bit, feed; a key of the file such as seed "
        "stands above [parameters]",
    ),
    "a key of the file below the limits": (
        edit("[start]", "seed = 3\n[start]"),
        "; a key of the file such as seed stands above [parameters]",
    ),
    "a key of the file below the noise": (
        GOOD + "[noise]\nseed = 3\n",
        "the results are cost, torque, temperature; a key of the file such as seed stands above [parameters]",
    ),
    "a key that must be there, and stands below the start": (
        edit("trials = 60\n", "") + "trials = 60\n",
        "trials: is missing; add it, for example: trials = 60; it stands above [parameters], and the one in "
        "[start] belongs to that table",
    ),
}


@pytest.mark.parametrize(("text", "message"), TOO_LOW.values(), ids=TOO_LOW.keys())
def test_a_key_below_a_table_is_told_to_stand_above_the_first_one(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(StudyFileError) as caught:
        read_study_file(write(tmp_path, text))
    assert message in str(caught.value)


def test_a_parameter_with_the_name_of_a_key_is_not_told_to_stand_higher(tmp_path: Path) -> None:
    for written in ("failures = 2\n", "failures = { low = 1 }\n"):
        with pytest.raises(StudyFileError) as caught:
            read_study_file(write(tmp_path, edit("[constraints]", f"{written}[constraints]")))
        assert "such as failures" not in str(caught.value)


@pytest.mark.parametrize("name", FILE)
def test_no_key_of_the_file_becomes_a_fixed_parameter(name: str) -> None:
    with pytest.raises(Wrong, match=rf"{name} is a key of the file: it must stand above \[parameters\]"):
        check_no_key_is_a_fixed_parameter({"parameters": {"x": {"low": 0.0, "high": 1.0}, name: 3}})


def test_a_password_below_the_parameters_is_not_shown(tmp_path: Path) -> None:
    text = edit("feed = {", 'storage = "postgresql://me:secret@h/db"\nfeed = {')
    with pytest.raises(StudyFileError, match="storage is a key of the file") as caught:
        read_study_file(write(tmp_path, text.replace('storage = "sqlite:///drill.db"\n', "")))
    assert "secret" not in str(caught.value)


def test_a_parameter_may_have_the_name_of_a_key(tmp_path: Path) -> None:
    extra = 'seed = { low = 1, high = 9 }\nname = { value = "oak" }\n[constraints]'
    command = GOOD.splitlines()[6] + "\n"
    text = edit("[constraints]", extra).replace(command, "").partition("[start]")[0]
    config = read_study_file(write(tmp_path, text))
    assert (config.name, config.seed, config.fixed) == ("drill", 0, {"name": "oak"})
    assert "seed" in config.space.names
