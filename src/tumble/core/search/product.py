"""The product α(x) φ(x)^power of (15), in log space with gradient: what a bold climb maximises."""

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
