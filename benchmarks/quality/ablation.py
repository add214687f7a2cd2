"""What each departure from the paper earns: one row for each switch, and the foils.

A switch that only excursion search knows is judged against excursion search with the other defaults.
"""

from __future__ import annotations

from dataclasses import replace

from tumble.core.process.priors import LogNormal
from tumble.core.settings import DEFAULT_PRIORS, LIMIT_PRIORS

from .plan import Row

XS = Row("Xs in place of EI", "xsf")
TOLD = Row("noise known", "tumble-told")
ONE = Row("B = 1", "tumble", failures=1)
SWITCHES: tuple[Row, ...] = (
    Row("no warp", "tumble", {"warp": False}),
    Row("no softened φ", "tumble", {"soften_phi": False}),
    Row("no safety first", "tumble", {"safety_first": False}),
    Row("no δ", "tumble", {"delta": None}),
    Row("no calibration", "tumble", {"calibrate": False}),
    Row("widened all along", "tumble", {"widen_at_end": False}),
    Row("θ taken as known", "tumble", {"integrate": False}),
    Row("no surprise", "tumble", {"surprise": None}),
    Row("safety not doubted", "tumble", {"doubt_safety": False}),
    Row("no additive share", "tumble", {
        "objective": replace(DEFAULT_PRIORS, additive=None),
        "constraint": replace(LIMIT_PRIORS, additive=None),
    }),
    Row("lengthscales of f apart", "tumble", {
        "objective": replace(DEFAULT_PRIORS, lengthscale=LogNormal(0.55, 0.7)),
    }),
    Row("lengthscales without a tail", "tumble", {
        "constraint": replace(LIMIT_PRIORS, lengthscale=LogNormal(0.55, 0.7)),
    }),
    Row("no learned mean", "tumble", {
        "objective": replace(DEFAULT_PRIORS, mean_std=None),
        "constraint": replace(LIMIT_PRIORS, mean_std=None),
    }),
    Row("last failure kept", "tumble", {"keep_last_failure": True}),
    Row("the very safest", "tumble", {"safest_odds": None}),
    Row("no descents", "tumble", {"descend": False}),
    Row("bold below ρ", "tumble", {"keep_rho": False}),
    Row("no survey", "tumble", {"survey": 0.0}),
    Row("no stepping stones", "tumble", {"stepping_stones": False}),
    Row("the safest while nothing is safe", "tumble", {"less_violation": False}),
    Row("noise not weighed", "tumble", {"weigh_noise": False}),
    ONE,
    Row("the only failure at once", "tumble", {"rho_only": None}, ONE.name, failures=1),
    Row("(14) among choices", "tumble", {"reserve": None}),
    TOLD,
    Row("known noise not weighed", "tumble-told", {"weigh_noise": False}, TOLD.name),
    Row("more noise expected of f", "tumble", {
        "objective": replace(DEFAULT_PRIORS, noise=LogNormal(1e-3, 1.5)),
    }),
    Row("relaxed choices", "tumble", {"admissible": False}),
    Row("relearned always", "tumble", {"relearn": "always"}),
    Row("four restarts", "tumble", {"restarts": 4}),
    Row("half the points", "tumble", {"raw_samples": 96}),
    XS,
    Row("one level, no band", "xsf", {"band": False}, XS.name),
    Row("Fréchet minima", "xsf", {"minima": "frechet", "grid": 1000}, XS.name),
    Row("no optimism", "xsf", {"optimism": 0.0}, XS.name),
    Row("no gap", "xsf", {"gap": None}, XS.name),
    Row("no descents under P(safe)", "xsf", {"descend_safely": False}, XS.name),
    Row("f* over all candidates", "xsf", {"allowed_minima": False}, XS.name),
)  # fmt: skip
FOILS: tuple[Row, ...] = (
    Row("ρ = 0.5", "tumble", {"rho_0": 0.5, "rho_risk": 0.5, "rho_safe": 0.5, "rho_b": 0.4}),
    Row("ρ = 0.9", "tumble", {"rho_0": 0.9, "rho_risk": 0.9, "rho_safe": 0.9}),
    Row("ρ = 0.99", "tumble", {"rho_0": 0.99, "rho_risk": 0.99, "rho_safe": 0.99}),
    Row("no controller", "eic"),
    XS,
    Row("Xs and EI in turn", "xsf-turns"),
    Row("no slope factor", "xsf-level", against=XS.name),
)
