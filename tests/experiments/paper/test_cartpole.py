"""The cart-pole against Gymnasium's own environment, against its formulas, and inside a short search."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.paper import cartpole as experiment
from experiments.paper import film
from experiments.runs.plans import Options
from tumble.errors import InputError
from tumble.problems import cartpole as cp

GOOD = np.array([14.6, 2.83, 1.71, 2.66])
WEAK = np.array([2.0, 0.2, 0.1, 0.2])


def stage_costs(run, steps=cp.STEPS):
    target = np.zeros((steps, 4))
    target[cp.STEP_AT :, 2] = cp.STEP_SIZE
    return ((run.states - target[: len(run.states)]) ** 2).sum(axis=1)


def test_the_plant_is_bit_identical_to_gymnasiums_inverted_pendulum():
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("InvertedPendulum-v5").unwrapped
    env.model.dof_damping[:] = cp.DAMPING
    observation, _ = env.reset(seed=3)
    plant = cp.CartPole()
    plant.state = observation[[1, 3, 0, 2]]
    rng = np.random.default_rng(0)
    for _ in range(50):
        control = rng.uniform(-1.0, 1.0)
        observation, *_ = env.step(np.array([control]))
        plant.advance(control)
        np.testing.assert_array_equal(plant.state, observation[[1, 3, 0, 2]])
    env.close()


def test_the_models_own_damping_is_left_in_place_for_others():
    assert cp.model(1.0).dof_damping.tolist() == [1.0, 1.0]
    assert cp.model().dof_damping.tolist() == [1.5, 1.5]


def test_a_good_controller_stabilises_then_follows_the_step():
    run = cp.rollout(GOOD, cp.initial_state(0))
    assert run.safe
    assert run.stopped is None
    assert run.cost < 7e-4
    assert np.abs(run.states[cp.STEP_AT - 1]).max() < 3e-3  # the pole's mass is a little off its axis
    assert run.states[-1, 2] == pytest.approx(cp.STEP_SIZE, abs=5e-3)
    assert len(run.states) == cp.STEPS


def test_the_cost_is_the_mean_stage_cost():
    run = cp.rollout(GOOD, cp.initial_state(1))
    assert run.cost == pytest.approx(stage_costs(run).mean(), rel=1e-12)
    assert run.displacement == np.abs(run.states[:, 2]).max()


def test_the_control_is_state_feedback_plus_a_slow_integrator():
    run = cp.rollout(GOOD, cp.initial_state(2))
    target = np.zeros((cp.STEPS, 4))
    target[cp.STEP_AT :, 2] = cp.STEP_SIZE
    error = run.states - target
    expected = error @ GOOD + cp.INTEGRATOR * np.cumsum(error[:, 2])
    np.testing.assert_allclose(run.controls, expected, rtol=1e-9, atol=1e-15)


def test_a_fall_stops_the_trial_and_holds_the_last_stages_cost():
    run = cp.rollout(WEAK, cp.initial_state(0))
    assert not run.safe
    assert run.stopped is not None
    assert len(run.states) == run.stopped + 1
    assert run.displacement > cp.RAIL
    assert np.all(np.abs(run.states[:-1, 2]) <= cp.RAIL)
    costs = stage_costs(run)
    held = np.append(costs, np.full(cp.STEPS - len(costs), costs[-1]))
    assert run.cost == pytest.approx(held.mean(), rel=1e-12)
    assert run.cost > 0.1


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_crash_to_either_side_is_a_failure(side):
    run = cp.rollout(WEAK, np.array([0.0, 0.0, 0.0, side * 2.0]))
    assert not run.safe
    assert np.sign(run.states[-1, 2]) == side


def test_every_repetition_has_its_own_fixed_start():
    np.testing.assert_array_equal(cp.initial_state(4), cp.initial_state(4))
    assert not np.array_equal(cp.initial_state(4), cp.initial_state(5))
    assert np.all(np.abs([cp.initial_state(i) for i in range(50)]) <= cp.RESET_NOISE)


def test_lqr_stabilises_and_cheap_inputs_cost_less():
    start = cp.initial_state(0)
    costs = [cp.rollout(cp.lqr_gains(weight), start).cost for weight in (10.0, 1.0, 1e-3)]
    assert costs == sorted(costs, reverse=True)
    assert 7e-4 < costs[-1] < 7.5e-4
    assert np.all(cp.lqr_gains() > 0.0)


def test_about_a_third_of_random_gains_are_stable():
    rng = np.random.default_rng(0)
    gains = rng.uniform(cp.BOUNDS[:, 0], cp.BOUNDS[:, 1], size=(60, 4))
    safe = [cp.rollout(g, cp.initial_state(0)).safe for g in gains]
    assert 0.2 < np.mean(safe) < 0.5


def test_gains_of_the_wrong_shape_or_not_finite_are_refused():
    with pytest.raises(InputError, match="four finite gains"):
        cp.rollout([1.0, 2.0], cp.initial_state(0))
    with pytest.raises(InputError, match="four finite gains"):
        cp.rollout([1.0, 2.0, np.nan, 1.0], cp.initial_state(0))


def test_the_problem_reports_log_cost_and_the_margin_to_the_rails_end(monkeypatch):
    problem = cp.cartpole(0)
    calls = []
    original = cp.rollout

    def counted(*args):
        calls.append(args)
        return original(*args)

    monkeypatch.setattr(cp, "rollout", counted)
    outcome = problem.evaluate(GOOD)
    assert len(calls) == 1
    run = original(GOOD, cp.initial_state(0))
    assert outcome.value == pytest.approx(np.log10(run.cost))
    assert outcome.constraints[0] == pytest.approx(run.displacement - cp.RAIL)
    assert outcome.safe
    assert not problem.evaluate(WEAK).safe
    assert (problem.trials, problem.failures, problem.dimension) == (100, 15, 4)
    assert outcome.value > problem.f_min


def test_a_missing_simulator_says_what_to_install(monkeypatch):
    monkeypatch.setattr(cp, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"-e .\.\[experiments\]"):
        cp.model_file()


# --- the experiment and the pictures -----------------------------------------------------------------------


def test_the_experiment_plans_every_method_on_the_same_starts():
    specs = experiment.plan(Options(seeds=2, blocks=("default",)))
    assert [s.method for s in specs[:4]] == ["eic", "pesc", "safe-set", "xsf"]
    assert {s.problem for s in specs} == {"cartpole:0", "cartpole:1"}
    assert all((s.trials, s.failures) == (100, 15) for s in specs)
    both = experiment.plan(Options())
    assert len(both) == 50
    assert {s.method for s in both if s.block == "paper"} == {"xsf"}
    assert len(experiment.plan(Options(methods=("eic",)))) == 20  # named: under both settings


@pytest.mark.parametrize("method", ["eic", "safe-set"])
def test_a_short_run_leaves_its_cost_beside_the_regulators(method):
    spec = experiment.plan(Options(seeds=1, seed_base=1, trials=3, methods=(method,), blocks=("default",)))[0]
    line = experiment.carry_out(spec)
    assert line["n_trials"] == 3
    assert line["n_initial"] == (1 if method == "safe-set" else 0)
    safe = [10**y for y, failed in zip(line["y"], line["failed"], strict=True) if not failed]
    assert line["cost"] == pytest.approx(min(safe))
    assert line["lqr_cost"] < 7.5e-4


def test_the_strip_is_written_beside_the_other_outputs_and_not_among_the_docs(monkeypatch):
    drawn = []
    monkeypatch.setattr(film, "strip", lambda runs, path: drawn.append(path))
    assert film.main([]) == 0
    assert drawn == [Path("out/cartpole.png")]


def test_the_strip_is_drawn_from_the_states_where_there_is_no_opengl(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")

    def no_opengl(states):
        raise RuntimeError("no display")

    monkeypatch.setattr(film, "pictures", no_opengl)
    assert film.main(["--out", str(tmp_path / "strip.png")]) == 0
    assert (tmp_path / "strip.png").read_bytes().startswith(b"\x89PNG")
    assert "no OpenGL (no display)" in capsys.readouterr().err
