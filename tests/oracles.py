"""Slow, plain reference code that the tests compare the core with, written from the formulas alone.

`value` and its derivatives are textbook kernels; `Dense` conditions (f, ∇f) on data by one dense solve;
its `_mp` methods do the same with 60 digits. `intensity` is (8) by refits, `information` the average
information by dense products, `propagate` expectation propagation by quadrature, one label at a time.
`central` differentiates anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from scipy import stats

from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import GP, JITTER, condition
from tumble.core.process.kernels import Kernel
from tumble.core.process.priors import Priors

KERNELS: tuple[Kernel, ...] = ("se", "matern52")
ROOT5 = np.sqrt(5.0)


def _mixed(hyper: Hyper, whole: Any, single: Callable[[int], Any]) -> Any:
    """The process's own kernel, and a share of the mean of one-dimensional ones."""
    D = len(hyper.lengthscales)
    parts = sum(single(j) for j in range(D)) / D
    return hyper.variance * ((1.0 - hyper.additive) * whole + hyper.additive * parts)


def _radial(kernel: Kernel, d: Any) -> Any:
    """k of scaled differences d (…, D), unit variance."""
    r = np.sqrt((d**2).sum(axis=-1))
    if kernel == "se":
        return np.exp(-0.5 * r**2)
    return (1 + ROOT5 * r + 5 * r**2 / 3) * np.exp(-ROOT5 * r)


def _radial_slope(kernel: Kernel, d: Any, scales: Any) -> Any:
    """Cov(f(a), ∂_j f(b)) of scaled differences d = a - b (…, D), unit variance."""
    r = np.sqrt((d**2).sum(axis=-1))[..., None]
    if kernel == "se":
        return np.exp(-0.5 * r**2) * d / scales
    return 5 / 3 * (1 + ROOT5 * r) * np.exp(-ROOT5 * r) * d / scales


def cov_values(kernel: Kernel, hyper: Hyper, A: Any, B: Any) -> Any:
    """Cov(f(a), f(b)), (P, Q)."""
    d = (A[:, None, :] - B[None, :, :]) / np.asarray(hyper.lengthscales)
    return _mixed(hyper, _radial(kernel, d), lambda j: _radial(kernel, d[..., j : j + 1]))


def cov_value_slope(kernel: Kernel, hyper: Hyper, A: Any, b: Any) -> Any:
    """Cov(f(a), ∂_j f(b)), (P, D)."""
    scales = np.asarray(hyper.lengthscales)
    d = (A - b) / scales

    def single(j: int) -> Any:
        out = np.zeros_like(d)
        out[:, j : j + 1] = _radial_slope(kernel, d[:, j : j + 1], scales[j])
        return out

    return _mixed(hyper, _radial_slope(kernel, d, scales), single)


def cov_slopes(kernel: Kernel, hyper: Hyper) -> Any:
    """Cov(∂_i f(b), ∂_j f(b)), (D, D)."""
    whole = (1.0 if kernel == "se" else 5 / 3) * np.diag(np.asarray(hyper.lengthscales) ** -2.0)
    D = len(whole)

    def single(j: int) -> Any:
        chosen = np.zeros((D, D))
        chosen[j, j] = whole[j, j]
        return chosen

    return _mixed(hyper, whole, single)


@dataclass(frozen=True)
class Joint:
    """Normal law of (f, ∂_1 f, …, ∂_D f) at one point."""

    mean: Any  # (1 + D,)
    cov: Any  # (1 + D, 1 + D)


@dataclass(frozen=True)
class Dense:
    """Data and a kernel; nothing is factorised in advance. The mpmath part knows no additive share."""

    kernel: Kernel
    hyper: Hyper
    X: Any
    y: Any
    noise_var: Any = None

    @property
    def gram(self) -> Any:
        """K + noise, with the jitter that the core always adds."""
        noise = self.hyper.noise**2 if self.noise_var is None else self.noise_var
        diagonal = (noise + JITTER * self.hyper.variance) * np.ones(len(self.X))
        return cov_values(self.kernel, self.hyper, self.X, self.X) + np.diag(diagonal)

    def _cross(self, x: Any) -> Any:
        values = cov_values(self.kernel, self.hyper, self.X, x[None, :])
        return np.hstack([values, cov_value_slope(self.kernel, self.hyper, self.X, x)])

    def at(self, x: Any) -> Joint:
        """Posterior of (f, ∇f) at x (D,)."""
        D = len(x)
        prior = np.zeros((1 + D, 1 + D))
        prior[0, 0] = self.hyper.variance
        prior[1:, 1:] = cov_slopes(self.kernel, self.hyper)
        cross = self._cross(x)
        solved = np.linalg.solve(self.gram, np.column_stack([self.y, cross]))
        return Joint(cross.T @ solved[:, 0], prior - cross.T @ solved[:, 1:])

    def slopes_given(self, x: Any, u: float) -> Joint:
        """Law of ∇f(x) after a refit with the noise-free observation {x, u} (App. A.2)."""
        n, D = len(self.X), len(x)
        values = cov_values(self.kernel, self.hyper, self.X, x[None, :])
        gram = np.block([[self.gram, values], [values.T, np.array([[self.hyper.variance]])]])
        cross = np.vstack([self._cross(x)[:, 1:], np.zeros((1, D))])
        solved = np.linalg.solve(gram, np.column_stack([np.append(self.y, u), cross]))
        assert len(gram) == n + 1
        return Joint(cross.T @ solved[:, 0], cov_slopes(self.kernel, self.hyper) - cross.T @ solved[:, 1:])

    def slopes_given_mp(self, x: Any, u: float, digits: int = 60) -> Joint:
        """`slopes_given` with `digits` digits, for Gram matrices that float64 cannot invert."""
        with mpmath.workdps(digits):
            return self._slopes_given_mp([mpmath.mpf(float(v)) for v in x], mpmath.mpf(u))

    def _slopes_given_mp(self, x: list[Any], u: Any) -> Joint:
        h, D = self.hyper, len(x)
        scales = [mpmath.mpf(v) for v in h.lengthscales]
        points = [[mpmath.mpf(float(v)) for v in row] for row in self.X] + [x]
        n = len(points)
        nugget = mpmath.mpf(h.noise) ** 2 + mpmath.mpf(JITTER) * mpmath.mpf(h.variance)
        gram, right = mpmath.matrix(n, n), mpmath.matrix(n, 1 + D)
        for i, a in enumerate(points):
            for j, b in enumerate(points):
                gram[i, j] = value_mp(self.kernel, h.variance, scales, a, b)
            if i < n - 1:
                gram[i, i] += nugget
            right[i, 0] = mpmath.mpf(float(self.y[i])) if i < n - 1 else u
            for j in range(D):
                right[i, 1 + j] = slope_mp(self.kernel, h.variance, scales, a, x, j)
        solved = gram**-1 * right
        out = right[:, 1:].T * solved
        prior = cov_slopes(self.kernel, h)
        mean = np.array([float(out[j, 0]) for j in range(D)])
        reduced = [[mpmath.mpf(prior[i, j]) - out[i, 1 + j] for j in range(D)] for i in range(D)]
        return Joint(mean, np.array([[float(v) for v in row] for row in reduced]))


def value_mp(
    kernel: Kernel, variance: float, scales: Sequence[Any], a: Sequence[Any], b: Sequence[Any]
) -> Any:
    """The kernel with mpmath."""
    r2 = sum(((p - q) / s) ** 2 for p, q, s in zip(a, b, scales, strict=True))
    if kernel == "se":
        return variance * mpmath.exp(-r2 / 2)
    r = mpmath.sqrt(5 * r2)
    return variance * (1 + r + r * r / 3) * mpmath.exp(-r)


def slope_mp(kernel: Kernel, variance: float, scales: Sequence[Any], a: Any, b: Any, j: int) -> Any:
    """Cov(f(a), ∂_j f(b)) with mpmath."""
    r2 = sum(((p - q) / s) ** 2 for p, q, s in zip(a, b, scales, strict=True))
    direction = (a[j] - b[j]) / scales[j] ** 2
    if kernel == "se":
        return variance * mpmath.exp(-r2 / 2) * direction
    r = mpmath.sqrt(5 * r2)
    return variance * mpmath.mpf(5) / 3 * (1 + r) * mpmath.exp(-r) * direction


def intensity(dense: Dense, x: Any, u: float) -> float:
    """(8) at x (D,): the density of f(x) at u times Σ_j E|∂_j f|, after a refit with {x, u}."""
    value = dense.at(x)
    slopes = dense.slopes_given(x, u)
    spread = np.sqrt(np.diag(slopes.cov))
    speeds = [s * stats.foldnorm(abs(m) / s).mean() for m, s in zip(slopes.mean, spread, strict=True)]
    return float(stats.norm.pdf(u, value.mean[0], np.sqrt(value.cov[0, 0])) * sum(speeds))


def gram_of(kernel: Kernel, X: Any, priors: Priors, theta: Any) -> Any:
    """K + noise of the hyperparameters that θ stands for, with the jitter that the core always adds."""
    h = priors.from_theta(theta)
    return cov_values(kernel, h, X, X) + (h.noise**2 + JITTER * h.variance) * np.eye(len(X))


def gram_slopes(kernel: Kernel, X: Any, priors: Priors, theta: Any, step: float = 1e-4) -> Any:
    """(P, N, N) derivatives of `gram_of` by each of θ."""
    return central(
        lambda rows: np.array([gram_of(kernel, X, priors, t) for t in rows]), theta[None, :], step
    )[0]


def information(kernel: Kernel, X: Any, y: Any, priors: Priors, theta: Any) -> Any:
    """Average information ½ (∂_i K w)ᵀ B (∂_j K w), w = B y; a mean that is learned is a constant of K."""
    K = gram_of(kernel, X, priors, theta)
    B = np.linalg.inv(K if priors.mean_std is None else K + priors.mean_std**2)
    moved = gram_slopes(kernel, X, priors, theta) @ (B @ y)
    return 0.5 * moved @ B @ moved.T


def propagate(K: Any, crashed: Any, prior_mean: float, sharpness: float, sweeps: int = 200) -> Joint:
    """N(prior_mean, K) times labels Φ(± g / sharpness), by textbook expectation propagation.

    One site at a time; the moments of cavity times label by quadrature.
    """
    n = len(K)
    tau, nu = np.full(n, 1e-6), np.full(n, 1e-6 * prior_mean)
    nodes = np.linspace(-10.0, 10.0, 20_001)
    weights = stats.norm.pdf(nodes)
    prior = np.linalg.inv(K)
    for _ in range(sweeps):
        before = tau.copy()
        for i in range(n):
            cov = np.linalg.inv(prior + np.diag(tau))
            mean = cov @ (prior @ np.full(n, prior_mean) + nu)
            v = 1.0 / (1.0 / cov[i, i] - tau[i])
            m = v * (mean[i] / cov[i, i] - nu[i])
            g = m + np.sqrt(v) * nodes
            p = weights * stats.norm.cdf((g if crashed[i] else -g) / sharpness)
            p = p / p.sum()
            new_mean = p @ g
            new_var = p @ (g - new_mean) ** 2
            tau[i] = 1.0 / new_var - 1.0 / v
            nu[i] = new_mean / new_var - m / v
        if np.abs(tau - before).max() < 1e-9:
            break
    cov = np.linalg.inv(prior + np.diag(tau))
    return Joint(cov @ (prior @ np.full(n, prior_mean) + nu), cov)


def problem(
    kernel: Kernel, dim: int, n: int, seed: int = 0, *, noise: float = 0.01, scale: float = 0.35,
    additive: float = 0.0,
) -> tuple[GP, Dense]:  # fmt: skip
    """A conditioned process, and the same for the dense oracle."""
    rng = np.random.default_rng([seed, dim, n])
    lengthscales = scale * np.sqrt(dim) * np.exp(0.3 * rng.standard_normal(dim))
    hyper = Hyper(tuple(lengthscales.tolist()), float(np.exp(0.4 * rng.standard_normal())), noise, additive)
    X = rng.random((n, dim))
    y = np.sin(3.0 * X.sum(axis=1)) + 0.3 * rng.standard_normal(n)
    return condition(kernel, hyper, X, y), Dense(kernel, hyper, X, y)


def central(fun: Callable[[Any], Any], x: Any, step: float = 1e-4) -> Any:
    """Derivatives of fun: (M, D) -> (M, …) by every x_l, fourth order: (M, D, …)."""
    columns = []
    for j in range(x.shape[1]):
        e = np.zeros(x.shape[1])
        e[j] = step
        near, far = fun(x + e) - fun(x - e), fun(x + 2 * e) - fun(x - 2 * e)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=1)


def close(actual: Any, expected: Any, relative: float) -> None:
    """Equal to `relative` of the largest expected entry."""
    size = max(float(np.max(np.abs(expected), initial=0.0)), 1e-300)
    np.testing.assert_allclose(actual, expected, rtol=relative, atol=relative * size)
