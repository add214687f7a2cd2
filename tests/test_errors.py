"""The tree of exceptions."""

import pytest

import tumble


def test_there_is_one_root_and_input_errors_are_value_errors():
    assert issubclass(tumble.InputError, tumble.TumbleError)
    assert issubclass(tumble.InputError, ValueError)
    assert issubclass(tumble.TrialsExhausted, tumble.TumbleError)
    assert issubclass(tumble.BudgetExhausted, tumble.TumbleError)
    assert issubclass(tumble.BudgetReserved, tumble.BudgetExhausted)
    assert not issubclass(tumble.TrialsExhausted, tumble.BudgetExhausted)


def test_a_failure_is_the_user_s_and_stands_beside_the_tree():
    assert not issubclass(tumble.Failure, tumble.TumbleError)
    failure = tumble.Failure("bit broke", constraints=[1.0])
    assert (str(failure), failure.reason, failure.constraints) == ("bit broke", "bit broke", [1.0])
    assert (tumble.Failure().reason, tumble.Failure().constraints) == ("failed", None)


def test_everything_that_tumble_raises_can_be_caught_at_the_root():
    opt = tumble.Optimizer([(0.0, 1.0)], 1, seed=0)
    opt.ask()
    for attempt in (opt.ask, lambda: opt.tell(5, 1.0), lambda: tumble.Optimizer([])):
        with pytest.raises(tumble.TumbleError):
            attempt()
