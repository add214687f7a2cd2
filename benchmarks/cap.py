"""The budget by class of problem: does a search keep to B, and is its P(safe) true?"""

from __future__ import annotations

import numpy as np

from experiments.runs import statistics
from experiments.runs.records import Line

from .command import Command
from .tables import number, table, verdict

# (problem, T, B): budgets small enough that they are spent; each class has at least three problems.
CLASSES: dict[str, tuple[tuple[str, int, int], ...]] = {
    "easy": (
        ("branin-disk", 40, 2),
        ("gardner-cosine", 40, 2),
        ("gramacy", 40, 2),
        ("hartmann6-constrained", 80, 3),
    ),
    "rough": (("in-model", 100, 15), ("in-model", 80, 5), ("in-model", 60, 10)),
    "misspecified": (
        ("cliff", 60, 3),
        ("staircase", 60, 3),
        ("chirp", 60, 4),
        ("stalling", 60, 3),
        ("corrugated-bulkhead", 60, 4),
    ),
    "crashing": (  # a violation is a crash: nothing is measured there
        ("cliff!", 60, 4),
        ("branin-disk!", 40, 2),
        ("gardner-cosine!", 40, 2),
        ("gramacy!", 40, 2),
    ),
}


def cap(command: Command) -> list[str]:
    """The budget by class of problem: never above B with "stop"; "safe" over the runs that reach ΔB = 0.

    With "safe" every door stops at the first failure beyond B. Over all runs that spent B, at most 3 % may go
    beyond it.
    """
    specs = [
        command.spec(family, "tumble", seed, trials=trials, failures=failures, on_exhausted=rule)
        for seed in command.seed_range(40)
        for members in CLASSES.values()
        for family, trials, failures in members
        for rule in (("safe", "stop") if seed % 2 == 0 else ("safe",))  # "stop" holds by construction
    ]
    lines = command.run(specs)
    rows, verdicts, stop_runs, stop_beyond = [], [], 0, 0
    spent: list[Line] = []
    for name, members in CLASSES.items():
        group = [line for line in lines if (line["family"], line["trials"], line["failures"]) in members]
        stop = [line for line in group if line["on_exhausted"] == "stop"]
        safe = [line for line in group if line["on_exhausted"] == "safe"]
        stop_runs, stop_beyond = stop_runs + len(stop), stop_beyond + sum(line["beyond"] > 0 for line in stop)
        spent += _spent(safe)
        row, told = _cap_row(name, stop, safe)
        rows.append(row)
        verdicts += told
    header = ("class", "stop: runs", "beyond B", "safe: runs", "ΔB = 0", "beyond B", "most",
              "regret at ΔB = 0", "at T", "improved", "P(safe) ≥ 0.99", "were safe")  # fmt: skip
    verdicts.insert(
        0, verdict(f'"stop": {stop_beyond} of {stop_runs} runs (>= 200) above B', not stop_beyond)
    )
    over, most = sum(line["beyond"] > 0 for line in spent), max((line["beyond"] for line in spent), default=0)
    share = over / len(spent) if spent else 0.0
    text = f"{over} of {len(spent)} (>= 400) runs with ΔB = 0 went beyond B (<= 3 %), by {most} (<= 1)"
    verdicts.append(verdict(f"all: {text}", share <= 0.03 and most <= 1 and len(spent) >= 400))
    return [table(header, rows), *verdicts]


def _spent(safe: list[Line]) -> list[Line]:
    """The runs that spent every failure before their last trial."""
    return [line for line in safe if (statistics.exhausted_at(line) or line["trials"]) < line["trials"]]


def _cap_row(name: str, stop: list[Line], safe: list[Line]) -> tuple[list[str], list[str]]:
    spent = _spent(safe)
    beyond = [line["beyond"] for line in spent]
    over, most = sum(b > 0 for b in beyond), max(beyond, default=0)
    then = np.array([line["regret_curve"][(statistics.exhausted_at(line) or 1) - 1] for line in spent])
    end = np.array([line["regret"] for line in spent])
    claims, kept = statistics.claimed_and_kept(safe + stop)
    story = ["-", "-", "-"]
    if spent:
        story = [number(np.median(then)), number(np.median(end)), f"{np.mean(end < then):.0%}"]
    hit = kept / claims if claims else 1.0
    row = [name, str(len(stop)), str(sum(line["beyond"] > 0 for line in stop)), str(len(safe)),
           str(len(spent)), str(over), str(most), *story, str(claims), f"{hit:.2%}"]  # fmt: skip
    share = over / len(spent) if spent else 0.0
    text = f"{name}: {over} of {len(spent)} (>= 40) runs with ΔB = 0 went beyond B (<= 5 %), by {most} (<= 1)"
    return row, [
        verdict(text, share <= 0.05 and most <= 1 and len(spent) >= 40),
        verdict(f"{name}: P(safe) >= 0.99 was safe in {hit:.2%} >= 98 % of {claims}", hit >= 0.98),
    ]
