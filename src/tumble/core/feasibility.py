"""How likely is a trial to be safe? φ(x) = ∏_j Pr(g_j(x) <= 0) (§4.1), in log space with gradient."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from .arrays import Array
from .normal import density_over_cdf, quantile_from_log, quantile_slope
from .process.crashes import SHARPNESS
from .process.gp import GP


@dataclass(frozen=True)
class Feasibility:
    """The processes that decide on safety.

    Parameters
    ----------
    constraints
        One process for each of the G constraints.
    crash
        The latent process of crashes, after the first one (core.process.crashes).
    widening
        What each constraint's standard deviation is multiplied by (core.calibration); () where by nothing.
    measured
        Whether safety is about what a trial will measure, noise included, or about g itself (§4.1).
    """

    constraints: tuple[GP, ...]
    crash: GP | None = None
    widening: tuple[float, ...] = ()
    measured: bool = False

    def scores(self, x: Array) -> Array:
        """(M, G [+ 1]) -μ_j over the widened σ_j; P(safe) of each is Φ of it. Crashes come last."""
        columns = []
        for gp, noise, width in self._parts():
            mean, var = gp.predict(x)
            columns.append(-mean / (width * np.sqrt(var + noise)))
        return np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))

    def each(self, x: Array) -> Array:
        """(M, G [+ 1]) probabilities that each constraint is met; crashes come last."""
        return np.asarray(ndtr(self.scores(x)))

    def log_prob(self, x: Array) -> Array:
        """(M,) log φ(x)."""
        return np.asarray(log_ndtr(self.scores(x)).sum(axis=1))

    def log_prob_and_grad(self, x: Array) -> tuple[Array, Array]:
        """log φ (M,) and its gradient (M, D)."""
        # ∇ log Φ(s) = φ(s)/Φ(s) ∇s,  ∇s = -∇μ / (w √(σ² + noise)) - ½ s ∇σ² / (σ² + noise),  w the widening
        value, grad = np.zeros(len(x)), np.zeros_like(x)
        for gp, noise, width in self._parts():
            mean, var, d_mean, d_var = gp.predict_with_gradient(x)
            spread = var + noise
            score = -mean / (width * np.sqrt(spread))
            log_p = log_ndtr(score)
            ratio = density_over_cdf(score, log_p)
            d_score = -d_mean / (width * np.sqrt(spread))[:, None] - (0.5 * score / spread)[:, None] * d_var
            value += log_p
            grad += ratio[:, None] * d_score
        return value, grad

    def margin_and_grad(self, x: Array) -> tuple[Array, Array]:
        """Φ^-1(φ) (M,) and its gradient (M, D): φ on the scale of the controller's z, exact near 0 and 1."""
        log_p, d_log_p = self.log_prob_and_grad(x)
        margin = quantile_from_log(log_p)
        return margin, quantile_slope(log_p, margin)[:, None] * d_log_p

    def margin(self, x: Array) -> Array:
        """(M,) Φ^-1(φ) alone."""
        return quantile_from_log(self.log_prob(x))

    def noise(self, gp: GP) -> float:
        """The variance of the noise that safety counts, in model units: 0 where it is about g itself."""
        return gp.hyper.noise**2 if self.measured else 0.0

    def _parts(self) -> list[tuple[GP, float, float]]:
        widths = self.widening or (1.0,) * len(self.constraints)
        parts = [(gp, self.noise(gp), width) for gp, width in zip(self.constraints, widths, strict=True)]
        if self.crash is not None:
            parts.append((self.crash, SHARPNESS**2, 1.0))
        return parts
