"""The numbers the paper prints: Tables 1 and 3 (mean, std), and App. B's share of samples above η."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A cell of a table: regret and, under constraints, the share of safe evaluations in per cent."""

    regret: tuple[float, float]
    omega: tuple[float, float] | None = None


TABLES: dict[tuple[str, str], Printed] = {
    ("hartmann6", "ei"): Printed((0.75, 0.00)),
    ("hartmann6", "mes"): Printed((0.47, 0.00)),
    ("hartmann6", "pi"): Printed((0.34, 0.11)),
    ("hartmann6", "ucb"): Printed((0.39, 0.18)),
    ("hartmann6", "xs"): Printed((0.02, 0.01)),
    ("michalewicz10", "ei"): Printed((0.67, 0.00)),
    ("michalewicz10", "mes"): Printed((0.67, 0.00)),
    ("michalewicz10", "pi"): Printed((0.72, 0.03)),
    ("michalewicz10", "ucb"): Printed((0.70, 0.06)),
    ("michalewicz10", "xs"): Printed((0.63, 0.06)),
    ("hartmann6-constrained", "eic"): Printed((0.33, 0.35), (68, 30)),
    ("hartmann6-constrained", "pesc"): Printed((0.14, 0.22), (61, 29)),
    ("hartmann6-constrained", "xsf"): Printed((0.09, 0.14), (90, 16)),
    ("michalewicz10-constrained", "eic"): Printed((0.75, 0.06), (15, 3)),
    ("michalewicz10-constrained", "pesc"): Printed((0.74, 0.07), (16, 5)),
    ("michalewicz10-constrained", "xsf"): Printed((0.70, 0.04), (28, 7)),
    ("in-model-free", "ei"): Printed((1.03, 0.50)),
    ("in-model-free", "mes"): Printed((1.03, 0.43)),
    ("in-model-free", "pi"): Printed((0.86, 0.41)),
    ("in-model-free", "ucb"): Printed((1.00, 0.43)),
    ("in-model-free", "xs"): Printed((0.19, 0.34)),
    ("in-model", "eic"): Printed((0.71, 0.61), (21, 19)),
    ("in-model", "pesc"): Printed((1.32, 0.62), (14, 6)),
    ("in-model", "xsf"): Printed((0.30, 0.51), (52, 15)),
}
GUMBEL_ABOVE = (1.60, 1.22)  # App. B: per cent of Gumbel samples above η, mean and std
FRECHET_ABOVE = 0.0
