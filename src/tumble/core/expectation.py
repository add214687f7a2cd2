"""The best trial under noise: not the luckiest observation, but the lowest posterior mean."""

from dataclasses import dataclass

import numpy as np

from .history import History
from .process.models import Models

NOISY = 0.01  # in model units; a noise that is learned counts from this one on


@dataclass(frozen=True)
class ExpectedBest:
    """The safe trial of lowest posterior mean, in the user's units."""

    row: int  # of the history
    mean: float
    std: float
    p_safe: float


def is_noisy(history: History, models: Models) -> bool:
    """Whether the objective's noise is known to be there, or was learned to be."""
    known = history.known_noise(0)
    return models.objective.hyper.noise >= NOISY if known is None else known > 0.0


def expected_best(history: History, models: Models) -> ExpectedBest | None:
    """The safe trial of lowest posterior mean; None where results are not noisy, or no trial was safe.

    A trial whose constraints are more likely broken than kept, however lucky it was, counts only where all
    are so.
    """
    rows = np.flatnonzero(history.safe)
    if len(rows) == 0 or not is_noisy(history, models):
        return None
    p_safe = np.exp(models.feasibility.log_prob(history.X[rows]))
    likely = p_safe >= 0.5
    if likely.any():
        rows, p_safe = rows[likely], p_safe[likely]
    gp = models.objective
    mean, var = gp.predict(history.X[rows])
    best = int(np.argmin(mean))
    at, std = mean[[best]], np.sqrt(var[[best]])
    return ExpectedBest(
        row=int(rows[best]),
        mean=float(gp.outputs.to_user(at)[0]),
        std=float(gp.outputs.std_to_user(at, std)[0]),
        p_safe=float(p_safe[best]),
    )
