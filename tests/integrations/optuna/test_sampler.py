"""TumbleSampler: what a trial's state means, what is decided, and what is written."""

from __future__ import annotations

import contextlib
import json
import math
import pickle
import threading
import time
import warnings
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

import tumble
from tumble.integrations.optuna import notes, private
from tumble.integrations.optuna import trials as meaning
from tumble.integrations.optuna.gate import Gate

QUICK = tumble.Settings(restarts=3, raw_samples=64, grid=64, n_minima=5)
optuna.logging.set_verbosity(optuna.logging.ERROR)


def sampler(**options: Any) -> tumble.TumbleSampler:
    return tumble.TumbleSampler(**{"trials": 20, "seed": 1, "settings": QUICK, **options})


def ours(study: optuna.Study) -> tumble.TumbleSampler:
    assert isinstance(study.sampler, tumble.TumbleSampler)
    return study.sampler


def read_all(study: optuna.Study) -> list[meaning.Reading]:
    return [ours(study).reader(study)(t) for t in study.trials]


def bowl(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", -1, 1), trial.suggest_float("y", -1, 1)
    return (x - 0.3) ** 2 + (y + 0.2) ** 2


def test_the_minimum_of_a_bowl_is_found() -> None:
    study = optuna.create_study(sampler=sampler())
    study.optimize(bowl, n_trials=15)
    assert study.best_value < 0.01


def test_the_maximum_is_found_where_the_study_maximises() -> None:
    study = optuna.create_study(sampler=sampler(), direction="maximize")
    study.optimize(lambda t: 5 - bowl(t), n_trials=15)
    assert study.best_value > 4.99
    note = study.best_trial.system_attrs[notes.DECISION]
    assert note["mean"] == pytest.approx(5, abs=0.2)
    assert f"{note['mean']:.4g}" in note["why"]
    found = ours(study).recommend(study)
    assert found is not None
    assert found.mean == pytest.approx(5, abs=0.1)
    assert found.x["x"] == pytest.approx(0.3, abs=0.2)


def test_what_was_decided_stands_in_one_attribute_of_the_trial() -> None:
    study = optuna.create_study(sampler=sampler(failures=3))
    study.optimize(bowl, n_trials=3)
    note = study.trials[-1].system_attrs[notes.DECISION]
    assert {"mode", "rho", "p_safe", "why", "params"} <= set(note)
    assert note["mode"] in {"start", "bold", "careful", "safest", "free"}
    assert note["why"].startswith("Trial 2: ")
    assert note["params"] == study.trials[-1].params


def test_the_same_seed_gives_the_same_trials_and_another_process_could_go_on() -> None:
    first = optuna.create_study(sampler=sampler(failures=5))
    first.optimize(bowl, n_trials=6)
    second = optuna.create_study(sampler=sampler(failures=5))
    for _ in range(6):
        second.sampler = sampler(failures=5)  # nothing is kept between two trials
        second.optimize(bowl, n_trials=1)
    assert [t.params for t in first.trials] == [t.params for t in second.trials]


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_sampler_that_serves_a_second_study_knows_nothing_of_the_first(direction: Any) -> None:
    one = sampler(failures=5)
    optuna.create_study(sampler=one).optimize(lambda t: 100.0 + bowl(t), n_trials=4)
    second = optuna.create_study(sampler=one, direction=direction)
    second.optimize(bowl, n_trials=4)
    fresh = optuna.create_study(sampler=sampler(failures=5), direction=direction)
    fresh.optimize(bowl, n_trials=4)
    assert [t.params for t in second.trials] == [t.params for t in fresh.trials]
    mirror = one.optimizer(second)
    assert mirror is not None
    assert [abs(t.value) for t in mirror.trials if t.value is not None] == [t.value for t in second.trials]


def test_a_sampler_goes_on_after_pickling() -> None:
    study = optuna.create_study(sampler=sampler(failures=5))
    study.optimize(bowl, n_trials=3)
    copied = pickle.loads(pickle.dumps(study))
    for each in (study, copied):
        each.optimize(bowl, n_trials=2)
    assert [t.params for t in copied.trials] == [t.params for t in study.trials]


def test_constraints_of_optuna_5_are_used_and_a_violation_is_a_failure() -> None:
    def objective(trial: optuna.Trial) -> float:
        value = bowl(trial)
        trial.set_constraint("left", trial.params["x"])
        return value

    study = optuna.create_study(sampler=sampler(failures=5))
    study.optimize(objective, n_trials=15)
    readings = read_all(study)
    assert all(r.constraints == {"left": t.params["x"]} for r, t in zip(readings, study.trials, strict=True))
    assert [r.failed for r in readings] == [t.params["x"] > 0 for t in study.trials]
    assert sum(r.failed for r in readings) <= 6
    best = min(t.values[0] for t, r in zip(study.trials, readings, strict=True) if not r.failed)
    assert best < 0.15


def test_constraints_of_optuna_4_are_stored_by_name_once() -> None:
    study = optuna.create_study(sampler=sampler(constraints_func=lambda t: (t.params["x"], -1.0)))
    study.optimize(bowl, n_trials=2)
    assert study.trials[0].constraints == {"0": study.trials[0].params["x"], "1": -1.0}
    assert "constraints" not in study.trials[0].system_attrs


def test_the_old_list_of_constraints_is_read() -> None:
    trial = create_trial(value=1.0, system_attrs={"constraints": [0.5, -1.0]})
    assert meaning.read(trial, 1.0).constraints == {"0": 0.5, "1": -1.0}
    assert meaning.read(trial, 1.0).failed


def test_a_nan_constraint_is_an_error_with_its_name() -> None:
    study = optuna.create_study(sampler=sampler(constraints_func=lambda t: (math.nan,)))
    with pytest.raises(ValueError, match="constraint 0 must be a number"):
        study.optimize(bowl, n_trials=1)


@pytest.mark.parametrize("given", [ZeroDivisionError("no load"), KeyboardInterrupt(), [math.nan]])
def test_a_trial_whose_constraints_could_not_be_worked_out_is_not_safe(given: Any) -> None:
    def constraints(trial: optuna.trial.FrozenTrial) -> Any:
        if isinstance(given, BaseException):
            raise given
        return given

    study = optuna.create_study(sampler=sampler(failures=3, constraints_func=constraints))
    trial = study.ask()
    with pytest.raises((ZeroDivisionError, KeyboardInterrupt, tumble.InputError)):
        study.tell(trial, bowl(trial))
    (reading,) = read_all(study)
    assert (reading.phase, reading.value, reading.failed, reading.billed) == ("told", None, False, True)
    assert reading.reason.startswith("constraints_func: ")
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    assert (mirror.best, mirror.trials_left, mirror.failures_left) == (None, 19, 3)


def test_what_was_measured_beside_a_nan_counts() -> None:
    study = optuna.create_study(sampler=sampler(failures=3, constraints_func=lambda t: (0.5, math.nan)))
    with pytest.raises(tumble.InputError, match="give None where it was not measured"):
        study.optimize(bowl, n_trials=1)
    (reading,) = read_all(study)
    assert (reading.failed, reading.constraints) == (True, {"0": 0.5})


@pytest.mark.parametrize(
    "given", [None, "0.3", ["0.3"], [[0.3, 0.4]], object(), np.ma.array([0.3], mask=True)]
)
def test_constraints_that_are_no_numbers_are_refused_in_a_sentence(given: Any) -> None:
    study = optuna.create_study(sampler=sampler(constraints_func=lambda t: given))
    with pytest.raises(tumble.InputError, match=r"must be (a number|numbers)"):
        study.optimize(bowl, n_trials=1)


@pytest.mark.parametrize("given", [0.3, np.array([0.3]), [np.array([0.3])], np.float64(0.3)])
def test_a_single_constraint_may_be_a_number_or_an_array(given: Any) -> None:
    study = optuna.create_study(sampler=sampler(constraints_func=lambda t: given))
    study.optimize(bowl, n_trials=1)
    assert study.trials[0].constraints == {"0": 0.3}


def test_constraints_from_pandas_keep_their_names() -> None:
    measured = pd.Series({"heat": 0.3, "load": -1.0})
    study = optuna.create_study(sampler=sampler(constraints_func=lambda t: measured))
    study.optimize(bowl, n_trials=1)
    assert study.trials[0].constraints == {"heat": 0.3, "load": -1.0}


@pytest.mark.parametrize(
    ("measured", "stored"),
    [
        ({"load": math.nan}, {}),
        ([math.nan, 0.3], {"1": 0.3}),
        (np.array([0.3]), {"0": 0.3}),
        ({"load": np.array([0.3])}, {"load": 0.3}),
        (None, {}),
    ],
)
def test_a_failure_is_billed_whatever_it_measured_before(measured: Any, stored: dict[str, float]) -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        raise tumble.Failure("broke", constraints=measured)

    study = optuna.create_study(sampler=sampler(failures=3))
    study.optimize(objective, n_trials=1, catch=tumble.Failure)
    assert study.trials[0].constraints == stored
    assert [(r.failed, r.billed, r.reason) for r in read_all(study)] == [(True, True, "broke")]


def test_a_failure_with_a_constraint_that_is_no_number_is_an_error_and_stays_billed() -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        raise tumble.Failure("broke", constraints={"load": "high"})

    study = optuna.create_study(sampler=sampler(failures=3))
    with pytest.raises(tumble.InputError, match="constraint load must be a number"):
        study.optimize(objective, n_trials=1, catch=tumble.Failure)
    assert [(r.failed, r.billed) for r in read_all(study)] == [(True, True)]


def test_a_failure_that_is_told_is_billed_and_teaches() -> None:
    study = optuna.create_study(sampler=sampler(failures=3))
    trial = study.ask({"x": FloatDistribution(0, 1)})
    trial.set_user_attr("tumble:reason", "bit broke")
    study.tell(trial, state=TrialState.FAIL)
    (reading,) = read_all(study)
    assert (reading.failed, reading.crashed, reading.billed) == (True, True, True)
    assert reading.reason == "bit broke"
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    assert mirror.failures_left == 2
    assert mirror.trials[0].crashed


def test_a_transient_failure_is_a_skip() -> None:
    study = optuna.create_study(sampler=sampler(failures=3))
    trial = study.ask({"x": FloatDistribution(0, 1)})
    trial.set_user_attr("tumble:transient", True)
    study.tell(trial, state=TrialState.FAIL)
    (reading,) = read_all(study)
    assert reading.phase == "void"
    assert study.trials[0].system_attrs[notes.OUTCOME]["kind"] == "transient"


def test_an_exception_of_the_objective_is_a_failure_with_its_reason_and_constraints() -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        raise tumble.Failure("fell over", constraints={"tilt": 0.7})

    study = optuna.create_study(sampler=sampler(failures=3))
    study.optimize(objective, n_trials=1, catch=(tumble.Failure,))
    (reading,) = read_all(study)
    assert reading.failed
    assert reading.reason == "fell over"
    assert reading.constraints == {"tilt": 0.7}


@pytest.mark.parametrize("returned", [math.nan, None, (0.5, 1.0), "high"])
def test_an_objective_that_returns_no_number_is_a_failure_that_says_so(returned: Any) -> None:
    study = optuna.create_study(sampler=sampler(failures=3))
    study.optimize(lambda trial: returned, n_trials=1)
    assert [(r.failed, r.reason) for r in read_all(study)] == [
        (True, "the objective returned no single number")
    ]


def test_a_trial_that_got_no_setting_is_not_billed() -> None:
    def objective(trial: optuna.Trial) -> float:
        return {"steel": 1.0, "wood": 2.0}[trial.suggest_categorical("material", ["steel", "wood"])]

    study = optuna.create_study(sampler=sampler(failures=1))
    study.enqueue_trial({"material": "steal"})
    study.optimize(objective, n_trials=2, catch=Exception)
    assert [(r.phase, r.failed) for r in read_all(study)] == [("void", False), ("told", False)]
    assert study.trials[0].system_attrs[notes.OUTCOME]["kind"] == "unusable"
    with pytest.raises(ValueError, match="different distribution kind"):
        study.optimize(lambda trial: trial.suggest_float("material", 0, 1), n_trials=1)
    assert read_all(study)[2].phase == "void"


@pytest.mark.parametrize(("name", "message"), [("crash", "give it another name"), ("", "distinct names")])
def test_a_constraint_whose_name_cannot_be_used_ends_the_study_and_is_not_billed(
    name: str, message: str
) -> None:
    ran: list[int] = []

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        ran.append(trial.number)
        trial.set_constraint(name, x - 2.0)
        return x

    study = optuna.create_study(sampler=sampler(failures=3))
    study.optimize(objective, n_trials=8, catch=Exception)
    with pytest.raises(tumble.InputError, match=message):
        study.ask().suggest_float("x", 0, 1)
    assert ran == [0]
    assert [r.phase for r in read_all(study)] == ["told", "void", "void"]
    assert all(t.state.is_finished() for t in study.trials)


def test_ctrl_c_is_not_a_failure() -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        raise KeyboardInterrupt

    study = optuna.create_study(sampler=sampler(failures=3))
    with pytest.raises(KeyboardInterrupt):
        study.optimize(objective, n_trials=1)
    assert study.trials[0].state == TrialState.FAIL
    assert read_all(study)[0].phase == "void"


def test_pruned_is_a_trial_without_a_value_and_no_failure() -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        raise optuna.TrialPruned

    study = optuna.create_study(sampler=sampler(failures=3))
    study.optimize(objective, n_trials=3)
    assert [(r.phase, r.value, r.failed, r.billed) for r in read_all(study)] == [
        ("told", None, False, True)
    ] * 3


@pytest.mark.parametrize("limited", [True, False])
def test_pruned_first_trials_do_not_keep_the_search_at_one_spot(limited: bool) -> None:
    def objective(trial: optuna.Trial) -> float:
        value = bowl(trial)
        if limited:
            trial.set_constraint("load", -0.5)
        if trial.number < 5:
            raise optuna.TrialPruned
        return value

    study = optuna.create_study(sampler=sampler(failures=3))
    study.optimize(objective, n_trials=7)
    X = np.array([[t.params["x"], t.params["y"]] for t in study.trials[1:]])  # the first one finds the space
    apart = np.linalg.norm(X[:, None] - X, axis=2) + 9.0 * np.eye(len(X))
    assert apart.min() > 0.1
    assert study.best_trial.number >= 5


def test_the_search_leaves_a_region_where_trials_are_pruned() -> None:
    def objective(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        trial.set_constraint("load", x - 0.9)
        if y < 0.3:
            raise optuna.TrialPruned
        return x + y

    study = optuna.create_study(sampler=sampler(failures=3, seed=0))
    study.optimize(objective, n_trials=16)
    states = [t.state for t in study.trials]
    assert states.count(TrialState.COMPLETE) > states.count(TrialState.PRUNED) > 0
    assert study.best_value < 0.8


def test_an_infinite_value_is_a_crash() -> None:
    study = optuna.create_study(sampler=sampler())
    study.tell(study.ask({"x": FloatDistribution(0, 1)}), math.inf)
    assert (read_all(study)[0].crashed, read_all(study)[0].reason) == (True, "returned inf")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_value_beyond_1e300_is_a_crash_and_no_warning_of_numpy(sign: float) -> None:
    study = optuna.create_study(sampler=sampler(failures=3))
    for value in (1.0, sign * 1.7e308, 0.9, sign * 1e300):
        study.tell(study.ask({"x": FloatDistribution(0, 1)}), value)
    study.ask({"x": FloatDistribution(0, 1)})
    assert [r.crashed for r in read_all(study)[:4]] == [False, True, False, False]
    assert read_all(study)[1].reason == f"returned {sign * 1.7e308:g}"


def test_a_constraint_beyond_1e300_counts_as_an_infinite_one() -> None:
    broken = meaning.read(create_trial(value=1.0, system_attrs={"constraints:g": 1e301}), 1.0)
    assert (broken.crashed, broken.reason, broken.constraints) == (True, "constraint g is 1e+301", {})
    kept = meaning.read(create_trial(value=1.0, system_attrs={"constraints:g": -1e300}), 1.0)
    assert (kept.failed, kept.constraints) == (False, {"g": -1e300})


@pytest.mark.parametrize("g", [math.inf, -math.inf])
def test_an_infinite_constraint_is_a_crash_on_either_side(g: float) -> None:
    broken = meaning.read(create_trial(value=1.0, system_attrs={"constraints:g": g}), 1.0)
    assert (broken.failed, broken.crashed, broken.value) == (True, True, None)
    assert (broken.reason, broken.constraints) == (f"constraint g is {g:g}", {})


def test_a_constraint_of_minus_infinity_is_a_failure_and_that_is_said_once() -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.set_constraint("g", -math.inf if trial.number < 2 else -1.0)
        return bowl(trial) - 10.0 * (trial.number < 2)

    study = optuna.create_study(sampler=sampler(failures=5))
    with pytest.warns(UserWarning, match=r"trial 0 .* failure, because constraint g is -inf") as said:
        study.optimize(objective, n_trials=4)
    assert len(said) == 1
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    assert mirror.best is not None
    assert (mirror.best.value >= 0.0, mirror.n_failures) == (True, 2)


def test_evidence_is_used_and_not_billed() -> None:
    study = optuna.create_study(sampler=sampler(failures=2))
    for x in (0.1, 0.5):
        study.add_trial(
            create_trial(
                params={"x": x},
                distributions={"x": FloatDistribution(0, 1)},
                value=x,
                system_attrs={notes.BILLED: False, "constraints:g": 1.0},
            )
        )
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    assert (mirror.failures_left, mirror.trials_left) == (2, 20)
    assert len(mirror._history().X) == 2


def test_the_trials_of_another_sampler_teach_unbilled_in_a_new_study() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        trial.set_constraint("g", x - 0.3)
        return -x

    old = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    old.optimize(objective, n_trials=8)
    old.sampler = sampler(failures=2)
    with pytest.raises(tumble.BudgetExhausted, match="8 trials failed where 2 may; unless trials of"):
        old.ask()
    new = optuna.create_study(sampler=sampler(failures=2))
    for trial in old.trials[:8]:
        trial.system_attrs["tumble:billed"] = False
        new.add_trial(trial)
    mirror = ours(new).optimizer(new)
    assert mirror is not None
    assert (mirror.trials_left, mirror.failures_left, len(mirror.trials)) == (20, 2, 8)
    new.optimize(objective, n_trials=1)
    assert new.trials[8].system_attrs[notes.DECISION]["mode"] != "start"
    assert notes.BILLED not in old.trials[0].system_attrs


def test_conditional_parameters_fall_back_to_random_and_the_common_ones_are_searched() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return (x - 0.5) ** 2 + trial.suggest_float("only_a", 0, 1)
        return (x - 0.5) ** 2 + 0.1 * trial.suggest_int("only_b", 0, 10)

    study = optuna.create_study(sampler=sampler())
    with pytest.warns(UserWarning, match="'only_.' is drawn at random, because not every trial has it with"):
        study.optimize(objective, n_trials=12)
    kinds = {t.params["kind"] for t in study.trials}
    space = study.sampler.infer_relative_search_space(study, study.trials[-1])
    assert set(space) == {"x", "kind"} or len(kinds) == 1
    assert all(t.state == TrialState.COMPLETE for t in study.trials)


def test_a_failure_before_every_parameter_was_suggested_stays_spent() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", -1, 1)
        if trial.number == 0:
            raise tumble.Failure("broke while it was set up")
        return x**2 + trial.suggest_float("y", -1, 1) ** 2

    study = optuna.create_study(sampler=sampler(failures=2))
    study.optimize(objective, n_trials=4, catch=tumble.Failure)
    assert [t.state for t in study.trials] == [TrialState.FAIL, *[TrialState.COMPLETE] * 3]
    assert study.trials[3].system_attrs[notes.DECISION]["failures_left"] == 1
    assert (
        "1 failure left to spend, 16 trials after it" in study.trials[3].system_attrs[notes.DECISION]["why"]
    )
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    assert (mirror.trials_left, mirror.failures_left) == (16, 1)


def test_more_failures_outside_the_space_than_may_be_leave_none() -> None:
    study = optuna.create_study(sampler=sampler(trials=3, failures=1))
    for _ in range(4):
        study.add_trial(
            create_trial(
                state=TrialState.FAIL,
                params={"x": 2.0},
                distributions={"x": FloatDistribution(0, 3)},
                system_attrs={notes.OUTCOME: notes.outcome("failure", "broke")},
            )
        )
    study.add_trial(create_trial(value=1.0, params={"x": 0.5}, distributions={"x": FloatDistribution(0, 1)}))
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    assert (mirror.trials_left, mirror.failures_left) == (0, 0)


def test_a_space_of_failures_alone_is_searched_too() -> None:
    study = optuna.create_study(sampler=sampler(failures=5))
    space: dict[str, Any] = {"x": FloatDistribution(0, 1)}
    for _ in range(2):
        study.tell(study.ask(space), state=TrialState.FAIL)
    trial = study.ask(space)
    assert study.trials[trial.number].system_attrs[notes.DECISION]["mode"] != "start"


def test_suggestions_stay_inside_their_distributions_and_two_in_flight_differ() -> None:
    space: dict[str, Any] = {
        "f": FloatDistribution(-3, 7, step=0.25),
        "g": FloatDistribution(1e-4, 1, log=True),
        "i": IntDistribution(2, 64, log=True),
        "j": IntDistribution(-4, 5, step=3),
        "c": CategoricalDistribution(["a", None, 1, "1"]),
    }
    study = optuna.create_study(sampler=sampler(failures=4, space=space))
    rng = np.random.default_rng(0)
    for _ in range(6):
        pair = [study.ask(space), study.ask(space)]
        assert pair[0].params != pair[1].params
        for trial in pair:
            for name, distribution in space.items():
                assert private.contains(distribution, trial.params[name])
            trial.set_constraint("g", rng.normal() - 0.5)
            study.tell(trial, rng.normal())


def mixed_study(seed: int) -> optuna.Study:
    """A problem with a float, an int and three choices; the optimum 0 lies at x = 0.8, n = 5, c = "b"."""
    space: dict[str, Any] = {
        "x": FloatDistribution(0, 1),
        "n": IntDistribution(0, 8),
        "c": CategoricalDistribution(["a", "b", "c"]),
    }
    study = optuna.create_study(sampler=tumble.TumbleSampler(trials=25, failures=5, seed=seed, space=space))
    for _ in range(16):
        trial = study.ask(space)
        x, n, c = trial.params["x"], trial.params["n"], trial.params["c"]
        trial.set_constraint("g", x + n / 8 - (1.5 if c == "b" else 0.9))
        study.tell(trial, (x - 0.8) ** 2 + (n - 5) ** 2 / 20 + {"a": 0.3, "b": 0.0, "c": 0.5}[c])
    return study


def test_a_mixed_space_finds_its_optimum_and_keeps_the_promised_safety_at_the_point_that_is_run() -> None:
    best = []
    for seed in (1, 2, 3):
        study = mixed_study(seed)
        best.append(min(t.values[0] for t in study.trials if t.constraints["g"] <= 0))
        asked = [notes.decision(t) for t in study.trials if _mode(t) in ("bold", "careful")]
        assert asked
        assert all(note["p_safe"] >= note["rho"] - 1e-9 for note in asked)
    assert sorted(best)[1] < 0.01


def _mode(trial: optuna.trial.FrozenTrial) -> str:
    return str(notes.decision(trial).get("mode"))


def test_a_trial_in_flight_without_a_setting_holds_a_failure_back() -> None:
    space: dict[str, Any] = {"x": FloatDistribution(0, 1)}
    study = optuna.create_study(sampler=sampler(failures=1, space=space))
    first = study.ask(space)
    first.set_constraint("g", -1.0)
    study.tell(first, 1.0)
    study.ask()  # undecided: it may turn out to be bold
    number = study.ask(space).number
    note = study.trials[number].system_attrs[notes.DECISION]
    assert note["mode"] in ("careful", "safest")
    assert note["rho"] >= 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "trials"),
        ({"trials": 3, "failures": 4}, "failures"),
        ({"method": "magic"}, "method"),
        ({"settings": "fast"}, "settings"),
        ({"on_exhausted": "never"}, "on_exhausted"),
        ({"on_exhausted": "stop"}, "needs a budget"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tumble.InputError, match=message):
        sampler(**options)


def test_a_long_note_is_shortened_until_a_storage_takes_it() -> None:
    note = {"mode": "careful", "why": "w" * 100, "params": {f"p{i}": "x" * 40 for i in range(1500)}}
    assert notes.shortened(note) == {"mode": "careful", "why": "w" * 100}
    assert notes.shortened({"why": "w" * 60_000, "mode": "careful"}) == {"mode": "careful"}


def test_the_note_of_a_wide_study_is_stored_whole(tmp_path: Path) -> None:
    space: dict[str, Any] = {f"parameter_{j}": FloatDistribution(0, 1) for j in range(16)}
    limits = [f"limit_{k}" for k in range(8)]
    study = optuna.create_study(
        sampler=sampler(trials=300, failures=120, space=space), storage=f"sqlite:///{tmp_path / 'wide.db'}"
    )
    rng = np.random.default_rng(0)
    for x in rng.random((30, 16)):
        study.add_trial(
            optuna.trial.create_trial(
                value=float(((x - 0.4) ** 2).sum()),
                params=dict(zip(space, map(float, x), strict=True)),
                distributions=space,
                constraints={name: float(x[k] - 0.9) for k, name in enumerate(limits)},
            )
        )
    asked = study.ask(space)
    note = study.trials[-1].system_attrs[notes.DECISION]
    assert note["params"] == asked.params
    assert note["why"].startswith(f"Trial {asked.number}")
    assert len(note["warm"]) == 9
    assert 2046 < len(json.dumps(note)) <= notes.ATTRIBUTE_LIMIT


# -- the gate ------------------------------------------------------------------------------------------------


def test_a_hard_budget_ends_the_loop_of_a_single_worker_quietly() -> None:
    def objective(trial: optuna.Trial) -> float:
        value = bowl(trial)
        trial.set_constraint("g", 1.0)
        return value

    study = optuna.create_study(sampler=sampler(failures=3, on_exhausted="stop"))
    study.optimize(objective, n_trials=10)
    assert len(study.trials) == 3


def test_beyond_the_budget_the_loop_ends_quietly_and_the_next_trial_is_refused() -> None:
    study = optuna.create_study(sampler=sampler(failures=1))
    for x in (0.1, 0.2, 0.3):
        study.enqueue_trial({"x": x, "y": 0.5})

    def objective(trial: optuna.Trial) -> float:
        value = bowl(trial)
        trial.set_constraint("g", 1.0)
        return value

    study.optimize(objective, n_trials=3)
    assert len([t for t in study.trials if t.state == TrialState.COMPLETE]) == 2
    with pytest.raises(tumble.BudgetExhausted, match="2 trials failed where 1 may"):
        study.ask()
    assert study.trials[-1].state == TrialState.FAIL
    assert read_all(study)[-1].phase == "void"


@pytest.mark.parametrize(
    ("on_exhausted", "message"),
    [("stop", "the budget of 1 failures is spent: optimize ends"), ("safe", "2 trials failed where 1 may")],
)
def test_where_failures_end_optimize_that_is_said(
    on_exhausted: Any, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.set_constraint("g", 1.0)
        return bowl(trial)

    study = optuna.create_study(sampler=sampler(failures=1, on_exhausted=on_exhausted))
    for _ in range(2):
        study.enqueue_trial({"x": 0.5, "y": 0.5})
    study.optimize(objective, n_trials=5)
    (record,) = caplog.records
    assert message in record.getMessage()
    assert "give the study a sampler with more failures" in record.getMessage()


def test_a_failure_told_by_hand_ends_no_loop_and_nothing_is_said(caplog: pytest.LogCaptureFixture) -> None:
    study = optuna.create_study(sampler=sampler(failures=1, on_exhausted="stop"))
    study.tell(study.ask(), state=TrialState.FAIL)
    assert caplog.records == []


def test_where_no_failure_is_left_and_nothing_is_safe_enough_the_trial_is_refused_unbilled() -> None:
    study = optuna.create_study(sampler=sampler(failures=1))
    first = study.ask()
    bowl(first)
    first.set_constraint("g", 5.0)
    study.tell(first, 1.0)
    with pytest.raises(tumble.BudgetExhausted, match="no new setting is safe enough"):
        bowl(study.ask())
    with pytest.raises(tumble.BudgetExhausted, match="no new setting is safe enough"):
        study.optimize(bowl, n_trials=3)
    assert [r.phase for r in read_all(study)] == ["told", "void", "void"]
    assert all(t.state.is_finished() for t in study.trials)


def test_a_spent_budget_refuses_the_next_trial_unbilled_and_leaves_nothing_running() -> None:
    study = optuna.create_study(sampler=sampler(failures=1, on_exhausted="stop"))
    study.tell(study.ask(), state=TrialState.FAIL)
    with pytest.raises(tumble.BudgetExhausted, match="budget of 1 failures is spent"):
        study.ask()
    assert study.trials[1].state == TrialState.FAIL
    assert study.trials[1].system_attrs[notes.OUTCOME]["kind"] == "unstarted"
    assert [r.phase for r in read_all(study)] == ["told", "void"]


def test_a_trial_waits_until_one_in_flight_can_no_longer_fail() -> None:
    study = optuna.create_study(sampler=sampler(failures=1, on_exhausted="stop"))
    first = study.ask()
    started: list[float] = []

    def second() -> None:
        study.ask()
        started.append(time.monotonic())

    thread = threading.Thread(target=second)
    thread.start()
    time.sleep(0.3)
    assert not started
    told = time.monotonic()
    study.tell(first, 1.0)
    thread.join(10)
    assert started
    assert started[0] > told


@pytest.mark.parametrize("seed", range(3))
def test_threads_never_exceed_a_hard_budget(seed: int) -> None:
    lock, peak, failures, flying = threading.Lock(), [0], [0], [0]

    def objective(trial: optuna.Trial) -> float:
        with lock:
            flying[0] += 1
            peak[0] = max(peak[0], flying[0] + failures[0])
        x = trial.suggest_float("x", 0, 1)
        time.sleep(0.002)
        failed = np.random.default_rng([seed, trial.number]).random() < 0.4
        trial.set_constraint("g", 1.0 if failed else -1.0)
        with lock:
            flying[0] -= 1
            failures[0] += failed
        return x

    study = optuna.create_study(sampler=sampler(trials=60, failures=6, on_exhausted="stop"))
    with contextlib.suppress(tumble.BudgetExhausted):  # a thread that was waiting when the budget went
        study.optimize(objective, n_trials=60, n_jobs=8)
    assert sum(r.failed for r in read_all(study)) <= 6
    assert peak[0] <= 6
    assert not any(t.state == TrialState.RUNNING for t in study.trials)


def test_enqueued_trials_draw_a_ticket_and_stay_within_the_budget() -> None:
    study = optuna.create_study(sampler=sampler(failures=1, on_exhausted="stop"))
    study.enqueue_trial({"x": 0.5})
    study.enqueue_trial({"x": 0.6})
    first = study.ask()
    stored = study.trials[first.number]
    assert 1 < stored.system_attrs[notes.TICKET] < 2
    done = threading.Event()

    def second() -> None:
        study.ask()
        done.set()

    thread = threading.Thread(target=second)
    thread.start()
    assert not done.wait(0.3)
    study.tell(first, 1.0)
    assert done.wait(10)
    thread.join()


class Impatient(tumble.TumbleSampler):
    """A trial without a place is made void at once, so that a test in one thread never waits."""

    def gate(self, study: optuna.Study) -> Gate:
        def refuse(study: optuna.Study, waiting: optuna.trial.FrozenTrial) -> bool:
            private.set_attribute(study, waiting, notes.OUTCOME, notes.outcome("unstarted", "no place"))
            private.storage_of(study).set_trial_state_values(private.trial_id_of(waiting), TrialState.FAIL)
            raise tumble.BudgetReserved("no place")

        return replace(super().gate(study), while_waiting=refuse)


def test_trials_asked_after_enqueued_ones_stay_within_the_budget() -> None:
    study = optuna.create_study(sampler=Impatient(10, 1, seed=0, settings=QUICK, on_exhausted="stop"))
    study.enqueue_trial({"x": 0.5})
    study.enqueue_trial({"x": 0.6})
    study.tell(study.ask(), 1.0)
    study.ask()  # the second enqueued one, which holds the failure
    with pytest.raises(tumble.BudgetReserved):
        study.ask()


ACTIONS = st.sampled_from(
    ["ask", "ask", "ask", "enqueue", "enqueue", "retry", "safe", "safe", "fail", "prune"]
)


@settings(max_examples=150)
@given(
    budget=st.integers(1, 3), steps=st.lists(st.tuples(ACTIONS, st.integers(0, 9)), min_size=10, max_size=30)
)
def test_no_order_of_asking_makes_failures_and_trials_in_flight_exceed_a_hard_budget(
    budget: int, steps: list[tuple[str, int]]
) -> None:
    sampler = Impatient(100, budget, seed=0, settings=QUICK, on_exhausted="stop")
    study = optuna.create_study(sampler=sampler)
    flying: list[optuna.Trial] = []
    for action, choice in steps:
        if action == "ask":
            with contextlib.suppress(tumble.BudgetExhausted):
                flying.append(study.ask())
        elif action == "enqueue":
            study.enqueue_trial({"x": choice / 9})
        elif action == "retry":  # as Optuna's callback for trials whose heartbeat expired makes one
            past = study.get_trials()
            copied = dict(past[choice % len(past)].system_attrs) if past else {}
            study.add_trial(
                create_trial(state=TrialState.WAITING, system_attrs={**copied, "retry_history": []})
            )
        elif flying:
            trial = flying.pop(choice % len(flying))
            states = {"safe": TrialState.COMPLETE, "fail": TrialState.FAIL, "prune": TrialState.PRUNED}
            study.tell(trial, 1.0 if action == "safe" else None, state=states[action])
        failures = sum(reading.failed for reading in read_all(study))
        assert failures + len(flying) <= budget


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_a_dead_worker_blocks_nobody_for_longer_than_its_heartbeat(tmp_path: Any) -> None:
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/a.db", heartbeat_interval=1, grace_period=1)
    study = optuna.create_study(storage=storage, sampler=sampler(failures=1, on_exhausted="stop"))
    dead = private.storage_of(study).create_new_trial(private.study_id_of(study))
    storage.record_heartbeat(dead)  # and then it is heard of no more
    silent = private.storage_of(study).create_new_trial(private.study_id_of(study))  # died even before that
    study.optimize(bowl, n_trials=1)
    states = [t.state for t in study.trials]
    assert states == [TrialState.FAIL, TrialState.FAIL, TrialState.COMPLETE]
    assert [r.phase for r in read_all(study)] == ["void", "void", "told"]
    assert silent == private.trial_id_of(study.trials[1])


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
@pytest.mark.filterwarnings("ignore:Heartbeat of storage is supposed")
def test_a_trial_asked_by_hand_is_not_buried_for_having_no_heartbeat(tmp_path: Any) -> None:
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/a.db", heartbeat_interval=1, grace_period=1)
    study = optuna.create_study(storage=storage, sampler=sampler(failures=2, on_exhausted="stop"))
    by_hand = study.ask()
    study.optimize(bowl, n_trials=1)
    time.sleep(1.5)
    study.optimize(bowl, n_trials=1)
    study.tell(by_hand, 1.0)
    assert [r.phase for r in read_all(study)] == ["told"] * 3


# -- what is said -------------------------------------------------------------------------------------------


def test_a_complete_trial_without_a_known_constraint_is_said_once_and_is_no_best() -> None:
    study = optuna.create_study(sampler=sampler(failures=5))
    lefts = iter((-1.0, None, -1.0, -1.0))

    def objective(trial: optuna.Trial) -> float:
        value = trial.suggest_float("x", 0, 1)
        left = next(lefts)
        if left is not None:
            trial.set_constraint("left", left)
        return value if left is not None else -1.0

    with pytest.warns(UserWarning, match=r"trial 1 is complete without left: .* missing, never safe") as said:
        study.optimize(objective, n_trials=4)
    assert len(said) == 1
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    assert mirror.best is not None
    assert mirror.best.value >= 0.0 > study.trials[1].values[0]
    assert mirror.failures_left == 5


def test_a_study_that_runs_past_its_trials_is_told_so_once() -> None:
    study = optuna.create_study(sampler=sampler(trials=2, failures=1))
    study.optimize(bowl, n_trials=2)
    with pytest.warns(UserWarning, match="all 2 trials of the TumbleSampler are used") as said:
        study.optimize(bowl, n_trials=2)
    assert len(said) == 1


def test_the_trials_of_the_optimizer_of_a_study_have_their_settings() -> None:
    study = optuna.create_study(sampler=sampler(failures=5))
    study.optimize(bowl, n_trials=3)
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    assert [t.x for t in mirror.trials] == [t.params for t in study.trials]
    assert mirror.trials[2].suggestion is not None
    assert mirror.trials[2].suggestion.x == study.trials[2].params
    assert mirror.best is not None
    assert mirror.best.x == study.best_params
    restored = tumble.Optimizer.from_dict(mirror.to_dict())
    assert restored.trials[2].x == pytest.approx(study.trials[2].params)


def test_the_optimizer_of_a_study_with_void_and_pruned_trials_is_saved_and_goes_on() -> None:
    study = optuna.create_study(sampler=sampler(failures=5))
    study.optimize(bowl, n_trials=2)
    study.ask().set_user_attr("tumble:transient", True)
    study.tell(2, state=TrialState.FAIL)
    pruned, failed, flying = (study.ask() for _ in range(3))
    for trial in (pruned, failed, flying):
        bowl(trial)
    study.tell(pruned, state=TrialState.PRUNED)
    study.tell(failed, state=TrialState.FAIL)
    mirror = ours(study).optimizer(study)
    assert mirror is not None
    back = tumble.Optimizer.from_dict(json.loads(json.dumps(mirror.to_dict(), allow_nan=False)))
    assert [(t.number, t.status) for t in back.trials] == [(t.number, t.status) for t in mirror.trials]
    assert [t.number for t in back.trials] == [0, 1, 3, 4, 5]
    assert back.to_dict() == mirror.to_dict()
    back.tell(5, 0.5)
    assert back.trials[-1].value == 0.5
    assert back.ask().number == 6


def test_safety_is_not_claimed_before_the_constraints_are_known() -> None:
    study = optuna.create_study(sampler=sampler(failures=5, space={"x": FloatDistribution(0, 1)}))
    study.ask({"x": FloatDistribution(0, 1)})
    note = study.trials[0].system_attrs[notes.DECISION]
    assert (note["mode"], note["p_safe"]) == ("start", None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {"x": 3}}, "space: 'x' must be a distribution of Optuna, not 3; write for example"),
        ({"space": [3]}, "space must be a dict of distributions by name, not"),
        ({"failures": 0, "on_exhausted": "stop"}, 'lets no trial start.*use on_exhausted="safe"'),
        ({"constraints_func": [0.3]}, "constraints_func must be a function of a trial, or None, not"),
    ],
)
def test_what_a_sampler_cannot_work_with_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tumble.InputError, match=message):
        sampler(**options)


def test_the_hyperparameters_that_were_learned_reach_the_next_trial_whole() -> None:
    """Among them the additive share and from how many trials they were learned."""
    study = optuna.create_study(sampler=sampler())
    study.optimize(lambda t: math.sin(7.0 * t.suggest_float("x", 0, 1)) + t.suggest_float("y", 0, 1), 6)
    mirror = study.sampler.optimizer(study)  # type: ignore[union-attr]
    hyper = mirror.fitted.objective
    assert 0.0 < hyper.additive < 1.0
    assert hyper.learned_from == 5


# -- known constraints ---------------------------------------------------------------------------------------

KNOWN_SPACE = {
    "x": FloatDistribution(-1.0, 1.0),
    "y": FloatDistribution(-1.0, 1.0),
    "oil": CategoricalDistribution(["mineral"]),
    "passes": IntDistribution(3, 3),
}


def test_only_settings_that_keep_known_constraints_are_suggested() -> None:
    limits = ["x + y <= -0.5 * passes", 'oil == "mineral"']
    study = optuna.create_study(sampler=sampler(space=KNOWN_SPACE, known=limits, failures=3))
    study.optimize(bowl, n_trials=6)
    assert all(t.params["x"] + t.params["y"] <= -1.5 for t in study.trials)
    found = ours(study).recommend(study)
    assert found is not None
    assert found.x["x"] + found.x["y"] <= -1.5


def test_an_enqueued_trial_may_break_what_is_known_and_teaches() -> None:
    study = optuna.create_study(sampler=sampler(space=KNOWN_SPACE, known="x + y <= 0"))
    study.enqueue_trial({"x": 0.9, "y": 0.9})
    study.optimize(bowl, n_trials=3)
    assert study.trials[0].params["x"] == 0.9
    assert all(t.params["x"] + t.params["y"] <= 0.0 for t in study.trials[1:])
    optimizer = ours(study).optimizer(study)
    assert optimizer is not None
    assert optimizer.n_told == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"known": "x + y <= 1"}, "known constraints need the parameters beforehand: give space"),
        ({"known": "x + z <= 1", "space": KNOWN_SPACE}, "there is no parameter 'z'"),
        ({"known": ["x >= 3"], "space": KNOWN_SPACE}, "no setting was found that keeps what is known"),
        ({"known": 3, "space": KNOWN_SPACE}, "known must be a list, not 3"),
        ({"known": 'oil == "air"', "space": KNOWN_SPACE}, "no setting was found that keeps what is known"),
    ],
)
def test_known_constraints_that_can_not_be_used_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tumble.InputError, match=message):
        sampler(**options)


def test_warps_stand_in_the_note_and_another_process_goes_on_with_them() -> None:
    def objective(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)
        trial.set_constraint("load", (0.4 / (0.08 + 0.92 * y)) ** 4 - 1.0)
        return float(10.0 ** (5.0 * x) + y)

    sampler = tumble.TumbleSampler(trials=12, failures=6, seed=0, noise={"load": 1e-3})
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=10)
    fit = notes.last_fit(study.trials, ["load"], 2)
    assert fit is not None
    assert len(fit.warps) == 2
    assert [w.both for w in fit.warps] == [False, True]
    assert [law.is_normal for law in fit.laws] == [False]
    optimizer = sampler.optimizer(study)
    assert optimizer is not None
    assert optimizer.fitted == fit
    assert optimizer.noise == {"load": 1e-3}


def test_each_parameter_that_the_space_lacks_is_warned_of_once() -> None:
    space = {"x": FloatDistribution(0.0, 1.0)}
    study = optuna.create_study(sampler=tumble.TumbleSampler(trials=3, seed=0, space=space))

    def objective(trial: optuna.Trial) -> float:
        return sum(trial.suggest_float(name, 0.0, 1.0) for name in ("x", "y", "z"))

    with pytest.warns(UserWarning, match="is drawn at random, because the space") as said:
        study.optimize(objective, n_trials=3)
    texts = [str(one.message) for one in said if "drawn at random" in str(one.message)]
    assert [text.split("'")[1] for text in texts] == ["y", "z"]
    assert "space={..., 'y': FloatDistribution(high=1.0, log=False, low=0.0, step=None)}" in texts[0]


def test_a_range_that_changes_is_drawn_at_random_and_that_is_said_once() -> None:
    study = optuna.create_study(sampler=sampler(failures=3))
    with pytest.warns(UserWarning, match="'x' is drawn at random, because not every trial has it") as said:
        study.optimize(lambda t: t.suggest_float("x", 0.0, 1.0 + t.number), n_trials=4)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("options", "top", "reason"),
    [
        ({}, 1.5, "not every trial has it with the same range.* give the sampler space="),
        ({"space": {"y": FloatDistribution(0.0, 1.0)}}, 1.0, "the space .* lacks it; add its distribution"),
    ],
)
def test_no_parameter_is_drawn_at_random_where_no_failure_is_left(
    options: dict[str, Any], top: float, reason: str
) -> None:
    def objective(trial: optuna.Trial) -> float:
        y, x = (trial.suggest_float(name, 0.0, 1.0 if trial.number < 2 else top) for name in ("y", "x"))
        trial.set_constraint("g", 1.0 if trial.number == 1 else -1.0)
        return x + y

    study = optuna.create_study(sampler=sampler(failures=1, **options))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the parameter '.' is drawn at random")
        study.optimize(objective, n_trials=2)
        study.enqueue_trial({"x": 0.5, "y": 0.5})  # a setting of one's own is one's own risk
        study.optimize(objective, n_trials=1)
        with pytest.raises(tumble.BudgetExhausted, match=f"would be drawn .*{reason}.* raise failures"):
            study.optimize(objective, n_trials=5)
    assert [r.phase for r in read_all(study)] == ["told", "told", "told", "void"]


def test_a_parameter_that_no_trial_had_is_not_drawn_where_no_failure_is_left() -> None:
    study = optuna.create_study(sampler=sampler(failures=1))
    study.tell(study.ask(), state=TrialState.FAIL)
    trial = study.ask()
    with pytest.raises(tumble.BudgetExhausted, match=r"'x' would be .* no trial was told with it when"):
        trial.suggest_float("x", 0.0, 1.0)
    assert study.trials[1].state == TrialState.FAIL


def test_with_no_failure_at_all_the_first_trial_is_drawn_at_random() -> None:
    study = optuna.create_study(sampler=sampler(failures=0))
    study.optimize(bowl, n_trials=1)
    assert len(study.trials) == 1


@pytest.mark.parametrize("given", [False, True])
def test_choices_that_can_not_be_searched_are_said_once(given: bool) -> None:
    space = {"kind": CategoricalDistribution([1, True]), "x": FloatDistribution(0.0, 1.0)}
    study = optuna.create_study(sampler=sampler(space=space if given else None))
    with pytest.warns(
        UserWarning, match="'kind' is drawn at random.* 1 and True are equal: drop one"
    ) as said:
        study.optimize(
            lambda t: t.suggest_float("x", 0.0, 1.0) + t.suggest_categorical("kind", [1, True]), n_trials=3
        )
    assert len(said) == 1


def test_a_trial_that_asks_for_another_range_than_the_space_is_said_once() -> None:
    study = optuna.create_study(sampler=sampler(space={"x": FloatDistribution(0.0, 1.0)}))
    with pytest.warns(UserWarning, match=r"asks for .*high=-1\.0.* has .*high=1\.0.*; make them") as said:
        study.optimize(lambda t: t.suggest_float("x", -2.0, -1.0), n_trials=3)
    assert len(said) == 1


def test_a_trial_that_gets_a_value_of_another_range_than_its_own_is_said_once() -> None:
    study = optuna.create_study(sampler=sampler(space={"x": FloatDistribution(0.0, 1.0)}))
    with pytest.warns(UserWarning, match=r"'x' is searched as the space has it.* make them the") as said:
        study.optimize(lambda t: t.suggest_float("x", 0.0, 2.0), n_trials=3)
    assert len(said) == 1
    assert all(t.params["x"] <= 1.0 for t in study.trials)


@pytest.mark.parametrize("given", [True, False])
def test_a_step_too_small_for_optuna_beside_the_numbers_is_drawn_at_random_and_that_is_said(
    given: bool,
) -> None:
    low, high = 2.4e9, 2.4835e9
    space = {"f": FloatDistribution(low, high, step=0.1), "x": FloatDistribution(0.0, 1.0)}
    study = optuna.create_study(sampler=sampler(space=space if given else None))
    with pytest.warns(
        UserWarning, match="which takes hardly any of its multiples; search the number of steps"
    ):
        study.optimize(
            lambda t: t.suggest_float("f", low, high, step=0.1) / high + t.suggest_float("x", 0.0, 1.0), 3
        )
    assert [list(x) for x in settings_of(study)] == [["x"]] * 3


class Kind(StrEnum):
    A = "a"
    B = "b"
    C = "c"


def settings_of(study: optuna.Study) -> list[Any]:
    optimizer = ours(study).optimizer(study)
    assert optimizer is not None
    return [trial.x for trial in optimizer.trials]


@pytest.mark.parametrize(
    ("known", "asked"),
    [((1, 2, 3), (1.0, 2.0, 3.0)), ((True, False), (1, 0)), (tuple(Kind), ("a", "b", "c"))],
)
def test_choices_that_are_equal_are_the_same_in_whichever_kind_a_trial_has_them(
    known: Any, asked: Any
) -> None:
    space = {"c": CategoricalDistribution(known), "x": FloatDistribution(0.0, 1.0)}
    study = optuna.create_study(sampler=sampler(space=space))
    study.optimize(
        lambda t: float(t.suggest_categorical("c", asked) == asked[0]) + t.suggest_float("x", 0, 1), 3
    )
    assert all(type(x["c"]) is type(known[0]) for x in settings_of(study))
    assert [x["c"] for x in settings_of(study)] == [t.params["c"] for t in study.trials]


def test_an_enumeration_that_a_database_keeps_as_text_is_searched(tmp_path: Path) -> None:
    space = {"c": CategoricalDistribution(tuple(Kind)), "x": FloatDistribution(0.0, 1.0)}
    study = optuna.create_study(storage=f"sqlite:///{tmp_path / 'a.db'}", sampler=sampler(space=space))
    study.optimize(
        lambda t: len(str(t.suggest_categorical("c", tuple(Kind)))) + t.suggest_float("x", 0, 1), 3
    )
    assert [x["c"] for x in settings_of(study)] == [t.params["c"] for t in study.trials]


def test_a_trial_from_elsewhere_that_has_a_truth_for_a_number_teaches() -> None:
    study = optuna.create_study(sampler=sampler(space={"x": FloatDistribution(0.0, 1.0)}))
    truths = CategoricalDistribution((True, False))
    study.add_trial(create_trial(params={"x": True}, distributions={"x": truths}, value=0.5))
    study.optimize(lambda t: t.suggest_float("x", 0.0, 1.0), 2)
    assert settings_of(study)[0] == {"x": 1.0}


def test_parameters_that_are_being_learned_are_no_reason_to_warn() -> None:
    study = optuna.create_study(sampler=sampler(failures=3))
    first, second = study.ask(), study.ask()
    study.tell(first, bowl(first))
    study.tell(second, bowl(second))
    third = study.ask()
    third.suggest_float("x", -1, 1)
    study.tell(third, state=TrialState.FAIL)
    study.optimize(bowl, n_trials=2)


def test_a_noise_of_something_that_no_trial_measures_is_warned_of() -> None:
    sampler = tumble.TumbleSampler(trials=6, seed=0, noise={"laod": 0.1})
    study = optuna.create_study(sampler=sampler)
    with pytest.warns(UserWarning, match="noise names 'laod'"):
        study.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0) ** 2, n_trials=3)
