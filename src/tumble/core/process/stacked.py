"""Posteriors of several processes with Matérn kernels over the same data, at once: the heart of a climb.

In the notation of core.process.covariance, with d_j = √5 (x_j - X_j)/ℓ_j, t_j = |d_j| and s² = Σ_j t_j²:

    k     = u (1 + s + s²/3) exp(-s) + v Σ_j (1 + t_j + t_j²/3) exp(-t_j)
    ∂_j k = -√5/(3 ℓ_j) d_j [u (1 + s) exp(-s) + v (1 + t_j) exp(-t_j)]

where u is the variance of the joint kernel and v that of one effect. No exponential of a pair and coordinate
is taken: exp(-|a - b|) is the smaller of exp(-a) exp(b) and exp(a) exp(-b).

Posteriors follow as in core.process.gp: ∇μ = ∇k B (y - prior_mean),  ∇σ² = -2 ∇k B kᵀ.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .cholesky import solve
from .covariance import Hyper
from .kernels import SQRT5, WIDE

TOGETHER = 4  # processes; the arrays of more of them leave the processor's cache


class Prediction(NamedTuple):
    """Posterior mean and variance at M points, with their gradients by x; of Q processes where Q leads."""

    mean: Array  # ([Q,] M)
    var: Array  # ([Q,] M)
    d_mean: Array  # ([Q,] M, D)
    d_var: Array  # ([Q,] M, D)

    def of(self, rows: int | slice) -> "Prediction":
        """That of one process, or of some."""
        return Prediction(self.mean[rows], self.var[rows], self.d_mean[rows], self.d_var[rows])


class Covariances(NamedTuple):
    """Covariances of M points with N data, and their derivatives by x_j, divided by `per_slope`_j."""

    k: Array  # (Q, M, N)
    d_k: Array  # (Q, M, D, N)


@dataclass(frozen=True)
class StackedMatern:
    """The covariances of Q processes with Matérn 5/2 kernels, over the same data.

    Parameters
    ----------
    hypers
        The hyperparameters of each process.
    X : (N, D)
        The data.
    """

    hypers: tuple[Hyper, ...]
    X: Array

    def at(self, x: Array) -> Covariances:
        """Covariances of x (M, D) with the data, and their derivatives."""
        a = (x - 0.5) * self._per_length  # (Q, M, D)
        d = a[..., None] - self._data  # (Q, M, D, N)
        t = np.abs(d)
        squares = t * t
        s = np.add.reduce(squares, axis=2)  # (Q, M, N)
        np.sqrt(s, out=s)
        decay = np.exp(-s)
        decay *= self._joint
        h1 = (s + 1.0) * decay
        s *= s
        s *= decay  # s² u exp(-s)
        if self._effect is not None:
            decays = self._decays(a, t)
            t += 1.0
            t *= decays  # v (1 + t_j) exp(-t_j)
            s += np.einsum("qmjn,qmjn->qmn", squares, decays)
            s *= 1.0 / 3.0
            s += h1
            s += np.add.reduce(t, axis=2)
            t += h1[:, :, None]
            d *= t
        else:
            s *= 1.0 / 3.0
            s += h1
            d *= h1[:, :, None]
        return Covariances(s, d)

    @cached_property
    def per_slope(self) -> Array:
        """(Q, 1, D) -√5/(3 ℓ_j)."""
        return np.asarray(-self._per_length / 3.0)

    def _decays(self, a: Array, t: Array) -> Array:
        """(Q, M, D, N) v exp(-t_j)."""
        assert self._effect is not None
        if self._wide:
            return np.asarray(np.exp(-t) * self._effect[..., None])
        rising = np.exp(a)
        decays = (self._effect / rising)[..., None] * self._rising
        rising *= self._effect
        return np.minimum(decays, rising[..., None] * self._falling, out=decays)

    @cached_property
    def _per_length(self) -> Array:
        """(Q, 1, D) √5/ℓ_j."""
        return np.asarray(SQRT5 / np.array([[h.lengthscales] for h in self.hypers]))

    @cached_property
    def _data(self) -> Array:
        """(Q, 1, D, N) the data, from the centre of the cube on."""
        return np.ascontiguousarray(((self.X - 0.5) * self._per_length).transpose(0, 2, 1))[:, None]

    @cached_property
    def _wide(self) -> bool:
        """Whether products of exponentials may overflow."""
        return bool(self._per_length.max() > 2.0 * WIDE)

    @cached_property
    def _rising(self) -> Array:
        return np.asarray(np.exp(self._data))

    @cached_property
    def _falling(self) -> Array:
        return np.asarray(np.exp(-self._data))

    @cached_property
    def _joint(self) -> Array:
        """(Q, 1, 1) u."""
        return np.array([[[(1.0 - h.additive) * h.variance]] for h in self.hypers])

    @cached_property
    def _effect(self) -> Array | None:
        """(Q, 1, 1) v; None where no process has effects."""
        if not any(h.additive for h in self.hypers):
            return None
        return np.array([[[h.additive * h.variance / len(h.lengthscales)]] for h in self.hypers])


@dataclass(frozen=True)
class StackedPosterior:
    """The posteriors of Q processes over the same data.

    Parameters
    ----------
    prior
        Their covariances before any data.
    chols : Q of (N, N)
        The lower Cholesky factor of K + noise of each.
    weights : (Q, N)
        B (y - prior_mean) of each.
    means, variances, floors : (Q, 1)
        Mean and variance before any data, and the smallest variance that differs from rounding.
    inverses : (Q, N, N)
        The inverse of each factor, where products with it are faster than solves; else None.
    """

    prior: StackedMatern
    chols: tuple[Array, ...]
    weights: Array
    means: Array
    variances: Array
    floors: Array
    inverses: Array | None = None

    def predict_with_gradient(self, x: Array) -> Prediction:
        """Posterior means and variances at x (M, D), with their gradients by x."""
        if len(self.chols) > TOGETHER:
            found = [part.predict_with_gradient(x) for part in self._parts]
            return Prediction(*(np.concatenate(each) for each in zip(*found, strict=True)))
        k, d_k = self.prior.at(x)
        mean, d_mean = self._means(k, d_k)
        solved, explained = self._solved(k)
        var = np.subtract(self.variances, explained, out=explained)
        d_var = (d_k @ solved[..., None])[..., 0]
        d_var *= self._twice_per_slope
        return Prediction(mean, np.maximum(var, self.floors, out=var), d_mean, d_var)

    def _solved(self, k: Array) -> tuple[Array, Array]:
        """(Q, M, N) B kᵀ of the covariances k (Q, M, N), and (Q, M) k B kᵀ."""
        if self.inverses is not None:
            halves = k @ self.inverses.transpose(0, 2, 1)
            return halves @ self.inverses, np.vecdot(halves, halves)
        solved, explained = np.empty_like(k), np.empty(k.shape[:2])
        for q, chol in enumerate(self.chols):
            half = solve(chol, k[q].T)
            np.einsum("nm,nm->m", half, half, out=explained[q])
            solved[q] = solve(chol, half, transposed=True, overwrite=True).T
        return solved, explained

    def means_with_gradient(self, x: Array) -> tuple[Array, Array]:
        """Posterior means (Q, M) at x (M, D), and their gradients (Q, M, D)."""
        return self._means(*self.prior.at(x))

    def _means(self, k: Array, d_k: Array) -> tuple[Array, Array]:
        mean = (k @ self.weights[:, :, None])[..., 0]
        mean += self.means
        d_mean = (d_k @ self.weights[:, None, :, None])[..., 0]
        d_mean *= self.prior.per_slope
        return mean, d_mean

    @cached_property
    def _parts(self) -> "list[StackedPosterior]":
        """The processes, TOGETHER of them at a time."""
        starts = range(0, len(self.chols), TOGETHER)
        return [self._some(slice(start, start + TOGETHER)) for start in starts]

    def _some(self, rows: slice) -> "StackedPosterior":
        return StackedPosterior(
            StackedMatern(self.prior.hypers[rows], self.prior.X), self.chols[rows],
            self.weights[rows], self.means[rows], self.variances[rows], self.floors[rows],
            None if self.inverses is None else self.inverses[rows],
        )  # fmt: skip

    @cached_property
    def _twice_per_slope(self) -> Array:
        return -2.0 * self.prior.per_slope
