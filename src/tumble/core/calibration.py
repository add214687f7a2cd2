"""Is 0.99 really 0.99? The online correction of P(safe).

Every suggestion records what each constraint was predicted to be. Once the trial is told, the standardised
error r = (g - μ)/σ should be a standard normal draw. σ includes the noise as it is known now, because noise
is learned late. The errors of a misfitted process are larger. The largest fifth of them is compared with what
a normal sample of the same size has there. The constraint's standard deviation is multiplied by the
largest ratio, so that no error stands out any more. Nothing is guaranteed: the trials are chosen by the model
that they judge. That hyperparameters are uncertain is in the predictions already (core.process.uncertainty):
what is left to be corrected is a constraint that is not like any draw of the process.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, ndtri

from .arrays import Array, Flags

MEMORY = 60  # the latest errors are used; older ones belong to hyperparameters that were learned anew since
LARGEST_SHARE = 5  # the largest errors are compared, one in this many
UPPER_QUARTILE = 0.75
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


def widening(
    errors: Array, quantile: float | None = None, scored: Callable[[Array], Array] = np.asarray
) -> float:
    """The factor, at least 1, by which a constraint's standard deviation is too small.

    Parameters
    ----------
    errors : (N,)
        Standardised errors, newest last; NaN where there was no prediction.
    quantile
        The i-th largest error is compared with this quantile of what the i-th largest of a normal sample is.
        None for about its mean, as in 0.1.0: then a right model is widened, too.
    scored
        Turns errors into those of a normal law, and keeps their order.
    """
    # max_i r_(i) / Φ^-1(q_i) over the fifth of largest errors r_(1) >= r_(2) >= …
    known = errors[np.isfinite(errors)][-MEMORY:]
    n = len(known)
    if n < 2:
        return 1.0
    expected = _largest_of_normal(n, quantile)
    upper = scored(np.sort(known)[::-1][: len(expected)])  # errors towards the unsafe side
    return float(max(1.0, np.max(upper / expected)))


@lru_cache(maxsize=2 * MEMORY)
def _largest_of_normal(n: int, quantile: float | None) -> Array:
    """Φ^-1(q_i), what a fifth of a normal sample of n has at its upper end, SMALLEST_QUANTILE at least."""
    # q_i = 1 - i / (n + 1), or that quantile of Beta(n + 1 - i, i), the law of the i-th largest of n uniforms
    i = np.arange(1, max(1, n // LARGEST_SHARE) + 1)
    q = 1.0 - i / (n + 1.0) if quantile is None else betaincinv(n + 1.0 - i, i, quantile)
    return np.maximum(ndtri(q), SMALLEST_QUANTILE)


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
