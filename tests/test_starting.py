"""Whether a trial may start; the doors are tested in test_optimizer.py."""

import pytest

from tumble import BudgetExhausted, BudgetReserved, Trial, TrialsExhausted
from tumble.starting import check_may_start

SAFE = Trial(0, None, (0.5,), "told", value=1.0)
FAILED = Trial(1, None, (0.5,), "told", crashed=True)
IN_FLIGHT = Trial(2, None, (0.5,))


@pytest.mark.parametrize(
    ("trials", "allowed", "end", "error", "said"),
    [
        ([SAFE, FAILED, IN_FLIGHT], 3, "safe", TrialsExhausted, "all 3 trials are used"),
        ([SAFE, FAILED], 1, "stop", BudgetExhausted, "1 of 1 failures are spent"),
        ([SAFE, IN_FLIGHT], 1, "stop", BudgetReserved, "1 of 1 failures left, and 1 trial in flight"),
        ([SAFE], 0, "stop", BudgetExhausted, "lets no trial start"),
    ],
)
def test_what_stands_against_another_trial_is_said(trials, allowed, end, error, said):
    with pytest.raises(error, match=said):
        check_may_start(trials, 3, allowed, end)


@pytest.mark.parametrize(("allowed", "end"), [(1, "safe"), (2, "stop")])
def test_a_trial_may_start_where_nothing_stands_against_it(allowed, end):
    check_may_start([SAFE, FAILED], 3, allowed, end)
