"""What the trials left were expected to gain, as numbers."""

from __future__ import annotations

from dataclasses import dataclass

from tumble.optimizer import Optimizer


@dataclass(frozen=True)
class GainPath:
    """What the search expected from what was left, as it stood before each trial.

    Parameters
    ----------
    number
        The trial.
    expected, bound
        The expected gain of the trials that were left, and a bound of it, in the objective's units.
    """

    number: list[int]
    expected: list[float]
    bound: list[float | None]

    @property
    def is_line(self) -> bool:
        """Whether there is something to draw: a single point makes no line."""
        return len(self.number) > 1


def gain_data(opt: Optimizer) -> GainPath:
    """What the trials left were expected to gain, before each trial that says so.

    Parameters
    ----------
    opt
        The search.
    """
    found = GainPath([], [], [])
    for trial in opt.trials:
        asked = trial.suggestion
        if asked is not None and asked.expected_gain is not None:
            found.number.append(trial.number)
            found.expected.append(asked.expected_gain)
            found.bound.append(asked.gain_bound)
    return found
