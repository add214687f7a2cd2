"""Damaged input ends in a clean error or a right reading; a sample of what the command tries."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks import mutations
from benchmarks.mutations import Subject


@pytest.mark.parametrize("make", mutations.SUBJECTS)
def test_damaged_input_ends_in_a_clean_error_or_a_right_reading(make, tmp_path: Path) -> None:
    found = mutations.run(make(tmp_path), range(200))
    assert found.failures == []
    assert found.error + found.read == found.tried == 200
    assert min(found.error, found.read) > 5  # the damage is neither too great nor too small


@pytest.mark.parametrize("make", mutations.SUBJECTS)
def test_what_is_not_damaged_is_read(make, tmp_path: Path) -> None:
    subject = make(tmp_path)
    readings = [subject.read(example) for example in subject.examples]
    transient = subject.name == "rig output"  # one of its examples ends with a code for that
    mysql = subject.name == "storage URL"  # which is refused
    repeated = 6 * (subject.name == "HTTP request")  # of trials that are told, skipped or void by then
    assert readings.count("read") == len(readings) - transient - mysql - repeated


def test_the_same_number_makes_the_same_mutation(tmp_path: Path) -> None:
    subject = mutations.csv_files(tmp_path)
    one, two = (subject.mutate(subject.examples[0], random.Random("0:7")) for _ in range(2))
    assert one == two


def test_a_failure_is_shown_with_its_number_and_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(data: bytes) -> mutations.Reading:
        if data == b"a":
            return "read"
        raise KeyError(data)

    subject = Subject("letter", [b"a"], lambda data, rng: rng.choice((b"a", b"b")), read)
    monkeypatch.setattr(mutations, "SUBJECTS", (lambda folder: subject,))
    assert mutations.main(["--count", "20"]) == 1
    out, err = capsys.readouterr()
    assert "| letter |    20 |" in out
    assert err.startswith("letter ")
    assert "KeyError" in err
    monkeypatch.setattr(mutations, "SUBJECTS", ())
    assert mutations.main(["--count", "20"]) == 0
