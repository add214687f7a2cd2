"""What knowing the constrained minimiser x* says about f and c_1..c_G, by expectation propagation.

x* is the minimiser, so c_k(x*) <= 0 and at no other point is every constraint met and f below f(x*):

    Θ[c_k(x*) <= 0]     and     h(x) = 1 - ∏_k Θ[c_k(x) <= 0] Θ[d(x) < 0],     d(x) = f(x) - f(x*)

h sees f only through d, so each factor is approximated by one Gaussian site on d and one on each c_k.
A site may have a negative precision, because h can also widen the law of d. For independent normals
N(mean, var) of d and each c_k, elementwise:

    a = mean_d/√var_d,  a_k = -mean_k/√var_k,  P = ∏Φ(a_k),  Z = 1 - P Φ(-a),  q = PΦ(-a)/Z,  r_k = φ/Φ(a_k)
    d:    ∂log Z = G/√var_d,  -∂²log Z = G (G + a)/var_d,  G = Pφ(a)/Z
    c_k:  ∂log Z = t_k/√var_k,  -∂²log Z = t_k (t_k - a_k)/var_k,  t_k = q r_k
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs
from scipy.special import log_ndtr

from ...core.arrays import Array
from ...core.normal import LOG_SQRT_2PI, density_over_cdf, log_density_over_cdf
from ...core.process.cholesky import cholesky

SWEEPS = 60
DAMPING = 0.5
SETTLED = 1e-3  # of a standard deviation: the sites have converged
FAR = 1e3  # standard deviations: what lies beyond differs by rounding only
CLOSE = 1.0 - 1e-9  # largest share of a variance that one factor may remove


@dataclass(frozen=True)
class Exclusion:
    """The factor h under independent normals; shapes (...,) for d and (G, ...) for the constraints."""

    a: Array
    a_c: Array
    Z: Array
    q: Array
    slope: Array  # G
    slope_c: Array  # t_k
    mills_c: Array  # r_k

    @property
    def bend(self) -> Array:
        """Share of d's variance that h removes (negative where it adds)."""
        return np.minimum(self.slope * (self.slope + self.a), CLOSE)

    @property
    def bend_c(self) -> Array:
        """The same for each constraint."""
        return np.minimum(self.slope_c * (self.slope_c - self.a_c), CLOSE)


def exclusion(mean: Array, var: Array, mean_c: Array, var_c: Array) -> Exclusion:
    """`Exclusion` for d ~ N(mean, var) and c_k ~ N(mean_c[k], var_c[k])."""
    a = np.clip(mean / np.sqrt(var), -FAR, FAR)
    a_c = np.clip(-mean_c / np.sqrt(var_c), -FAR, FAR)
    log_p_each = log_ndtr(a_c)
    log_p = np.minimum(log_p_each.sum(axis=0), 0.0)
    with np.errstate(divide="ignore"):
        log_violated = np.log(-np.expm1(log_p))
    log_z = np.logaddexp(log_violated, log_p + log_ndtr(a))  # Z = (1 - P) + P Φ(a), without cancellation
    slope = np.exp(log_p - 0.5 * a * a - LOG_SQRT_2PI - log_z)
    log_q = log_p + log_ndtr(-a) - log_z
    log_mills = log_density_over_cdf(a_c, log_p_each)
    slope_c = np.exp(np.minimum(log_q + log_mills, 300.0))
    q = np.exp(np.minimum(log_q, 300.0))
    return Exclusion(a, a_c, np.exp(log_z), q, slope, slope_c, np.exp(log_mills))


@dataclass(frozen=True)
class Normal:
    """N(mean, cov) before the factors, and the lower factor of cov."""

    mean: Array  # (n,)
    cov: Array  # (n, n)
    chol: Array  # (n, n)

    @staticmethod
    def of(mean: Array, cov: Array) -> "Normal":
        """With its Cholesky factor, however badly conditioned."""
        return Normal(mean, cov, cholesky(cov.copy()) if len(cov) else cov)


@dataclass(frozen=True)
class Sites:
    """Gaussian sites exp(-½ tau z² + nu z), and the normal that results."""

    tau: Array  # (n,)
    nu: Array  # (n,)
    mean: Array  # (n,)
    cov: Array  # (n, n)

    def pull(self) -> Array:
        """(n,) by which covariances with the n values shift a mean."""
        return self.nu - self.tau * self.mean

    def shrink(self) -> Array:
        """(n, n) the quadratic form by which covariances with the n values lower a variance."""
        return np.diag(self.tau) - self.tau[:, None] * self.cov * self.tau

    def cavity(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Mean (n,), variance (n,) without each site, and whether there is such a normal."""
        var = np.diag(self.cov)
        precision = 1.0 / var - self.tau
        proper = precision > 1e-10 / var
        cavity_var = 1.0 / np.where(proper, precision, 1.0 / var)
        return cavity_var * (self.mean / var - self.nu), cavity_var, proper


def with_sites(normal: Normal, tau: Array, nu: Array) -> Sites | None:
    """`normal` times the sites; None where that is not a distribution."""
    L = normal.chol
    if len(L) == 0:
        return Sites(tau, nu, normal.mean, normal.cov)
    inner = (L.T * tau) @ L
    inner[np.diag_indices_from(inner)] += 1.0
    chol, info = dpotrf(inner, lower=1, clean=1)
    if info != 0:
        return None
    half = np.asarray(dtrtrs(chol, L.T, lower=1)[0])
    cov = half.T @ half
    return Sites(tau, nu, normal.mean + cov @ (nu - tau * normal.mean), cov)


def propagate(difference: Normal, constraints: Sequence[Normal]) -> list[Sites]:
    """Sites for d at n points, then for each c_k at those n points and x*, last; damped and in parallel."""
    normals = [difference, *constraints]
    current = [Sites(np.zeros(len(p.mean)), np.zeros(len(p.mean)), p.mean, p.cov) for p in normals]
    damping = DAMPING
    for _ in range(SWEEPS):
        targets = _matched(current)
        moved = _step(normals, current, targets, damping)
        while moved is None and damping > 1e-4:
            damping *= 0.5
            moved = _step(normals, current, targets, damping)
        if moved is None:
            break
        change = max(_distance(old, new) for old, new in zip(current, moved, strict=True)) / damping
        current = moved
        damping *= 0.99
        if change < SETTLED:
            break
    return current


def _step(
    normals: list[Normal], current: list[Sites], targets: list[tuple[Array, Array]], damping: float
) -> list[Sites] | None:
    moved = []
    for normal, sites, (tau, nu) in zip(normals, current, targets, strict=True):
        new = with_sites(
            normal, sites.tau + damping * (tau - sites.tau), sites.nu + damping * (nu - sites.nu)
        )
        if new is None:
            return None
        moved.append(new)
    return moved


def _distance(old: Sites, new: Sites) -> float:
    """Largest change of a mean or a standard deviation, in standard deviations."""
    if len(old.mean) == 0:
        return 0.0
    std, was = np.sqrt(np.diag(new.cov)), np.sqrt(np.diag(old.cov))
    return float(max(np.max(np.abs(new.mean - old.mean) / std), np.max(np.abs(std - was) / std)))


def _matched(current: list[Sites]) -> list[tuple[Array, Array]]:
    """(tau, nu) of every site that match the moments of its factor; sites without a cavity stay."""
    cavities = [sites.cavity() for sites in current]
    n = len(current[0].mean)
    mean, var, _ = cavities[0]
    shape = (len(cavities) - 1, n)
    mean_c = np.array([c[0][:n] for c in cavities[1:]]).reshape(shape)
    var_c = np.array([c[1][:n] for c in cavities[1:]]).reshape(shape)
    h = exclusion(mean, var, mean_c, var_c)
    slopes = [h.slope / np.sqrt(var)]
    bends = [h.bend]
    for k, (m, v, _) in enumerate(cavities[1:]):
        a = np.clip(-m[n:] / np.sqrt(v[n:]), -FAR, FAR)  # Θ[c_k(x*) <= 0]
        mills = density_over_cdf(a, log_ndtr(a))
        slopes.append(np.append(h.slope_c[k] / np.sqrt(var_c[k]), -mills / np.sqrt(v[n:])))
        bends.append(np.append(h.bend_c[k], np.minimum(mills * (mills + a), CLOSE)))
    out = []
    for sites, (m, v, proper), slope, bend in zip(current, cavities, slopes, bends, strict=True):
        tau = bend / (v * (1.0 - bend))
        nu = tau * m + slope / (1.0 - bend)
        out.append((np.where(proper, tau, sites.tau), np.where(proper, nu, sites.nu)))
    return out
