"""The classical criteria of §5: EI, PI, UCB, and EIC for constraints, in log space with gradients.

    EI   log E[max(η - f, 0)]                Jones et al. 1998
    PI   log Pr(f < η - margin)              Kushner 1964
    UCB  -(μ - β σ)                          Srinivas et al. 2010; no logarithm: it may have either sign
    EIC  log EI against the best safe value  Gelbart et al. 2014; (15) multiplies it by φ

η is `Context.eta`, the incumbent of `settings.incumbent`; EI and EIC take `Context.safe_eta`, because what is
not safe improves on nothing. Everything is in model units.
"""

from dataclasses import dataclass

import numpy as np

from ..core.acquisition import Acquisition
from ..core.arrays import Array
from ..core.improvement import ExpectedImprovement, ProbabilityOfImprovement
from ..core.process.gp import GP
from ..core.search.context import Context

CONFIDENCE = 0.01  # of GP-UCB's schedule


@dataclass(frozen=True)
class ConfidenceBound:
    """-(μ - β σ): the optimistic value of a point."""

    gp: GP
    beta: float

    def screen(self, x: Array) -> Array:
        """(M,) the value itself."""
        mean, var = self.gp.predict(x)
        return self.beta * np.sqrt(var) - mean

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """β σ - μ, and its gradient (β/2σ) ∇σ² - ∇μ."""
        mean, var, d_mean, d_var = self.gp.predict_with_gradient(x)
        std = np.sqrt(var)
        return self.beta * std - mean, (0.5 * self.beta / std)[:, None] * d_var - d_mean


@dataclass(frozen=True)
class Indifferent:
    """The constant 0: leaves the choice to φ."""

    def screen(self, x: Array) -> Array:
        """(M,) zeros."""
        return np.zeros(len(x))

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """Zeros."""
        return np.zeros(len(x)), np.zeros_like(x)


def gp_ucb_beta(t: int, dim: int) -> float:
    """β_t of GP-UCB in the unit cube at the t-th decision, as Wang and Jegelka (2017) compute it."""
    first = 2.0 * np.log(t**2 * 2.0 * np.pi**2 / (3.0 * CONFIDENCE))
    second = 2.0 * dim * np.log(t**2 * dim * np.sqrt(np.log(4.0 * dim / CONFIDENCE)))
    return float(np.sqrt(first + second))


def expected_improvement(context: Context) -> ExpectedImprovement:
    """EI below the best safe value."""
    return ExpectedImprovement(context.objective, context.safe_eta)


def probability_of_improvement(context: Context) -> ProbabilityOfImprovement:
    """PI with `settings.pi_margin` below the incumbent; one noise standard deviation where that is None."""
    margin = context.settings.pi_margin
    return ProbabilityOfImprovement(
        context.objective, context.eta - (context.objective.hyper.noise if margin is None else margin)
    )


def confidence_bound(context: Context) -> ConfidenceBound:
    """UCB with `settings.ucb_beta`, or by GP-UCB's schedule where that is None."""
    beta = context.settings.ucb_beta
    t, dim = context.objective.X.shape
    return ConfidenceBound(context.objective, gp_ucb_beta(max(t, 1), dim) if beta is None else beta)


def constrained_improvement(context: Context) -> Acquisition:
    """EIC: EI below the best safe value; 0 while nothing safe is known, so that φ alone decides."""
    return expected_improvement(context) if context.history.safe.any() else Indifferent()
