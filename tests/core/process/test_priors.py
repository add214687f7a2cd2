"""Priors: where they start, their derivatives, and the map to what a fit moves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate

from tests.oracles import central, close
from tumble.core.process.covariance import Hyper
from tumble.core.process.priors import Gamma, LogNormal, Normal, ParetoTail, Priors, Uniform

DEFAULT = Priors(LogNormal(0.3, 0.7), LogNormal(1.0, 1.0), LogNormal(1e-2, 1.0))
ADDITIVE = replace(DEFAULT, additive=(-1.0, 1.5))


LAWS = [
    Uniform(0.01, 0.3), Gamma(2.0, 5.0), Normal(0.5, 0.25), LogNormal(0.2, 0.7), LogNormal(0.2, 0.7, 1.0),
    ParetoTail(0.2, 1.0, 1.5),
]  # fmt: skip


@pytest.mark.parametrize("prior", LAWS)
def test_a_prior_starts_inside_its_support(prior):
    low, high = prior.support
    assert 0.0 < low < prior.start < high


@pytest.mark.parametrize("prior", LAWS)
def test_the_derivatives_of_a_law_are_those_of_its_density(prior):
    at = np.log(prior.start) + np.array([0.0, 0.2, 0.5])
    found = prior.log_density(at)
    close(found.slope, central(lambda rows: np.array([prior.log_density(rows[0]).value]), at[None])[0], 1e-6)
    hessian = central(lambda rows: prior.log_density(rows[0]).slope[None], at[None])[0]
    close(found.information, -hessian, 1e-6)


def test_lengthscales_have_a_part_in_common():
    """By drawing it: log ℓ_j = log median + c + e_j has the mean and the precision of the density."""
    law, rng = LogNormal(0.5, 0.7, 1.2), np.random.default_rng(0)
    logs = np.log(0.5) + 1.2 * rng.standard_normal((200_000, 1)) + 0.7 * rng.standard_normal((200_000, 3))
    found = law.log_density(np.full(3, np.log(0.5)))
    close(found.slope, np.zeros(3), 1e-12)
    close(np.linalg.inv(found.information), np.cov(logs.T), 0.03)
    assert law.log_density(np.log([2.0, 2.0, 2.0])).value > law.log_density(np.log([2.0, 0.5, 0.125])).value


def test_without_a_common_part_values_know_nothing_of_each_other():
    law = LogNormal(0.5, 0.7)
    apart = [law.log_density(np.log([v])).value for v in (0.2, 0.9)]
    assert law.log_density(np.log([0.2, 0.9])).value == pytest.approx(sum(apart))
    assert law.support == pytest.approx((0.5 * np.exp(-4.2), 0.5 * np.exp(4.2)))


def test_a_tail_falls_like_a_power_and_is_log_normal_below_it():
    """By integrating the density over the logarithm: Pr(value > 10 x) = Pr(value > x) / 10^power."""
    law = ParetoTail(0.5, 0.7, 1.3)

    def mass(low: float, high: float) -> float:
        def density(log_value: float) -> float:
            return float(np.exp(law.log_density(np.array([log_value])).value))

        return float(integrate.quad(density, np.log(low), np.log(high), points=[np.log(0.5)])[0])

    assert mass(50.0, 1e9) / mass(5.0, 1e9) == pytest.approx(10.0**-1.3, rel=1e-6)
    below = LogNormal(0.5, 0.7)
    for at in np.log([[0.01], [0.3], [0.5], [0.9]]):
        assert law.log_density(at).value == pytest.approx(below.log_density(at).value)


def test_in_the_tail_every_value_adds_the_same_slope():
    law = ParetoTail(0.5, 0.7, 1.3)
    at = np.log([0.4, 5.0, 500.0])
    found = law.log_density(at)
    close(found.slope, central(lambda rows: np.array([law.log_density(rows[0]).value]), at[None])[0], 1e-6)
    close(found.slope[1:], [-1.3, -1.3], 1e-12)
    close(np.diag(found.information), [0.7**-2, 1.3**2, 1.3**2], 1e-12)


@pytest.mark.parametrize("priors", [DEFAULT, ADDITIVE, Priors(Gamma(1.0, 5.0), Normal(0.5, 0.25), 0.01)])
def test_hyperparameters_survive_the_map_to_what_the_fit_moves(priors):
    noise = priors.noise if isinstance(priors.noise, float) else 0.03
    hyper = Hyper((0.1, 2.0, 0.7), 3.0, noise, 0.0 if priors.additive is None else 0.25)
    back = priors.from_theta(priors.to_theta(hyper))
    close(back.lengthscales, hyper.lengthscales, 1e-12)
    expected = pytest.approx((hyper.variance, hyper.noise, hyper.additive))
    assert (back.variance, back.noise, back.additive) == expected
