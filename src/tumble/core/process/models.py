"""The processes fitted to a history: one for f, one for each g, one for crashes."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..calibration import widening
from ..feasibility import Feasibility
from ..history import History
from ..settings import Settings
from .covariance import Hyper
from .crashes import fit_crashes
from .gp import GP
from .outputs import Outputs
from .refit import refit

LARGEST_ERROR = 6.0  # a standardised error counts for the widening up to this size


@dataclass(frozen=True)
class Fitted:
    """Hyperparameters of a fit, where the next one may start.

    Parameters
    ----------
    objective
        Those of f.
    constraints
        Those of each g.
    """

    objective: Hyper
    constraints: tuple[Hyper, ...] = ()


@dataclass(frozen=True)
class Models:
    """The processes fitted to a history.

    Parameters
    ----------
    objective
        The process of f.
    feasibility
        The processes that decide on safety: of each g, and of crashes.
    """

    objective: GP
    feasibility: Feasibility

    @property
    def fitted(self) -> Fitted:
        """Their hyperparameters."""
        return Fitted(self.objective.hyper, tuple(gp.hyper for gp in self.feasibility.constraints))


def fit_models(history: History, settings: Settings, last: Fitted | None) -> Models:
    """One process for f, one for each g, and one for crashes once there was one.

    Parameters
    ----------
    history
        The trials told.
    settings
        Kernel, priors, and whether outputs are standardised and P(safe) calibrated.
    last
        Hyperparameters of the last fit.
    """
    measured = np.isfinite(history.y)
    objective = refit(
        history.X[measured], history.y[measured], kernel=settings.kernel, priors=settings.objective,
        outputs=_outputs(history.y[measured], settings, centre=True), last=last.objective if last else None,
        always=settings.relearn == "always",
    )  # fmt: skip
    constraints, widths = [], []
    crashed = history.crashed.copy()
    for j in range(history.g.shape[1]):
        gp = _fit_constraint(history, j, settings, last)
        constraints.append(gp)
        errors = _standardised_errors(history, j, gp)
        if settings.calibrate and settings.surprise is not None:  # unforeseen: learned from like a crash
            crashed |= (history.g[:, j] > 0.0) & (errors > settings.surprise)
        widths.append(widening(np.minimum(errors, LARGEST_ERROR)) if settings.calibrate else 1.0)
    crash = fit_crashes(history.X, crashed, settings.kernel) if crashed.any() else None
    return Models(objective, Feasibility(tuple(constraints), crash, tuple(widths), settings.calibrate))


def _fit_constraint(history: History, j: int, settings: Settings, last: Fitted | None) -> GP:
    g = history.g[:, j]
    measured = np.isfinite(g)
    return refit(
        history.X[measured], g[measured], kernel=settings.kernel, priors=settings.constraint,
        outputs=_outputs(g[measured], settings, centre=False),
        last=last.constraints[j] if last and j < len(last.constraints) else None,
        always=settings.relearn == "always",
    )  # fmt: skip


def _standardised_errors(history: History, j: int, gp: GP) -> Array:
    """(N,) how far each trial's g_j lay above its prediction, in standard deviations; NaN without one."""
    noise = gp.outputs.scale * gp.hyper.noise  # as it is known now
    spread = np.hypot(history.predicted_std[:, j], noise)
    return np.asarray((history.g[:, j] - history.predicted_mean[:, j]) / spread)


def _outputs(y: Array, settings: Settings, *, centre: bool) -> Outputs:
    return Outputs.of(y, centre=centre) if settings.standardize else Outputs()
