"""How likely is a trial to be safe? φ(x) = ∏_j Pr(g_j(x) <= 0) (§4.1), in log space with gradient."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import log_ndtr, ndtr

from .arrays import Array, Flags
from .normal import quantile_from_log, quantile_slope
from .process.crashes import CrashModel
from .process.gp import GP, predictor
from .process.stacked import Prediction
from .student import Law, Laws

Posteriors: TypeAlias = list[tuple[Array, Array]]  # the mean (M,) and the variance (M,) of each constraint


@dataclass(frozen=True)
class Surroundings:
    """The boxes around trials.

    Parameters
    ----------
    X : (N, D)
        The trials.
    reach : (D,)
        How far each box reaches to either side.
    """

    X: Array
    reach: Array

    def hold(self, x: Array) -> Flags:
        """(M,) which of x (M, D) lie in one of them."""
        within = np.all(np.abs(x[:, None, :] - self.X) <= self.reach, axis=2)
        return np.asarray(np.any(within, axis=1))


@dataclass(frozen=True)
class Feasibility:
    """The processes that decide on safety.

    Parameters
    ----------
    constraints
        One process for each of the G constraints.
    crash
        The latent process of crashes (core.process.crashes), where a trial crashed or may.
    widening
        What each constraint's standard deviation is multiplied by (core.calibration); () where by nothing.
    measured
        Whether safety is about what a trial will measure, noise included, or about g itself (§4.1).
    near
        Where it is given, nothing beyond the surroundings of these trials counts as safe.
    laws
        The law of what each constraint's process predicts (core.process.uncertainty); () for normal laws.
    """

    constraints: tuple[GP, ...]
    crash: CrashModel | None = None
    widening: tuple[float, ...] = ()
    measured: bool = False
    near: Surroundings | None = None
    laws: tuple[Law, ...] = ()

    def posteriors(self, x: Array) -> Posteriors:
        """The posterior mean and variance of each constraint at x (M, D), in model units."""
        return [gp.predict(x) for gp in self.constraints]

    def scores(self, x: Array, known: Posteriors | None = None) -> Array:
        """(M, G [+ 1]) -μ_j over the widened σ_j; P(safe) of each is Φ of it. Crashes come last.

        A score under Student's t law is the normal one that is as likely.

        Parameters
        ----------
        x : (M, D)
            Points of the unit cube.
        known
            The `posteriors` at x, where they are known.
        """
        columns, known = [], self.posteriors(x) if known is None else known
        for (_, noise, width, law), (mean, var) in zip(self._parts(), known, strict=True):
            columns.append(law.normal_score(-mean / (width * np.sqrt(var + noise))))
        if self.crash is not None:
            columns.append(quantile_from_log(self.crash.log_prob(x)))
        return np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))

    def each(self, x: Array) -> Array:
        """(M, G [+ 1]) probabilities that each constraint is met; crashes come last."""
        return np.asarray(ndtr(self.scores(x)))

    def log_prob(self, x: Array, scores: Array | None = None) -> Array:
        """(M,) log φ(x); `scores`: those at x, where they are known."""
        if scores is None:
            value = self.log_prob_within(x, np.zeros(1))[0]
        else:
            value = np.asarray(log_ndtr(scores).sum(axis=1))
        return value if self.near is None else np.where(self.near.hold(x), value, -np.inf)

    def log_prob_and_grad(self, x: Array, predicted: Prediction | None = None) -> tuple[Array, Array]:
        """log φ (M,) and its gradient (M, D) at x (M, D); `predicted`: by the constraints' processes."""
        value, grad = self._log_prob_and_grad(x, predicted)
        return (value, grad) if self.near is None else self._cut_off(x, value, grad)

    def _cut_off(self, x: Array, value: Array, grad: Array) -> tuple[Array, Array]:
        """-inf beyond the surroundings, with no gradient."""
        assert self.near is not None
        inside = self.near.hold(x)
        return np.where(inside, value, -np.inf), np.where(inside[:, None], grad, 0.0)

    def _log_prob_and_grad(self, x: Array, predicted: Prediction | None = None) -> tuple[Array, Array]:
        # ∇ log F(s) = f(s)/F(s) ∇s,  ∇s = -∇μ / (w √(σ² + noise)) - ½ s ∇σ² / (σ² + noise),  w the widening,
        # F the distribution function and f the density of the law
        value, grad = np.zeros(len(x)), np.zeros_like(x)
        if self.constraints:
            mean, var, d_mean, d_var = self._predict(x) if predicted is None else predicted
            spread = var + self._noises
            per_std = -1.0 / (self._widths * np.sqrt(spread))
            score = mean * per_std
            log_p, ratio = self._laws.log_cdf_and_slope(score)
            value = np.add.reduce(log_p, axis=0)
            parts = (ratio * per_std)[..., None] * d_mean
            parts -= (0.5 * ratio * score / spread)[..., None] * d_var
            grad = np.add.reduce(parts, axis=0)
        if self.crash is not None:
            log_p, d_log_p = self.crash.log_prob_and_grad(x)
            value, grad = value + log_p, grad + d_log_p
        return value, grad

    def log_prob_within(self, x: Array, slacks: Array) -> Array:
        """log of the probability that nothing crashes, and that no limit is broken by more than a slack.

        Parameters
        ----------
        x : (M, D)
            Points of the unit cube.
        slacks : (U,)
            In model units.

        Returns
        -------
        value : (U, M)
            For each slack.
        """
        value = np.zeros((len(slacks), len(x)))
        for (_, noise, width, law), (mean, var) in zip(self._parts(), self.posteriors(x), strict=True):
            value += law.log_cdf((slacks[:, None] - mean) / (width * np.sqrt(var + noise)))
        return value if self.crash is None else value + self.crash.log_prob(x)

    @cached_property
    def _predict(self) -> Callable[[Array], Prediction]:
        """What the constraints' processes predict at x (M, D), with gradients."""
        return predictor(self.constraints)

    @cached_property
    def _noises(self) -> Array:
        """(G, 1) the variance of each noise that safety counts."""
        return np.array([[noise] for _, noise, _, _ in self._parts()])

    @cached_property
    def _widths(self) -> Array:
        """(G, 1) what each standard deviation is multiplied by."""
        return np.array([[width] for _, _, width, _ in self._parts()])

    @cached_property
    def _laws(self) -> Laws:
        return Laws(np.array([[law.freedom] for _, _, _, law in self._parts()]))

    def margin_and_grad(self, x: Array) -> tuple[Array, Array]:
        """Φ^-1(φ) (M,) and its gradient (M, D): φ on the scale of the controller's z, exact near 0 and 1."""
        log_p, d_log_p = self._log_prob_and_grad(x)
        margin = quantile_from_log(log_p)
        grad = quantile_slope(log_p, margin)[:, None] * d_log_p
        return (margin, grad) if self.near is None else self._cut_off(x, margin, grad)

    def margin(self, x: Array, least: float | None = None) -> Array:
        """(M,) Φ^-1(φ) alone.

        Parameters
        ----------
        x : (M, D)
            Points of the unit cube.
        least
            Where the margin is below this, any number below it is given: P(no crash), which takes longest, is
            left out where the limits alone say that φ is too small.
        """
        if self.crash is None or least is None:
            return quantile_from_log(self.log_prob(x))
        value = self.without_crashes.log_prob(x)
        rows = np.flatnonzero(value >= log_ndtr(least))
        value[rows] += self.crash.log_prob(x[rows])
        return quantile_from_log(value)

    @property
    def rough(self) -> "Feasibility":
        """Nearly the same φ, worked out faster, and without widening: to compare what may fail."""
        return replace(self, widening=(), crash=None if self.crash is None else self.crash.rough)

    @cached_property
    def without_crashes(self) -> "Feasibility":
        """How likely the limits alone are kept."""
        return replace(self, crash=None)

    def shared_variances(self, x: Array, goals: Array) -> list[Array]:
        """Of each constraint (M, K) the share of its variance at `goals` that a trial at x explains."""
        return [gp.shared_variance(x, goals, self.noise(gp)) for gp in self.constraints]

    def noise(self, gp: GP) -> float:
        """The variance of the noise that safety counts, in model units: 0 where it is about g itself."""
        return gp.hyper.noise**2 if self.measured else 0.0

    def predicted(self, x: Array, known: Posteriors | None = None) -> tuple[Array, Array]:
        """What is predicted for each constraint at x (M, D), in the user's units, before any widening.

        Parameters
        ----------
        x : (M, D)
            Points of the unit cube.
        known
            The `posteriors` at x, where they are known.

        Returns
        -------
        median, std : (M, G)
            Medians, and half the distances between the quantiles 16 and 84 %.
        """
        known = self.posteriors(x) if known is None else known
        medians, stds = np.empty((2, len(x), len(self.constraints)))
        for j, (gp, spread, (mean, var)) in enumerate(
            zip(self.constraints, self._spreads(), known, strict=True)
        ):
            medians[:, j] = gp.outputs.to_user(mean)
            stds[:, j] = gp.outputs.std_to_user(mean, spread * np.sqrt(var))
        return medians, stds

    def deviations(self, z: float) -> list[float]:
        """(G) how many of its own standard deviations each process is away where its score is z."""
        return [width * law.from_normal(z) for _, _, width, law in self._parts()]

    def _spreads(self) -> list[float]:
        """(G) half the distance between the quantiles 16 and 84 %, in standard deviations of each process."""
        return [law.width * law.from_normal(1.0) for law in self.laws or (Law(),) * len(self.constraints)]

    def _parts(self) -> list[tuple[GP, float, float, Law]]:
        """Each process, the variance of its noise, what its standard deviation is multiplied by, its law."""
        G = len(self.constraints)
        parts = zip(self.constraints, self.widening or (1.0,) * G, self.laws or (Law(),) * G, strict=True)
        return [(gp, self.noise(gp), width * law.width, law) for gp, width, law in parts]
