"""How far the worst violation may fall: where a first safe setting is looked for.

A trial's violation is that of its worst limit, in model units, and v the least one so far. With φ_t(x) the
probability that no limit is broken by more than t, the expected fall of the least violation is

    E[(v - max(0, max_j g_j(x)))_+] / v = ∫_0^1 φ_{uv}(x) du

For u = 0 that is P(safe). P(safe) by itself is largest where least is known: with a few failures to spend, a
search would look into one corner after the other, and never beside a trial that nearly kept its limits.
"""

from dataclasses import dataclass, replace

import numpy as np

from .acquisition import log_mean_exp
from .arrays import Array
from .feasibility import Feasibility
from .history import History

NODES = 8  # of the integral over u
NEARLY_SAFE = (
    0.01  # of the least violation: where a trial in flight may be safe, one is looked for that is less
)


@dataclass(frozen=True)
class Fall:
    """The expected fall of the least violation.

    Parameters
    ----------
    feasibility
        The processes that decide on safety.
    least
        v, the least violation so far; above 0.
    """

    feasibility: Feasibility
    least: float

    @staticmethod
    def of(violated: Array, pending: Array, feasibility: Feasibility) -> "Fall | None":
        """That of trials of which none was safe, where others are in flight.

        Trials in flight count as if each had shown its mean. None where no trial measured all limits, or one
        kept them and failed all the same.

        Parameters
        ----------
        violated : (N,)
            The `violations` of the trials.
        pending : (P, D)
            The trials in flight.
        feasibility
            The processes that decide on safety.
        """
        least = float(violated.min(initial=np.inf))
        if not 0.0 < least < np.inf:
            return None
        if len(pending) == 0:
            return Fall(feasibility, least)
        limits = tuple(gp.with_pending(pending) for gp in feasibility.constraints)
        informed = replace(feasibility, constraints=limits)
        shown = np.max([mean for mean, _ in informed.posteriors(pending)], axis=0)
        return Fall(informed, max(min(least, float(shown.min())), NEARLY_SAFE * least))

    def log_share(self, x: Array) -> Array:
        """(M,) log of the fall at x (M, D), as a share of `least`."""
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        slacks = 0.5 * (nodes + 1.0) * self.least
        return log_mean_exp(self.feasibility.log_prob_within(x, slacks).T, 0.5 * weights)


def violations(history: History, feasibility: Feasibility) -> Array:
    """(N,) of each trial: of its worst limit, in model units; inf where a limit was not measured."""
    units = [gp.outputs for gp in feasibility.constraints]
    each = [outputs.to_model(g) for outputs, g in zip(units, history.g.T, strict=True)]
    worst = np.max(each, axis=0) if each else np.full(len(history.X), np.inf)
    return np.where(np.isfinite(worst), worst, np.inf)
