import pytest
from threadpoolctl import threadpool_limits

from docs import comparing

arithmetic = comparing.arithmetic.__wrapped__  # as it is, and not kept


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.setattr(comparing, "arithmetic", lambda: comparing.COMPUTED_WITH)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("cost 1.5", "cost 1.5001\n", True),
        ("cost 1.5", "cost 1.6", False),
        ("cost 1.5", "gain 1.5", False),
        ("[1. 2.]", "[1.       2.    ]", False),  # brackets stand where they stood
        ("[1.0  2.0]", "[1.00001 2.0]", True),
        ("trial 1\n...\nbest 3", "trial 1\ntrial 2\ntrial 3\nbest 3", True),
        ("trial 1\n...\nbest 3", "trial 1\ntrial 2\nworst 3", False),
        ("P(safe) = ...", "P(safe) = 97.1 %", True),
        ("-6.1e-05", "-6.1e-05", True),
        ("x0 = 3", "x0 = 3", True),
        ("", "", True),
        ("", "something", False),
    ],
)
def test_words_are_the_same_and_numbers_agree(shown, printed, same):
    assert comparing.is_shown(shown, printed) == same


def test_nothing_is_compared_where_rounding_may_lead_elsewhere(monkeypatch):
    monkeypatch.setattr(comparing, "arithmetic", lambda: "of an abacus")
    assert comparing.is_shown("cost 1.5", "cost 7")


def test_the_mark_of_the_arithmetic_does_not_depend_on_how_many_threads_are_free():
    """Or pages would be made where two threads are free, and compared nowhere where tests leave one."""
    with threadpool_limits(2):
        with_two = arithmetic()
    with threadpool_limits(1):
        assert arithmetic() == with_two
