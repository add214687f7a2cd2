"""The peers of these tests search and fit little: what they promise doesn't depend on how hard they try."""

from __future__ import annotations

from functools import partial

import pytest

from experiments.peers.settings import SETTINGS


@pytest.fixture(autouse=True)
def light(monkeypatch):
    botorch = pytest.importorskip("experiments.peers.botorch")
    little = {"num_restarts": 2, "raw_samples": 16, "mc_samples": 16}
    for name in ("botorch", "qlognei"):
        monkeypatch.setitem(SETTINGS, name, {**SETTINGS[name], **little})
    fit = partial(botorch.fit_gpytorch_mll, optimizer_kwargs={"options": {"maxiter": 20}})
    monkeypatch.setattr(botorch, "fit_gpytorch_mll", fit)
    scbo = pytest.importorskip("experiments.peers.scbo").ScalableConstrained
    every = scbo._candidates  # two thousand, which are drawn jointly
    monkeypatch.setattr(scbo, "_candidates", lambda self: every(self)[:200])
