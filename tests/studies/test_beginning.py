"""A study that is opened, or begun: what can't begin is refused at every door, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study_files import write_mill
from tumble.studies.beginning import open_or_begin
from tumble.studies.errors import NoStudy, StudyFileError
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file


@pytest.mark.parametrize("choices", ['"1", 1', '1.0, "hss", " 1"', '"True", true'])
def test_choices_that_are_written_alike_begin_no_study_and_stop_none(tmp_path: Path, choices: str) -> None:
    config = read_study_file(write_mill(tmp_path, choices))
    with pytest.raises(StudyFileError, match=r"mill\.toml: parameters\.bit: choices must be written differ"):
        open_or_begin(config)
    assert not (tmp_path / "mill.db").exists()
    Ledger(config).close()  # as it was begun before they were refused
    with open_or_begin(config) as ledger:
        assert ledger.status().trials == 0


def test_a_step_too_small_beside_the_numbers_begins_no_study(tmp_path: Path) -> None:
    path = write_mill(tmp_path, '"hss", "carbide"')
    frequency = "[parameters]\nf = { low = 2.4e9, high = 2.4835e9, step = 0.1 }\n"
    path.write_text(path.read_text().replace("[parameters]\n", frequency))
    with pytest.raises(StudyFileError, match=r"mill\.toml: parameters\.f: the step 0\.1 is too small beside"):
        open_or_begin(read_study_file(path))
    assert not (tmp_path / "mill.db").exists()


def test_what_is_only_read_or_may_not_be_created_is_not_begun(tmp_path: Path) -> None:
    config = read_study_file(write_mill(tmp_path, '"hss", "carbide"'))
    with pytest.raises(NoStudy):
        open_or_begin(config, reading=True)
    with pytest.raises(NoStudy):
        open_or_begin(config, creating=False)
    with open_or_begin(config) as ledger:
        assert ledger.ask().number == 0
