"""The product α(x) φ(x)^power of (15), in log space with gradient: what a bold climb maximises."""

import numpy as np

from ..acquisition import Acquisition
from ..arrays import Array
from ..feasibility import Feasibility
from ..improvement import ExpectedImprovement, ProbabilityOfImprovement
from ..process.gp import stack
from .maximize import ValueAndGrad


def times_phi(acquisition: Acquisition, feasibility: Feasibility, power: float) -> ValueAndGrad:
    """log α + `power` log φ. EI and PI share one prediction with φ where all processes share their data."""

    def product(x: Array) -> tuple[Array, Array]:
        value, grad = acquisition.value_and_grad(x)
        log_p, d_log_p = feasibility.log_prob_and_grad(x)
        return value + power * log_p, grad + power * d_log_p

    if not isinstance(acquisition, ExpectedImprovement | ProbabilityOfImprovement):
        return product
    together = stack((acquisition.gp, *feasibility.constraints))
    if together is None:
        return product

    def at_once(x: Array) -> tuple[Array, Array]:
        predicted = together.predict_with_gradient(x)
        value, grad = acquisition.of(predicted.of(0))
        log_p, d_log_p = feasibility.log_prob_and_grad(x, predicted.of(slice(1, None)))
        return value + power * log_p, grad + power * d_log_p

    return at_once


def screen_product(
    log_alpha: Array, feasibility: Feasibility, points: Array, count: int, power: float = 1.0
) -> Array:
    """(M,) log α + `power` log φ where it is among the `count` largest; elsewhere, a number below those.

    P(no crash) takes longest, and it only makes the product smaller. So it is worked out at some points of
    the largest product without it, and then only where that product is no smaller than what was found.

    Parameters
    ----------
    log_alpha : (M,)
        log α at the points.
    feasibility
        The processes that decide on safety.
    points : (M, D)
        The candidates.
    count
        How many of them matter.
    power
        The power of φ.
    """
    crash, value = feasibility.crash, log_alpha + power * feasibility.without_crashes.log_prob(points)
    if crash is None:
        return value
    first = np.argsort(-value, kind="stable")[:count]
    found = value[first] + power * crash.log_prob(points[first])
    if len(first) < len(points):
        others = value >= found.min()
        others[first] = False
        value[others] += power * crash.log_prob(points[others])
    value[first] = found
    return value
