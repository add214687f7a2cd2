"""Priors: where they start, their derivatives, and the map to what a fit moves."""

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles import close
from tumble.core.process.covariance import Hyper
from tumble.core.process.priors import Gamma, LogNormal, Normal, Priors, Uniform

DEFAULT = Priors(LogNormal(0.3, 0.7), LogNormal(1.0, 1.0), LogNormal(1e-2, 1.0))
ADDITIVE = replace(DEFAULT, additive=(-1.0, 1.5))


@pytest.mark.parametrize(
    "prior", [Uniform(0.01, 0.3), Gamma(2.0, 5.0), Normal(0.5, 0.25), LogNormal(0.2, 0.7)]
)
def test_a_prior_starts_inside_its_support(prior):
    low, high = prior.support
    assert 0.0 < low < prior.start < high
    value, slope, curvature = prior.log_density(np.log([prior.start]))
    step = 1e-5
    up, down = (prior.log_density(np.log([prior.start]) + s) for s in (step, -step))
    assert slope[0] == pytest.approx((up[0][0] - down[0][0]) / (2 * step), abs=1e-6)
    assert curvature[0] == pytest.approx((up[1][0] - down[1][0]) / (2 * step), abs=1e-6)
    assert np.isfinite(value).all()


@pytest.mark.parametrize("priors", [DEFAULT, ADDITIVE, Priors(Gamma(1.0, 5.0), Normal(0.5, 0.25), 0.01)])
def test_hyperparameters_survive_the_map_to_what_the_fit_moves(priors):
    noise = priors.noise if isinstance(priors.noise, float) else 0.03
    hyper = Hyper((0.1, 2.0, 0.7), 3.0, noise, 0.0 if priors.additive is None else 0.25)
    back = priors.from_theta(priors.to_theta(hyper))
    close(back.lengthscales, hyper.lengthscales, 1e-12)
    expected = pytest.approx((hyper.variance, hyper.noise, hyper.additive))
    assert (back.variance, back.noise, back.additive) == expected
