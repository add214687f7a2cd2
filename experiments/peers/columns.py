"""A space as BoTorch's models and optimisers of mixed spaces want it: one column for each parameter."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from botorch.acquisition import AcquisitionFunction
from botorch.optim import optimize_acqf, optimize_acqf_mixed
from botorch.optim.optimize_mixed import (
    optimize_acqf_mixed_alternating,
    should_use_mixed_alternating_optimizer,
)
from numpy.typing import NDArray

from tumble.parameters import Categorical

from .coordinates import Coordinates, levels

Array = NDArray[np.float64]


class Columns:
    """Numbers on [0, 1], choices by their index.

    `discrete` and `categorical` give the admissible values of the columns that are not continuous.
    """

    def __init__(self, coordinates: Coordinates) -> None:
        self._coordinates = coordinates
        parameters = list(coordinates.parameters.values())
        self.discrete = {j: steps for j, p in enumerate(parameters) if (steps := levels(p)) is not None}
        self.categorical = {
            j: [float(k) for k in range(len(p.choices))]
            for j, p in enumerate(parameters)
            if isinstance(p, Categorical)
        }
        tops = [self.categorical[j][-1] if j in self.categorical else 1.0 for j in range(len(parameters))]
        self.bounds = torch.tensor([[0.0] * len(parameters), tops], dtype=torch.float64)

    def encode(self, x: Array) -> Array:
        """The row of columns for x."""
        values = self._coordinates.values(x)
        return np.array(
            [
                x[j] if isinstance(p, Categorical) else p.encode(values[name])[0]
                for j, (name, p) in enumerate(self._coordinates.parameters.items())
            ]
        )

    def decode(self, row: Array) -> Array:
        """The admissible x nearest to a row."""
        values = {
            name: p.choices[round(row[j])] if isinstance(p, Categorical) else p.decode(row[j : j + 1])
            for j, (name, p) in enumerate(self._coordinates.parameters.items())
        }
        return self._coordinates.point(values)

    def maximise(self, acquisition: AcquisitionFunction, settings: dict[str, Any]) -> torch.Tensor:
        """The best point found: L-BFGS-B on a box, else BoTorch's choice between its two mixed optimisers."""
        how: dict[str, Any] = {
            "bounds": self.bounds,
            "q": 1,
            "num_restarts": settings["num_restarts"],
            "raw_samples": settings["raw_samples"],
        }
        options = dict(settings.get("options", {}))
        if not (self.discrete or self.categorical):
            return optimize_acqf(acquisition, options=options, **how)[0]
        if should_use_mixed_alternating_optimizer(self.discrete, self.categorical):
            how |= {"discrete_dims": self.discrete, "cat_dims": self.categorical}
            return optimize_acqf_mixed_alternating(acquisition, **how)[0]
        combinations = self._combinations()
        return optimize_acqf_mixed(acquisition, fixed_features_list=combinations, options=options, **how)[0]

    def _combinations(self) -> list[dict[int, float]]:
        fixed = {**self.discrete, **self.categorical}
        return [dict(zip(fixed, values, strict=True)) for values in itertools.product(*fixed.values())]
