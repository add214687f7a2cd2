"""Student's t law with ν degrees of freedom, elementwise and exact in both tails: the law of a prediction."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betaln, log_ndtr, ndtr, stdtr, stdtrit

from .arrays import Array, Flags
from .normal import density_over_cdf, quantile_from_log

FAR = 1e-3  # of ν / (ν + t²), below which three terms of its series are exact to 1e-9


@dataclass(frozen=True, eq=False)
class Student:
    """Student's t law, or one for each row.

    Parameters
    ----------
    freedom
        Degrees of freedom; (G, 1) for the laws of G rows.
    """

    freedom: float | Array

    def log_density(self, t: Array) -> Array:
        """log of the density at t."""
        return np.asarray(-0.5 * (self.freedom + 1.0) * np.log1p(t * t / self.freedom) - self._log_norm)

    def log_cdf(self, t: Array) -> Array:
        """log of the distribution function at t."""
        y = self.freedom / (self.freedom + t * t)
        if np.minimum.reduce(y, axis=None, initial=np.inf) >= FAR:
            tail = stdtr(self.freedom, -np.abs(t))
            return np.where(t > 0.0, np.log1p(-tail), np.log(tail))
        tail = self._log_tail(np.abs(t), y)
        return np.where(t > 0.0, np.log1p(-np.exp(tail)), tail)

    def _log_tail(self, t: Array, y: Array) -> Array:
        """log of the probability above t >= 0, from y = ν / (ν + t²)."""
        # y^a / (2 a B(a, ½)) (1 + a/(2 (a + 1)) y + 3a/(8 (a + 2)) y² + …),  a = ν / 2
        a, first, second, log_two_a, log_beta = self._series
        near = y >= FAR
        value = np.log(stdtr(self.freedom, -np.where(near, t, 0.0)))
        series = y * (first + y * 3.0 * a / second)
        return np.where(near, value, a * np.log(y) - log_two_a - log_beta + np.log1p(series))

    @cached_property
    def _series(self) -> tuple[Array, ...]:
        a = np.asarray(0.5 * self.freedom)
        return a, a / (2.0 * (a + 1.0)), 8.0 * (a + 2.0), np.log(2.0 * a), np.asarray(betaln(a, 0.5))

    @cached_property
    def _log_norm(self) -> float | Array:
        """log of what the density is divided by."""
        return 0.5 * np.log(self.freedom) + betaln(0.5 * self.freedom, 0.5)


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
        return np.asarray(log_ndtr(t)) if self.is_normal else Student(self.freedom).log_cdf(t)

    def density_over_cdf(self, t: Array, log_cdf: Array) -> Array:
        """The derivative of `log_cdf`; log_cdf: its value at t, which every caller has at hand."""
        if self.is_normal:
            return density_over_cdf(t, log_cdf)
        return np.asarray(np.exp(Student(self.freedom).log_density(t) - log_cdf))

    def normal_score(self, t: Array) -> Array:
        """The quantile of the standard normal law that is as likely to be exceeded as t."""
        return t if self.is_normal else quantile_from_log(self.log_cdf(t))

    def from_normal(self, z: float) -> float:
        """Inverse of `normal_score`, for one value."""
        return z if self.is_normal else float(stdtrit(self.freedom, float(ndtr(z))))


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
        is_normal, student = self._parts
        if student is None:
            log_p = np.asarray(log_ndtr(t))
            return log_p, density_over_cdf(t, log_p)
        log_p = student.log_cdf(t)
        slope = np.exp(student.log_density(t) - log_p)
        if is_normal is not None:
            normal = np.asarray(log_ndtr(t))
            slope = np.where(is_normal, density_over_cdf(t, normal), slope)
            log_p = np.where(is_normal, normal, log_p)
        return log_p, slope

    @cached_property
    def _parts(self) -> tuple[Flags | None, Student | None]:
        """(G, 1) which laws are normal, None where none is; and Student's laws, None where all are normal."""
        is_normal = np.isinf(self.freedom)
        if is_normal.all():
            return is_normal, None
        return is_normal if is_normal.any() else None, Student(np.where(is_normal, 1.0, self.freedom))
