"""What is kept between suggestions, and what is forgotten."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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
    assert not found[0].flags.writeable


def test_what_is_larger_than_all_that_may_be_kept_is_not_kept():
    kept = Kept(most_bytes=800)
    kept.keep("small", np.zeros(10))
    kept.keep("one", np.zeros(101))
    assert kept.get("one") is None
    assert kept.get("small") is not None


def test_what_belongs_together_is_kept_and_forgotten_together():
    kept = Kept(most_bytes=2 * 800)
    kept.keep("pair", np.zeros(60), np.ones(60))
    found = kept.get("pair")
    assert found is not None
    assert [array[0] for array in found] == [0.0, 1.0]
    kept.keep("other", np.zeros(100))  # with it they are more than 1600 bytes
    assert kept.get("pair") is None
    assert kept.get("other") is not None


def test_an_entry_that_is_kept_again_is_replaced():
    kept = Kept(most_bytes=1000)
    for value in (0.0, 1.0):
        kept.keep("one", np.full(100, value))
    found = kept.get("one")
    assert found is not None
    assert found[0][0] == 1.0


def test_so_many_entries_are_kept_and_no_more():
    kept = Kept(2**20)
    for number in range(MOST + 3):
        kept.keep(number, np.zeros(1))
    assert [kept.get(number) is None for number in (0, 2, 3, MOST + 2)] == [True, True, False, False]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 60)), max_size=40))
def test_whatever_is_kept_and_replaced_no_more_than_the_most_is_kept_and_the_latest_always(entries):
    kept, latest = Kept(most_bytes=800), dict[int, int]()
    for key, length in entries:
        kept.keep(key, np.zeros(length))
        latest.pop(key, None)
        latest[key] = length
        while 8 * sum(latest.values()) > 800:
            latest.pop(next(iter(latest)))
        sizes = {k: None if (found := kept.get(k)) is None else len(found[0]) for k in latest}
        assert sizes == latest  # looked up in their order, so that the order stays
