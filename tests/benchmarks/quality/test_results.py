"""Published lines: the same back, small, and never of two states."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.quality import results
from tumble.errors import InputError


def test_lines_come_back_as_they_were(tmp_path):
    lines: list[dict[str, Any]] = [{"key": "b", "regrets": [0.1, None]}, {"key": "a", "regrets": []}]
    path = results.publish(lines, "ours-0", tmp_path)
    assert results.published("ours-0", tmp_path) == [lines[1], lines[0]]
    assert results.publish(reversed(lines), "ours-0", tmp_path).read_bytes() == path.read_bytes()


def test_nothing_is_published_where_there_is_no_file(tmp_path):
    assert results.published("peers-10000", tmp_path) == []


def test_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "LARGEST", 10)
    with pytest.raises(InputError, match="the limit is"):
        results.publish([{"key": "a"}], "ours-0", tmp_path)


def test_two_states_of_the_code_are_refused_but_peers_may_be_older():
    ours = [{"method": "xsf", "code": "1"}, {"method": "eic", "code": "1"}]
    assert results.one_state([*ours, {"method": "optuna", "code": "0"}]) == "1"
    with pytest.raises(InputError, match="2 states of the code"):
        results.one_state([*ours, {"method": "eic", "code": "2"}])


def test_a_verdict_keeps_our_lines_apart_from_the_peers(tmp_path):
    lines = [{"key": "a", "method": "xsf", "code": "1"}, {"key": "b", "method": "tpe", "code": "0"}]
    paths = results.publish_table(lines, "verdict", 10_000, tmp_path)
    assert [path.name for path in paths] == ["ours-10000.jsonl.xz", "peers-10000.jsonl.xz"]
    assert results.published("peers-10000", tmp_path) == [lines[1]]
    (path,) = results.publish_table(lines[:1], "ablation", 0, tmp_path)
    assert path.name == "ablation-0.jsonl.xz"
    with pytest.raises(InputError, match="2 states of the code"):
        results.publish_table([*lines, {"key": "c", "method": "eic", "code": "2"}], "verdict", 0, tmp_path)
