"""Data profiles, and what P(safe) was worth: numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .compare import Interval, resampled_share
from .scores import Run

Array = NDArray[np.float64]
TARGETS = (0.1, 0.03, 0.01, 0.003, 0.001)  # regrets, of the spread of the objective
LEVELS = (0.0, 0.5, 0.85, 0.95, 0.985, 0.995, 0.9995, 1.0)  # of a claimed P(safe)
AGES = ((0, 10), (10, 20), (20, 40), (40, 10_000))  # trials told before the claim


@dataclass(frozen=True, eq=False)
class Profile:
    """The share of (problem, target) pairs solved after a share of the trials."""

    at: Array  # (P,) shares of T
    solved: Array  # (P,)


def profile(runs: Sequence[Run], *, stopped: bool, points: int = 61) -> Profile:
    """Of one method over its problems."""
    at = np.linspace(0.0, 1.0, points)
    solved = np.zeros(points)
    for run in runs:
        end = run.stopped.n_trials if stopped else run.whole.n_trials
        curve = run.best_after(end)
        index = np.minimum(np.floor(at * run.trials).astype(int), end)
        solved += (curve[index][:, None] <= np.array(TARGETS)).mean(axis=1)
    return Profile(at, solved / max(1, len(runs)))


@dataclass(frozen=True)
class Claim:
    """Claims of P(safe) between two levels at one age of the studies: what was claimed and what came."""

    low: float
    high: float
    age: tuple[int, int]
    n: int
    claimed_risk: float
    realised: Interval


def claims(runs: Sequence[Run]) -> list[Claim]:
    """Claimed against realised risk, by level and by how many trials were known; groups are runs."""
    found = []
    for age in AGES:
        for low, high in pairwise(LEVELS):
            groups, risks = [], []
            for run in runs:
                number = np.arange(len(run.failed))
                here = (run.p_safe >= low) & ((run.p_safe < high) | (high == 1.0))
                here &= (number >= age[0]) & (number < age[1])
                if here.any():
                    groups.append(run.failed[here])
                    risks.append(1.0 - run.p_safe[here])
            if groups:
                flat = np.concatenate(risks)
                found.append(Claim(low, high, age, len(flat), float(flat.mean()), resampled_share(groups)))
    return found


def failures_below_rho(runs: Sequence[Run]) -> tuple[int, int]:
    """How many failures were spent where P(safe) was below the ρ asked for, and of how many."""
    below = sum(int(np.count_nonzero(run.failed & (run.p_safe < run.rho))) for run in runs)
    return below, sum(int(np.count_nonzero(run.failed)) for run in runs)
