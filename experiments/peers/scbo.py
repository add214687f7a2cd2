"""SCBO as a searcher, on the unit cube, with BoTorch's generator of candidates."""

from __future__ import annotations

import math

import numpy as np
import torch
from botorch.generation.sampling import ConstrainedMaxPosteriorSampling, MaxPosteriorSampling
from botorch.models import ModelListGP
from botorch.utils.sampling import draw_sobol_samples
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from tumble.problems import Evaluation, Problem

from .botorch import Observed
from .settings import SETTINGS

Array = NDArray[np.float64]


class ScalableConstrained(Observed):
    """SCBO (Eriksson and Poloczek 2021): Thompson sampling inside a trust region around the best point."""

    def __init__(self, problem: Problem, seed: int) -> None:
        super().__init__(problem, seed)
        self._dimension = self.coordinates.space.dim
        self._start, self._smallest, self._largest = SETTINGS["scbo"]["length"]
        self._length = self._start
        self._successes = self._failures = 0
        self._success_tolerance = max(3, math.ceil(self._dimension / 10))
        self._failure_tolerance = max(4, self._dimension)

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """Add an observation and resize the trust region by whether it was better."""
        before = self._merit() if self.points else None
        super().inform(x, outcome)
        if before is None:
            return
        better = self._merit() < before
        self._successes = self._successes + 1 if better else 0
        self._failures = 0 if better else self._failures + 1
        if self._successes == self._success_tolerance:
            self._length, self._successes = min(2.0 * self._length, self._largest), 0
        elif self._failures == self._failure_tolerance:
            self._length, self._failures = self._length / 2.0, 0
        if self._length < self._smallest:
            self._length = self._start

    def _encode(self, x: Array) -> Array:
        return self.coordinates.encode(x)

    def _decode(self, unit: Array) -> Array:
        return self.coordinates.decode(unit)

    def _merit(self) -> tuple[float, float]:
        """Total violation of the best point, then its value: smaller is better."""
        return min(self._merits())

    def _merits(self) -> list[tuple[float, float]]:
        return [
            (float(np.clip(g, 0.0, None).sum()), y) for g, y in zip(self.limits, self.values, strict=True)
        ]

    def _suggest(self) -> torch.Tensor:
        candidates = self._candidates()
        n = len(self.values)
        copula = ndtri((rankdata(self.values) - 0.5) / n)
        objective = self.fitted(-copula)
        sampler = MaxPosteriorSampling(objective, replacement=False)
        if self.n_constraints:
            g = self.limits
            models = [self.fitted(column) for column in (np.sign(g) * np.log1p(np.abs(g))).T]
            sampler = ConstrainedMaxPosteriorSampling(
                objective, constraint_model=ModelListGP(*models), replacement=False
            )
        with torch.no_grad():
            point: torch.Tensor = sampler(candidates, num_samples=1)
        return point

    def _candidates(self) -> torch.Tensor:
        """Sobol points of the trust region's box; each coordinate is moved with probability min(1, 20/D)."""
        d = self._dimension
        merits = self._merits()
        centre = self.inputs[min(range(len(merits)), key=merits.__getitem__)]
        low, high = (centre - self._length / 2).clamp(0, 1), (centre + self._length / 2).clamp(0, 1)
        n = min(5000, max(2000, 200 * d))
        cube = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.float64)
        points = low + (high - low) * draw_sobol_samples(cube, n=n, q=1).squeeze(1)
        moved = torch.rand(n, d) <= min(1.0, 20.0 / d)
        none = ~moved.any(dim=1)
        moved[none, torch.randint(0, d, (int(none.sum()),))] = True
        candidates = torch.where(moved, points, centre)
        if self.coordinates.space.is_continuous:
            return candidates
        return torch.from_numpy(self.coordinates.space.snap(candidates.numpy()))
