"""The constants of §5, App. D, App. E and Table 2 as data, each with its origin.

``PAPER`` marks what the paper states, ``SCRIPTS`` what only the authors' published scripts say, ``OURS`` what
neither fixes and was chosen here. `paper_settings` turns them into the `tumble.Settings` of one problem;
every line of an experiment carries the settings in full.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tumble.core.process.priors import Priors
    from tumble.core.settings import Settings

PAPER, SCRIPTS, OURS = "paper", "authors' scripts", "ours"


@dataclass(frozen=True)
class Constant:
    """A value and where it comes from."""

    value: Any
    origin: str
    where: str = ""


SEARCH: dict[str, Constant] = {
    "rho_safe": Constant(0.99, PAPER, "§5.1"),
    "rho_risk": Constant(0.01, PAPER, "§5.1"),
    "rho_0": Constant(0.1, PAPER, "§5.1"),
    "rho_b": Constant(0.5, PAPER, "§5.1"),
    "delta": Constant(None, PAPER, "§4.2: plain ρ_safe once no failure is left"),
    "kernel": Constant("se", PAPER, "§5.1"),
    "noise": Constant(0.01, PAPER, "App. D"),
    "restarts": Constant(10, PAPER, "App. D"),
    "minima": Constant("frechet", PAPER, "§3.1"),
    "n_minima": Constant(20, SCRIPTS, "S"),
    "grid": Constant(1000, SCRIPTS, "N_d, random points"),
    "quantiles": Constant((0.25, 0.75), SCRIPTS, "of the fit of p(f*)"),
    "objective as": Constant("f/|f_min| + 1/2", SCRIPTS, "App. D says zero mean and unit variance"),
    "draws": Constant(10, OURS, "posterior draws of PESC"),
}

BUDGETS: dict[str, Constant] = {
    "hartmann6-constrained": Constant((100, 10), PAPER, "§5.2: T, B"),
    "michalewicz10-constrained": Constant((100, 10), PAPER, "§5.2: T, B"),
    "hartmann6": Constant((100, None), PAPER, "§5.2: T"),
    "michalewicz10": Constant((100, None), PAPER, "§5.2: T"),
    "in-model": Constant((100, 15), PAPER, "App. E: T, B"),
    "in-model-free": Constant((100, None), PAPER, "App. E: T"),
    "compression": Constant((20, 5), PAPER, "§5.3: T, B"),
    "cartpole": Constant((100, 15), PAPER, "§5.4: T, B"),
    "initial points": Constant("one, fixed, as in tumble.problems", SCRIPTS, "§5.2 says that it is fixed"),
}


@dataclass(frozen=True)
class Law:
    """A prior by name: "uniform" (low, high), "gamma" (concentration, rate), "normal" (mean, std)."""

    name: str
    first: float
    second: float


@dataclass(frozen=True)
class TablePriors:
    """One row of Table 2: the laws of lengthscale and variance of f and of g."""

    lengthscale_f: Law
    variance_f: Law
    lengthscale_g: Law
    variance_g: Law
    origin: str


_UNIFORM = Law("uniform", 0.01, 0.3)
_GAMMA = Law("gamma", 1.0, 5.0)
_HALF = Law("normal", 0.5, 0.25)

TABLE_2: dict[str, TablePriors] = {
    "michalewicz10": TablePriors(_UNIFORM, _HALF, _UNIFORM, _HALF, PAPER),
    "hartmann6": TablePriors(_GAMMA, _HALF, _GAMMA, _HALF, PAPER),
    "compression": TablePriors(_UNIFORM, Law("normal", 0.5, 0.2), _UNIFORM, Law("normal", 7.5, 2.0), PAPER),
    "cartpole": TablePriors(_UNIFORM, Law("normal", 1.0, 0.25), _UNIFORM, _HALF, PAPER),
    # App. E fixes the hyperparameters at the truth: laws of no width.
    "in-model": TablePriors(
        Law("uniform", 0.1, 0.1),
        Law("uniform", 1.0, 1.0),
        Law("uniform", 0.1, 0.1),
        Law("uniform", 1.0, 1.0),
        PAPER,
    ),
}


def problem_of_the_paper(name: str) -> str:
    """The name without the number of a draw, noise or a reduced protocol: "in-model:7" is "in-model"."""
    return name.partition(":")[0].partition("@")[0].removesuffix("-reduced")


def table_row(problem: str) -> TablePriors:
    """The row of Table 2 for a problem; Hartmann's where the paper has none."""
    family = problem_of_the_paper(problem)
    for ending in ("-constrained", "-free"):
        family = family.removesuffix(ending)
    return TABLE_2.get(family, TABLE_2["hartmann6"])


def paper_settings(problem: str) -> Settings:
    """`tumble.Settings` as the paper and its scripts had them, with the problem's row of Table 2."""
    from tumble import Settings

    row = table_row(problem)
    return Settings.paper(
        objective=_priors(row.lengthscale_f, row.variance_f),
        constraint=_priors(row.lengthscale_g, row.variance_g),
    )


def _priors(lengthscale: Law, variance: Law) -> Priors:
    from tumble.core.process.priors import Priors

    return Priors(_law(lengthscale), _law(variance), float(SEARCH["noise"].value))


def _law(law: Law) -> Any:
    from tumble.core.process.priors import Gamma, Normal, Uniform

    return {"uniform": Uniform, "gamma": Gamma, "normal": Normal}[law.name](law.first, law.second)
