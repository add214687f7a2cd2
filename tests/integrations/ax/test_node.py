"""Ax under a budget of failures: what is counted, what is saved, what is refused."""

import logging
from typing import Any, cast

import numpy as np
import pytest
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig, StorageConfig
from ax.core.arm import Arm
from ax.core.parameter import (
    ChoiceParameter,
    DerivedParameter,
    FixedParameter,
    ParameterType,
    RangeParameter,
)
from ax.core.search_space import SearchSpace
from ax.exceptions.core import OptimizationComplete
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.storage.sqa_store import db

import tumble
from tumble import plots, problems
from tumble.integrations.ax import node as tumble_ax
from tumble.integrations.ax.problem import AxSpace, Objectives, Ordered

logging.getLogger("ax").setLevel(logging.ERROR)

PROBLEM = problems.get("gardner-cosine")
PARAMETERS = [RangeParameterConfig(name=n, bounds=(0.0, 6.0), parameter_type="float") for n in ("x", "y")]


def evaluate(parameters):
    outcome = PROBLEM.evaluate([parameters["x"], parameters["y"]])
    return {"cost": outcome.value, "load": outcome.constraints[0]}


def open_client(
    strategy=None, *, objective="-cost", limits=("load <= 0",), parameters=PARAMETERS, storage=None
):
    client = Client(storage_config=storage)
    client.configure_experiment(parameters, name="drill")
    client.configure_optimization(objective=objective, outcome_constraints=list(limits))
    client.set_generation_strategy(strategy or tumble_ax.generation_strategy(10, 3, seed=0))
    return client


def run(client, trials, measure=evaluate):
    """Run so many trials and return their parameters."""
    ran = []
    for _ in range(trials):
        for index, parameters in client.get_next_trials(max_trials=1).items():
            client.complete_trial(index, raw_data=measure(parameters))
            ran.append(parameters)
    return ran


def inside(client):
    return tumble_ax.optimizer(client._experiment, client._generation_strategy)


# -- the whole -----------------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path):
    """A SQLite file as Ax's global database, for the length of a test."""
    url = f"sqlite:///{tmp_path / 'ax.db'}"
    db.init_engine_and_session_factory(url=url, force_init=True)
    db.create_all_tables(db.get_engine())
    yield StorageConfig(url=url)
    db.get_engine().dispose()
    db.SESSION_FACTORY = None


def test_twenty_trials_with_five_failures_resumed_from_sql_and_from_json(database, tmp_path):
    client = open_client(tumble_ax.generation_strategy(20, 5, seed=3), storage=database)
    run(client, 6)
    client = Client.load_from_database("drill", storage_config=database)
    run(client, 7)
    client.save_to_json_file(str(tmp_path / "drill.json"))
    client = Client.load_from_json_file(str(tmp_path / "drill.json"))
    run(client, 7)
    opt = inside(client)
    assert opt.trials_left == 0
    assert sum(t.failed for t in opt.trials) <= 5
    assert opt.best is not None
    assert opt.best.value < PROBLEM.f_min + 0.1
    with pytest.raises(
        tumble_ax.StudyFinished, match=r"all 20 trials are used .*generation_strategy with more trials"
    ):
        client.get_next_trials(max_trials=1)


def test_several_trials_at_once_come_back_from_sql(database, caplog):
    client = open_client(storage=database)
    run(client, 2)
    batch = client.get_next_trials(max_trials=3)
    loaded = Client.load_from_database("drill", storage_config=database)
    assert [dict(t.x) for t in inside(loaded).trials[2:]] == list(batch.values())
    assert "db_ids" not in caplog.text  # Ax's warning where it can't match what it saved


def test_a_suggestion_is_a_function_of_the_experiment_alone(tmp_path):
    client = open_client()
    run(client, 4)
    client.save_to_json_file(str(tmp_path / "drill.json"))
    copies = [Client.load_from_json_file(str(tmp_path / "drill.json")) for _ in range(2)]
    (first,), (second,) = (run(copy, 1) for copy in copies)
    assert first == second
    (original,) = run(client, 1)
    np.testing.assert_allclose(
        list(original.values()), list(first.values()), atol=1e-5
    )  # Ax writes 10 digits


def test_the_suggestions_are_those_of_the_optimizer_itself():
    client = open_client()
    by_ax = run(client, 5)
    names = [c.expression for c in client._experiment.optimization_config.outcome_constraints]
    space = AxSpace.of(client._experiment.search_space).space
    opt = tumble.Optimizer(space, trials=10, failures=3, constraints=names, seed=0)
    for parameters in by_ax:
        suggestion = opt.ask()
        assert suggestion.x == parameters
        outcome = evaluate(suggestion.x)
        opt.tell(suggestion, outcome["cost"], constraints=[outcome["load"]])


def test_each_trial_carries_its_prediction_and_its_reason():
    client = open_client()
    run(client, 3)
    index = client.attach_trial({"x": 1.0, "y": 2.0})
    trials = client._experiment.trials
    told = tumble_ax.suggestion(trials[2])
    assert told is not None
    assert str(told).startswith("Trial 2: ")
    assert told.x == trials[2].arms[0].parameters
    assert 0.0 <= told.p_safe <= 1.0
    start = tumble_ax.suggestion(trials[0])
    assert start is not None
    assert np.isnan(start.mean)
    assert tumble_ax.suggestion(trials[index]) is None


# -- what is counted -----------------------------------------------------------------------------------------


def test_failed_trials_are_crashes_and_abandoned_ones_never_happened():
    client = open_client()
    run(client, 1)
    (crash,) = client.get_next_trials(1)
    client.attach_data(crash, raw_data={"load": -0.5})
    client.mark_trial_failed(crash, failed_reason="bit broke")
    (withdrawn,) = client.get_next_trials(1)
    client.mark_trial_abandoned(withdrawn)
    (flying,) = client.get_next_trials(1)
    opt = inside(client)
    assert [t.status for t in opt.trials] == ["told", "told", "skipped", "pending"]
    assert opt.trials[crash].crashed
    assert opt.trials[crash].reason == "bit broke"
    assert opt.trials[crash].constraints == (-0.5,)
    assert opt.trials_left == 7
    assert opt.failures_left == 3 - sum(t.failed for t in opt.trials)
    assert opt.trials[flying].pending


def test_early_stopped_trials_count_where_they_were_measured():
    client = open_client()
    (whole,) = client.get_next_trials(1)
    client.attach_data(whole, raw_data={"cost": 1.0, "load": -1.0})
    client.mark_trial_early_stopped(whole)
    (empty,) = client.get_next_trials(1)
    client.attach_data(empty, raw_data={"load": -1.0})
    client.mark_trial_early_stopped(empty)
    assert [t.status for t in inside(client).trials] == ["told", "skipped"]


def test_a_completed_trial_without_a_metric_is_a_crash_as_the_guide_says():
    client = open_client()
    for metrics in ({"cost": 1.0}, {"load": -1.0}):
        (index,) = client.get_next_trials(1)
        client.complete_trial(index, raw_data=metrics)
    opt = inside(client)
    assert [(t.crashed, t.reason) for t in opt.trials] == [(True, "no data")] * 2
    assert (opt.trials_left, opt.failures_left) == (8, 1)


def test_a_metric_beyond_1e300_is_as_good_as_none_and_the_search_goes_on():
    client = open_client()
    for metrics in ({"cost": 1.7e308, "load": -1.0}, {"cost": 1.0, "load": -1.0}):
        (index,) = client.get_next_trials(1)
        client.complete_trial(index, raw_data=metrics)
    assert [t.crashed for t in inside(client).trials] == [True, False]
    assert client.get_next_trials(1)


def test_a_violation_without_an_objective_is_a_failure_and_not_a_crash():
    client = open_client()
    (index,) = client.get_next_trials(1)
    client.attach_data(index, raw_data={"load": 0.3})
    client.mark_trial_early_stopped(index)
    trial = inside(client).trials[0]
    assert trial.failed
    assert not trial.crashed
    assert trial.value is None


def test_trials_of_other_origin_count_unless_they_are_old_data():
    for unbilled, left in (((), 9), ((0,), 10)):
        client = open_client(tumble_ax.generation_strategy(10, 3, seed=0, unbilled=unbilled))
        index = client.attach_trial({"x": 2.0, "y": 2.5})
        client.complete_trial(index, raw_data={"cost": 0.2, "load": -0.5})
        opt = inside(client)
        assert opt.trials_left == left
        assert opt.best is not None
        assert opt.best.x == {"x": 2.0, "y": 2.5}


def test_a_trial_of_several_settings_is_refused():
    client = open_client()
    client._experiment.new_batch_trial().add_arms_and_weights(
        [Arm({"x": 1.0, "y": 1.0}), Arm({"x": 2.0, "y": 2.0})]
    )
    with pytest.raises(tumble.InputError, match="one setting a trial, but trial 0 has 2 arms"):
        inside(client)


def test_several_trials_at_once_are_different_and_within_what_is_left():
    client = open_client(tumble_ax.generation_strategy(6, 2, seed=0))
    run(client, 3)
    batch = client.get_next_trials(max_trials=5)
    assert len(batch) == 3
    assert len({tuple(p.values()) for p in batch.values()}) == 3


def test_where_no_failure_is_left_as_many_trials_start_as_are_safe_enough():
    settings = tumble.Settings(delta=0.99)
    client = open_client(tumble_ax.generation_strategy(60, 1, seed=4, settings=settings))
    for x, y, load in [(4.19, 0.49, -0.34), (4.34, 0.44, -0.23), (4.06, 0.57, 0.37)]:  # hardly predictable
        index = client.attach_trial({"x": x, "y": y})
        client.complete_trial(index, raw_data={"cost": x, "load": load})
    expected = inside(client).ask(n=8)
    assert 1 < len(expected) < 8
    assert list(client.get_next_trials(max_trials=8).values()) == [dict(s.x) for s in expected]
    with pytest.raises(tumble_ax.StudyFinished, match="no new setting is safe enough") as caught:
        client.get_next_trials(max_trials=2)
    assert str(caught.value).endswith(f"; {tumble_ax.REMEDY} with more failures")


def test_a_hard_budget_waits_for_results_and_then_ends():
    client = open_client(tumble_ax.generation_strategy(10, 2, seed=0, on_exhausted="stop"))
    assert len(client.get_next_trials(max_trials=5)) == 2
    with pytest.raises(tumble_ax.WaitForResults, match="tell or skip one"):
        client.get_next_trials(max_trials=1)
    for index in (0, 1):
        client.mark_trial_failed(index)
    with pytest.raises(tumble_ax.StudyFinished, match="2 of 2 failures are spent") as caught:
        client.get_next_trials(max_trials=1)
    assert isinstance(caught.value, OptimizationComplete)
    assert isinstance(caught.value, tumble.TumbleError)


def test_maximised_objectives_lower_bounds_and_weighted_sums_change_sign():
    client = open_client(objective="gain", limits=("load >= 2", "3 * load + heat <= 5"))
    goals = Objectives.of(client._experiment)
    outcome = goals.outcome({"gain": 4.0, "load": 1.0, "heat": 0.5})
    assert outcome.value == -4.0
    assert outcome.constraints == pytest.approx((1.0, -1.5))
    assert goals.outcome({"gain": 4.0}).constraints == (None, None)
    assert str(goals.outcome({"gain": 0.0}).value) == "0.0"  # a user reads it: not -0.0


def test_a_limit_that_is_taken_away_stops_no_study():
    client = open_client(limits=("load <= 0", "heat <= 1"))
    run(client, 3, lambda parameters: {**evaluate(parameters), "heat": 0.5})
    client.configure_optimization(objective="-cost", outcome_constraints=["load <= 0"])
    run(client, 1)
    assert [len(t.constraints) for t in inside(client).trials] == [1, 1, 1, 1]


# -- trials outside the search space -------------------------------------------------------------------------


def box(high):
    """A search space of x and y from 0, x up to `high`."""
    return space_of(
        *(RangeParameter(n, ParameterType.FLOAT, 0.0, top) for n, top in (("x", high), ("y", 6.0)))
    )


def attach_outside(client):
    """Attach a trial beyond the range of x; Ax itself warns of it."""
    with pytest.warns(RuntimeWarning, match="out-of-design"):
        return client.attach_trial({"x": 7.0, "y": 2.5})


LEFT_OUT = r"trial 1 with .*7.* lies outside the search space: it counts, but nothing is learned"


def test_a_trial_outside_the_search_space_is_named_once_and_counts_without_teaching():
    client = open_client()
    run(client, 1)
    client.complete_trial(attach_outside(client), raw_data={"cost": -50.0, "load": 1.0})
    with pytest.warns(UserWarning, match=LEFT_OUT):
        opt = inside(client)
    run(client, 1)  # a second warning would be an error
    assert [t.number for t in opt.trials] == [0]
    assert opt.trials_left == 8
    assert opt.max_failures == 2
    told = tumble_ax.suggestion(client._experiment.trials[2])
    assert told is not None
    assert (told.number, str(told)[:8]) == (2, "Trial 2:")
    assert inside(client).trials[1].suggestion.why == str(told)


def test_a_trial_outside_that_was_withdrawn_is_left_out_without_a_word():
    client = open_client()
    client.mark_trial_abandoned(attach_outside(client))
    assert inside(client).trials_left == 10
    assert len(client.get_next_trials(1)) == 1


def test_old_data_outside_the_search_space_charge_nothing():
    client = open_client(tumble_ax.generation_strategy(10, 3, seed=0, unbilled=[0]))
    client.mark_trial_failed(attach_outside(client))
    with pytest.warns(UserWarning, match="search space: nothing is learned from it"):
        opt = inside(client)
    assert (opt.trials_left, opt.failures_left) == (10, 3)


@pytest.mark.filterwarnings("ignore:trial .* lies outside the search space")
def test_trials_outside_the_search_space_are_counted_by_the_hard_cap():
    client = open_client(tumble_ax.generation_strategy(10, 2, seed=0, on_exhausted="stop"))
    client.mark_trial_failed(attach_outside(client))
    flying = attach_outside(client)
    with pytest.raises(tumble_ax.WaitForResults, match="1 of 2 failures left, and 1 trial in flight"):
        client.get_next_trials(1)
    client.mark_trial_failed(flying)
    with pytest.raises(tumble_ax.StudyFinished, match="2 of 2 failures are spent"):
        client.get_next_trials(1)


@pytest.mark.filterwarnings("ignore:trial .* lies outside the search space")
def test_trials_outside_the_search_space_use_up_trials_and_failures():
    client = open_client(tumble_ax.generation_strategy(2, 1, seed=0))
    for _ in range(2):
        client.mark_trial_failed(attach_outside(client))
    assert inside(client).trials_left == 0
    with pytest.raises(tumble_ax.StudyFinished, match=r"all 2 trials are used .* with more trials"):
        client.get_next_trials(1)
    client.set_generation_strategy(tumble_ax.generation_strategy(10, 1, seed=0))
    with pytest.raises(tumble_ax.StudyFinished, match=r"2 trials failed where 1 may.* with more failures"):
        client.get_next_trials(1)
    client.set_generation_strategy(tumble_ax.generation_strategy(2, seed=0, on_exhausted="stop"))
    with pytest.raises(tumble_ax.StudyFinished, match="all 2 trials are used"):
        client.get_next_trials(1)


def test_in_another_search_space_every_trial_stays_where_it_was_run():
    client = open_client()
    ran = run(client, 3)
    said = [str(tumble_ax.suggestion(trial)) for trial in client._experiment.trials.values()]
    client._experiment.search_space = box(12.0)
    opt = inside(client)
    assert [dict(t.x) for t in opt.trials] == [pytest.approx(parameters) for parameters in ran]
    assert [t.suggestion.why for t in opt.trials] == said
    assert opt.fitted is None  # it was learned in other coordinates
    run(client, 1)
    assert inside(client).fitted is not None


@pytest.mark.filterwarnings("ignore:trial .* lies outside the search space")
def test_trials_that_another_search_space_has_no_place_for_are_left_out():
    client = open_client()
    run(client, 3)
    client._experiment.search_space = box(0.01)
    assert inside(client).trials_left == 7
    assert inside(client).trials == ()


# -- search spaces -------------------------------------------------------------------------------------------


def test_a_parameter_is_not_held_for_a_few_trials_alone():
    one = ChoiceParameterConfig(name="one", values=[7], parameter_type="int")
    client = open_client(parameters=[*PARAMETERS, one])
    with pytest.raises(tumble.InputError, match=r"fixed_parameters names 'x', but .* client.attach_trial"):
        client.get_next_trials(2, fixed_parameters={"x": 1.0, "one": 7})
    with pytest.raises(tumble.InputError, match="fixed_parameters names 'one'"):
        client.get_next_trials(1, fixed_parameters={"one": 8})
    assert not client._experiment.trials
    assert len(client.get_next_trials(1, fixed_parameters={"one": 7})) == 1


def test_every_kind_of_parameter_goes_there_and_back():
    client = open_client(
        tumble_ax.generation_strategy(6, 2, seed=1),
        parameters=[
            RangeParameterConfig(name="rate", bounds=(1e-4, 1.0), parameter_type="float", scaling="log"),
            RangeParameterConfig(name="layers", bounds=(1, 5), parameter_type="int"),
            ChoiceParameterConfig(name="size", values=[16, 64, 256], parameter_type="int", is_ordered=True),
            ChoiceParameterConfig(
                name="kind", values=["a", "b", "c"], parameter_type="str", is_ordered=False
            ),
            ChoiceParameterConfig(name="one", values=[7], parameter_type="int"),
        ],
    )
    for parameters in run(client, 4, lambda p: {"cost": p["rate"], "load": p["layers"] - 4.0}):
        assert 1e-4 <= parameters["rate"] <= 1.0
        assert parameters["layers"] in range(1, 6)
        assert parameters["size"] in (16, 64, 256)
        assert parameters["kind"] in ("a", "b", "c")
        assert parameters["one"] == 7
    assert inside(client).trials_left == 2


def space_of(*parameters, constraints=None):
    return SearchSpace(parameters=list(parameters), parameter_constraints=constraints)


FLOAT = RangeParameter("x", ParameterType.FLOAT, 0.0, 1.0)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (RangeParameter("x", ParameterType.FLOAT, 0.1, 0.9, logit_scale=True), "logit scales"),
        (RangeParameter("x", ParameterType.FLOAT, 0.0, 1.0, digits=2), "digits"),
        (
            RangeParameter("x", ParameterType.FLOAT, 0.0, 1.0, is_fidelity=True, target_value=1.0),
            "fidelities",
        ),
        (
            ChoiceParameter(
                "x",
                ParameterType.INT,
                [1, 2],
                is_ordered=True,
                sort_values=True,
                is_task=True,
                target_value=1,
            ),
            "tasks",
        ),
    ],
)
def test_parameters_that_are_not_known_are_refused(parameter, message):
    with pytest.raises(tumble.InputError, match=message):
        AxSpace.of(space_of(parameter, RangeParameter("z", ParameterType.FLOAT, 0.0, 1.0)))


def test_derived_parameters_are_refused_by_kind():
    derived = DerivedParameter("d", ParameterType.FLOAT, expression_str="2 * x")
    with pytest.raises(tumble.InputError, match="but DerivedParameter came"):
        AxSpace.of(space_of(FLOAT, derived))


def test_fixed_parameters_stay():
    space = AxSpace.of(space_of(FLOAT, FixedParameter("bit", ParameterType.STRING, "steel")))
    assert space.coordinates({"x": 0.5}) == space.coordinates({"x": 0.5, "bit": "steel"}) == (0.5,)
    assert space.coordinates({"x": 0.5, "bit": "wood"}) is space.coordinates({"bit": "steel"}) is None
    assert (space.space.names, space.space.dim) == (("x", "bit"), 1)


@pytest.mark.parametrize("values", [["s", "m", "l", "xl"], [1, 2, 4], [True, False], [0.5, 2.5]])
def test_best_and_recommended_have_the_values_of_an_ordered_choice_not_its_positions(values):
    kind: Any = {str: "str", bool: "bool", int: "int", float: "float"}[type(values[0])]
    client = open_client(
        tumble_ax.generation_strategy(6, 2, seed=1),
        parameters=[
            RangeParameterConfig(name="x", bounds=(0.0, 1.0), parameter_type="float"),
            ChoiceParameterConfig(name="size", values=values, parameter_type=kind, is_ordered=True),
            ChoiceParameterConfig(name="one", values=[7], parameter_type="int"),
        ],
    )
    tried = list(run(client, 4, lambda p: {"cost": p["x"] + values.index(p["size"]), "load": -1.0}))
    opt = inside(client)
    best, recommended = opt.best, opt.recommend()
    assert dict(best.x) == tried[best.number]
    assert [dict(trial.x) for trial in opt.trials] == tried
    assert recommended.x["size"] in values
    assert type(recommended.x["size"]) is type(values[0])
    client.attach_trial(recommended.x)
    assert set(plots.slices_data(opt)[1].values) == set(values)
    assert plots.surface_data(opt) is None


def test_an_ordered_choice_is_searched_by_its_position():
    size = Ordered(("s", "m", "l"))
    assert [size.encode(value).tolist() for value in size.choices] == [[0.0], [0.5], [1.0]]
    assert [size.decode(np.array([u])) for u in (0.1, 0.4, 0.9)] == ["s", "m", "l"]
    assert size.neighbours(np.array([0.0])).tolist() == [[0.5]]
    with pytest.raises(tumble.InputError, match=r"expected one of .*, but 'xl' came"):
        size.encode("xl")


def test_what_cannot_be_optimised_is_refused():
    client = Client()
    client.configure_experiment(PARAMETERS, name="bare")
    with pytest.raises(tumble.InputError, match="no objective yet"):
        Objectives.of(client._experiment)
    client.configure_optimization(objective="-cost, -heat")
    with pytest.raises(tumble.InputError, match="expected one objective"):
        Objectives.of(client._experiment)
    client.configure_optimization(objective="-cost", outcome_constraints=["load <= 1.1 * baseline"])
    with pytest.raises(tumble.InputError, match="relative to a baseline"):
        Objectives.of(client._experiment)
    limited = Client()
    limited.configure_experiment(PARAMETERS, parameter_constraints=["x + y <= 6"], name="limited")
    with pytest.raises(tumble.InputError, match="no constraints among parameters"):
        AxSpace.of(limited._experiment.search_space)


def test_a_strategy_without_our_node_is_said_to_be_one():
    client = open_client(
        GenerationStrategy(nodes=[GenerationNode("other", generator_specs=[])], name="other")
    )
    with pytest.raises(tumble.InputError, match="has no TumbleNode"):
        inside(client)


def test_bad_arguments_are_refused_when_the_node_is_made():
    with pytest.raises(tumble.InputError, match="failures"):
        tumble_ax.generation_strategy(5, 9)
    with pytest.raises(tumble.InputError, match="settings"):
        tumble_ax.generation_strategy(settings="fast")


def test_settings_of_ones_own_survive_saving(tmp_path):
    settings = tumble.Settings(rho_safe=0.95, n_minima=5).for_space(continuous=True, choices=False)
    client = open_client(tumble_ax.generation_strategy(10, 3, seed=0, settings=settings))
    run(client, 2)
    client.save_to_json_file(str(tmp_path / "drill.json"))
    assert inside(Client.load_from_json_file(str(tmp_path / "drill.json"))).settings == settings


# -- Ax's own generator with our acquisition -----------------------------------------------------------------


def modular(acquisition, options):
    from ax.adapter.registry import Generators
    from ax.generators.torch.botorch_modular.surrogate import ModelConfig, SurrogateSpec
    from botorch.models import SingleTaskGP

    spec = GeneratorSpec(
        Generators.BOTORCH_MODULAR,
        generator_kwargs={
            "surrogate_spec": SurrogateSpec([ModelConfig(botorch_model_class=SingleTaskGP)]),
            "botorch_acqf_class": acquisition,
            "botorch_acqf_options": options,
        },
    )
    return GenerationStrategy(nodes=[GenerationNode("modular", generator_specs=[spec])], name="modular")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("budget", [None, {"trials": 20, "failures": 4, "seed": 0}])
def test_the_modular_generator_builds_our_acquisitions(budget):
    from tumble.integrations.botorch import FailureAwareExcursionSearch, LogExcursionSearch

    acquisition = LogExcursionSearch if budget is None else FailureAwareExcursionSearch
    client = open_client(
        modular(acquisition, budget or {"seed": 0}), limits=() if budget is None else ("load <= 0",)
    )
    for x, y in [(2.0, 2.5), (3.0, 1.0), (5.0, 4.0), (1.0, 1.5)]:
        index = client.attach_trial({"x": x, "y": y})
        measured = evaluate({"x": x, "y": y})
        client.complete_trial(index, raw_data=measured if budget else {"cost": measured["cost"]})
    for parameters in client.get_next_trials(max_trials=2).values():
        assert 0.0 <= parameters["x"] <= 6.0
        assert 0.0 <= parameters["y"] <= 6.0


def test_beyond_the_budget_a_user_of_ax_is_told_what_helps_in_ax():
    client = open_client(tumble_ax.generation_strategy(10, 1, seed=0))
    for _ in range(2):
        client.mark_trial_failed(client.attach_trial({"x": 1.0, "y": 1.0}))
    with pytest.raises(tumble_ax.StudyFinished, match=r"2 trials failed where 1 may.* with more failures"):
        client.get_next_trials(max_trials=1)
    client.set_generation_strategy(tumble_ax.generation_strategy(10, 4, seed=0))
    assert len(client.get_next_trials(max_trials=1)) == 1


def test_unbilled_trials_are_a_list():
    with pytest.raises(tumble.InputError, match="unbilled must be a list of the numbers of trials, not 3"):
        tumble_ax.generation_strategy(10, 3, unbilled=cast(Any, 3))
    for wrong in (-1, "a"):
        message = f"a number in unbilled must be a whole number of at least 0, not {wrong!r}"
        with pytest.raises(tumble.InputError, match=message):
            tumble_ax.generation_strategy(10, 3, unbilled=cast(Any, [wrong]))
