"""Several processes at once, beside each of them alone by its rows of covariances."""

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles import close, problem
from tumble.core.process.covariance import Covariance, Hyper
from tumble.core.process.gp import GP, condition, stack
from tumble.core.process.stacked import TOGETHER, StackedMatern


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("scale", [1e-3, 0.02, 0.5])  # products of exponentials would overflow at the first
def test_stacked_covariances_are_those_of_each_process(share, scale):
    rng = np.random.default_rng(2)
    x, X = rng.random((4, 3)), rng.random((6, 3))
    x[0] = X[0]
    hypers = (Hyper((0.3, scale, 0.4), 1.3, 0.1, share), Hyper((2.0, 0.7, scale), 0.4, 0.1, 0.5 * share))
    stacked = StackedMatern(hypers, X)
    k, d_k = stacked.at(x)
    d_k = d_k * stacked.per_slope[..., None]
    for q, hyper in enumerate(hypers):
        prior = Covariance("matern52", hyper)
        rows = prior.rows(x, prior.scaled(X)).k
        close(k[q], rows[:, 0], 1e-12)
        close(d_k[q], rows[:, 1:], 1e-12)


def processes(share: float, count: int = 3) -> tuple[GP, ...]:
    rng = np.random.default_rng(0)
    X = rng.random((20, 3))
    hypers = [Hyper((0.3, 0.6, 0.2 + 0.3 * q), 0.5 + q, 0.01, share) for q in range(count)]
    return tuple(condition("matern52", h, X, rng.standard_normal(20), prior_mean=0.3) for h in hypers)


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("count", [1, TOGETHER, 2 * TOGETHER + 1])
def test_stacked_posteriors_are_those_of_each_process(share, count):
    gps, x = processes(share, count), np.random.default_rng(1).random((5, 3))
    together = stack(gps)
    assert together is not None
    found = together.predict_with_gradient(x)
    means, slopes = together.means_with_gradient(x)
    for q, gp in enumerate(gps):
        alone = gp.predict_by_rows(x)
        for ours, expected in zip(found.of(q), alone, strict=True):
            close(ours, expected, 1e-9)
        close(means[q], alone.mean, 1e-12)
        close(slopes[q], alone.d_mean, 1e-10)


def test_only_processes_with_the_same_data_and_matern_kernels_are_stacked():
    one, two, _ = processes(0.3)
    smooth, _ = problem("se", 3, 20)
    assert stack(()) is None
    assert stack((smooth,)) is None
    assert stack((one, two.with_pending(np.full((1, 3), 0.5)))) is None
    assert stack((one, replace(two, X=two.X + 1e-9))) is None
    assert stack((one, two)) is not None
