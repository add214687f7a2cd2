"""Random search as a searcher: points drawn uniformly from the space, whatever was told."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.runs.searcher import NextTrial
from tumble.problems import Evaluation, Problem

from .coordinates import Coordinates

Array = NDArray[np.float64]


class RandomSearch:
    """Each trial is a draw of its own; what was observed plays no part."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._coordinates = Coordinates(problem)
        self._rng = np.random.default_rng(seed)

    def ask(self) -> NextTrial:
        """The next draw."""
        return NextTrial(self._coordinates.draw(self._rng))

    def tell(self, trial: NextTrial, outcome: Evaluation | None) -> None:
        """Nothing is learned."""

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """Nothing is learned."""
