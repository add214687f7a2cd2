"""The peers run under the same rules: same start, same seed, stopped when the budget is spent."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from experiments.peers.registry import PEERS, make_peer
from experiments.peers.settings import SETTINGS
from experiments.runs.loop import run
from tumble import problems
from tumble.errors import InputError
from tumble.problems import Evaluation


def run_peer(problem, peer, seed, trials, failures, **how):
    return run(problem, make_peer(peer, problem, seed), trials, failures, **how)


def test_every_peer_says_how_it_is_set():
    assert SETTINGS.keys() == PEERS.keys()


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_stays_inside_the_bounds_and_repeats_itself_by_seed(peer):
    problem = problems.get("gramacy")
    first, again = (run_peer(problem, peer, seed=3, trials=2, failures=2) for _ in range(2))
    assert first["x"] == again["x"]
    x = np.array(first["x"])
    assert np.all((x >= problem.bounds[:, 0]) & (x <= problem.bounds[:, 1]))
    assert first["n_trials"] == 2
    assert len(first["seconds"]) == 2


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_stops_when_its_budget_is_spent_or_goes_on(peer):
    problem = problems.get("gardner-sine")
    problem = replace(problem, initial=np.array([problem.x_min]))
    stopped = run_peer(problem, peer, seed=0, trials=5, failures=1)
    going = run_peer(problem, peer, seed=0, trials=5, failures=1, stop=False)
    assert stopped["n_failures"] == min(1, going["n_failures"])
    assert going["n_trials"] == 5
    assert going["x"][: stopped["n_trials"]] == stopped["x"]


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_takes_a_problem_without_constraints(peer):
    record = run_peer(problems.get("figure1"), peer, seed=0, trials=2, failures=None)
    assert record["omega"] == 100.0
    assert record["regret"] >= 0.0


@pytest.mark.parametrize("peer", PEERS)
def test_a_crash_teaches_a_peer_nothing_and_does_not_stop_it(peer):
    problem = problems.crashing(problems.get("gramacy"))
    searcher = make_peer(peer, problem, 0)
    searcher.inform(problem.initial[0], problem.initial_evaluations[0])
    searcher.tell(searcher.ask(), None)
    assert searcher.ask().x.shape == (2,)


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_begins_without_any_observation(peer):
    problem = problems.get("gramacy")
    first, again = (make_peer(peer, problem, 5).ask().x for _ in range(2))
    assert first.tolist() == again.tolist()
    searcher = make_peer(peer, problem, 5)
    searcher.tell(searcher.ask(), None)
    assert searcher.ask().x.tolist() != first.tolist()


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("g", [-1.0, 2.0])
def test_a_peer_survives_equal_outcomes_at_one_point(peer, g):
    searcher = make_peer(peer, problems.get("gramacy"), 0)
    for told in ([0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.25, 0.75]):
        searcher.inform(np.array(told), Evaluation(1.0, np.full(2, g)))
    x = searcher.ask().x
    assert np.all((x >= 0.0) & (x <= 1.0))


@pytest.mark.parametrize("peer", ["botorch", "qlognei", "scbo"])
def test_botorchs_models_see_the_unit_cube(peer):
    problem = problems.get("branin-disk")
    searcher: Any = make_peer(peer, problem, 0)
    searcher.inform(problem.bounds[:, 1], Evaluation(1.0, np.array([-1.0])))
    assert searcher.inputs.tolist() == [[1.0, 1.0]]


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


def test_the_initial_points_count_among_the_startup_trials_of_optuna():
    problem = problems.get("gramacy")
    told, fresh = (make_peer("optuna", problem, 0) for _ in range(2))
    for x in np.random.default_rng(0).random((10, 2)):
        told.inform(x, problem.evaluate(x))
    assert len([t for t in told._study.trials if t.state.is_finished()]) == 10  # type: ignore[attr-defined]
    assert told.ask().x.tolist() != fresh.ask().x.tolist()


@pytest.mark.parametrize(
    ("peer", "module", "extra"),
    [
        ("botorch", "botorch", "botorch"),
        ("qlognei", "botorch", "botorch"),
        ("scbo", "botorch", "botorch"),
        ("optuna", "optuna", "study"),
        ("tpe", "optuna", "study"),
        ("bayesian-optimization", "bayes_opt", "experiments"),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(peer, module, extra, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("experiments.peers.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in {module, *(name for name in sys.modules if name.startswith(f"{module}."))}:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=f"extra '{extra}'") as caught:
        make_peer(peer, problems.get("gramacy"), 0)
    assert isinstance(caught.value, ModuleNotFoundError)


def test_an_unknown_peer_is_refused_with_the_names_that_there_are():
    with pytest.raises(InputError, match="bayesian-optimization, random"):
        make_peer("nobody", problems.get("gramacy"), 0)
