"""Optuna's own contract for samplers, with and without a budget."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

import tumble

# Some of these trials have parameters that others lack; that the sampler says so is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore:the parameter .* is drawn at random:UserWarning")
QUICK = tumble.Settings(restarts=1, raw_samples=16, grid=16, n_minima=2)


class TestWithoutABudget(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: tumble.TumbleSampler(seed=0, settings=QUICK)


class TestWithABudget(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: tumble.TumbleSampler(trials=30, failures=5, seed=0, settings=QUICK)


class TestWithAHardBudget(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: tumble.TumbleSampler(
            trials=30, failures=5, seed=0, settings=QUICK, on_exhausted="stop"
        )
