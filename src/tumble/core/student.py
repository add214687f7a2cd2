"""Student's t law with ν degrees of freedom, elementwise and exact in both tails: the law of a prediction."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betaln, log_ndtr, ndtr, stdtr, stdtrit

from .arrays import Array, Flags
from .normal import density_over_cdf, quantile_from_log

FAR = 1e-3  # of ν / (ν + t²), below which three terms of its series are exact to 1e-9


@dataclass(frozen=True)
class Law:
    """The law of what a process predicts: Student's t, or normal.

    Parameters
    ----------
    width
        What the standard deviation of the process is multiplied by.
    freedom
        Degrees of freedom, at most 200; inf for a normal law.
    """

    width: float = 1.0
    freedom: float = np.inf

    @property
    def is_normal(self) -> bool:
        """Whether it is a normal law, whatever its width."""
        return bool(np.isinf(self.freedom))

    def log_cdf(self, t: Array) -> Array:
        """log of the distribution function, for a width of 1."""
        return np.asarray(log_ndtr(t)) if self.is_normal else log_cdf(t, self.freedom)

    def density_over_cdf(self, t: Array, log_cdf: Array) -> Array:
        """The derivative of `log_cdf`; log_cdf: its value at t, which every caller has at hand."""
        if self.is_normal:
            return density_over_cdf(t, log_cdf)
        return np.asarray(np.exp(log_density(t, self.freedom) - log_cdf))

    def normal_score(self, t: Array) -> Array:
        """The quantile of the standard normal law that is as likely to be exceeded as t."""
        return t if self.is_normal else quantile_from_log(self.log_cdf(t))

    def from_normal(self, z: float) -> float:
        """Inverse of `normal_score`, for one value."""
        return z if self.is_normal else float(stdtrit(self.freedom, float(ndtr(z))))


def log_density(t: Array, freedom: float | Array) -> Array:
    """log of the density at t."""
    return _log_density(t, freedom, _log_norm(freedom))


def _log_density(t: Array, freedom: float | Array, log_norm: float | Array) -> Array:
    return np.asarray(-0.5 * (freedom + 1.0) * np.log1p(t * t / freedom) - log_norm)


def _log_norm(freedom: float | Array) -> Array:
    """log of what (1 + t²/ν)^-(ν + 1)/2 integrates to."""
    return np.asarray(0.5 * np.log(freedom) + betaln(0.5 * freedom, 0.5))


def log_cdf(t: Array, freedom: float | Array) -> Array:
    """log of the distribution function at t."""
    least = np.min(freedom / (freedom + t * t), initial=np.inf)
    if least >= FAR:
        tail = stdtr(freedom, -np.abs(t))
        return np.where(t > 0.0, np.log1p(-tail), np.log(tail))
    tail = log_tail(np.abs(t), freedom)
    return np.where(t > 0.0, np.log1p(-np.exp(tail)), tail)


def log_tail(t: Array, freedom: float | Array) -> Array:
    """log of the probability above t >= 0."""
    # y^a / (2 a B(a, ½)) (1 + a/(2 (a + 1)) y + 3a/(8 (a + 2)) y² + …),  y = ν / (ν + t²),  a = ν / 2
    a, y = 0.5 * freedom, freedom / (freedom + t * t)
    near = y >= FAR
    value = np.log(stdtr(freedom, -np.where(near, t, 0.0)))
    series = y * (a / (2.0 * (a + 1.0)) + y * 3.0 * a / (8.0 * (a + 2.0)))
    return np.where(near, value, a * np.log(y) - np.log(2.0 * a) - betaln(a, 0.5) + np.log1p(series))


@dataclass(frozen=True)
class Laws:
    """The laws of G processes at once, for widths of 1.

    Parameters
    ----------
    freedom : (G, 1)
        Degrees of freedom of each; inf for a normal law.
    """

    freedom: Array

    def log_cdf_and_slope(self, t: Array) -> tuple[Array, Array]:
        """log of each distribution function at t (G, M), and its derivative, the density over it."""
        if self._all_normal:
            log_p = np.asarray(log_ndtr(t))
            return log_p, density_over_cdf(t, log_p)
        log_p = log_cdf(t, self._finite)
        slope = np.exp(_log_density(t, self._finite, self._log_norm) - log_p)
        if self._some_normal:
            normal = np.asarray(log_ndtr(t))
            slope = np.where(self._is_normal, density_over_cdf(t, normal), slope)
            log_p = np.where(self._is_normal, normal, log_p)
        return log_p, slope

    @cached_property
    def _is_normal(self) -> Flags:
        return np.isinf(self.freedom)

    @cached_property
    def _finite(self) -> Array:
        """(G, 1) the degrees of freedom; 1 where the law is normal."""
        return np.where(self._is_normal, 1.0, self.freedom)

    @cached_property
    def _log_norm(self) -> Array:
        return _log_norm(self._finite)

    @cached_property
    def _all_normal(self) -> bool:
        return bool(self._is_normal.all())

    @cached_property
    def _some_normal(self) -> bool:
        return bool(self._is_normal.any())
