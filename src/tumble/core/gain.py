"""What the trials that are left can still bring: the gain to be expected, and a bound of it.

The gain is how far the best safe value will fall until the last trial. With k trials left after n, and with
`fall`, how far the best safe value fell in the latest m = n / 4 trials, the expected gain is

    k / (k + n) mean(best - f*)  +  min(k / m, 1) fall

The first term is what the processes see. Each sample of the lowest safe value f* is a future, in which
best - f* is to be had, and never less than 0. A search finds the share k / (k + n) of it on average: most of
what is easy to find was found before. The second term is what the processes do not see, because they are too
sure, or the way down is longer than the points that they are asked about: a search that still falls goes on
to fall, as far as lately, or less with fewer trials left.

The gain of one run is anything from none to several times that. So the bound is MARGIN times the expected
gain, and NOISE standard deviations of the noise: the best of many measured values falls by chance alone. Both
constants and the quarter were chosen on tuning seeds; `python -m benchmarks.gain` measures what they are
worth.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Array

MARGIN = 6.0
NOISE = 2.0
LATEST = 5  # suggestions; a search says the largest of their bounds, because a single one may dip


@dataclass(frozen=True)
class Gain:
    """What the trials left bring, in the user's units.

    Parameters
    ----------
    expected
        How far the best safe value is expected to fall.
    bound
        How far it falls at most, with a probability of 90 %.
    """

    expected: float
    bound: float


def is_too_little(bound: float | None, least: float | None) -> bool:
    """Whether a `bound` of the gain is known and lies below `least`, where one is asked for."""
    return bound is not None and least is not None and bound < least


def latest_trials(told: int) -> int:
    """m, how many of the `told` trials are the latest ones: a quarter of them, and at least one."""
    return max(told // 4, 1)


def recent_fall(values: Array) -> float:
    """How far the best safe value fell in the latest trials.

    Parameters
    ----------
    values : (N,)
        The value of each trial in their order, one of them finite at least; +inf where it was not safe. Where
        none before the latest was safe, the first safe value stands for them.
    """
    known = np.flatnonzero(np.isfinite(values))
    before = values[: max(len(values) - latest_trials(len(values)), known[0] + 1)]
    return float(before.min() - values.min())


def gain(
    best: float, minima: Array, noise: float, trials_left: int, told: int, fall: float = 0.0
) -> Gain:  # fmt: skip
    """The gain of the trials left.

    Parameters
    ----------
    best
        The best safe value so far, in the user's units.
    minima : (S,)
        Samples of the lowest safe value, in the user's units; +inf where nothing is safe.
    noise
        Standard deviation of the noise of a value, in the user's units.
    trials_left
        k, how many trials are left.
    told
        n, how many trials are known, at least one.
    fall
        How far the best safe value fell in the latest trials.

    Returns
    -------
    Gain
        Both numbers are 0 where no trial is left.

    Examples
    --------
    >>> gain(5.0, np.array([5.5, 4.0, np.inf, 4.0]), noise=0.0, trials_left=10, told=10, fall=0.5)
    Gain(expected=0.75, bound=4.5)
    """
    if trials_left <= 0:
        return Gain(0.0, 0.0)
    seen = trials_left / (trials_left + told) * float(np.mean(np.maximum(best - minima, 0.0)))
    unseen = min(trials_left / latest_trials(told), 1.0) * fall
    return Gain(seen + unseen, MARGIN * (seen + unseen) + NOISE * noise)
