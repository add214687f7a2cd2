"""Xs and XsF in BoTorch: samples, starts, the registry, and the loop as a whole."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf

import tumble
from tests.torch_models import UNIT2, bowl, edge, pair, rand, tensor
from tumble import problems
from tumble.core.process.fit import fit
from tumble.core.process.outputs import Outputs
from tumble.integrations.botorch import (
    BudgetState,
    FailureAwareExcursionSearch,
    LogExcursionSearch,
    NothingSafeEnough,
    budget_state,
    excursion_model,
    optimize_excursion,
    sample_minima,
    starts,
)

# -- samples, starts, search ---------------------------------------------------------------------------------


def test_samples_of_the_minimum_lie_below_the_data_and_above_where_it_is_maximised():
    X, models = pair()
    low = sample_minima(models.models[0], UNIT2, seed=1)
    high = sample_minima(models.models[0], UNIT2, maximize=True, seed=1)
    assert low.shape == high.shape == (20,)
    assert (low <= bowl(X).min() + 1e-3).all()
    assert (high >= bowl(X).max() - 1e-3).all()
    assert torch.equal(low, sample_minima(models.models[0], UNIT2, seed=1))


@pytest.mark.parametrize("law", ["joint", "frechet", "gumbel"])
def test_every_law_of_the_minimum_can_be_sampled(law):
    _, models = pair()
    minima = sample_minima(models, UNIT2, settings=tumble.Settings(minima=law, n_minima=7), seed=0)
    assert minima.shape == (7,)
    assert torch.isfinite(minima).all()


def test_safe_search_starts_inside_and_stays_inside():
    _, models = pair()
    state = BudgetState(z=2.0, trials_left=10, failures_left=1)
    acqf = FailureAwareExcursionSearch(models, state, sample_minima(models, UNIT2, seed=0))
    first = starts(acqf, UNIT2, num_restarts=4, raw_samples=64, options={"seed": 0})
    assert first.shape == (4, 1, 2)
    assert (acqf.margin(first.squeeze(1)) > 0.0).all()
    candidate = optimize_excursion(acqf, UNIT2, num_restarts=3, raw_samples=64, seed=0)
    assert candidate.mode == "careful"
    assert candidate.p_safe >= acqf.rho
    assert acqf(candidate.x) >= acqf(first).max()


# SLSQP may give up at a start; BoTorch says so and tries others.
@pytest.mark.filterwarnings("ignore:Optimization failed:RuntimeWarning")
def test_optimize_acqf_takes_the_constraint_and_the_starts_as_they_are():
    _, models = pair()
    state = BudgetState(z=2.0, trials_left=10, failures_left=1)
    acqf = FailureAwareExcursionSearch(models, state, sample_minima(models, UNIT2, seed=0))
    x, _ = optimize_acqf(
        acqf, UNIT2, q=1, num_restarts=2, raw_samples=64, ic_generator=starts,  # type: ignore[arg-type]

        nonlinear_inequality_constraints=acqf.nonlinear_inequality_constraints, options={"seed": 0},
    )  # fmt: skip
    assert acqf.margin(x) > -1e-5


def test_where_nothing_reaches_rho_the_safest_point_is_taken():
    X = rand(6, 2, 0)
    models = ModelListGP(excursion_model(X, bowl(X), UNIT2), excursion_model(X, edge(X) + 3.0, UNIT2))
    state = BudgetState(z=3.0, trials_left=10, failures_left=1)
    acqf = FailureAwareExcursionSearch(models, state, tensor([-1.0]), safe_known=True)
    with pytest.raises(NothingSafeEnough, match="what the budget asks for"):
        starts(acqf, UNIT2, raw_samples=32, options={"seed": 0})
    candidate = optimize_excursion(acqf, UNIT2, num_restarts=2, raw_samples=32, seed=0)
    assert candidate.mode == "safest"
    assert candidate.p_safe < acqf.rho
    with torch.no_grad():
        assert candidate.value >= acqf.log_p_safe(X).max() - 1e-9


def test_without_a_failure_left_and_nothing_safe_known_the_mode_is_safest():
    X = rand(6, 2, 0)
    models = ModelListGP(excursion_model(X, bowl(X), UNIT2), excursion_model(X, edge(X) + 3.0, UNIT2))
    acqf = FailureAwareExcursionSearch(models, budget_state(9, 1, [True]), tensor([-1.0]))
    assert acqf.mode == "safest"
    assert acqf.nonlinear_inequality_constraints is None


def test_constraints_observed_elsewhere_are_predicted_at_the_objectives_points():
    X, models = pair()
    other = rand(9, 2, 5)
    mixed = ModelListGP(models.models[0], excursion_model(other, edge(other), UNIT2))
    acqf = FailureAwareExcursionSearch(mixed, BudgetState(2.0, 10, 1), tensor([-1.0]))
    assert acqf.mode == "careful"
    assert acqf.study.observed().shape == (len(X), 1)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_constraint_is_observed_where_the_models_inputs_agree_not_their_scaled_inputs(scale):
    X, load = tensor([[0.0, 0.0], [0.2, 0.3], [0.4, 0.4]]), tensor([[-1.0], [1.0], [-1.0]])
    f = SingleTaskGP(X, bowl(X), input_transform=Normalize(2))
    g = SingleTaskGP(scale * X, load, input_transform=Normalize(2))  # it sees the same points as f does
    seen = FailureAwareExcursionSearch(ModelListGP(f, g), budget_state(9, 3), tensor([-1.0])).study.observed()
    expected = load if scale == 1.0 else g.posterior(X).mean.detach()
    np.testing.assert_allclose(seen, expected)
    bare = SingleTaskGP(X, load)
    mixed = FailureAwareExcursionSearch(ModelListGP(f, bare), budget_state(9, 3), tensor([-1.0]))
    np.testing.assert_allclose(mixed.study.observed(), load)


@pytest.mark.filterwarnings("ignore:The model inputs are of type torch.float32")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_trial_at_its_limit_is_safe_whatever_the_outputs_are_scaled_by(dtype):
    X, broken = rand(6, 2, 0).to(dtype), torch.tensor([[0.0], [0.1], [3.0], [0.0], [2.0], [0.0]], dtype=dtype)
    for shift in (0.0, 0.1, 0.7, 1.0 / 3.0, 12.3):
        g = SingleTaskGP(X, broken + shift, outcome_transform=Standardize(1))
        models, limit = ModelListGP(SingleTaskGP(X, bowl(X)), g), {1: (None, (broken + shift)[0].item())}
        acqf = FailureAwareExcursionSearch(models, budget_state(20, 7), tensor([-1.0]), constraints=limit)
        assert acqf.study.safe.tolist() == (broken[:, 0] == 0.0).tolist()


def test_the_direction_is_that_of_the_safe_trials_where_the_unsafe_ones_are_lower():
    X = tensor([[x, 0.5] for x in (0.1, 0.2, 0.6, 0.7, 0.8, 0.9)])
    f = excursion_model(X, 5.0 - 5.0 * X[:, :1], UNIT2)
    models = ModelListGP(f, excursion_model(X, X[:, :1] - 0.3, UNIT2))
    for level, upwards in ((3.4, False), (5.1, True)):  # the safe trials have 4.5 and 4.0
        acqf = FailureAwareExcursionSearch(models, budget_state(20, 4, [True] * 4), tensor([level]))
        assert acqf.upwards is upwards


def test_bounds_may_be_whole_numbers():
    _, models = pair()
    state = BudgetState(z=2.0, trials_left=10, failures_left=1)
    minima = sample_minima(models, UNIT2.long(), seed=0)
    for acqf in (
        LogExcursionSearch(models.models[0], minima),
        FailureAwareExcursionSearch(models, state, minima),
    ):
        whole, floats = (
            optimize_excursion(acqf, bounds, num_restarts=2, raw_samples=32, seed=0)
            for bounds in (UNIT2.long(), UNIT2)
        )
        assert torch.equal(whole.x, floats.x)
        first = starts(acqf, UNIT2.long(), raw_samples=32, options={"seed": 0})
        assert ((first > 0.0) & (first < 1.0)).any()


def test_settings_are_given_by_name_as_at_every_door():
    _, models = pair()
    paper = tumble.Settings.paper()
    state = budget_state(20, 4, [True], "paper")
    assert state == budget_state(20, 4, [True], paper)
    minima = sample_minima(models, UNIT2, settings="paper", seed=0)
    assert torch.equal(minima, sample_minima(models, UNIT2, settings=paper, seed=0))
    assert FailureAwareExcursionSearch(models, state, minima, settings="paper").settings == paper
    with pytest.raises(tumble.InputError, match='settings must be "default", "paper" or'):
        sample_minima(models, UNIT2, settings="fast")


def test_several_points_are_found_one_after_the_other():
    _, models = pair()
    f = models.models[0]
    acqf = LogExcursionSearch(f, sample_minima(f, UNIT2, seed=0))
    x, _ = optimize_acqf(acqf, UNIT2, q=2, num_restarts=2, raw_samples=32, sequential=True)
    assert x.shape == (2, 2)
    assert (x[0] - x[1]).abs().max() > 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_the_next_trial_is_another_than_what_is_in_flight(seed):
    _, models = pair()
    f = models.models[0]
    minima = sample_minima(f, UNIT2, seed=seed)
    best = optimize_excursion(LogExcursionSearch(f, minima), UNIT2, num_restarts=3, raw_samples=64, seed=0)
    again = LogExcursionSearch(f, minima, X_pending=best.x)
    other = optimize_excursion(again, UNIT2, num_restarts=3, raw_samples=64, seed=0)
    assert (other.x - best.x).abs().max() > 1e-3


# -- built by BoTorch's registry -----------------------------------------------------------------------------


def test_the_input_constructor_builds_xs_in_either_direction():
    X, models = pair()
    f = models.models[0]
    build = get_acqf_input_constructor(LogExcursionSearch)
    down = LogExcursionSearch(**build(model=f, bounds=[(0.0, 1.0)] * 2, seed=0))
    up = LogExcursionSearch(
        **build(
            model=f, bounds=UNIT2, posterior_transform=ScalarizedPosteriorTransform(torch.ones(1)), seed=0
        )
    )
    assert not down.upwards
    assert up.upwards
    given = tensor([-1.0])
    assert build(model=f, bounds=UNIT2, minima=given)["minima"] is given
    assert (up.minima >= bowl(X).max() - 1e-3).all()


def test_the_input_constructor_counts_the_budget_on_the_training_data():
    X, models = pair()
    build = get_acqf_input_constructor(FailureAwareExcursionSearch)
    A, b = tensor([[0.0, 1.0]]), tensor([[0.0]])
    weights = ScalarizedPosteriorTransform(tensor([-1.0, 0.0]))
    failed = (edge(X)[:, 0] > 0).tolist()
    acqf = FailureAwareExcursionSearch(
        **build(
            model=models, bounds=UNIT2, constraints_tuple=(A, b), posterior_transform=weights, seed=0,
            trials=20, failures=sum(failed),
        )
    )  # fmt: skip
    assert acqf.mode == "careful"  # nothing is left
    assert acqf.penalty > 0
    x = tensor([[0.2, 0.5], [0.9, 0.5]])
    inside, outside = acqf(x[:, None, :])
    assert inside > outside
    A, b = tensor([[0.0, 1.0], [0.0, 2.0], [0.0, -1.0], [0.0, -1.0]]), tensor([[0.5], [4.0], [1.0], [3.0]])
    twice = build(model=models, bounds=UNIT2, constraints_tuple=(A, b), trials=20, failures=5, seed=0)
    assert twice["constraints"] == {1: (-1.0, 0.5)}
    state = budget_state(20, 5)
    assert build(model=models, bounds=UNIT2, budget_state=state, seed=0)["budget_state"] is state
    with pytest.raises(tumble.InputError, match="budget_state, or trials and failures"):
        build(model=models, bounds=UNIT2)
    with pytest.raises(tumble.InputError, match="on one output"):
        build(model=models, bounds=UNIT2, constraints_tuple=(torch.ones(1, 2), b), trials=9, failures=1)
    with pytest.raises(tumble.InputError, match="single objective"):
        build(model=models, bounds=UNIT2, posterior_transform=ScalarizedPosteriorTransform(torch.ones(2)))


# -- the loop ------------------------------------------------------------------------------------------------


def fitted(X, y):
    """A model with the hyperparameters of the core's fit, which takes milliseconds."""
    settings = tumble.Settings()
    values = y.numpy()
    outputs = Outputs.of(values, centre=True)
    hyper = fit(
        X.numpy(),
        values,
        kernel="matern52",
        priors=replace(settings.constraint, additive=None),  # as `excursion_model`'s: nothing in common
        outputs=outputs,
    ).hyper
    model = excursion_model(
        X, y[:, None], torch.stack([torch.zeros(X.shape[1]), torch.ones(X.shape[1])]).double()
    )
    model.covar_module.base_kernel.lengthscale = tensor(hyper.lengthscales)
    model.covar_module.outputscale = hyper.variance
    model.likelihood.noise = max(hyper.noise**2, 1e-8)
    return model


def run_loop(problem, trials, failures, seed):
    """`trials` trials of a problem through BoTorch, in the unit cube, from one point."""
    low, span = problem.bounds[:, 0], problem.bounds[:, 1] - problem.bounds[:, 0]
    box = tensor([[0.0], [1.0]]).expand(2, len(low))
    X = torch.tensor(np.random.default_rng(seed).random((1, len(low))))
    seen = [problem.evaluate(low + span * X[0].numpy())]
    while len(seen) < trials:
        f = fitted(X, tensor([e.value for e in seen]))
        acqf: LogExcursionSearch | FailureAwareExcursionSearch
        if problem.constraints is None:
            acqf = LogExcursionSearch(f, sample_minima(f, box, seed=len(seen)))
        else:
            g = [fitted(X, tensor([e.constraints[k] for e in seen])) for k in range(problem.n_constraints)]
            models = ModelListGP(f, *g)
            state = budget_state(trials, failures, [not e.safe for e in seen])
            acqf = FailureAwareExcursionSearch(models, state, sample_minima(models, box, seed=len(seen)))
        found = optimize_excursion(
            acqf, box, num_restarts=4, raw_samples=128, seed=len(seen), options={"maxiter": 30}
        )
        X = torch.cat([X, found.x])
        seen.append(problem.evaluate(low + span * found.x[0].numpy()))
    return seen


@pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.OptimizationWarning")
@pytest.mark.filterwarnings("ignore:Optimization failed:RuntimeWarning")
@pytest.mark.parametrize(("name", "failures", "close"), [("figure1", None, 0.01), ("gardner-cosine", 6, 0.1)])
def test_twenty_trials_in_botorch_reach_what_minimize_reaches(name, failures, close):
    problem = problems.get(name)
    results = [tumble.minimize(problem, problem.bounds, 20, failures, seed=seed) for seed in range(3)]
    assert np.median([np.inf if r.fun is None else r.fun - problem.f_min for r in results]) < close
    for seed in range(6):  # half of them end in another basin, 0.16 or 1.0 higher; which, depends on rounding
        seen = run_loop(problem, 20, failures, seed=seed)
        assert failures is None or sum(not e.safe for e in seen) <= failures
        if problem.regret([e.value for e in seen], [e.safe for e in seen])[-1] < close:
            return
    raise AssertionError("no seed reached it")


@pytest.mark.parametrize("failed", [[True, False], np.array([True, False]), tensor([1.0, 0.0]) > 0, [1, 0]])
def test_failures_are_counted_in_any_form_of_true_and_false(failed):
    assert budget_state(20, 4, failed).failures_left == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (20, 4, [-0.3, 0.2]),
            "failed must be true or false for each trial, not -0.3; compare .* first: g > 0",
        ),
        ((20, 4, tensor([-0.3, -0.2])), "failed must be true or false for each trial"),
        ((20, 4, 2), "failed must be a list of true and false"),
        ((20, None), "failures must be a whole number"),
        ((20, -1), "failures must be a whole number of at least 0, not -1"),
        ((3, 5), "cannot exceed trials"),
        ((20, 4, [], None, float("nan")), "risk must be finite, not nan"),
        ((20, 4, [], None, -1), "risk must be at least 0, not -1"),
    ],
)
def test_what_is_no_budget_is_refused(arguments, message):
    with pytest.raises(tumble.InputError, match=message):
        budget_state(*arguments)


@pytest.mark.parametrize("count", [5, 15])
def test_a_budget_without_a_trial_left_has_no_state(count):
    with pytest.raises(tumble.TrialsExhausted, match="all 5 trials are used; allow more trials to go on"):
        budget_state(5, 4, [False] * count)
    assert budget_state(5, 4, [False] * 4).trials_left == 1
