"""The one interface of our methods and their peers: ask, tell, inform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tumble import Suggestion
from tumble.problems import Evaluation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NextTrial:
    """Where a method wants its next trial, x of shape (D,) in the problem's units.

    ``suggestion`` is tumble's own, with its mode, ρ and P(safe). A peer states none of these: it has None.
    """

    x: Array
    suggestion: Suggestion | None = None


class Searcher(Protocol):
    """A method at work on one problem. It is told the outcome of a trial before it is asked for the next."""

    def ask(self) -> NextTrial:
        """Say where the next trial is; `tumble.BudgetExhausted` ends the run."""
        ...

    def tell(self, trial: NextTrial, outcome: Evaluation | None) -> None:
        """Take the outcome of a billed trial; None is a crash, with nothing measured."""
        ...

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """Take an unbilled observation."""
        ...
