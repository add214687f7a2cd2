"""Made-up lines and runs for the tests of experiments."""

from __future__ import annotations

import dataclasses
from concurrent.futures import Future

import pytest

from experiments.runs import pool
from experiments.runs.records import Spec


def line_of(spec, **content):
    base = {"key": spec.key, **dataclasses.asdict(spec), "family": spec.family, "code": "c0"}
    return {
        **base,
        "settings_hash": spec.settings_hash,
        "started": "2026-01-01T00:00:00",
        "wall": 1.0,
        **content,
    }


def finished(family="michalewicz10", method="xs", seed=0, regret=0.5, block="default", **more):
    failures = 3 if family.endswith("-constrained") or family == "in-model" else None
    problem = f"{family}:{seed}" if family.startswith("in-model") else family
    spec = Spec(problem, method, seed, 4, failures, block=block, settings={"block": block})
    content = {
        "regret": regret, "regret_curve": [1.0, 0.8, regret], "omega": 50.0, "n_trials": 3, "n_failures": 2,
        "beyond": 0, "failed": [True, False, True], "rho": [0.1, 0.5, None], "p_safe": [0.995, 0.3, 0.999],
        "seconds_total": 0.3, "stopped": "trials", "hardware": {"processor": "p", "cores": 2, "system": "s"},
        "versions": {"numpy": "2"},
    }  # fmt: skip
    return line_of(spec, **{**content, **more})


def echo(spec):
    if spec.seed == 13:
        raise ValueError("unlucky")
    return {"seen": spec.seed}


def echo_specs(seeds):
    return [Spec("gramacy", "xsf", seed, 1, 1, task="tests.runs:echo") for seed in seeds]


class Inline:
    """An executor that runs at once, in this process."""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def submit(self, function, spec):
        future: Future = Future()
        future.set_result(function(spec))
        return future


@pytest.fixture
def inline(monkeypatch):
    """Let the pool run everything at once, in this process."""
    monkeypatch.setattr(pool, "_executor", lambda jobs, address: Inline())
