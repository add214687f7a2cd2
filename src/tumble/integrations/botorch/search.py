"""From an acquisition to the next trial: samples of f*, starts, and `optimize_acqf` around them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from botorch.optim import optimize_acqf
from torch import Tensor

from ...core.budget import BudgetState, replay
from ...core.settings import Settings
from ...errors import InputError
from .acquisitions import SLACK, ExcursionAcquisition, FailureAwareExcursionSearch, LogExcursionSearch
from .study import NothingSafeEnough, Ranges, Study, draw_minima

Options = dict[str, bool | float | int | str]


@dataclass(frozen=True)
class Candidate:
    """The next trial: x (1, D), the acquisition there, and the mode under which it was found."""

    x: Tensor
    value: float
    mode: str  # "free" | "risky" | "safe" | "safest"
    p_safe: float
    rho: float


def budget_state(
    trials: int, failures: int, failed: Iterable[bool] = (), settings: Settings | None = None
) -> BudgetState:
    """The controller (14) of T trials and B failures after outcomes, in order (True: it failed)."""
    return replay(trials, failures, [bool(f) for f in failed], settings or Settings())


def sample_minima(
    model: Any, bounds: Tensor, *, objective_index: int = 0, constraints: Ranges | None = None,
    maximize: bool = False, settings: Settings | None = None, seed: int | None = None,
) -> Tensor:  # fmt: skip
    """(S,) samples of the smallest f (the largest with `maximize`) where the constraints hold.

    model: of f, or a `ModelListGP` as for `FailureAwareExcursionSearch`. bounds: (2, D). The law and S
    are those of the settings (`minima`, `n_minima`).
    """
    study = Study.of(model, objective_index, constraints)
    return draw_minima(study, bounds, settings or Settings(), seed, maximize=maximize)


def starts(
    acq_function: ExcursionAcquisition, bounds: Tensor, q: int = 1, num_restarts: int = 10,
    raw_samples: int = 512, options: Mapping[str, Any] | None = None, **_: Any,
) -> Tensor:  # fmt: skip
    """(num_restarts, 1, D) good starts, feasible in mode "safe": an `ic_generator` for `optimize_acqf`.

    options: "seed". Raises `NothingSafeEnough` where φ(x) >= ρ was found nowhere.
    """
    if q != 1:
        raise InputError(
            f"excursion search takes one point at a time (q = 1), not q = {q}: use sequential=True"
        )
    rng = np.random.default_rng((options or {}).get("seed"))
    snapshot = acq_function.study.snapshot(
        bounds, Settings(), rng, maximize=acq_function.upwards, pending=acq_function.X_pending
    )
    level = acq_function.level + 2.0 * SLACK if acq_function.mode == "safe" else None
    unit = torch.as_tensor(snapshot.candidates(raw_samples, level), dtype=bounds.dtype, device=bounds.device)
    x = bounds[0] + (bounds[1] - bounds[0]) * unit
    with torch.no_grad():
        order = torch.argsort(acq_function(x[:, None, :]), descending=True)
    half = (num_restarts + 1) // 2
    rest = rng.permutation(np.arange(half, min(len(x), 10 * num_restarts)))[: num_restarts - half]
    return x[order[np.concatenate([np.arange(min(half, len(x))), rest])]][:, None, :]


def optimize_excursion(
    acqf: LogExcursionSearch | FailureAwareExcursionSearch, bounds: Tensor, *, num_restarts: int = 10,
    raw_samples: int = 512, seed: int | None = None, options: Options | None = None,
) -> Candidate:  # fmt: skip
    """The next trial by `optimize_acqf`, with fitting starts and constraint; the safest if none reaches ρ."""
    aware = acqf if isinstance(acqf, FailureAwareExcursionSearch) else None
    try:
        first = starts(acqf, bounds, 1, num_restarts, raw_samples, {"seed": seed})
    except NothingSafeEnough:
        assert aware is not None
        return optimize_excursion(
            aware.safest(),
            bounds,
            num_restarts=num_restarts,
            raw_samples=raw_samples,
            seed=seed,
            options=options,
        )
    x, values = optimize_acqf(
        acqf, bounds=bounds, q=1, num_restarts=len(first), batch_initial_conditions=first,
        nonlinear_inequality_constraints=aware.nonlinear_inequality_constraints if aware else None,
        options=options or {}, return_best_only=False,
    )  # fmt: skip
    x = torch.cat([x, first])  # SLSQP may end a hair outside: then a start is the best that is inside
    with torch.no_grad():
        values = acqf(x)
        if aware is not None and aware.mode == "safe":
            values = values.masked_fill(aware.margin(x.squeeze(-2)) < 0.0, -torch.inf)
        best = int(values.argmax())
        p_safe = float(aware.log_p_safe(x[best]).exp()) if aware else 1.0
    return Candidate(x[best], float(values[best]), acqf.mode, p_safe, aware.rho if aware else 0.0)
