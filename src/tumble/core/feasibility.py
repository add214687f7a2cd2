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
    """The processes that decide on safety: one for each constraint, and one for crashes after the first one.

    widening: what each constraint's standard deviation is multiplied by (core.calibration).
    measured: whether safety is about what a trial will measure, noise included, or about g itself (§4.1).
    """

    constraints: tuple[GP, ...]
    crash: GP | None = None
    widening: tuple[float, ...] = ()
    measured: bool = False

    def scores(self, x: Array) -> Array:
        """(M, G [+ 1]) z-scores, -μ_j over the widened σ_j; P(safe) is Φ(score). Crashes come last."""
        columns = []
        for gp, noise, width in self._parts():
            mean, var = gp.predict(x)
            columns.append(-mean / (width * np.sqrt(var + noise)))
        return np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))

    def each(self, x: Array) -> Array:
        """(M, G [+ 1]) probabilities of safety, one a constraint; the last column is that of crashes."""
        return np.asarray(ndtr(self.scores(x)))

    def log_prob(self, x: Array) -> Array:
        """(M,) log φ(x)."""
        return np.asarray(log_ndtr(self.scores(x)).sum(axis=1))

    def log_prob_and_grad(self, x: Array) -> tuple[Array, Array]:
        """log φ (M,) and its gradient (M, D)."""
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
        """Φ^-1(φ) (M,) and its gradient (M, D): φ on the scale of the controller, exact near 0 and 1."""
        log_p, d_log_p = self.log_prob_and_grad(x)
        margin = quantile_from_log(log_p)
        return margin, quantile_slope(log_p, margin)[:, None] * d_log_p

    def margin(self, x: Array) -> Array:
        """(M,) Φ^-1(φ) alone."""
        return quantile_from_log(self.log_prob(x))

    def noise(self, gp: GP) -> float:
        """The variance of a constraint's noise as far as it counts, in model units."""
        return gp.hyper.noise**2 if self.measured else 0.0

    def _parts(self) -> list[tuple[GP, float, float]]:
        widths = self.widening or (1.0,) * len(self.constraints)
        parts = [(gp, self.noise(gp), width) for gp, width in zip(self.constraints, widths, strict=True)]
        if self.crash is not None:
            parts.append((self.crash, SHARPNESS**2, 1.0))
        return parts
