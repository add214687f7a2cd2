"""The product of (15): what is predicted at once equals the parts that are predicted alone."""

import numpy as np
import pytest

from tests.oracles import central, close
from tumble.core.acquisition import Acquisition, ExcursionSearch
from tumble.core.feasibility import Feasibility
from tumble.core.improvement import ExpectedImprovement, ProbabilityOfImprovement
from tumble.core.process.covariance import Hyper
from tumble.core.process.crashes import fit_crashes
from tumble.core.process.gp import condition
from tumble.core.search.product import screen_product, times_phi
from tumble.core.student import Law

X = np.random.default_rng(0).random((15, 2))
F, *G = (
    condition("matern52", Hyper((0.3, 0.5 + 0.2 * q), 1.0, 0.01, 0.2), X, np.sin(5.0 * X[:, 0] + q) + X[:, 1])
    for q in range(3)
)
CRASH = fit_crashes(X, X[:, 0] > 0.8, "matern52")
ACQUISITIONS: list[Acquisition] = [
    ExpectedImprovement(F, -0.5),
    ProbabilityOfImprovement(F, -0.5),
    ExcursionSearch(F, np.array([-1.2, -1.0])),
]


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("crash", [None, CRASH])
@pytest.mark.parametrize("laws", [(), (Law(1.2, 5.0), Law(1.1, 30.0))])
def test_the_product_is_that_of_its_parts(acquisition, crash, laws):
    feasibility = Feasibility(tuple(G), crash, (), measured=True, laws=laws)
    x = np.random.default_rng(1).random((4, 2))
    product = times_phi(acquisition, feasibility, 0.7)
    value, grad = product(x)
    close(value, acquisition.value_and_grad(x)[0] + 0.7 * feasibility.log_prob(x), 1e-9)
    close(grad, central(lambda p: product(p)[0], x), 1e-5)


def test_without_common_data_the_product_is_the_same():
    feasibility = Feasibility(tuple(G))
    pending = F.with_pending(np.array([[0.4, 0.4]]))
    x = np.random.default_rng(1).random((4, 2))
    value, grad = times_phi(ExpectedImprovement(pending, -0.5), feasibility, 1.0)(x)
    alone, d_alone = ExpectedImprovement(pending, -0.5).value_and_grad(x)
    log_p, d_log_p = feasibility.log_prob_and_grad(x)
    close(value, alone + log_p, 1e-12)
    close(grad, d_alone + d_log_p, 1e-12)


@pytest.mark.parametrize("crash", [None, CRASH])
@pytest.mark.parametrize("count", [1, 7, 60, 100])
@pytest.mark.parametrize("power", [0.25, 1.0])
def test_the_largest_products_are_found_without_looking_everywhere(crash, count, power):
    feasibility, points = Feasibility(tuple(G), crash), np.random.default_rng(2).random((60, 2))
    log_alpha = ACQUISITIONS[0].screen(points)
    whole = log_alpha + power * feasibility.log_prob(points)
    found = screen_product(log_alpha, feasibility, points, count, power)
    best = np.argsort(-whole, kind="stable")[:count]
    assert (np.argsort(-found, kind="stable")[:count] == best).all()
    close(found[best], whole[best], 1e-12)
    assert (np.delete(found, best) <= whole[best].min()).all()
