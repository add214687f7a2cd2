"""Methods that serve to be compared with: parts of the default replaced, which no setting replaces.

xsf-turns      Xs and EI in turn, under the same controller
xsf-level      Xs without the slope: where f is likely to lie at f*, however steep it is there
tumble-told    the default, which is told how noisy each result is
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.families.member import Member
from experiments.runs import methods
from experiments.runs.records import Spec
from experiments.runs.searcher import Searcher
from tumble import Optimizer
from tumble.baselines.improvement import constrained_improvement
from tumble.core.acquisition import Acquisition, ExcursionSearch
from tumble.core.arrays import Array
from tumble.core.method import Method
from tumble.core.search.context import Context
from tumble.core.search.excursion import excursion_search
from tumble.methods import METHODS
from tumble.problems import Problem


def in_turn(context: Context) -> Acquisition:
    """Xs after an even number of trials, EI after an odd one."""
    odd = len(context.history.X) % 2
    return constrained_improvement(context) if odd else excursion_search(context)


@dataclass(frozen=True)
class LevelSearch:
    """log of the mean over f* of N(f*; μ, σ²), times σ with the band: α_X without its expected slope."""

    excursion: ExcursionSearch

    def screen(self, x: Array) -> Array:
        """(M,) the value itself."""
        return self.excursion.screen(x)

    def value_and_grad(self, x: Array) -> tuple[Array, Array]:
        """The value and its gradient Σ_u w_u z_u (∇μ + z_u ∇σ) / σ, less ∇σ/σ without the band."""
        mean, var, d_mean, d_var = self.excursion.gp.predict_with_gradient(x)
        levels, share = self.excursion.levels
        std = np.sqrt(var)[:, None]
        d_std = d_var / (2.0 * std)
        z = (levels - mean[:, None]) / std  # (M, U)
        weight = share * np.exp(-0.5 * (z**2 - (z**2).min(axis=1, keepdims=True)))
        weight /= weight.sum(axis=1, keepdims=True)
        first, second = ((weight * power).sum(axis=1)[:, None] for power in (z, z**2))
        grad = (first * d_mean + second * d_std) / std
        return self.screen(x), np.asarray(grad if self.excursion.band else grad - d_std / std)


def level_search(context: Context) -> LevelSearch:
    """`LevelSearch` over the samples that Xs would take."""
    return LevelSearch(excursion_search(context))


FOILS = {
    foil.name: foil
    for foil in (
        Method("xsf-turns", in_turn, constrained=True, controlled=True, listed=False, label="Xs and EI"),
        Method("xsf-level", level_search, constrained=True, controlled=True, listed=False, label="no slope"),
        replace(METHODS["tumble"], name="tumble-told", listed=False, label="noise known"),
    )
}


def make(spec: Spec, problem: Problem) -> Searcher:
    """The searcher of a spec: a foil, or what `experiments.runs.methods` knows."""
    if spec.method not in FOILS:
        return methods.make(spec, problem)
    told = noise_of(problem) if spec.method == "tumble-told" else None
    return methods.TumbleSearcher(spec, problem, _optimizer_of(FOILS[spec.method], told))


def noise_of(problem: Problem) -> dict[str, float]:
    """One standard deviation of each result of a member of a family; without those that are exact."""
    assert isinstance(problem, Member)
    names = ("value", *problem.constraint_names)
    return {name: float(noise) for name, noise in zip(names, problem.drawn.noise, strict=True) if noise}


def _optimizer_of(foil: Method, noise: dict[str, float] | None = None) -> type[Optimizer]:
    """An optimizer that searches by `foil`, whatever method it is given, and is told of this `noise`."""

    class FoilOptimizer(Optimizer):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options, noise=noise)

        @property
        def active_method(self) -> Method:
            return foil

    return FoilOptimizer
