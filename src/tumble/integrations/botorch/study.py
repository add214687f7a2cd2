"""A BoTorch model seen by `tumble.core`: limits on outputs, what was observed, samples of f*, starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ... import checks
from ...core import minimum
from ...core.arrays import Array
from ...core.feasibility import Feasibility
from ...core.process.gp import GP
from ...core.search.candidates import everywhere
from ...core.search.maximize import maximize as climb
from ...core.settings import Settings
from ...errors import InputError, TumbleError
from .models import split
from .process import Process

Ranges = Mapping[int, tuple[float | None, float | None]]
ROUNDING = 1e-5  # of a lengthscale: a model in float32 scales its inputs back and forth


class NothingSafeEnough(TumbleError):
    """No point was found where P(safe) reaches what the budget asks for."""


@dataclass(frozen=True)
class Limit:
    """sign · (output[index] - bound) <= 0 is safe."""

    index: int
    sign: float
    bound: float


def limits_of(count: int, objective_index: int, constraints: Ranges | None) -> tuple[Limit, ...]:
    """The one-sided limits on `count` outputs; without `constraints` all but the objective are <= 0."""
    checks.whole(objective_index, "objective_index", 0, count - 1)
    if constraints is None:
        return tuple(Limit(i, 1.0, 0.0) for i in range(count) if i != objective_index)
    if not isinstance(constraints, Mapping):
        checks.refuse("constraints", "a dictionary, from outputs to pairs (lower, upper)", constraints)
    found: list[Limit] = []
    for index, ends in constraints.items():
        checks.whole(index, "an output of constraints")
        if not isinstance(ends, tuple | list) or len(ends) != 2:
            checks.refuse(f"the constraint on output {index}", "a pair (lower, upper)", ends)
        lower, upper = (_bound(end, index, never) for end, never in zip(ends, (np.inf, -np.inf), strict=True))
        if not 0 <= index < count:
            raise InputError(f"constraints name output {index}, but the model has {count} outputs")
        if lower is None and upper is None:
            raise InputError(f"the constraint on output {index} has neither a lower nor an upper bound")
        if lower is not None and upper is not None and lower > upper:
            raise InputError(
                f"the constraint on output {index} has its lower bound {lower:g} above its upper bound "
                f"{upper:g}: swap them"
            )
        found += [Limit(index, -1.0, lower)] if lower is not None else []
        found += [Limit(index, 1.0, upper)] if upper is not None else []
    return tuple(found)


def _bound(end: Any, index: int, never: float) -> float | None:
    """A bound as a number; None where it is infinite and so bounds nothing. `never` is what nothing meets."""
    if end is None:
        return None
    try:
        bound = float(end)
    except (TypeError, ValueError):
        bound = np.nan
    if np.isnan(bound) or bound == never:
        checks.refuse(f"a bound on output {index}", "a number, or None where there is none", end)
    return None if np.isinf(bound) else bound


@dataclass(frozen=True)
class Study:
    """The processes of a model, which output is minimised and which are limited."""

    processes: tuple[Process, ...]
    objective_index: int
    limits: tuple[Limit, ...]

    @staticmethod
    def of(model: Any, objective_index: int = 0, constraints: Ranges | None = None) -> "Study":
        """Read every output of `model`."""
        processes = tuple(Process.of(m) for m in split(model))
        return Study(processes, objective_index, limits_of(len(processes), objective_index, constraints))

    @property
    def objective(self) -> Process:
        """The process of f."""
        return self.processes[self.objective_index]

    @torch.no_grad()
    def observed(self) -> Array:
        """(N, G) sign · (g - bound) at the objective's training points; predicted where not observed."""
        X = self.objective.inputs
        columns = []
        for limit in self.limits:
            process = self.processes[limit.index]
            measured = _same(process.inputs, X, process.lengthscales / process.gain)
            over = process.excess(limit.bound) if measured else process.predict(X)[0] - limit.bound
            columns.append(limit.sign * over)
        return torch.stack(columns, 1).cpu().numpy() if columns else np.zeros((len(X), 0))

    @property
    def safe(self) -> NDArray[np.bool_]:
        """(N,) which of the objective's training points are safe."""
        return np.asarray((self.observed() <= 0.0).all(axis=1), dtype=bool)

    def snapshot(
        self, bounds: Tensor, settings: Settings, rng: np.random.Generator, *, maximize: bool = False,
        pending: Tensor | None = None,
    ) -> "Snapshot":  # fmt: skip
        """The same for `tumble.core`, in the unit cube of `bounds` (2, D)."""
        dim = self.objective.X.shape[1]
        if not isinstance(bounds, Tensor) or bounds.shape != (2, dim):
            came = str(tuple(bounds.shape)) if isinstance(bounds, Tensor) else checks.show(bounds)
            raise InputError(f"bounds must be a tensor of shape (2, {dim}), not {came}")
        if not bool((torch.isfinite(bounds).all(0) & (bounds[0] < bounds[1])).all()):
            raise InputError(
                f"bounds must be finite, each lower one below its upper one, not {bounds.tolist()}; leave "
                "out an input that does not vary"
            )
        gp = self.objective.to_core(bounds, -1.0 if maximize else 1.0)
        constraints = tuple(self.processes[c.index].to_core(bounds, c.sign, c.bound) for c in self.limits)
        if pending is not None:
            low, high = bounds.detach().cpu().double().numpy()
            gp = gp.with_pending((pending.detach().cpu().double().numpy() - low) / (high - low))
        return Snapshot(gp, Feasibility(constraints), self.safe, settings, rng)


def _same(one: Tensor, other: Tensor, lengths: Tensor) -> bool:
    """Whether points (N, D) are the same, up to rounding, by the lengths (D,) over which f varies."""
    return one.shape == other.shape and bool(((one - other).abs() <= ROUNDING * lengths.abs()).all())


@dataclass(frozen=True)
class Snapshot:
    """What the core knows of a model: processes in the unit cube, and which training points were safe."""

    objective: GP  # conditioned on what is in flight as well: those points come last
    feasibility: Feasibility
    safe: NDArray[np.bool_]  # (N,)
    settings: Settings
    rng: np.random.Generator

    @property
    def trials(self) -> Array:
        """(N', D) training points, those that were safe where there are any."""
        X = self.objective.X[: len(self.safe)]
        return X[self.safe] if self.safe.any() else X

    def minima(self) -> Array:
        """(S,) samples of f* in model units by the law of the settings, below the incumbent."""
        eta = float(self.objective.mean(self.trials).min())
        points = self.spread(self.settings.raw_samples)
        constraints = self.feasibility.constraints
        return minimum.sample(self.objective, constraints, points, eta, self.settings, self.rng).samples

    def spread(self, count: int) -> Array:
        """(P, D) points all over the cube, around the best trials and downhill from them."""
        best = np.argsort(self.objective.mean(self.trials))[:5]
        descend = self.settings.descend
        return everywhere(self.objective, self.trials[best], count, self.rng, descend=descend)

    def candidates(self, count: int, level: float | None) -> Array:
        """(P, D) points to start from; with `level` only those where Φ^-1(φ) is above it."""
        points = self.spread(count)
        if level is None:
            return points
        points = np.vstack([points, np.clip(self.trials, 0.0, 1.0)])
        margin = self.feasibility.margin(points)
        few = self.settings.restarts
        if (margin > level).sum() < few:
            climbed = climb(self.feasibility.margin_and_grad, points[np.argsort(-margin)[:few]])
            points, margin = np.vstack([points, climbed.points]), np.append(margin, climbed.values)
        if not (margin > level).any():
            raise NothingSafeEnough("no point was found where P(safe) reaches what the budget asks for")
        return np.asarray(points[margin > level])


def draw_minima(
    study: Study, bounds: Tensor, settings: Settings, seed: int | None, *, maximize: bool
) -> Tensor:
    """(S,) samples of the smallest (largest) safe f, in the model's outputs."""
    snapshot = study.snapshot(bounds, settings, np.random.default_rng(seed), maximize=maximize)
    samples = snapshot.objective.outputs.to_user(snapshot.minima())
    return torch.as_tensor(-samples if maximize else samples, dtype=torch.float64, device=bounds.device)
