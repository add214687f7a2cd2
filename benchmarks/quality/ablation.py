"""What each departure from the paper earns: one row for each switch, against the default; and the foils."""

from __future__ import annotations

from dataclasses import replace

from tumble.core.settings import DEFAULT_PRIORS, LIMIT_PRIORS

from .plan import Row

SWITCHES: tuple[Row, ...] = (
    Row("one level, no band", "xsf", {"band": False}),
    Row("no warp", "xsf", {"warp": False}),
    Row("Fréchet minima", "xsf", {"minima": "frechet", "grid": 1000}),
    Row("no optimism", "xsf", {"optimism": 0.0}),
    Row("no gap", "xsf", {"gap": None}),
    Row("no softened φ", "xsf", {"soften_phi": False}),
    Row("no safety first", "xsf", {"safety_first": False}),
    Row("no δ", "xsf", {"delta": None}),
    Row("no calibration", "xsf", {"calibrate": False}),
    Row("no surprise", "xsf", {"surprise": None}),
    Row("no additive share", "xsf", {
        "objective": replace(DEFAULT_PRIORS, additive=None),
        "constraint": replace(LIMIT_PRIORS, additive=None),
    }),
    Row("no learned mean", "xsf", {
        "objective": replace(DEFAULT_PRIORS, mean_std=None),
        "constraint": replace(LIMIT_PRIORS, mean_std=None),
    }),
    Row("last failure kept", "xsf", {"keep_last_failure": True}),
    Row("the very safest", "xsf", {"safest_odds": None}),
    Row("no descents", "xsf", {"descend": False}),
    Row("relearned always", "xsf", {"relearn": "always"}),
    Row("four restarts", "xsf", {"restarts": 4}),
    Row("half the points", "xsf", {"raw_samples": 96}),
)  # fmt: skip
FOILS: tuple[Row, ...] = (
    Row("ρ = 0.5", "xsf", {"rho_0": 0.5, "rho_risk": 0.5, "rho_safe": 0.5, "rho_b": 0.4}),
    Row("ρ = 0.9", "xsf", {"rho_0": 0.9, "rho_risk": 0.9, "rho_safe": 0.9}),
    Row("ρ = 0.99", "xsf", {"rho_0": 0.99, "rho_risk": 0.99, "rho_safe": 0.99}),
    Row("no controller", "eic"),
    Row("EI in place of Xs", "xsf-ei"),
    Row("Xs and EI in turn", "xsf-turns"),
    Row("no slope factor", "xsf-level"),
)
