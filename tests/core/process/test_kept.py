"""What is kept between suggestions, and what is forgotten."""

import numpy as np

from tumble.core.process.kept import MOST, Kept


def test_what_was_not_used_for_longest_is_forgotten():
    kept = Kept(most_bytes=2 * 800)
    kept.keep("one", np.zeros((10, 10)))
    kept.keep("two", np.zeros((10, 10)))
    assert kept.get("one") is not None
    kept.keep("three", np.zeros((10, 10)))
    assert kept.get("two") is None
    assert kept.get("one") is not None
    assert kept.get("three") is not None


def test_what_is_kept_can_not_be_changed():
    kept = Kept(most_bytes=800)
    kept.keep("one", np.zeros(10))
    found = kept.get("one")
    assert found is not None
    assert not found.flags.writeable


def test_what_is_larger_than_all_that_may_be_kept_is_not_kept():
    kept = Kept(most_bytes=800)
    kept.keep("small", np.zeros(10))
    kept.keep("one", np.zeros(101))
    assert kept.get("one") is None
    assert kept.get("small") is not None


def test_an_array_is_forgotten():
    kept = Kept(most_bytes=800)
    for key in ("one", "two"):
        kept.keep(key, np.zeros(10))
    kept.forget("one")
    kept.forget("never kept")
    assert kept.get("one") is None
    assert kept.get("two") is not None


def test_so_many_arrays_are_kept_and_no_more():
    kept = Kept(2**20)
    for number in range(MOST + 3):
        kept.keep(number, np.zeros(1))
    assert [kept.get(number) is None for number in (0, 2, 3, MOST + 2)] == [True, True, False, False]
