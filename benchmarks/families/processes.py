"""Draws of Gaussian processes by random Fourier features, and monotone warps of their values.

256 features a draw: w is drawn from the kernel's spectral density and f(u) = sqrt(2/F) Σ a_k cos(w_k·u + b_k)
with a_k standard normal. A draw costs nothing to make and 256 cosines a point to evaluate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .landscape import Array

FEATURES = 256
KERNELS: dict[str, float | None] = {"SE": None, "Matérn 5/2": 2.5, "Matérn 3/2": 1.5}  # ν; None: infinite
WARPS: dict[str, Callable[[Array], Array]] = {
    "none": lambda z: z,
    "exponential": lambda z: np.exp(1.5 * z),
    "cubic": lambda z: z**3 + 0.1 * z,
    "saturating": lambda z: np.tanh(1.5 * z) + 0.02 * z,
}


@dataclass(frozen=True, eq=False)
class Process:
    """One draw with unit variance on the unit cube: points (n, D) -> (n,)."""

    frequencies: Array
    phases: Array
    weights: Array

    def __call__(self, unit: Array) -> Array:
        """The values (n,) at points (n, D)."""
        waves = np.cos(unit @ self.frequencies.T + self.phases)
        result: Array = np.sqrt(2.0 / len(self.phases)) * (waves @ self.weights)
        return result


def draw_process(
    rng: np.random.Generator, dimension: int, kernel: str, shortest: float, features: int = FEATURES
) -> Process:
    """A draw whose lengthscales lie around ``shortest`` · sqrt(D), one for each parameter."""
    lengthscales = shortest * np.sqrt(dimension) * np.exp(0.3 * rng.standard_normal(dimension))
    waves = rng.standard_normal((features, dimension)) / lengthscales
    nu = KERNELS[kernel]
    if nu is not None:
        waves *= np.sqrt(2.0 * nu / rng.chisquare(2.0 * nu, (features, 1)))
    phases = rng.uniform(0.0, 2.0 * np.pi, features)
    return Process(waves, phases, rng.standard_normal(features))
