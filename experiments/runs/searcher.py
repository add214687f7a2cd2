"""The one interface of our methods and their peers: ask, tell, inform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tumble.problems import Evaluation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Proposal:
    """What a method suggests: x of shape (D,) in the problem's units, and why, where the method says."""

    x: Array
    mode: str | None = None
    rho: float | None = None
    p_safe: float | None = None
    handle: Any = None


class Searcher(Protocol):
    """The one interface of tumble's policies and their peers."""

    def ask(self) -> Proposal:
        """Suggest the next trial; raises `tumble.BudgetExhausted` to end the run."""
        ...

    def tell(self, proposal: Proposal, outcome: Evaluation | None) -> None:
        """Take the outcome of a billed trial; None is a crash, with nothing measured."""
        ...

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """Take an unbilled observation."""
        ...
