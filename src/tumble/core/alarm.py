"""An alarm that is a theorem: is P(safe) true?

Each suggestion claims a risk q = 1 - P(safe). If the claims are true, nobody can win by betting on failures
at these odds. So the alarm bets. A bet that the odds of a failure are c times those that were claimed
multiplies its capital by

    1 + λ (Γ - q),    λ = (q' - q) / (q (1 - q)),    q' = c q / (1 - q + c q)

which is q'/q after a failure (Γ = 1) and (1 - q')/(1 - q) after a success. Its expectation is 1 where the
risk is q, and less where the risk is smaller. The capital starts at 1 and is shared among the bets ODDS. It
is a supermartingale that is never negative. By Ville's inequality, it ever reaches 20 with a probability of
at most 1/20. So the alarm rings at 20: where P(safe) is true, or too low, it rings in at most 5 % of all
studies, however long they last and whenever someone looks. That is exact for trials that are told one at a
time; of trials in flight together, each claim was made without the outcomes of the others.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Flags

ODDS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # times the odds of a failure that were claimed
RINGS_AT = 20.0  # the capital: a false alarm has a probability of at most 1 / RINGS_AT
LEAST_RISK = 1e-6  # a claim of less counts as this much


@dataclass(frozen=True)
class Alarm:
    """What betting against P(safe) came to.

    Parameters
    ----------
    capital
        The largest capital so far; it started at 1.
    claims
        How many predictions were bet against.
    failures
        How many of those trials failed.
    expected
        How many should have failed: Σ (1 - P(safe)).
    """

    capital: float = 1.0
    claims: int = 0
    failures: int = 0
    expected: float = 0.0

    @property
    def rings(self) -> bool:
        """Whether P(safe) can't be trusted any more."""
        return self.capital >= RINGS_AT

    @property
    def sentence(self) -> str | None:
        """What is wrong, where it rings; else None."""
        if not self.rings:
            return None
        return (
            f"P(safe) claims too much here: {self.failures} of {self.claims} trials failed where "
            f"{self.expected:.2g} should have; if it were true, that would happen in at most "
            f"{100.0 / self.capital:.2g} % of all studies"
        )


def alarm(p_safe: Array, failed: Flags) -> Alarm:
    """Bet against claims of P(safe).

    Parameters
    ----------
    p_safe : (N,)
        P(safe) of each suggestion, in the order in which they were made; NaN where none was claimed.
    failed : (N,)
        Whether its trial failed.

    Examples
    --------
    >>> claims = np.full(10, 0.99)
    >>> alarm(claims, np.arange(10) == 4).rings, alarm(claims, np.arange(10) >= 8).rings
    (False, True)
    """
    known = np.isfinite(p_safe)
    risk, fell = 1.0 - p_safe[known], failed[known]
    if not fell.any():  # nothing can be won
        return Alarm(claims=len(risk), expected=float(risk.sum()))
    q = np.minimum(np.maximum(risk, LEAST_RISK), 1.0 - LEAST_RISK)[:, None]
    odds = np.array(ODDS) * q
    bet = odds / (1.0 - q + odds)  # (N, len(ODDS)) q'
    gains = np.log(np.where(fell[:, None], bet / q, (1.0 - bet) / (1.0 - q)))
    capital = np.exp(np.minimum(gains.cumsum(axis=0), 700.0)).sum(axis=1) / len(ODDS)
    return Alarm(max(1.0, float(capital.max())), len(risk), int(fell.sum()), float(risk.sum()))
