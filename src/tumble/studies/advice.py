"""What the model believes of the best safe trial: why something else may be recommended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tumble.studies.ledger import Ledger
from tumble.studies.records import Found


@dataclass(frozen=True)
class Belief:
    """Of one setting: its value in the user's units, its P(safe), and the P(safe) of a recommendation."""

    mean: float
    std: float
    p_safe: float
    needed: float


def belief(ledger: Ledger, trial: Found) -> Belief:
    """What the model believes now of a trial's setting."""
    opt, sign = ledger.optimizer(), -1.0 if ledger.config.maximize else 1.0
    at = opt.space.encode(trial.parameters)[None, :]
    _, models = opt.models()
    mean, var = models.objective.predict(at)
    outputs = models.objective.outputs
    return Belief(
        mean=sign * float(outputs.mean(mean)[0]),
        std=float(outputs.scale * np.sqrt(var[0])),
        p_safe=float(np.exp(models.feasibility.log_prob(at)[0])),
        needed=opt.settings.rho_safe,
    )
