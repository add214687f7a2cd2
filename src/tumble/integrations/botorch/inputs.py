"""Input constructors: how Ax's modular generator and other callers of BoTorch's registry build Xs and XsF."""

import math
from typing import Any

import torch
from botorch.acquisition.input_constructors import acqf_input_constructor
from torch import Tensor

from ...core.budget import BudgetState
from ...core.history import violated
from ...core.settings import Settings
from ...errors import InputError
from .acquisitions import FailureAwareExcursionSearch, LogExcursionSearch
from .search import budget_state as count_budget
from .search import sample_minima
from .study import Study

PENALTY = 100.0  # Ax's optimiser takes no nonlinear constraint


@acqf_input_constructor(LogExcursionSearch)
def construct_excursion_search(
    model: Any, bounds: Any, posterior_transform: Any = None, X_pending: Tensor | None = None,
    minima: Tensor | None = None, settings: str | Settings | None = None, seed: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Arguments of `LogExcursionSearch`; the sign of the transform's weight says which way f goes."""
    if minima is None:
        _, maximize = _objective(posterior_transform)
        minima = sample_minima(model, _box(bounds), maximize=maximize, settings=settings, seed=seed)
    return {"model": model, "minima": minima, "X_pending": X_pending}


@acqf_input_constructor(FailureAwareExcursionSearch)
def construct_failure_aware_excursion_search(
    model: Any, bounds: Any, constraints_tuple: tuple[Tensor, Tensor] | None = None,
    posterior_transform: Any = None, X_pending: Tensor | None = None, budget_state: BudgetState | None = None,
    trials: int | None = None, failures: int | None = None, settings: str | Settings | None = None,
    seed: int | None = None, penalty: float = PENALTY,
) -> dict[str, Any]:  # fmt: skip
    """Arguments of `FailureAwareExcursionSearch`.

    Without a `budget_state` it is counted: `trials` and `failures` are T and B, and the training data are the
    billed trials, in their order.
    """
    index, maximize = _objective(posterior_transform)
    ranges = None if constraints_tuple is None else _ranges(*constraints_tuple)
    if budget_state is None:
        if trials is None or failures is None:
            raise InputError("expected budget_state, or trials and failures to count with, but neither came")
        failed = [violated(row) for row in Study.of(model, index, ranges).observed()]
        budget_state = count_budget(trials, failures, failed, settings)
    minima = sample_minima(
        model,
        _box(bounds),
        objective_index=index,
        constraints=ranges,
        maximize=maximize,
        settings=settings,
        seed=seed,
    )
    return {
        "model": model, "budget_state": budget_state, "minima": minima, "objective_index": index,
        "constraints": ranges, "settings": settings, "penalty": penalty, "X_pending": X_pending,
    }  # fmt: skip


def _objective(transform: Any) -> tuple[int, bool]:
    """Which output is optimised, and whether it is maximised, by a scalarisation of the outputs."""
    if transform is None:
        return 0, False
    weights = getattr(transform, "weights", None)
    if weights is None or int((weights != 0).sum()) != 1:
        raise InputError(f"expected a single objective, but the posterior transform is {transform!r}")
    index = int(weights.abs().argmax())
    return index, bool(weights[index] > 0)


def _ranges(weights: Tensor, bounds: Tensor) -> dict[int, tuple[float, float]]:
    """output -> (lower, upper), infinite where there is none, from A f(x) <= b, (k, m) and (k, 1)."""
    ranges: dict[int, tuple[float, float]] = {}
    for row, bound in zip(weights.cpu(), bounds.cpu().reshape(-1).tolist(), strict=True):
        if int((row != 0).sum()) != 1:
            raise InputError(f"each constraint must be on one output, but one has the weights {row.tolist()}")
        index = int(row.abs().argmax())
        weight = float(row[index])
        lower, upper = ranges.get(index, (-math.inf, math.inf))
        if weight > 0:
            ranges[index] = (lower, min(upper, bound / weight))
        else:
            ranges[index] = (max(lower, bound / weight), upper)
    return ranges


def _box(bounds: Any) -> Tensor:
    """(2, D) from a tensor of that shape or D pairs."""
    box = torch.as_tensor(bounds, dtype=torch.float64)
    return box if isinstance(bounds, Tensor) else box.T
