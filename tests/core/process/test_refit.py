"""When hyperparameters are learned again."""

from itertools import pairwise

from tumble.core.process.refit import is_due


def test_hyperparameters_are_learned_again_when_there_are_four_percent_more_data_however_they_came():
    one_by_one = [n for n in range(41, 130) if is_due(n, n - 1)]
    assert one_by_one[-5:] == [107, 111, 116, 120, 125]
    assert all(b - a <= 0.06 * a for a, b in pairwise(one_by_one))
    assert is_due(300, 2)  # old data that came at once
    assert all(is_due(n + 10, n) for n in range(40, 150, 10))
    assert is_due(45, 0)  # never learned
    assert not is_due(102, 101)
