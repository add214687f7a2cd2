"""What is known, and the processes fitted to it: one for f, one for each g, one for crashes."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..calibration import widening
from ..feasibility import Feasibility
from ..history import History
from ..settings import Settings
from .covariance import Hyper
from .crashes import fit_crashes
from .fit import fit
from .gp import GP, condition
from .outputs import Outputs
from .priors import Priors

SURPRISE = 6.0  # standardised error of a violation that no process of g could have foreseen
SETTLED, GROWTH = 40, 1.04  # beyond so many observations hyperparameters are learned when there are 4 % more


@dataclass(frozen=True)
class Models:
    """The processes fitted to a history."""

    objective: GP
    feasibility: Feasibility

    def warm(self) -> "Warm":
        """Where the next fit may start."""
        return Warm(self.objective.hyper, tuple(gp.hyper for gp in self.feasibility.constraints))


@dataclass(frozen=True)
class Warm:
    """Hyperparameters of the last fit."""

    objective: Hyper
    constraints: tuple[Hyper, ...] = ()


def fit_models(history: History, settings: Settings, warm: Warm | None) -> Models:
    """One process for f, one for each g, and one for crashes once there was one."""
    known = np.isfinite(history.y)
    objective = _fit(history.X[known], history.y[known], settings, settings.objective, True,
                     warm.objective if warm else None)  # fmt: skip
    constraints, widths = [], []
    unforeseen = history.crashed.copy()
    for j in range(history.g.shape[1]):
        known = np.isfinite(history.g[:, j])
        start = warm.constraints[j] if warm and j < len(warm.constraints) else None
        gp = _fit(history.X[known], history.g[known, j], settings, settings.constraint, False, start)
        constraints.append(gp)
        noise = gp.outputs.scale * gp.hyper.noise  # as it is known now
        spread = np.hypot(history.predicted_std[:, j], noise)
        errors = (history.g[:, j] - history.predicted_mean[:, j]) / spread
        if settings.calibrate:
            unforeseen |= (history.g[:, j] > 0.0) & (errors > SURPRISE)
        widths.append(widening(np.minimum(errors, SURPRISE)) if settings.calibrate else 1.0)
    crash = fit_crashes(history.X, unforeseen, settings.kernel) if unforeseen.any() else None
    return Models(objective, Feasibility(tuple(constraints), crash, tuple(widths), settings.calibrate))


def _fit(X: Array, y: Array, settings: Settings, priors: Priors, centre: bool, warm: Hyper | None) -> GP:
    if X.shape[1] == 1:
        priors = replace(priors, additive=None)  # one effect is the whole
    outputs = Outputs.of(y, centre=centre) if settings.standardize else Outputs()
    if len(y) == 0:
        return condition(settings.kernel, priors.hyper_start(X.shape[1]), X, y)
    learned = 0 if warm is None else warm.learned_from
    if warm is not None and not _is_due(len(y), learned):
        target = outputs.to_model(y)
        return condition(settings.kernel, warm, X, target, mean_std=priors.mean_std, outputs=outputs)
    cold = len(y) < 20 or len(y) % 5 == 0 or len(y) > 1.5 * learned
    return fit(X, y, kernel=settings.kernel, priors=priors, outputs=outputs, warm=warm, cold=cold)


def _is_due(n: int, learned: int) -> bool:
    """Whether hyperparameters learned from `learned` observations are to be learned again from n."""
    return n <= SETTLED or int(np.log(n) / np.log(GROWTH)) > int(np.log(max(learned, 1)) / np.log(GROWTH))
