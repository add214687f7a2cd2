"""When hyperparameters are learned again."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tumble.core.process import fit as fitting
from tumble.core.process.fit import descend
from tumble.core.process.outputs import Outputs, Warp
from tumble.core.process.refit import is_due, refit, starts_anew
from tumble.core.settings import Settings

PRIORS = Settings().objective


def test_hyperparameters_are_learned_again_when_there_are_a_quarter_more_data_however_they_came():
    one_by_one = [n for n in range(41, 130) if is_due(n, n - 1, dim=4)]
    assert one_by_one == [45, 56, 70, 87, 109]
    assert all(b - a <= 0.26 * a for a, b in pairwise(one_by_one))
    assert is_due(300, 2, dim=4)  # old data that came at once
    assert all(is_due(n + n // 4 + 1, n, dim=4) for n in range(40, 120, 10))
    assert is_due(45, 0, dim=4)  # never learned
    assert not is_due(104, 103, dim=4)


@pytest.mark.parametrize(("dim", "settled"), [(1, 40), (4, 40), (6, 60), (10, 100), (30, 100)])
def test_the_more_parameters_the_longer_they_are_learned_after_each_observation(dim: int, settled: int):
    assert all(is_due(n, n - 1, dim) for n in range(1, settled + 1))
    assert not all(is_due(n, n - 1, dim) for n in range(settled + 1, settled + 4))


@pytest.mark.parametrize(("dim", "doubled"), [(2, [80, 160, 320]), (6, [120, 240]), (10, [200])])
def test_the_centre_of_the_prior_is_tried_often_at_first_and_then_whenever_the_data_have_doubled(
    dim, doubled
):
    learned, cold = 0, []
    for n in range(1, 400):
        if is_due(n, learned, dim):
            cold += [n] * starts_anew(n, learned, dim)
            learned = n
    early = [n for n in range(1, doubled[0] // 2 + 1) if n < 20 or n % 5 == 0]
    assert cold[: len(early)] == early
    late = cold[len(early) :]
    assert len(late) == len(doubled)
    assert all(n <= at < 1.26 * n for n, at in zip(doubled, late, strict=True))
    assert starts_anew(95, 60, dim)  # many came at once
    assert [n for n in range(200, 211) if starts_anew(n, n - 1, dim, always=True)] == [200, 205, 210]


@pytest.mark.parametrize("count", [12, 60])
@pytest.mark.parametrize("knee", [np.inf, 2.0])
def test_a_known_noise_is_kept_whatever_the_scale_and_whenever_it_is_learned(count, knee):
    rng = np.random.default_rng(0)
    X = rng.random((count, 2))
    y = 5.0 * np.sin(3.0 * X[:, 0]) + X[:, 1]
    outputs = Outputs.of(y, centre=True, warp=Warp(float(y.min()), knee))
    options: dict[str, Any] = {
        "kernel": "matern52",
        "priors": Settings().objective,
        "outputs": outputs,
        "noise": 0.5,
    }
    first = refit(X, y, last=None, **options)
    again = refit(X, y, last=first.hyper, **options)
    for gp in (first, again):
        assert gp.hyper.noise * outputs.scale == pytest.approx(0.5)
        assert (gp.noise_var is None) == np.isinf(knee)
    np.testing.assert_allclose(first.chol, again.chol, rtol=0.3, atol=0.1)


def test_a_noise_of_zero_is_as_small_as_can_be():
    X = np.linspace(0.0, 1.0, 6)[:, None]
    gp = refit(
        X, np.sin(6.0 * X[:, 0]), kernel="matern52", priors=Settings().objective, outputs=Outputs(),
        last=None, noise=0.0,
    )  # fmt: skip
    assert gp.hyper.noise == pytest.approx(1e-6)


@pytest.mark.parametrize(("always", "anew", "starts"), [(False, True, 1), (True, False, 2), (True, True, 2)])
def test_a_fit_that_is_made_anew_late_starts_from_the_last_one_alone(monkeypatch, always, anew, starts):
    rng = np.random.default_rng(0)
    X = rng.random((65, 2))
    y = np.sin(5.0 * X).sum(axis=1)
    last = replace(PRIORS.hyper_start(2), learned_from=60)
    begun = []

    def counted(objective, theta, *rest):
        begun.append(theta)
        return descend(objective, theta, *rest)

    monkeypatch.setattr(fitting, "descend", counted)
    outputs = Outputs.of(y, centre=True)
    gp = refit(X, y, kernel="matern52", priors=PRIORS, outputs=outputs, last=last, always=always, anew=anew)
    assert len(begun) == starts
    assert gp.hyper.learned_from == 65
