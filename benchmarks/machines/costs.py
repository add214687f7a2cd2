"""What a suggestion costs through Optuna and through the command line."""

from __future__ import annotations

import statistics
import time
import unittest.mock
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution

import tumble
from tumble.studies.csv_io import old_trial
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

from .rough import start_tumble, write_rough_study


@dataclass(frozen=True)
class Cost:
    """Medians in milliseconds, with `trials` trials told, six parameters and one constraint."""

    trials: int
    storage: str
    random_ask: float  # `study.ask` with RandomSampler
    tumble_ask: float  # `study.ask` with TumbleSampler
    bare_ask: float  # the `Optimizer` inside it, timed in the same calls
    overhead: float  # what the sampler adds beyond both


def cost_of_ask(storage: str, trials: int = 100, repeats: int = 7) -> Cost:
    """`study.ask` with our sampler, with RandomSampler, and `Optimizer.ask`, on the same trials."""
    names = [f"x{i}" for i in range(6)]
    space: dict[str, BaseDistribution] = {name: FloatDistribution(0, 1) for name in names}
    sampler = tumble.TumbleSampler(trials=2 * trials, failures=trials, seed=0, space=space)
    study = optuna.create_study(storage=storage, sampler=sampler)
    rng = np.random.default_rng(0)
    for point in rng.random((trials, 6)):
        value, g = float(((point - 0.4) ** 2).sum()), float(point.sum() - 3.3)
        study.add_trial(
            optuna.create_trial(
                params=dict(zip(names, point.tolist(), strict=True)),
                distributions=space,
                value=value,
                system_attrs={"constraints:g": g},
            )
        )
    bare: list[float] = []
    search = tumble.Optimizer.suggest

    def timed(self: tumble.Optimizer, number: int, reserved: int = 0) -> Any:
        begin = time.perf_counter()
        found = search(self, number, reserved)
        bare.append(time.perf_counter() - begin)
        return found

    times: dict[str, list[float]] = {"random": [], "tumble": []}
    with unittest.mock.patch.object(tumble.Optimizer, "suggest", timed):
        for _ in range(repeats):
            for name, chosen in (("random", optuna.samplers.RandomSampler(0)), ("tumble", sampler)):
                study.sampler = chosen
                begin = time.perf_counter()
                trial = study.ask(space)
                times[name].append(time.perf_counter() - begin)
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
    extra = [whole - inner for whole, inner in zip(times["tumble"], bare, strict=True)]
    medians = [statistics.median(x) for x in (times["random"], times["tumble"], bare)]
    overhead = statistics.median(extra) - medians[0]
    return Cost(trials, storage.partition(":")[0], *(round(1e3 * x, 1) for x in (*medians, overhead)))


def cost_of_command(folder: Path, trials: int = 100, repeats: int = 5) -> float:
    """Median seconds of `tumble ask` as a command, with `trials` trials told."""
    file = write_rough_study(folder, "sqlite:///rough.db", trials=2 * trials, failures=trials, stop=False)
    rng = np.random.default_rng(0)
    with Ledger(read_study_file(file)) as ledger:
        for x, y in rng.random((trials, 2)).tolist():
            results = {"cost": x + y, "load": x - y - 0.3}
            ledger.study.add_trial(old_trial(ledger.config, {"x": x, "y": y}, results, None))
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        assert start_tumble("ask", file, "--json").wait() == 0
        seconds.append(time.perf_counter() - begin)
    return round(statistics.median(seconds), 2)
