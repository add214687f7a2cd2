"""The peers run under the same rules: same start, same seed, stopped when the budget is spent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from experiments.peers.settings import SETTINGS
from experiments.runs.loop import run
from experiments.runs.methods import PEERS, make_peer
from tumble import problems
from tumble.problems import Evaluation


def run_peer(problem, peer, seed, trials, failures):
    return run(problem, make_peer(peer, problem, seed), trials, failures)


def test_every_peer_says_how_it_is_set():
    assert SETTINGS.keys() == PEERS.keys()


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_stays_inside_the_bounds_and_repeats_itself_by_seed(peer):
    problem = problems.get("branin-disk")
    first, again = (run_peer(problem, peer, seed=3, trials=2, failures=2) for _ in range(2))
    assert first["x"] == again["x"]
    x = np.array(first["x"])
    assert np.all((x >= problem.bounds[:, 0]) & (x <= problem.bounds[:, 1]))
    assert first["n_trials"] == 2
    assert len(first["seconds"]) == 2


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_stops_when_its_budget_is_spent(peer):
    record = run_peer(problems.get("gardner-sine"), peer, seed=0, trials=20, failures=2)
    assert (record["n_failures"], record["stopped"], record["beyond"]) == (2, "budget", 0)
    assert record["omega"] == 100.0 * (record["n_trials"] - 2) / 20


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_takes_a_problem_without_constraints(peer):
    record = run_peer(problems.get("figure1"), peer, seed=0, trials=2, failures=None)
    assert record["omega"] == 100.0
    assert record["regret"] >= 0.0


@pytest.mark.parametrize("peer", PEERS)
def test_a_crash_teaches_a_peer_nothing_and_does_not_stop_it(peer):
    problem = problems.crashing(problems.get("gramacy"))
    searcher: Any = make_peer(peer, problem, 0)
    searcher.inform(problem.initial[0], problem.initial_evaluations[0])
    searcher.tell(searcher.ask(), None)
    assert searcher.ask().x.shape == (2,)


@pytest.mark.parametrize("peer", ["botorch", "scbo"])
def test_botorchs_models_see_the_unit_cube(peer):
    problem = problems.get("branin-disk")
    searcher: Any = make_peer(peer, problem, 0)
    searcher.inform(problem.bounds[:, 1], Evaluation(1.0, np.array([-1.0])))
    assert searcher._inputs.tolist() == [[1.0, 1.0]]


def test_scbo_halves_its_region_after_failures_doubles_it_after_successes_and_restarts_when_it_is_tiny():
    searcher: Any = make_peer("scbo", problems.get("gramacy"), 0)

    def told(value):
        searcher.inform(np.array([0.5, 0.5]), Evaluation(value, np.array([-1.0, -1.0])))
        return searcher._length

    assert [told(1.0) for _ in range(5)][-1] == 0.4
    assert [told(v) for v in (0.9, 0.8, 0.7)][-1] == 0.8
    lengths = [told(1.0) for _ in range(4 * 7)]
    assert min(lengths) >= 0.5**7
    assert lengths[-1] == 0.8


def test_a_failed_fit_leaves_a_model_that_can_be_used(monkeypatch):
    from botorch.exceptions.errors import ModelFittingError

    def fails(mll):
        raise ModelFittingError("no")

    monkeypatch.setattr("experiments.peers.botorch.fit_gpytorch_mll", fails)
    record = run_peer(problems.get("branin-disk"), "botorch", seed=0, trials=2, failures=2)
    assert record["n_trials"] >= 1
