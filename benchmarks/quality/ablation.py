"""What each departure from the paper earns: one row for each switch, against the default; and the foils."""

from __future__ import annotations

from .plan import Row

SWITCHES: tuple[Row, ...] = (
    Row("no softened φ", "xsf", {"soften_phi": False}),
    Row("no safety first", "xsf", {"safety_first": False}),
    Row("no δ", "xsf", {"delta": None}),
    Row("no calibration", "xsf", {"calibrate": False}),
    Row("Fréchet minima", "xsf", {"minima": "frechet", "grid": 1000}),
    Row("ten restarts", "xsf", {"restarts": 10}),
    Row("half the points", "xsf", {"raw_samples": 96}),
)
FOILS: tuple[Row, ...] = (
    Row("ρ = 0.5", "xsf", {"rho_0": 0.5, "rho_risk": 0.5, "rho_safe": 0.5, "rho_b": 0.4}),
    Row("ρ = 0.9", "xsf", {"rho_0": 0.9, "rho_risk": 0.9, "rho_safe": 0.9}),
    Row("ρ = 0.99", "xsf", {"rho_0": 0.99, "rho_risk": 0.99, "rho_safe": 0.99}),
    Row("no controller", "eic"),
    Row("EI in place of Xs", "xsf-ei"),
)
