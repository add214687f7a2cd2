"""Is 0.99 really 0.99? The online correction of P(safe).

Every suggestion records what each constraint was predicted to be. Once told, its standardised error
r = (g - μ)/σ should be a standard normal draw, with the noise as it is known now in σ: noise is learned late.
A misfitted process shows larger ones. The constraint's standard deviation is widened until no upper order
statistic of r is larger than a normal sample's would be: the quantile correction of conformal prediction,
extended beyond the sample by the normal tail.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from .arrays import Array, Flags

MEMORY = 60  # trials looked back on: hyperparameters learned since make older errors obsolete


@dataclass(frozen=True)
class Reliability:
    """Predictions of safety against what happened: of `claimed` suggestions with P(safe) >= level, `held`."""

    level: float
    claimed: int
    held: int


def widening(errors: Array) -> float:
    """Factor (>= 1) for the standard deviation, from standardised errors (N,), newest last, NaN skipped."""
    known = errors[np.isfinite(errors)][-MEMORY:]
    n = len(known)
    if n < 2:
        return 1.0
    upper = np.sort(known)[::-1][: max(1, n // 5)]  # errors towards the unsafe side
    expected = ndtri(1.0 - np.arange(1, len(upper) + 1) / (n + 1.0))
    return float(max(1.0, np.max(upper / np.maximum(expected, 0.3))))


def reliability(p_safe: Array, failed: Flags, level: float) -> Reliability:
    """How the suggestions with P(safe) >= level turned out; p_safe (N,) may hold NaN, failed (N,) is bool."""
    claimed = p_safe >= level
    return Reliability(level, int(claimed.sum()), int((claimed & ~failed).sum()))
