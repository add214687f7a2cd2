"""Is 0.99 really 0.99? The online correction of P(safe).

Every suggestion records what each constraint was predicted to be. Once the trial is told, the standardised
error r = (g - μ)/σ should be a standard normal draw. σ includes the noise as it is known now, because noise
is learned late. The errors of a misfitted process are larger. The largest fifth of them is compared with what
a normal sample of the same size has there. The constraint's standard deviation is multiplied by the
largest ratio, so that no error stands out any more. Nothing is guaranteed: the trials are chosen by the model
that they judge.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from .arrays import Array, Flags

MEMORY = 60  # the latest errors are used; older ones belong to hyperparameters that were learned anew since
LARGEST_SHARE = 5  # the largest errors are compared, one in this many
SMALLEST_QUANTILE = 0.3  # no error is divided by less: near 0 a ratio of quantiles says nothing


@dataclass(frozen=True)
class Reliability:
    """Predictions of safety against what happened.

    Parameters
    ----------
    level
        The P(safe) from which on suggestions are counted.
    claimed
        Number of suggestions with a P(safe) of at least `level`.
    held
        How many of those were safe.
    """

    level: float
    claimed: int
    held: int


def widening(errors: Array) -> float:
    """The factor, at least 1, by which a constraint's standard deviation is too small.

    Parameters
    ----------
    errors : (N,)
        Standardised errors, newest last; NaN where there was no prediction.
    """
    # max_i r_(i) / Φ^-1(1 - i / (n + 1)) over the fifth of largest errors r_(1) >= r_(2) >= …
    known = errors[np.isfinite(errors)][-MEMORY:]
    n = len(known)
    if n < 2:
        return 1.0
    upper = np.sort(known)[::-1][: max(1, n // LARGEST_SHARE)]  # errors towards the unsafe side
    expected = ndtri(1.0 - np.arange(1, len(upper) + 1) / (n + 1.0))
    return float(max(1.0, np.max(upper / np.maximum(expected, SMALLEST_QUANTILE))))


def reliability(p_safe: Array, failed: Flags, level: float) -> Reliability:
    """How the suggestions with P(safe) >= level turned out.

    Parameters
    ----------
    p_safe : (N,)
        P(safe) of each suggestion, NaN where none was given.
    failed : (N,)
        Whether its trial failed.
    level
        The P(safe) to look at.

    Examples
    --------
    >>> reliability(np.array([0.99, 0.995, 0.5]), np.array([False, True, True]), level=0.99)
    Reliability(level=0.99, claimed=2, held=1)
    """
    claimed = p_safe >= level
    return Reliability(level, int(claimed.sum()), int((claimed & ~failed).sum()))
