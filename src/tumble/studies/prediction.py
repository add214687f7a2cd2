"""What the model predicts at a setting that was tried: why something else may be recommended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tumble.studies.ledger import Ledger
from tumble.studies.records import Found


@dataclass(frozen=True)
class Prediction:
    """What the model predicts at one setting.

    Parameters
    ----------
    mean, std
        The objective, in the user's units.
    p_safe
        The probability that a trial there is safe.
    needed
        The probability that a recommendation must have.
    """

    mean: float
    std: float
    p_safe: float
    needed: float


def predict(ledger: Ledger, trial: Found) -> Prediction:
    """What the model predicts now at a trial's setting."""
    opt = ledger.optimizer()
    at = opt.space.encode({name: trial.parameters[name] for name in opt.space.names})[None, :]
    _, models = opt.models()
    mean, var = models.objective.predict(at)
    outputs = models.objective.outputs
    return Prediction(
        mean=ledger.config.sign * float(outputs.to_user(mean)[0]),
        std=float(outputs.std_to_user(mean, np.sqrt(var))[0]),
        p_safe=float(np.exp(models.feasibility.log_prob(at)[0])),
        needed=opt.settings.rho_safe,
    )
