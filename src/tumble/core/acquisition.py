"""What the search maximises: the protocol, and excursion search (§3.2)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from .arrays import Array
from .crossings import log_mean_intensity_and_gradient
from .normal import LOG_SQRT_2PI
from .process.gp import GP
from .process.slopes import slopes_and_curvature


class Acquisition(Protocol):
    """A logarithm to be maximised over the unit cube; every row of x is a query of its own."""

    def screen(self, x: Array) -> Array:
        """(M,) values, or a cheap stand-in that ranks points alike; used to choose where to start."""

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """Values (M,) and gradients (M, D) at x (M, D)."""


def log_mean_exp(values: Array, weights: Array | None = None) -> Array:
    """log of the mean of exp(values) over the last axis; `weights` (U,) add up to 1, or are all the same."""
    top = values.max(axis=-1, keepdims=True)
    relative = np.exp(values - top)
    mean = np.mean(relative, axis=-1) if weights is None else relative @ weights
    return np.asarray(top[..., 0] + np.log(mean))


@dataclass(frozen=True)
class ExcursionSearch:
    """log α_X (10): the expected intensity of crossings of f*.

    Parameters
    ----------
    gp
        The process of f.
    minima : (S,)
        Samples of f*, in model units.
    band
        Count crossings of a band of levels as wide as σ(x), which is what a trial at x can resolve: α_X σ. As
        printed, samples of f* are spikes of height 1/σ near the data, and the search creeps along them in
        steps that shrink with σ.
    """

    gp: GP
    minima: Array
    band: bool = False

    def screen(self, x: Array) -> Array:
        """The density of f* alone, without the expected slope."""
        mean, var = self.gp.predict(x)
        u, share = self.levels
        value = log_mean_exp(-0.5 * (u - mean[:, None]) ** 2 / var[:, None], share) - LOG_SQRT_2PI
        return np.asarray(value if self.band else value - 0.5 * np.log(var))

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """log α_X and its gradient."""
        slopes, curvature = slopes_and_curvature(self.gp, x)
        return log_mean_intensity_and_gradient(slopes, curvature, *self.levels, band=self.band)  # (10)

    @cached_property
    def levels(self) -> tuple[Array, Array]:
        """The distinct samples (U,) and their shares (U,): many lie at the cap."""
        values, counts = np.unique(self.minima, return_counts=True)
        return values, counts / len(self.minima)
