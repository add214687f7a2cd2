"""The peers on spaces of floats, grids, integers and choices: what they suggest can be run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from experiments.peers.coordinates import Coordinates, levels
from experiments.peers.registry import PEERS, make_peer
from experiments.peers.settings import SETTINGS
from tumble import problems
from tumble.problems import Evaluation
from tumble.space import Categorical, Float, Int, Space

SMALL = Space({"x": Float(0.0, 2.0), "kind": Categorical(("a", "b", "c")), "gate": Categorical((1, "one"))})
LARGE = Space(
    {
        "rate": Float(1e-4, 1.0, log=True),
        "grid": Float(-1.0, 1.1, step=0.5),
        "count": Int(2, 9, step=3),
        "size": Int(1, 64, log=True),
        "kind": Categorical(("a", "b", "c")),
    }
)


@dataclass(frozen=True)
class Mixed:
    """As much of a problem as a peer asks for."""

    space: Space
    n_constraints: int
    constraint_names: tuple[str, ...]
    truth: None = None

    def evaluate(self, x):
        g = np.array([0.3 - x[0], x[0] - 1.5])[: self.n_constraints]
        return Evaluation(float(np.sum(np.abs(x))), g)


def mixed(space, n_constraints=2) -> Any:
    return Mixed(space, n_constraints, ("low", "high")[:n_constraints])


def admissible(coordinates, x):
    """Whether x is a vector of numbers that the space can take, and comes back from the unit cube."""
    values = coordinates.values(x)
    coordinates.space.encode(values)
    discrete = [not p.is_continuous for p in coordinates.parameters.values()]
    again = coordinates.decode(coordinates.encode(x))
    return np.allclose(again, x, rtol=1e-9) and np.array_equal(again[discrete], x[discrete])


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("space", [SMALL, LARGE], ids=["few combinations", "many"])
def test_a_peer_suggests_what_can_be_run_and_repeats_itself(peer, space, monkeypatch):
    for name in ("optuna", "tpe"):
        monkeypatch.setitem(SETTINGS, name, {**SETTINGS[name], "n_startup_trials": 3})
    problem = mixed(space, n_constraints=1)
    coordinates = Coordinates(problem)
    runs = []
    for _ in range(2):
        rng = np.random.default_rng(1)
        searcher = make_peer(peer, problem, seed=2)
        for _ in range(4):
            x = coordinates.draw(rng)
            searcher.inform(x, problem.evaluate(x))
        runs.append(searcher.ask().x)
        assert admissible(coordinates, runs[-1])
    assert runs[0].tolist() == runs[1].tolist()


def test_coordinates_write_a_choice_as_its_index_and_read_it_back():
    coordinates = Coordinates(mixed(LARGE))
    x = np.array([0.01, 0.5, 5.0, 8.0, 2.0])
    values = coordinates.values(x)
    assert values == {"rate": 0.01, "grid": 0.5, "count": 5, "size": 8, "kind": "c"}
    assert isinstance(values["count"], int)
    assert coordinates.point(values).tolist() == x.tolist()
    assert coordinates.decode(coordinates.encode(x)) == pytest.approx(x)


def test_each_choice_has_an_index_of_its_own():
    coordinates = Coordinates(mixed(SMALL))
    assert [coordinates.point({"x": 1.0, "kind": "a", "gate": gate})[2] for gate in (1, "one")] == [0.0, 1.0]


def test_a_problem_without_a_space_is_a_box_under_its_own_names():
    problem = replace(problems.get("branin-disk"), parameter_names=("left", "right"))
    coordinates = Coordinates(problem)
    assert coordinates.space.names == ("left", "right")
    assert coordinates.encode(problem.bounds[:, 1]).tolist() == [1.0, 1.0]


def test_levels_are_the_values_of_a_grid_or_of_integers_and_nothing_else_has_any():
    assert levels(Int(2, 9, step=3)) == [0.0, 0.5, 1.0]
    assert levels(Float(-1.0, 1.1, step=0.5)) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert levels(Float(0.0, 1.0)) is None
    assert levels(Categorical(("a", "b"))) is None


def test_random_search_is_uniform_over_choices_integers_and_logarithms():
    coordinates = Coordinates(mixed(LARGE))
    rng = np.random.default_rng(0)
    draws = np.array([coordinates.draw(rng) for _ in range(1000)])
    rate, _, count, size, kind = draws.T
    assert np.mean(rate < 1e-2) == pytest.approx(0.5, abs=0.04)
    assert np.mean(size <= 8) == pytest.approx(np.log(np.sqrt(72)) / np.log(64), abs=0.04)
    for column, values in ((count, (2, 5, 8)), (kind, (0, 1, 2))):
        assert [np.mean(column == v) for v in values] == pytest.approx([1 / 3] * 3, abs=0.04)


def test_a_space_of_choices_alone_is_searched():
    space = Space({"a": Categorical(("x", "y", "z")), "b": Int(0, 1)})
    for peer in PEERS:
        problem = mixed(space, n_constraints=1)
        searcher = make_peer(peer, problem, 0)
        for x in ([0.0, 0.0], [1.0, 1.0], [2.0, 0.0]):
            searcher.inform(np.array(x), problem.evaluate(np.array(x)))
        assert admissible(Coordinates(problem), searcher.ask().x), peer
