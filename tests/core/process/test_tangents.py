"""Covariances of pairs and their derivatives by θ, against textbook kernels and finite differences."""

import numpy as np
import pytest

from tests import oracles
from tests.oracles import KERNELS, close
from tumble.core.process.covariance import Hyper
from tumble.core.process.priors import LogNormal, Priors
from tumble.core.process.tangents import PairCovariances

PLAIN = Priors(LogNormal(0.3, 0.7), LogNormal(1.0, 1.0), LogNormal(1e-2, 1.0))
ADDITIVE = Priors(LogNormal(0.3, 0.7), LogNormal(1.0, 1.0), LogNormal(1e-2, 1.0), additive=(-1.0, 1.5))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("priors", [PLAIN, ADDITIVE])
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_tangents_are_derivatives_of_each_pair_s_covariance(kernel, priors, dim):
    X = np.random.default_rng(dim).random((7, dim))
    share = 0.0 if priors.additive is None else 0.3
    hyper = Hyper(tuple(0.2 + 0.1 * j for j in range(dim)), 0.8, 0.2, share)
    theta = priors.to_theta(hyper)
    pairs = PairCovariances(kernel, X, additive=priors.additive is not None)
    first, second = np.tril_indices(7, -1)
    tangents = pairs.tangents(theta)
    close(tangents[dim], oracles.cov_values(kernel, hyper, X, X)[first, second], 1e-12)
    close(tangents, oracles.gram_slopes(kernel, X, priors, theta)[:, first, second], 1e-8)


def test_a_matrix_of_pairs_times_a_vector_is_that_of_the_symmetric_matrix():
    rng = np.random.default_rng(0)
    pairs = PairCovariances("se", rng.random((6, 2)), additive=False)
    values, vector = rng.random(15), rng.random(6)
    full = np.zeros((6, 6))
    full[np.tril_indices(6, -1)] = values
    close(pairs.times(values, vector), (full + full.T) @ vector, 1e-12)
    columns = rng.random((6, 4))
    close(pairs.times(values, columns), (full + full.T) @ columns, 1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_tangents_across_are_those_of_pairs_of_all_the_points(kernel):
    rng = np.random.default_rng(0)
    X, points = rng.random((5, 2)), rng.random((3, 2))
    theta = ADDITIVE.to_theta(Hyper((0.2, 0.5), 0.8, 0.2, 0.3))
    across = PairCovariances.across(kernel, points, X, additive=True).tangents(theta)
    every = np.zeros((len(theta), 8, 8))
    first, second = np.tril_indices(8, -1)
    whole = PairCovariances(kernel, np.vstack([X, points]), additive=True)
    every[:, first, second] = whole.tangents(theta)
    close(across.reshape(-1, 3, 5), every[:, 5:, :5], 1e-12)
