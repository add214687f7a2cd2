"""A noise that is known: at every door, in the user's units."""

import json

import numpy as np
import pytest

import tumble
from tumble import InputError, Optimizer, Trial


def test_what_is_known_of_the_noise_is_saved_and_used_again():
    opt = Optimizer([(0.0, 1.0)], trials=20, failures=5, constraints=["load"], seed=0,
                    noise={"value": 0.3, "load": 0.1})  # fmt: skip
    for k in range(6):
        s = opt.ask()
        opt.tell(s, (s.x[0] - 0.3) ** 2 + 0.1 * k, [s.x[0] - 0.8])
    again = Optimizer.from_dict(json.loads(json.dumps(opt.to_dict())))
    assert again.noise == {"value": 0.3, "load": 0.1}
    assert again.ask() == opt.ask()
    _, models = again.models()
    gp, limit = models.objective, models.feasibility.constraints[0]
    assert gp.hyper.noise * gp.outputs.scale == pytest.approx(0.3)
    assert limit.hyper.noise * limit.outputs.scale == pytest.approx(0.1)


def test_without_a_known_noise_a_saved_search_looks_as_before():
    assert "noise" not in Optimizer([(0.0, 1.0)], trials=5, seed=0).to_dict()


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ({"value": -0.1}, "the noise of 'value' must be at least 0, not -0.1"),
        ({"value": "loud"}, "the noise of 'value' must be a number"),
        ({"value": float("nan")}, "the noise of 'value' must be"),
        ({"cots": 0.1}, "noise names 'cots', which nothing measured is called; known are 'value', 'load'"),
        (0.2, "noise must be a dict of standard deviations by name"),
        ({1: 0.2}, "noise must be a dict of standard deviations by name"),
    ],
)
def test_a_noise_that_makes_no_sense_is_refused(noise, said):
    with pytest.raises(InputError, match=said):
        Optimizer([(0.0, 1.0)], trials=5, constraints=["load"], noise=noise)


def test_names_that_are_not_known_yet_are_checked_at_the_first_tell():
    opt = Optimizer([(0.0, 1.0)], trials=5, constraints=None, noise={"load": 0.1}, seed=0)
    with pytest.raises(InputError, match="noise names 'load'"):
        opt.tell([0.5], 1.0, {"torque": -1.0})
    assert opt.n_told == 0
    assert opt.tell([0.5], 1.0, {"load": -1.0}).safe


def test_a_constraint_that_is_called_like_the_objective_has_no_noise_of_its_own():
    with pytest.raises(InputError, match="a constraint is called 'value', too; give the constraint another"):
        Optimizer([(0.0, 1.0)], trials=5, constraints=["value"], noise={"value": 0.5})
    opt = Optimizer([(0.0, 1.0)], trials=5, constraints=None, noise={"value": 0.5}, seed=0)
    with pytest.raises(InputError, match="a constraint is called 'value', too"):
        opt.tell([0.5], 1.0, {"value": -1.0})
    assert Optimizer([(0.0, 1.0)], trials=5, constraints=["value"]).constraint_names == ("value",)


def test_a_search_that_was_saved_with_such_a_constraint_goes_on():
    saved = Optimizer([(0.0, 1.0)], trials=5, constraints=["value"], seed=0).to_dict()
    opt = Optimizer.from_dict({**saved, "noise": {"value": 0.5}})
    assert opt.tell([0.5], 1.0, {"value": -1.0}).safe
    with pytest.raises(InputError, match="noise names 'cost'"):
        Optimizer.from_dict({**saved, "noise": {"cost": 0.5}})


def test_minimize_takes_a_noise():
    rng = np.random.default_rng(0)
    result = tumble.minimize(
        lambda x: (x[0] - 0.3) ** 2 + 0.1 * rng.standard_normal(), [(0.0, 1.0)], trials=8, seed=0,
        noise={"value": 0.1},
    )  # fmt: skip
    assert result.success
    with pytest.raises(InputError, match="noise names 'cost'"):
        tumble.minimize(lambda x: x[0], [(0.0, 1.0)], trials=3, seed=0, noise={"cost": 0.1})


def test_the_expected_best_is_a_trial_with_a_mean_of_its_own():
    told = [(0.2, 1.0), (0.5, 0.1), (0.5, 0.9), (0.5, 0.5), (0.8, 0.4)]
    trials = [Trial(n, None, (x,), "told", value=y) for n, (x, y) in enumerate(told)]
    opt = Optimizer.from_trials([(0.0, 1.0)], trials, trials=9, noise={"value": 0.4})
    found = opt.expected_best()
    assert found is not None
    assert opt.best is not None
    assert opt.best.value == 0.1
    assert found.number in range(5)
    assert opt.trials[found.number].x == found.x
    assert 0.2 < found.mean < 0.8
    assert found.std > 0.1
    assert Optimizer([(0.0, 1.0)], trials=3, noise={"value": 0.4}).expected_best() is None
