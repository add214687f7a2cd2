"""The default search: excursion search and expected improvement in turn."""

from ..acquisition import Acquisition
from ..improvement import ExpectedImprovement
from .context import Context
from .excursion import excursion_search


def in_turn(context: Context) -> Acquisition:
    """Xs (10) at one trial, EI at the next.

    Xs looks for the basin of the minimum. EI knows how much is gained, and so finishes what Xs has found.
    The number of trials told and in flight decides whose turn it is. It is Xs's while nothing safe is known.
    """
    history = context.history
    finishes = (len(history.X) + len(history.pending)) % 2 == 1 and bool(history.safe.any())
    return ExpectedImprovement(context.objective, context.eta) if finishes else excursion_search(context)
