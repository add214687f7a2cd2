"""What is known: the trials told and in flight, in the unit cube."""

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Flags


@dataclass(frozen=True)
class History:
    """All that is known, in the unit cube and the user's units; NaN where nothing was measured."""

    X: Array  # (N, D)
    y: Array  # (N,)
    g: Array  # (N, G)
    crashed: Flags  # (N,)
    pending: Array  # (P, D) in flight
    predicted_mean: Array  # (N, G) what each constraint was predicted to be, NaN where nothing was
    predicted_std: Array  # (N, G)

    @property
    def failed(self) -> Flags:
        """(N,) Γ: a crash, or a measured constraint above 0."""
        return np.asarray(self.crashed | (self.g > 0.0).any(axis=1))

    @property
    def safe(self) -> Flags:
        """(N,) a value and every constraint were observed and nothing failed."""
        return ~self.failed & np.isfinite(self.y) & np.isfinite(self.g).all(axis=1)
