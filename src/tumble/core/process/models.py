"""The processes fitted to a history: one for f, one for each g, one for crashes."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from ..arrays import Array, Flags
from ..calibration import UPPER_QUARTILE, widening
from ..feasibility import Feasibility, Surroundings
from ..history import History
from ..settings import Settings
from ..student import Law
from .covariance import Hyper
from .crashes import FEW, RARE, UNKNOWN, CrashModel, MeanLaw, fit_crashes
from .gp import GP, condition
from .outputs import Warp
from .refit import priors_in_use
from .sites import fit_sites
from .uncertainty import law_of
from .warps import Measured, refit_warped

REACH = 0.1  # of a lengthscale, and of the unit cube: what counts as near a trial
LARGEST_ERROR = 6.0  # a standardised error counts for the widening up to this size
SAFE_SHARE = 0.25  # of all settings, as far as one safe trial can say: it was chosen to be safe


@dataclass(frozen=True)
class Fitted:
    """Hyperparameters of a fit, where the next one may start.

    Parameters
    ----------
    objective
        Those of f.
    constraints
        Those of each g.
    warps
        The warp of f, and of each g; () for none.
    laws
        The law of each g, which was worked out with its hyperparameters; () where it was not.
    """

    objective: Hyper
    constraints: tuple[Hyper, ...] = ()
    warps: tuple[Warp, ...] = ()
    laws: tuple[Law, ...] = ()

    def of(self, output: int) -> tuple[Hyper | None, Warp]:
        """Hyperparameters and warp of the objective (0) or of a constraint (1 to G), where it has some."""
        hypers = (self.objective, *self.constraints)
        hyper = hypers[output] if output < len(hypers) else None
        return hyper, self.warps[output] if output < len(self.warps) else Warp(both=output > 0)

    def law_of(self, j: int, hyper: Hyper) -> Law | None:
        """The law of constraint j, where `hyper` is still what the law was worked out with; else None."""
        return self.laws[j] if self.constraints[j : j + 1] == (hyper,) and j < len(self.laws) else None


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
        gps = (self.objective, *self.feasibility.constraints)
        hypers, warps = tuple(gp.hyper for gp in gps), tuple(gp.outputs.warp for gp in gps)
        chosen = warps if any(warp.chosen_from for warp in warps) else ()
        return Fitted(hypers[0], hypers[1:], chosen, self.feasibility.laws)

    def near_safe(self, history: History) -> "Models":
        """These models, where nothing beyond the surroundings of the trials that were safe counts as safe.

        They reach REACH lengthscales of the constraints to each side, and no further than REACH of the cube.
        """
        limits = self.feasibility.constraints or (self.objective,)
        shortest = np.min([gp.hyper.lengthscales for gp in limits], axis=0)
        near = Surroundings(history.X[history.safe], REACH * np.minimum(shortest, 1.0))
        return replace(self, feasibility=replace(self.feasibility, near=near))


def fit_models(
    history: History, settings: Settings, last: Fitted | None, *, may_fail: bool = False
) -> Models:
    """One process for f, one for each g, and one for crashes once there was one, or where nothing else fails.

    Parameters
    ----------
    history
        The trials told.
    settings
        Kernel, priors, and whether outputs are standardised and P(safe) calibrated.
    last
        Hyperparameters of the last fit.
    may_fail
        Whether a failure is left to spend. With `settings.widen_at_end` nothing is widened then.
    """
    objective = _fit_output(history, 0, settings, last)
    constraints, widths, laws = [], [], []
    crashed = history.crashed.copy()
    for j in range(history.g.shape[1]):
        gp = _fit_output(history, 1 + j, settings, last)
        constraints.append(gp)
        law = _law(history, j, gp, settings, last)
        laws.append(law)
        errors = _standardised_errors(history, j, gp)
        crashed |= _like_crashes(history, j, errors, settings)
        widths.append(_widening(errors, law, settings))
    crash = _crashes(history, crashed, settings)
    by_law = tuple(laws) if settings.integrate else ()
    widening = () if may_fail and settings.widen_at_end else tuple(widths)
    feasibility = Feasibility(tuple(constraints), crash, widening, settings.calibrate, laws=by_law)
    return Models(objective, feasibility)


def _like_crashes(history: History, j: int, errors: Array, settings: Settings) -> Flags:
    """(N,) which trials teach like crashes, where limit j was broken by surprise (`errors`, (N,)) in one.

    A limit that is broken by surprise has a cliff: every trial beyond it does so. In 0.1.0 those that were
    foreseen counted as safe from crashes.

    Before the first safe trial nothing surprises: while all trials break limits, only by how much they do
    says where a safe setting may be. With `settings.doubt_safety` False it is as in 0.1.0.
    """
    above = history.g[:, j] > 0.0
    if not settings.calibrate or settings.surprise is None:
        return np.zeros_like(above)
    surprising = above & (errors > settings.surprise)
    if settings.doubt_safety:
        surprising &= np.logical_or.accumulate(history.safe)
    return above if settings.crash_draws and surprising.any() else surprising


def _crashes(history: History, crashed: Flags, settings: Settings) -> CrashModel | None:
    """The process of crashes, given which trials count as crashed (N,); None where none is needed."""
    doubt = settings.doubt_safety and (history.crashes_afforded is not None or bool(crashed.all()))
    if not (crashed.any() or (doubt and settings.crash_draws and len(crashed))):
        return None
    if not settings.crash_draws:
        return fit_sites(history.X, crashed, settings.kernel)
    mean = mean_in_doubt(history) if doubt else RARE
    return fit_crashes(history.X, crashed, settings.kernel, mean, settings.crash_draws)


def mean_in_doubt(history: History) -> MeanLaw:
    """The law of the mean of crashes, where nothing else fails or every trial crashed."""
    return FEW if history.crashes_afforded == 0 else UNKNOWN


def _fit_output(history: History, output: int, settings: Settings, last: Fitted | None) -> GP:
    """The process of the objective (0), or of a constraint (1 to G)."""
    y = history.g[:, output - 1] if output else history.y
    measured = np.isfinite(y)
    best = 0.0
    if not output and measured.any():
        best = float(y[history.safe if history.safe.any() else measured].min())
    hyper, warp = last.of(output) if last else (None, Warp(both=output > 0))
    data = Measured(
        history.X[measured], y[measured], best, limit=output > 0, noise=history.known_noise(output)
    )
    priors = settings.constraint if output else settings.objective
    found = refit_warped(
        data, kernel=settings.kernel, priors=priors, last=hyper, warp=warp,
        always=settings.relearn == "always", standardize=settings.standardize, choose=settings.warp,
    )  # fmt: skip
    doubted = settings.doubt_safety and priors.mean_std is not None
    if doubted and data.limit and len(data.y) == 1 and data.y[0] <= 0.0:
        return _unknown_elsewhere(found, data.y, history.g.shape[1])
    return found


def _unknown_elsewhere(gp: GP, g: Array, limits: int) -> GP:
    """`gp`, the process of one of the `limits`, of which one safe value g (1,) is known.

    A search begins where it is safe, so that its first trial says nothing of settings far away. The mean of
    the process is raised: where hyperparameters are known, and nothing ties a setting to the trial, all
    limits together are kept with a probability of SAFE_SHARE at most. With unknown ones P(safe) is larger.
    """
    least = -float(ndtri(SAFE_SHARE ** (1.0 / limits)) * np.sqrt(gp.hyper.variance))
    if gp.prior_mean >= least:
        return gp
    target = gp.outputs.to_model(g)
    return condition(gp.kernel, gp.hyper, gp.X, target, prior_mean=least, outputs=gp.outputs)


def _law(history: History, j: int, gp: GP, settings: Settings, last: Fitted | None) -> Law:
    """The law of what the process of g_j predicts; the last one while the hyperparameters are the same."""
    if not settings.integrate:
        return Law()
    known = None if last is None else last.law_of(j, gp.hyper)
    if known is not None:
        return known
    dim, noise = history.X.shape[1], history.known_noise(1 + j)
    return law_of(gp, priors_in_use(settings.constraint, dim, noise, gp.outputs))


def _widening(errors: Array, law: Law, settings: Settings) -> float:
    """The factor by which the standard deviation of a constraint with these errors (N,) is too small.

    A standard deviation that was predicted is half the distance between two quantiles of the law.
    """
    if not settings.calibrate:
        return 1.0
    unit = law.from_normal(1.0)
    return widening(
        np.minimum(errors, LARGEST_ERROR), UPPER_QUARTILE if settings.integrate else None,
        scored=lambda largest: law.normal_score(unit * largest),
    )  # fmt: skip


def _standardised_errors(history: History, j: int, gp: GP) -> Array:
    """(N,) how far each trial's g_j lay above its prediction, in standard deviations; NaN without one.

    Under a warp, errors are those of model units, in which predictions are normal. The noise is as it is
    known now.
    """
    g, median, std = history.g[:, j], history.predicted_mean[:, j], history.predicted_std[:, j]
    outputs, noise = gp.outputs, gp.hyper.noise
    if outputs.warp.is_linear:
        return np.asarray((g - median) / np.hypot(std, outputs.scale * noise))
    error = outputs.to_model(g) - outputs.to_model(median)
    return np.asarray(error / np.hypot(outputs.std_to_model(median, std), noise))
