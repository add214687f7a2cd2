"""What the trials that are left can still bring: the gain to be expected, and a bound of it.

The gain is how far the best safe value will fall until the last trial. Each sample of the lowest safe value
is a future, in which best - sample is to be had, and never less than 0. With k trials left after n, a search
finds the share k / (k + n) of it on average: most of what is easy to find was found before.

The bound is MARGIN times the mean plus two standard deviations, and NOISE standard deviations of the noise:
the best of many measured values falls by chance alone. A process that is wrong does not know it, so the bound
is never below what the latter half of the trials brought. The constants were chosen on tuning seeds;
`python -m benchmarks.gain` measures what they are worth.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Array

MARGIN = 4.0
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


def recent_fall(values: Array) -> float:
    """How far the best safe value fell in the latter half of the trials.

    Parameters
    ----------
    values : (N,)
        The value of each trial in their order, at least one; +inf where it was not safe. Where the former
        half has no safe one, the first safe value stands for it.
    """
    known = np.flatnonzero(np.isfinite(values))
    before = values[: max(len(values) // 2, known[0] + 1)]
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
        n, how many trials are known.
    fall
        How far the best safe value fell in the latter half of the trials.

    Returns
    -------
    Gain
        Both numbers are 0 where no trial is left.

    Examples
    --------
    >>> gain(5.0, np.array([5.5, 4.0, np.inf, 4.0]), noise=0.0, trials_left=10, told=10)
    Gain(expected=0.25, bound=3.0)
    """
    if trials_left <= 0:
        return Gain(0.0, 0.0)
    falls = np.maximum(best - minima, 0.0)
    share = trials_left / (trials_left + told)
    mean, std = float(np.mean(falls)), float(np.std(falls))
    return Gain(share * mean, max(MARGIN * share * (mean + 2.0 * std) + NOISE * noise, fall))
