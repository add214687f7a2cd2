"""Units: the model works with outputs of unit size, the user with their own."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array


@dataclass(frozen=True)
class Outputs:
    """Model units: (y - shift) / scale. Constraints are scaled, never shifted, so that 0 stays the limit.

    Parameters
    ----------
    shift
        Of the user's units; subtracted first.
    scale
        Of the user's units; divided by then.
    """

    shift: float = 0.0
    scale: float = 1.0

    @staticmethod
    def of(y: Array, *, centre: bool) -> "Outputs":
        """Units in which `y` (N,) has a root mean square of 1, and a mean of 0 where `centre`."""
        if y.size == 0:
            return Outputs()
        largest = float(np.max(np.abs(y))) or 1.0
        unit = y / largest  # so that squares of 1e200 do not overflow
        shift = float(np.mean(unit)) if centre else 0.0
        scale = float(np.sqrt(np.mean((unit - shift) ** 2)))
        if not scale > 1e-12:  # one point, or a constant
            scale = 1.0
        return Outputs(shift * largest, scale * largest)

    def to_model(self, y: Array) -> Array:
        """Values in the user's units, in model units."""
        return (y - self.shift) / self.scale

    def mean(self, mean: Array) -> Array:
        """A mean in model units, in the user's units."""
        return self.shift + self.scale * mean
