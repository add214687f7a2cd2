"""The law of the global minimum f* (§3.1, App. B), in model units.

There are three laws:

    "frechet"  (9), fitted to two quantiles of the minimum over a grid whose values are taken as independent
    "gumbel"   the same for the Gumbel law, as in max-value entropy search
    "joint"    minima of joint posterior draws over those candidates that are most likely to be the minimum

Independent values put f* far below anything possible; joint draws respect correlation and do not. Where a
fit is degenerate, samples come from the quantiles themselves, and `Minima.fallback` says why.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr

from .arrays import Array, Indices
from .process.cholesky import cholesky
from .process.gp import GP
from .search.candidates import low_discrepancy
from .settings import MinimumLaw, Settings

LOW, MIDDLE, HIGH = 0.25, 0.5, 0.75  # the quantiles that are fitted (the authors' scripts)
TAIL = 1e-3  # no sample lies below this quantile of the independent law
QUARTILE_SPREAD = np.log(np.log(4.0)) - np.log(np.log(4.0 / 3.0))  # of the Gumbel law with scale 1


@dataclass(frozen=True)
class Minima:
    """Samples of f*.

    Parameters
    ----------
    samples : (S,)
        The samples, in model units.
    law
        The law that was asked for.
    fallback
        Why that law could not be fitted; the samples then come from the quantiles. None where it was fitted.
    """

    samples: Array
    law: MinimumLaw
    fallback: str | None = None


def sample(
    gp: GP, constraints: tuple[GP, ...], points: Array, eta: float, settings: Settings,
    rng: np.random.Generator, grid: Array | None = None,
) -> Minima:  # fmt: skip
    """Samples of f* by the law of the settings.

    Every sample lies below the incumbent η: by `settings.gap` at least, and by `settings.optimism` times the
    mean of η - f* at least. Without this floor, samples close to η would keep the search at the incumbent
    while other samples say that a better basin is likely.

    Parameters
    ----------
    gp, constraints
        The processes of f and of each g.
    points : (P, D)
        The candidates (core.search.candidates). Joint draws are made at the likeliest of them.
    eta
        The incumbent, in model units.
    settings
        The law, the number of samples and of grid points.
    rng
        The source of randomness.
    grid : (Q, D)
        Where the fitted laws look; None for `settings.grid` points all over the cube.
    """
    if settings.minima == "joint":
        rows = likeliest(gp, constraints, points, eta, settings.grid)
        drawn = joint(gp, points, settings.n_minima, rng, constraints, rows)
    else:
        grid = low_discrepancy(settings.grid, gp.X.shape[1], rng) if grid is None else grid
        mean, var = gp.predict(grid)
        if settings.minima == "frechet":
            drawn = frechet(mean, var, eta, settings.n_minima, rng, cap=settings.cap_minima)
        else:
            drawn = gumbel(mean, var, eta, settings.n_minima, rng)
    samples = np.where(np.isfinite(drawn.samples), drawn.samples, eta)  # η where nothing was feasible
    if settings.gap is not None:
        samples = np.minimum(samples, eta - settings.gap)
    if settings.optimism:
        samples = np.minimum(samples, eta - settings.optimism * float(np.mean(eta - samples)))
    return replace(drawn, samples=samples)


def independent_survival(mean: Array, std: Array) -> Callable[[Array], Array]:
    """The function a (Q,) -> log Pr(f* >= a) = Σ_p log Φ((mean_p - a) / std_p) of independent values (P,)."""

    def log_survival(a: Array) -> Array:
        return np.asarray(log_ndtr((mean[:, None] - a) / std[:, None]).sum(axis=0))

    return log_survival


def quantiles(mean: Array, std: Array, survival: Array) -> Array:
    """The levels a (Q,) with Pr(f* >= a) = survival (Q,), by bisection."""
    log_survival = independent_survival(mean, std)
    target = np.log(survival)
    low = np.full(len(survival), float(np.min(mean - 10.0 * std)))
    high = np.full(len(survival), float(np.min(mean + 10.0 * std)))
    for _ in range(45):
        middle = 0.5 * (low + high)
        above = log_survival(middle) > target  # survival still larger: the level lies higher
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(0.5 * (low + high))


def frechet(
    mean: Array, var: Array, eta: float, size: int, rng: np.random.Generator, *, cap: bool = True
) -> Minima:
    """Samples of (9), fitted to the quartiles of the minimum of independent values (P,).

    cap: whether no sample may lie below the TAIL quantile of that minimum.
    """
    # (9) is Pr(f* >= a) = exp(-((η - a)/s)^-q); two quartiles give q and s
    std = np.sqrt(var)
    xi = rng.random(size)
    if float(np.exp(independent_survival(mean, std)(np.array([eta]))[0])) > LOW:
        return _independent(mean, std, eta, xi, "frechet", "Pr(f* >= eta) exceeds one quarter")
    quarter, three_quarters, tail = quantiles(mean, std, np.array([LOW, HIGH, 1.0 - TAIL]))
    if not three_quarters < quarter < eta:
        return _independent(mean, std, eta, xi, "frechet", "the quartiles of f* do not lie below eta")
    q = QUARTILE_SPREAD / np.log((eta - three_quarters) / (eta - quarter))
    if not q > 1.0:
        return _independent(mean, std, eta, xi, "frechet", f"the fitted q = {q:.2f} is not above 1")
    s = (eta - quarter) * np.log(4.0) ** (1.0 / q)
    samples = eta - s * (-np.log1p(-xi)) ** (-1.0 / q)  # the inverse of (9)
    return Minima(np.maximum(samples, tail) if cap else samples, "frechet")


def gumbel(mean: Array, var: Array, eta: float, size: int, rng: np.random.Generator) -> Minima:
    """Samples of the Gumbel law, fitted to the quartiles of the minimum of independent values (P,)."""
    # Pr(f* >= a) = exp(-exp((a - location)/scale))
    std = np.sqrt(var)
    if float(np.exp(independent_survival(mean, std)(np.array([eta]))[0])) > LOW:
        return Minima(
            np.full(size, eta), "gumbel", "Pr(f* >= eta) exceeds one quarter: all samples sit at eta"
        )
    quarter, half, three_quarters = quantiles(mean, std, np.array([LOW, MIDDLE, HIGH]))
    scale = (quarter - three_quarters) / QUARTILE_SPREAD
    location = half - scale * np.log(np.log(2.0))
    return Minima(location + scale * np.log(-np.log(rng.random(size))), "gumbel")


def likeliest(gp: GP, constraints: tuple[GP, ...], points: Array, eta: float, count: int) -> Indices:
    """Rows of the `count` points (P, D) most likely to lie below `eta` where g <= 0."""
    if len(points) <= count:
        return np.arange(len(points))
    mean, var = gp.predict(points)
    chance = log_ndtr((eta - mean) / np.sqrt(var))
    for constraint in constraints:
        mean, var = constraint.predict(points)
        chance += log_ndtr(-mean / np.sqrt(var))
    return np.argpartition(-chance, count)[:count]


def joint(
    gp: GP, points: Array, size: int, rng: np.random.Generator, constraints: tuple[GP, ...] = (),
    rows: Indices | slice = slice(None),
) -> Minima:  # fmt: skip
    """Minima of joint posterior draws over `points` (P, D), or some rows, where the drawn constraints hold.

    A draw in which nothing is feasible has the minimum +inf; `sample` caps it at the incumbent.
    """
    draws = _draws(gp, points, rows, size, rng)
    for constraint in constraints:
        draws = np.where(_draws(constraint, points, rows, size, rng) > 0.0, np.inf, draws)
    return Minima(draws.min(axis=1), "joint")


def _draws(gp: GP, points: Array, rows: Indices | slice, size: int, rng: np.random.Generator) -> Array:
    """(size, P) joint posterior draws."""
    mean, cov = gp.predict_joint(points, rows)
    cov.flat[:: len(cov) + 1] += 1e-8 * gp.hyper.variance
    return mean + rng.standard_normal((size, len(mean))) @ cholesky(cov).T


def _independent(mean: Array, std: Array, eta: float, xi: Array, law: MinimumLaw, why: str) -> Minima:
    """Samples (S,) of the minimum of independent values, none above eta, from uniform numbers xi (S,).

    Sample i is the level that the minimum exceeds with probability 1 - xi_i.
    """
    levels = quantiles(mean, std, np.clip(1.0 - xi, TAIL, 1.0 - TAIL))
    return Minima(np.minimum(levels, eta), law, why)
