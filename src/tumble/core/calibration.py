"""Is 0.99 really 0.99? The online correction of P(safe).

Every suggestion records what each constraint was predicted to be. Once the trial is told, the standardised
error r = (g - μ)/σ should be a standard normal draw. σ includes the noise as it is known now, because noise
is learned late. A misfitted process shows larger errors. The constraint's standard deviation is widened
until no upper order statistic of r is larger than a normal sample's would be: the quantile correction of
conformal prediction, extended beyond the sample by the normal tail.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from .arrays import Array, Flags

MEMORY = 60  # trials looked back on: hyperparameters learned since make older errors obsolete
TAIL = 5  # one in so many errors, the largest, is compared with a normal sample's
SMALLEST = 0.3  # a normal quantile below it says too little


@dataclass(frozen=True)
class Reliability:
    """Predictions of safety against what happened.

    Parameters
    ----------
    level
        The P(safe) that is looked at.
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
    upper = np.sort(known)[::-1][: max(1, n // TAIL)]  # errors towards the unsafe side
    expected = ndtri(1.0 - np.arange(1, len(upper) + 1) / (n + 1.0))
    return float(max(1.0, np.max(upper / np.maximum(expected, SMALLEST))))


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
