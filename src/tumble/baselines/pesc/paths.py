"""Functions drawn from a posterior, and where each has its constrained minimum.

A draw is a draw of the prior, made of random Fourier features, corrected by the kernel so that it passes
through (noisy) data (Matheron's rule; Wilson et al. 2020). It can be evaluated and differentiated anywhere.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve
from scipy.optimize import minimize

from ...core.arrays import Array, Flags
from ...core.process.gp import GP

FREQUENCIES = 256
STUDENT = 5.0  # degrees of freedom of Matérn-5/2's spectral density
SLACK = 1e-6  # how far above 0 a drawn constraint still counts as met, in model units


@dataclass(frozen=True)
class Paths:
    """M draws of one process."""

    gp: GP
    frequencies: Array  # (R, D)
    weights: Array  # (2R, M) of the cosines and sines
    corrections: Array  # (N, M) of the kernels at the data

    def values(self, x: Array) -> Array:
        """(P, M) every draw at x (P, D)."""
        prior = _features(x, self.frequencies) @ self.weights
        return self.gp.prior_mean + prior + self.gp.covariance(x, self.gp.X) @ self.corrections

    def value_and_grad(self, x: Array, draw: int) -> tuple[float, Array]:
        """One draw at x (D,) and its gradient (D,)."""
        R = len(self.frequencies)
        phase = self.frequencies @ x
        cos, sin, w = np.cos(phase), np.sin(phase), self.weights[:, draw]
        k, d_k = self.gp.covariance_and_grad(x[None, :], self.gp.X)
        correction = self.corrections[:, draw]
        value = self.gp.prior_mean + cos @ w[:R] + sin @ w[R:] + k[0] @ correction
        return float(value), (cos * w[R:] - sin * w[:R]) @ self.frequencies + correction @ d_k[0]


def draw_paths(gp: GP, count: int, rng: np.random.Generator) -> Paths:
    """`count` draws from the posterior of `gp`."""
    frequencies = _frequencies(gp, rng)
    spread = np.sqrt(gp.hyper.variance / FREQUENCIES)
    weights = spread * rng.standard_normal((2 * FREQUENCIES, count))
    noise = np.maximum(np.square(gp.chol).sum(axis=1) - gp.hyper.variance, 0.0)  # (N,) as conditioned on
    prior = _features(gp.X, frequencies) @ weights
    prior += np.sqrt(noise)[:, None] * rng.standard_normal((len(gp.X), count))
    pulled = cho_solve((gp.chol, True), prior) if len(gp.X) else prior
    return Paths(gp, frequencies, weights, gp.weights[:, None] - pulled)


def minimisers(objective: Paths, constraints: tuple[Paths, ...], points: Array) -> Array:
    """(M, D) where each draw is least among what its constraints allow, searched from `points` (P, D).

    A draw in which nothing is allowed gives the point of its smallest violation.
    """
    found, allowed = _best(objective, constraints, points)
    for i in np.flatnonzero(allowed).tolist():
        found[i] = _descend(objective, constraints, i, found[i])
    return found


def rough_minimisers(objective: Paths, constraints: tuple[Paths, ...], points: Array) -> Array:
    """The same among `points` themselves: no descent."""
    return _best(objective, constraints, points)[0]


def _best(objective: Paths, constraints: tuple[Paths, ...], points: Array) -> tuple[Array, Flags]:
    """(M, D) for each draw the best of `points`, (M,) and whether its constraints are met there."""
    values = objective.values(points)
    worst = np.full_like(values, -np.inf)
    for paths in constraints:
        worst = np.maximum(worst, paths.values(points))
    allowed = worst <= 0.0
    some = np.asarray(allowed.any(axis=0))
    best = np.where(some, np.argmin(np.where(allowed, values, np.inf), axis=0), np.argmin(worst, axis=0))
    return points[best], some


def _descend(objective: Paths, constraints: tuple[Paths, ...], draw: int, start: Array) -> Array:
    """The local constrained minimum of a draw from an allowed `start` (D,); `start` where there is none."""

    def value_and_grad(x: Array) -> tuple[float, Array]:
        return objective.value_and_grad(x, draw)

    def room(x: Array) -> Array:
        return np.array([-c.value_and_grad(x, draw)[0] for c in constraints])

    def d_room(x: Array) -> Array:
        return np.array([-c.value_and_grad(x, draw)[1] for c in constraints])

    limits: Any = [{"type": "ineq", "fun": room, "jac": d_room}] if constraints else []
    result = minimize(
        value_and_grad, start, jac=True, method="SLSQP", bounds=[(0.0, 1.0)] * len(start),
        constraints=limits, options={"maxiter": 30, "ftol": 1e-6},
    )  # fmt: skip
    x = np.clip(result.x, 0.0, 1.0)
    if not np.isfinite(x).all() or any(c.value_and_grad(x, draw)[0] > SLACK for c in constraints):
        return start
    lower = objective.value_and_grad(x, draw)[0] < objective.value_and_grad(start, draw)[0]
    return x if lower else start


def _features(x: Array, frequencies: Array) -> Array:
    phase = x @ frequencies.T
    return np.hstack([np.cos(phase), np.sin(phase)])


def _frequencies(gp: GP, rng: np.random.Generator) -> Array:
    """(R, D) draws from the spectral density; those of the additive share vary along one coordinate each."""
    dim = gp.X.shape[1]
    z = rng.standard_normal((FREQUENCIES, dim))
    if gp.kernel == "matern52":
        z /= np.sqrt(rng.chisquare(STUDENT, (FREQUENCIES, 1)) / STUDENT)
    along = rng.integers(dim, size=FREQUENCIES)
    one = rng.random(FREQUENCIES) < gp.hyper.additive
    z[one] *= np.eye(dim)[along[one]]
    return np.asarray(z / np.asarray(gp.hyper.lengthscales))
