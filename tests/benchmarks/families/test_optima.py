"""Optima in files: found once, read by every process, and searched for again where the sources changed."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from benchmarks.families import classic, member, optima, search
from tumble.problems import Optimum


def never():
    raise AssertionError("the optimum was searched for again")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(optima.FOLDER, str(tmp_path / "optima"))
    return tmp_path / "optima"


def test_an_optimum_is_searched_for_once(folder):
    found = Optimum(-1.25, np.array([0.1, 1e-17]), "by hand")
    assert optima.remembered("classic", 7, lambda: found) is found
    again = optima.remembered("classic", 7, never)
    assert again.value == found.value
    assert again.x == pytest.approx(found.x, rel=0, abs=0)
    assert again.how == "by hand"
    assert [path.suffix for path in folder.iterdir()] == [".json"]


def test_without_a_folder_nothing_is_kept(monkeypatch):
    monkeypatch.delenv(optima.FOLDER, raising=False)
    found = Optimum(0.0, np.zeros(1), "by hand")
    assert optima.remembered("classic", 7, lambda: found) is found
    with pytest.raises(AssertionError):
        optima.remembered("classic", 7, never)


def test_changed_sources_search_again(folder, monkeypatch):
    optima.remembered("classic", 7, lambda: Optimum(0.0, np.zeros(1), "old"))
    monkeypatch.setattr(optima, "code_hash", lambda: "another")
    assert optima.remembered("classic", 7, lambda: Optimum(1.0, np.zeros(1), "new")).how == "new"


def test_a_member_reads_its_optimum_from_the_file(folder, monkeypatch):
    del folder
    monkeypatch.setattr(member, "best_safe", partial(search.best_safe, sample=256, starts=1))
    monkeypatch.setattr(search, "GENERATIONS", 5)
    first = member.problem_of(classic.draw(15)).optimum
    second = classic.draw(15)
    object.__setattr__(second, "solve", never)
    again = member.problem_of(second).optimum
    assert again.value == first.value
    assert again.x == pytest.approx(first.x, rel=0, abs=0)
