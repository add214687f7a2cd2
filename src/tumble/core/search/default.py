"""The default search: expected improvement; excursion search until a safe trial is known."""

from ..acquisition import Acquisition
from ..expectation import is_noisy
from ..improvement import ExpectedImprovement
from .context import Context
from .excursion import excursion_search


def best_measured(context: Context) -> Acquisition:
    """EI below the best safe trial, times what noise leaves of it; Xs (10) while none is known.

    EI had the lowest mean rank on the tuning problems of the proving ground (`benchmarks.quality foils`): it
    knows how much is gained. While nothing safe is known there is nothing to improve on; Xs looks for the
    minimum all the same.
    """
    if not context.history.safe.any():
        return excursion_search(context)
    gp = context.objective
    weighed = context.settings.weigh_noise and is_noisy(context.history, context.models)
    return ExpectedImprovement(gp, context.eta, gp.hyper.noise if weighed else 0.0)
