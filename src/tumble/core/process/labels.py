"""P(crash) at a point, with the nearest safe labels taken as they are and not as Gaussian sites.

A safe label cuts the latent process g off at 0, sharply. A Gaussian site can't: near safe trials the Gaussian
posterior keeps a tail above 0 that is not there. So the sites of the safe labels most correlated with g(x)
are taken out, and the labels come back one after the other, each by its own moments, after that of x:

    P(crash) = Z(crash) / (Z(crash) + Z(safe)),    Z(label of x) = Z_x ∏_i Z_i

with Z_i the probability of label i given the labels before it. Every step is a rank-one change of a normal
law N(m, V) of g at x and at these labels:

    m' = m + a V_i,    V' = V - b V_i V_iᵀ        (V_i the i-th column)
    a label     a = d log Z / dm_i,   b = -d² log Z / dm_i²,   Z = Φ(± m_i / √(s² + V_ii))
    no site     a = τ (m_i - t) / c,  b = -τ / c,              c = 1 - τ V_ii

with τ, t a site's precision and target. Derivatives by x are carried along (suffix `_d`).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from ..arrays import Array
from ..normal import density_over_cdf

LEAST = 1e-9  # of c: what rounding leaves of it


@dataclass(frozen=True)
class Joint:
    """N(m, V) of g at each of M points and at k labels, which come after the point, with derivatives by x."""

    m: Array  # (M, k + 1)
    V: Array  # (M, k + 1, k + 1)
    m_d: Array  # (M, D, k + 1)
    V_d: Array  # (M, D, k + 1, k + 1)

    def change(self, i: int, a: Array, b: Array, a_d: Array, b_d: Array) -> "Joint":
        """m + a V_i and V - b V_i V_iᵀ; a, b (M,), their derivatives (M, D)."""
        v, v_d = self.V[:, i], self.V_d[:, :, i]
        outer = v[:, :, None] * v[:, None, :]
        half = (b[:, None, None] * v_d)[..., :, None] * v[:, None, None, :]
        V_d = self.V_d - b_d[..., None, None] * outer[:, None]
        V_d -= half
        V_d -= half.swapaxes(-1, -2)
        return Joint(
            self.m + a[:, None] * v,
            self.V - b[:, None, None] * outer,
            self.m_d + a_d[..., None] * v[:, None, :] + a[:, None, None] * v_d,
            V_d,
        )

    def without_site(self, i: int, tau: Array, target: Array) -> "Joint":
        """Without the site exp(-½ τ (g_i - target)²); tau, target (M,)."""
        c = np.maximum(1.0 - tau * self.V[:, i, i], LEAST)
        a, b = tau * (self.m[:, i] - target) / c, -tau / c
        var_d = self.V_d[:, :, i, i]
        a_d = (tau / c)[:, None] * (self.m_d[:, :, i] + a[:, None] * var_d)
        return self.change(i, a, b, a_d, (b * tau / c)[:, None] * var_d)

    def with_first_label(self, sign: Array, sharpness: float) -> tuple["Joint", Array, Array]:
        """The rest after the first label (1: crash, -1: none); log Z (M,) and its derivative (M, D)."""
        spread2 = sharpness**2 + self.V[:, 0, 0]
        per_spread, per = sign / np.sqrt(spread2), (0.5 / spread2)[:, None] * self.V_d[:, :, 0, 0]
        z = per_spread * self.m[:, 0]
        log_z = log_ndtr(z)
        r = density_over_cdf(z, log_z)
        z_d = per_spread[:, None] * self.m_d[:, :, 0] - z[:, None] * per
        slope = r * (z + r)
        r_d = -slope[:, None] * z_d
        a, b = per_spread * r, slope / spread2
        a_d = per_spread[:, None] * r_d - a[:, None] * per
        b_d = (r_d * (z + 2.0 * r)[:, None] + r[:, None] * z_d) / spread2[:, None] - 2.0 * b[:, None] * per
        found = self.change(0, a, b, a_d, b_d)
        rest = Joint(found.m[:, 1:], found.V[:, 1:, 1:], found.m_d[..., 1:], found.V_d[..., 1:, 1:])
        return rest, log_z, r[:, None] * z_d

    def twice(self) -> "Joint":
        """Each point two times, one after the other."""
        return Joint(*(np.repeat(part, 2, axis=0) for part in (self.m, self.V, self.m_d, self.V_d)))


def log_safe(joint: Joint, tau: Array, target: Array, sharpness: float) -> tuple[Array, Array]:
    """log P(no crash) (M,) and its derivative (M, D).

    Parameters
    ----------
    joint
        Of g at each point and at k safe trials, given all sites.
    tau, target : (M, k)
        Their sites.
    sharpness
        s of the link Φ(± g / s).
    """
    M, count = tau.shape
    for i in range(count):
        joint = joint.without_site(i + 1, tau[:, i], target[:, i])
    own = np.tile([1.0, -1.0], M)  # each point once as a crash and once as none
    joint, total, total_d = joint.twice().with_first_label(own, sharpness)
    safe = np.full(2 * M, -1.0)
    for _ in range(count):
        joint, log_z, log_z_d = joint.with_first_label(safe, sharpness)
        total, total_d = total + log_z, total_d + log_z_d
    # log P(no crash) = -log(1 + exp(crash - safe))
    excess, excess_d = total[::2] - total[1::2], total_d[::2] - total_d[1::2]
    value = -np.logaddexp(0.0, excess)
    return value, -np.exp(excess + value)[:, None] * excess_d
