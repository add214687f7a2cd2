"""What is known: the trials told and in flight, in the unit cube.

Γ of (11), what a failure is, is defined here alone: `violated` for one trial, `History.failed` for all.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arrays import Array, Flags


def violated(constraints: Iterable[float | None]) -> bool:
    """Whether a measured constraint lies above 0.

    Parameters
    ----------
    constraints
        g of one trial. A constraint that was not measured (None or NaN) does not count.

    Returns
    -------
    bool
        Γ of a trial that did not crash; 0 itself is safe.

    Examples
    --------
    >>> violated([-1.0, 0.0]), violated([-1.0, 0.2]), violated([None])
    (False, True, False)
    """
    return any(g is not None and g > 0.0 for g in constraints)


@dataclass(frozen=True)
class History:
    """All that is known of N trials with G constraints, and of P in flight.

    Settings lie in the unit cube, results are in the user's units. NaN stands where nothing was measured.

    Parameters
    ----------
    X : (N, D)
        The settings of the trials told.
    y : (N,)
        Their values, to be minimised.
    g : (N, G)
        Their constraints; g <= 0 is safe.
    crashed : (N,)
        Which of them crashed: they failed without a measurement.
    pending : (P, D)
        The settings in flight.
    predicted_mean, predicted_std : (N, G)
        What each constraint was predicted to be when the trial was suggested: medians, and half the distances
        between the quantiles 16 and 84 %.
    noise : (1 + G,)
        Standard deviations of what is measured, the objective first; NaN, or None for all, where not known.
    crashes_afforded
        How many crashes the budget affords where nothing else can fail; else None.
    guessed : (N,)
        Whose values were not measured, and are guesses: such a trial is not safe. None for no trial's.
    """

    X: Array
    y: Array
    g: Array
    crashed: Flags
    pending: Array
    predicted_mean: Array
    predicted_std: Array
    noise: Array | None = None
    crashes_afforded: int | None = None
    guessed: Flags | None = None

    def known_noise(self, output: int) -> float | None:
        """The noise of the objective (0) or of a constraint (1 to G); None where it is not known."""
        if self.noise is None or not np.isfinite(self.noise[output]):
            return None
        return float(self.noise[output])

    @cached_property
    def failed(self) -> Flags:
        """(N,) Γ: a crash, or a measured constraint above 0."""
        return np.asarray(self.crashed | (self.g > 0.0).any(axis=1))

    @cached_property
    def safe(self) -> Flags:
        """(N,) which trials have a value of their own and every constraint, and did not fail."""
        known = ~self.failed & np.isfinite(self.y) & np.isfinite(self.g).all(axis=1)
        return known if self.guessed is None else known & ~self.guessed
