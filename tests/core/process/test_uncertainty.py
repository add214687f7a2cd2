"""Uncertain hyperparameters: derivatives by refits, and P(safe) by drawing hyperparameters."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, stdtr

from tests import oracles
from tests.oracles import KERNELS, central, close
from tumble.core.process import uncertainty
from tumble.core.process.fit import fit
from tumble.core.process.gp import GP, condition
from tumble.core.process.outputs import Outputs
from tumble.core.process.priors import Priors
from tumble.core.process.uncertainty import RIDGE, law_of, sensitivity
from tumble.core.settings import LIMIT_PRIORS
from tumble.core.student import Law


def learned(n: int, dim: int, priors: Priors = LIMIT_PRIORS, kernel="matern52", seed: int = 0):
    """Data of a limit, and the process with its likeliest hyperparameters."""
    rng = np.random.default_rng([seed, n, dim])
    X = rng.random((n, dim))
    y = np.sin(4.0 * X[:, 0]) + X.sum(axis=1) - 0.5 * dim - 0.3 + 0.05 * rng.standard_normal(n)
    return X, y, fit(X, y, kernel=kernel, priors=priors, outputs=Outputs())


def again(gp: GP, y, priors: Priors, theta) -> GP:
    return condition(gp.kernel, priors.from_theta(theta), gp.X, y, mean_std=priors.mean_std)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("priors", [LIMIT_PRIORS, replace(LIMIT_PRIORS, additive=None, mean_std=None)])
def test_derivatives_by_hyperparameters_are_those_of_refits(kernel, priors):
    _, y, gp = learned(12, 3, priors, kernel)
    x = np.random.default_rng(1).random((4, 3))
    theta = priors.to_theta(gp.hyper)

    def predicted(rows):
        found = [again(gp, y, priors, row) for row in rows]
        pairs = [(*g.predict(x), g.hyper.noise**2) for g in found]
        return np.array([[mean, var + noise] for mean, var, noise in pairs])

    found, slopes = sensitivity(gp, priors, x), central(predicted, theta[None, :])[0]
    close([found.mean, found.var], predicted([theta])[0], 1e-9)
    close(found.d_mean, slopes[:, 0], 1e-6)
    close(found.d_var, slopes[:, 1], 1e-6)
    information = oracles.information(kernel, gp.X, y, priors, theta) + RIDGE * np.eye(len(theta))
    information += priors.log_density(theta).information
    close(np.linalg.inv(found.covariance), information, 1e-4)


def test_p_safe_is_that_of_drawn_hyperparameters(monkeypatch):
    """The doubt min(P, 1 - P), averaged over points, without the caution that the constants add."""
    monkeypatch.setattr(uncertainty, "MEAN_FACTOR", 1.0)
    monkeypatch.setattr(uncertainty, "OTHER_MODES", (0.0, 1.0))
    rng, errors = np.random.default_rng(0), []
    x = rng.random((100, 2))

    def score(g):
        mean, var = g.predict(x)
        return -mean / np.sqrt(var + g.hyper.noise**2)

    for seed in range(4):
        _, y, gp = learned(30, 2, seed=seed)
        covariance, theta = sensitivity(gp, LIMIT_PRIORS, x).covariance, LIMIT_PRIORS.to_theta(gp.hyper)
        drawn = rng.multivariate_normal(theta, covariance, 150)
        sampled = np.mean([ndtr(score(again(gp, y, LIMIT_PRIORS, t))) for t in drawn], axis=0)
        law, plain = law_of(gp, LIMIT_PRIORS), ndtr(score(gp))
        three = np.array([plain, stdtr(law.freedom, score(gp) / law.width), sampled])
        doubt = np.minimum(three, 1.0 - three)
        near = (doubt[0] > 0.001) & (doubt[0] < 0.45)
        errors.append(np.abs(doubt[:2, near].mean(axis=1) - doubt[2, near].mean()))
    as_known, integrated = np.mean(errors, axis=0)
    assert integrated < 0.6 * as_known


def test_with_more_data_less_is_uncertain():
    laws = [law_of(learned(n, 2)[2], LIMIT_PRIORS) for n in (5, 20, 80)]
    assert laws[0].freedom < laws[1].freedom < laws[2].freedom
    assert min(law.width for law in laws) >= 1.0
    assert laws[2].width < 1.15
    assert laws[2].freedom > 12.0


def test_what_is_known_adds_nothing():
    known = replace(LIMIT_PRIORS, noise=0.05)
    _, _, gp = learned(12, 2, known)
    covariance = sensitivity(gp, known, gp.X).covariance
    np.testing.assert_array_equal(covariance[3], 0.0)
    assert np.linalg.eigvalsh(covariance).min() > -1e-12


def test_a_noise_of_each_observation_moves_with_theirs():
    priors = replace(LIMIT_PRIORS, additive=None)
    X, y, gp = learned(10, 1, priors)
    same = condition(gp.kernel, gp.hyper, X, y, noise_var=np.full(10, gp.hyper.noise**2), mean_std=1.0)
    close(sensitivity(same, priors, X).covariance, sensitivity(gp, priors, X).covariance, 1e-8)


def test_without_data_and_with_very_many_the_law_is_normal(monkeypatch):
    _, _, gp = learned(12, 2)
    nothing = condition("matern52", gp.hyper, np.empty((0, 2)), np.empty(0))
    assert law_of(nothing, LIMIT_PRIORS) == Law()
    monkeypatch.setattr(uncertainty, "MOST", 11)
    assert law_of(gp, LIMIT_PRIORS) == Law()
