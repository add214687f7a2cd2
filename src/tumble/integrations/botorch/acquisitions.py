"""The two acquisition functions: Xs (10) and XsF (13), (15)."""

from collections.abc import Callable
from copy import copy
from typing import Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.utils.transforms import t_batch_mode_transform
from scipy.special import ndtri
from torch import Tensor

from ... import checks
from ...core.budget import BudgetState, Decision, SearchMode, decide
from ...core.settings import Settings
from ...errors import InputError
from ...methods import resolve_settings
from .models import UnsupportedModel
from .study import Ranges, Study

SLACK = 1e-6  # on the scale of Φ^-1(φ): SLSQP meets a constraint only to within its tolerance


class ExcursionAcquisition(AcquisitionFunction):
    """What Xs and XsF share: the processes read from a model, samples of f*, and points in flight."""

    minima: Tensor
    mode: SearchMode
    level: float  # Φ^-1 of the P(safe) asked for

    def __init__(self, model: Any, study: Study, minima: Tensor, X_pending: Tensor | None) -> None:
        super().__init__(model=model)
        levels = torch.as_tensor(minima, dtype=torch.float64).detach().reshape(-1)
        if not len(levels) or not bool(torch.isfinite(levels).all()):
            raise InputError("minima must hold at least one sample of f*, all finite: see sample_minima")
        self.study = study
        self.processes = torch.nn.ModuleList(study.processes)  # so that .to(device) moves them
        self.register_buffer("minima", levels.to(study.objective.X.device))
        self.set_X_pending(X_pending)

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:  # noqa: N802
        """Condition the objective on points in flight (P, D)."""
        self.X_pending = X_pending  # type: ignore[assignment]
        self.seen = self.study.objective.with_pending(X_pending)

    @property
    def upwards(self) -> bool:
        """Whether `minima` are samples of the largest f: they lie above the mean of the safe trials."""
        f, safe = self.study.objective, self.study.safe
        values = f.predict(f.inputs)[0][torch.as_tensor(safe if safe.any() else ~safe)]
        return bool(self.minima.mean() > values.mean())

    def log_alpha(self, x: Tensor) -> Tensor:
        """(...,) log α_X (10) at x (..., D)."""
        return self.seen.log_crossings(x, self.minima).to(x)


class LogExcursionSearch(ExcursionAcquisition):
    """log α_X (10): the expected intensity of crossings of f* by f, over samples of f*.

    Parameters
    ----------
    model
        A single-output model of f.
    minima
        (S,) samples of f*, in the model's own outputs: see `sample_minima`. Where f is maximised, they are
        samples of the largest f, because crossings have no sign.
    X_pending
        (P, D) points in flight.

    Raises
    ------
    UnsupportedModel
        If the model has several outputs, or a part without a closed form here.
    """

    mode = "free"

    def __init__(self, model: Any, minima: Tensor, X_pending: Tensor | None = None) -> None:
        study = Study.of(model)
        if len(study.processes) != 1:
            raise UnsupportedModel(
                f"LogExcursionSearch takes a model of f alone, but one of {len(study.processes)} outputs "
                "came: FailureAwareExcursionSearch takes constraints"
            )
        super().__init__(model, study, minima, X_pending)

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """(b,) values at X (b, 1, D)."""
        return self.log_alpha(X.squeeze(-2))


class FailureAwareExcursionSearch(ExcursionAcquisition):
    """XsF: log α_X + log φ while the budget lets it be bold (15), else log α_X subject to φ(x) >= ρ (13).

    The mode, ρ and the power of φ are those of `core.budget.decide`, as everywhere in tumble.

    Parameters
    ----------
    model
        A `ModelListGP` of the objective and the constraints.
    budget_state
        What is left of the budget: see `budget_state`.
    minima
        (S,) samples of f*: see `sample_minima`.
    objective_index
        The output that is minimised.
    constraints
        output -> (lower, upper), either of them None or infinite. Without it, every output but the
        objective's must be <= 0. An output with two bounds counts as two constraints.
    safe_known
        Whether a safe trial is known; None to look at the training data.
    crashed
        How many trials crashed, so that the training data lack them.
    settings
        The constants of the budget.
    penalty
        In mode "careful", what a lack of one unit of Φ^-1(φ) costs: 0 for optimisers that are given
        `nonlinear_inequality_constraints`, large for those that can't be.
    X_pending
        (P, D) points in flight.

    Raises
    ------
    InputError
        If an argument is not what it should be, or no output is limited.
    UnsupportedModel
        If a part of the model has no closed form here.
    """

    def __init__(
        self, model: Any, budget_state: BudgetState, minima: Tensor, *, objective_index: int = 0,
        constraints: Ranges | None = None, safe_known: bool | None = None, crashed: int = 0,
        settings: str | Settings | None = None, penalty: float = 0.0, X_pending: Tensor | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(budget_state, BudgetState):
            raise InputError(f"budget_state must be a BudgetState, not {budget_state!r}: see budget_state()")
        study = Study.of(model, objective_index, constraints)
        if not study.limits:
            raise InputError(
                "no output of the model is limited, so that P(safe) would be 1 everywhere: give a ModelListGP"
                " of the objective and the constraints, or use LogExcursionSearch where nothing can fail"
            )
        super().__init__(model, study, minima, X_pending)
        crashed = checks.whole(crashed, "crashed", 0)
        self.settings = resolve_settings("default" if settings is None else settings)
        self.penalty = checks.at_least(penalty, "penalty", 0.0)
        safe = self.study.safe
        self.budget_state = budget_state
        self.safe_known = bool(safe.any()) if safe_known is None else safe_known
        self._follow(decide(
            budget_state, told=len(safe) + crashed, failed=int((~safe).sum()) + crashed, crashed=crashed,
            safe_known=self.safe_known, settings=self.settings,
        ))  # fmt: skip

    def _follow(self, decision: Decision) -> None:
        self.mode, self.rho, self.phi_exponent = decision.mode, decision.rho, decision.phi_exponent
        self.level = float(ndtri(self.rho))

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """(b,) values at X (b, 1, D)."""
        x = X.squeeze(-2)
        if self.mode == "safest":
            return self.log_p_safe(x)
        if self.mode == "bold":
            return self.log_alpha(x) + self.phi_exponent * self.log_p_safe(x)  # (15)
        short = (self.margin(x) - SLACK).clamp_max(0.0) if self.penalty else 0.0
        return self.log_alpha(x) + self.penalty * short  # (13), with `nonlinear_inequality_constraints`

    def safest(self) -> "FailureAwareExcursionSearch":
        """The same in mode "safest": log φ alone, for when nothing reaches ρ."""
        return self._under(Decision("safest", self.rho))

    def careful(self, rho: float) -> "FailureAwareExcursionSearch":
        """The same in mode "careful": log α_X where φ(x) >= `rho`."""
        return self._under(Decision("careful", rho))

    def _under(self, decision: Decision) -> "FailureAwareExcursionSearch":
        other = copy(self)
        other._follow(decision)
        return other

    def log_p_safe(self, x: Tensor) -> Tensor:
        """(...,) log φ (12) at x (..., D)."""
        total = x.new_zeros(x.shape[:-1], dtype=torch.float64)
        for limit in self.study.limits:
            mean, var = self.study.processes[limit.index].predict(x)
            total = total + torch.special.log_ndtr(limit.sign * (limit.bound - mean) / var.sqrt())
        return total.to(x)

    def margin(self, x: Tensor) -> Tensor:
        """(...,) Φ^-1(φ) - Φ^-1(ρ) at x (..., D): not below 0 where a trial is safe enough."""
        return (_quantile(self.log_p_safe(x.double())) - self.level).to(x)

    @property
    def nonlinear_inequality_constraints(self) -> list[tuple[Callable[[Tensor], Tensor], bool]] | None:
        """For `optimize_acqf`: φ(x) >= ρ in mode "careful", else None."""
        return [(lambda x: self.margin(x) - SLACK, True)] if self.mode == "careful" else None


def _quantile(log_p: Tensor) -> Tensor:
    """Φ^-1(exp(log_p)), exact at both ends."""
    high = log_p > -0.7
    far = torch.where(high, log_p, torch.full_like(log_p, -0.7))
    low = torch.where(high, torch.full_like(log_p, -0.7), log_p)
    upper = -torch.special.ndtri((-torch.expm1(far)).clamp_min(1e-300))
    return torch.where(high, upper, torch.special.ndtri(torch.exp(low.clamp_min(-690.0))))
