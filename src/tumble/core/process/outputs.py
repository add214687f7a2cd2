"""Units: the model works with outputs of unit size, the user with their own.

Outputs that span decades are compressed first (`Warp`), so that the model sees what happens near the best, or
near the limit.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array

LARGEST_STEP = 600.0  # in logarithms: nothing lies farther beyond the knee than exp of this
NEWTON_STEPS = 8  # of `Outputs.std_to_model`, at most: it is exact to rounding after six
ROUNDING = 1e-9  # a step that changes no more than this, relatively, is followed by one within rounding


@dataclass(frozen=True)
class Warp:
    """A monotone map of the user's units: y itself near `centre`, logarithmic farther away.

    With d = (y - centre) / knee:

        w(y) = y                                                for |d| <= 1
        w(y) = centre + knee sign(d) (1 + log |d|)              beyond

    The map and its slope are continuous. An objective is compressed on the bad side alone: below `centre` all
    of it stays linear.

    Parameters
    ----------
    centre
        The best value for an objective, 0 for a constraint.
    knee
        How far from `centre` the map is linear; inf for no warp at all.
    both
        Whether both sides are compressed, or the upper one alone.
    chosen_from
        Number of observations that it was chosen from; 0 where it was not chosen.

    Examples
    --------
    >>> Warp(0.0, 1.0, both=True)(np.array([-0.5, 1.0, 100.0])).round(3)
    array([-0.5  ,  1.   ,  5.605])
    """

    centre: float = 0.0
    knee: float = np.inf
    both: bool = False
    chosen_from: int = 0

    @property
    def is_linear(self) -> bool:
        """Whether it leaves every value as it is."""
        return not np.isfinite(self.knee)

    def __call__(self, y: Array) -> Array:
        """w(y)."""
        if self.is_linear:
            return y
        d = (y - self.centre) / self.knee
        far = self._is_far(d)
        size = np.where(far, np.abs(d), 1.0)
        return np.where(far, self.centre + self.knee * np.sign(d) * (1.0 + np.log(size)), y)

    def inverse(self, w: Array) -> Array:
        """The y with w(y) = w."""
        return w if self.is_linear else self.inverse_and_slope(w)[0]

    def inverse_and_slope(self, w: Array) -> tuple[Array, Array]:
        """The y with w(y) = w, and dy/dw, of a warp that is not linear."""
        d = (w - self.centre) / self.knee
        far = self._is_far(d)
        size = np.where(far, np.exp(np.minimum(np.abs(d) - 1.0, LARGEST_STEP)), 1.0)
        with np.errstate(over="ignore"):
            return np.where(far, self.centre + self.knee * np.sign(d) * size, w), size

    def slope(self, y: Array) -> Array:
        """dw/dy, the Jacobian: 1 near `centre`, 1 / |d| beyond."""
        if self.is_linear:
            return np.ones_like(y)
        d = (y - self.centre) / self.knee
        return 1.0 / np.where(self._is_far(d), np.abs(d), 1.0)

    def _is_far(self, d: Array) -> Array:
        return np.asarray((np.abs(d) > 1.0) if self.both else (d > 1.0))


@dataclass(frozen=True)
class Outputs:
    """Model units: (w(y) - shift) / scale. Constraints are never shifted, so that 0 stays the limit.

    Parameters
    ----------
    shift
        Of the user's units; subtracted first.
    scale
        Of the user's units; divided by then.
    warp
        w, before both.
    """

    shift: float = 0.0
    scale: float = 1.0
    warp: Warp = field(default=Warp())

    @staticmethod
    def of(y: Array, *, centre: bool, warp: Warp | None = None) -> "Outputs":
        """Units in which `warp` of `y` (N,) has a root mean square of 1, and a mean of 0 where `centre`."""
        warp = warp or Warp()
        if y.size == 0:
            return Outputs(warp=warp)
        y = warp(y)
        largest = float(np.maximum.reduce(np.abs(y))) or 1.0
        unit = y / largest  # so that squares of 1e200 do not overflow
        shift = float(np.add.reduce(unit)) / len(y) if centre else 0.0
        scale = math.sqrt(float(np.add.reduce((unit - shift) ** 2)) / len(y))
        if not scale > 1e-12:  # one point, or a constant
            scale = 1.0
        return Outputs(shift * largest, scale * largest, warp)

    def to_model(self, y: Array) -> Array:
        """Values in the user's units, in model units."""
        return (self.warp(y) - self.shift) / self.scale

    def to_user(self, values: Array) -> Array:
        """Values in model units, in the user's units. The map is monotone: a median stays a median."""
        return self.warp.inverse(self.shift + self.scale * values)

    def std_to_user(self, mean: Array, std: Array) -> Array:
        """Half the distance between the quantiles Φ(-1) and Φ(1), 16 and 84 %, in the user's units.

        mean, std: of a normal law in model units. Without a warp this is the standard deviation.
        """
        if self.warp.is_linear:
            return self.scale * std
        return 0.5 * (self.to_user(mean + std) - self.to_user(mean - std))

    def std_to_model(self, median: Array, std: Array) -> Array:
        """Inverse of `std_to_user`: the model's standard deviation, where the user's median and `std` are."""
        # F(t) = ½ (u(m + t) - u(m - t)) is convex and rises, u being `to_user`: Newton's steps from above
        t = np.asarray(std / self.scale)
        if self.warp.is_linear:
            return t
        near = (self.warp.slope(median - 2.0 * std) == 1.0) & (self.warp.slope(median + 2.0 * std) == 1.0)
        rows = ~near & np.isfinite(t)
        if rows.any():
            t[rows] = self._newton(t[rows], median[rows], std[rows])
        return t

    def _newton(self, t: Array, median: Array, std: Array) -> Array:
        away = np.array([[1.0], [-1.0]])
        m = self.to_model(median)
        t = np.minimum(t, np.abs(self.to_model(median + 2.0 * away * std) - m).min(axis=0))
        for _ in range(NEWTON_STEPS):
            (high, low), slopes = self.warp.inverse_and_slope(self.shift + self.scale * (m + away * t))
            step = (0.5 * (high - low) - std) / (0.5 * self.scale * slopes.sum(axis=0))
            t = t - step
            if np.all(np.abs(step) <= ROUNDING * t):
                break
        return t
