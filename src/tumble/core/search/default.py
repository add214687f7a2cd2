"""The default search: expected improvement; excursion search until a safe trial is known.

Where EI only polishes the best trial, every second trial looks elsewhere (`Settings.look_elsewhere`): a
process that is too sure of itself would else repeat its best trial to the end.
"""

import numpy as np

from ..acquisition import Acquisition
from ..arrays import Array
from ..improvement import ExpectedImprovement, ProbabilityOfImprovement, log_improvement, share_learned
from .context import Context
from .excursion import excursion_search

NEAR = 0.01  # a mean at most this far above η, in model units, belongs to a trial that polishes the best one
LITTLE, NOTHING = 1e-4, 1e-6  # EI, in model units: every second trial looks elsewhere, every trial does
LEAP = 0.3  # how much better it should be elsewhere, in model units


def best_measured(context: Context) -> Acquisition:
    """EI below the best safe trial; Xs (10) while none is known.

    EI had the lowest mean rank on the tuning problems of the proving ground (`benchmarks.quality foils`): it
    knows how much is gained. While nothing safe is known there is nothing to improve on; Xs looks for the
    minimum all the same.
    """
    if not context.history.safe.any():
        return excursion_search(context)
    return ExpectedImprovement(context.objective, context.eta)


def far_better(context: Context) -> Acquisition:
    """How likely a trial is better than the best one by LEAP, not by a hair."""
    return ProbabilityOfImprovement(context.objective, context.eta - LEAP)


def only_polishes(context: Context, x: Array) -> bool:
    """Whether a trial at x (D,) is the best trial over again, with little or nothing to gain.

    What it gains is EI, less what noise hides of it. With little to gain, every second trial may do so.
    """
    if not context.history.safe.any():
        return False
    gp = context.objective
    mean, var = gp.predict(x[None, :])
    if mean[0] > context.eta + NEAR:
        return False
    std = np.sqrt(var)
    ei = std * np.exp(log_improvement((context.eta - mean) / std))
    gain = ei * share_learned(std, gp.hyper.noise)
    return bool(gain[0] < (LITTLE if len(context.history.X) % 2 else NOTHING))
