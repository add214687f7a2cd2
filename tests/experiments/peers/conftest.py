"""The peers of these tests search and fit little: what they promise doesn't depend on how hard they try."""

from __future__ import annotations

from functools import partial

import pytest

from experiments.peers.settings import SETTINGS

ALTERNATING = {"maxiter_alternating": 1, "maxiter_discrete": 1, "maxiter_continuous": 1, "maxiter_init": 1}


@pytest.fixture(autouse=True)
def light(monkeypatch):
    botorch = pytest.importorskip("experiments.peers.botorch")
    little = {"num_restarts": 2, "raw_samples": 16, "mc_samples": 16, "options": {"maxiter": 1, "maxls": 2}}
    for name in ("botorch", "qlognei"):
        monkeypatch.setitem(SETTINGS, name, {**SETTINGS[name], **little})
    fit = partial(botorch.fit_gpytorch_mll, optimizer_kwargs={"options": {"maxiter": 1, "maxls": 2}})
    monkeypatch.setattr(botorch, "fit_gpytorch_mll", fit)
    columns = pytest.importorskip("experiments.peers.columns")
    alternating = partial(columns.optimize_acqf_mixed_alternating, options=ALTERNATING)
    monkeypatch.setattr(columns, "optimize_acqf_mixed_alternating", alternating)
    scbo = pytest.importorskip("experiments.peers.scbo").ScalableConstrained
    every = scbo._candidates  # two thousand, which are drawn jointly
    monkeypatch.setattr(scbo, "_candidates", lambda self: every(self)[:200])
    bayes_opt = pytest.importorskip("bayes_opt.acquisition")
    evolution = partial(bayes_opt.DifferentialEvolutionSolver, tol=0.5)
    monkeypatch.setattr(bayes_opt, "DifferentialEvolutionSolver", evolution)
