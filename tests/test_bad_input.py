"""Bad input of every kind: our own exception, a message that helps, and nothing changed."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

import tumble
from tumble.core.process.priors import ParetoTail, Uniform

TINY = tumble.Settings(raw_samples=16, restarts=2, grid=16, n_minima=4)
NAN, INF = float("nan"), float("inf")


def study(**more) -> tumble.Optimizer:
    more.setdefault("constraints", ["heat", "load"])
    opt = tumble.Optimizer([(0.0, 1.0), (2.0, 5.0)], 9, 4, seed=0, settings=TINY, **more)
    opt.tell(opt.ask(), 1.0, [-1.0, -1.0])  # trial 0
    opt.skip(opt.ask())  # trial 1
    opt.ask()  # trial 2, in flight
    return opt


BAD_TELLS = [
    # what, arguments, part of the message
    ("wrong length", ([0.5], 1.0, [-1, -1]), {}, "expected 2 values"),
    ("too long", ([0.5, 3.0, 1.0], 1.0, [-1, -1]), {}, "expected 2 values"),
    ("nothing at all", ([], 1.0, [-1, -1]), {}, "expected 2 values"),
    ("NaN in x", ([NAN, 3.0], 1.0, [-1, -1]), {}, "finite"),
    ("inf in x", ([0.5, INF], 1.0, [-1, -1]), {}, "finite"),
    ("strings in x", (["a", "b"], 1.0, [-1, -1]), {}, "number"),
    ("x a string", ("ab", 1.0, [-1, -1]), {}, "x0, x1"),
    ("x None", (None, 1.0, [-1, -1]), {}, "x0, x1"),
    ("x a number", (0.5, 1.0, [-1, -1]), {}, "x0, x1"),
    ("out of bounds", ([0.5, 5.1], 1.0, [-1, -1]), {}, r"\[2, 5\]"),
    ("below bounds", ([-0.1, 3.0], 1.0, [-1, -1]), {}, r"\[0, 1\]"),
    ("unknown names", ({"a": 1.0, "b": 2.0}, 1.0, [-1, -1]), {}, "x0, x1"),
    ("unknown number", (7, 1.0, [-1, -1]), {}, "no trial 7"),
    ("negative number", (-1, 1.0, [-1, -1]), {}, "no trial -1"),
    ("a truth for a number", (True, 1.0, [-1, -1]), {}, "True"),
    ("told twice", (0, 1.0, [-1, -1]), {}, "told already"),
    ("told after a skip", (1, 1.0, [-1, -1]), {}, "skipped already"),
    ("nothing told", (2,), {}, "nothing was told"),
    ("no value, nothing above 0", (2, None, [-1, None]), {}, "nothing was told"),
    ("value and failed together", (2, 1.0), {"failed": True}, "failed trial has no value"),
    ("NaN value", (2, NAN, [-1, -1]), {}, "failed=True"),
    ("infinite value", (2, -INF, [-1, -1]), {}, "finite"),
    ("a value too large", (2, 10**400, [-1, -1]), {}, "finite"),
    ("a penalty", (2, 1.7e308, [-1, -1]), {}, r"value must be at most 1e\+300 in size.*failed=True"),
    ("a constraint too large", (2, 1.0, [-1, -1.1e300]), {}, r"load must be at most 1e\+300 in size"),
    ("a string value", (2, "3.2", [-1, -1]), {}, "value must be a number"),
    ("a complex value", (2, 1j, [-1, -1]), {}, "value must be a number"),
    ("a truth for a value", (2, True, [-1, -1]), {}, "value must be a number"),
    ("several values", (2, [1.0, 2.0], [-1, -1]), {}, "value must be a number"),
    ("too few constraints", (2, 1.0, [-1]), {}, "expected 2 constraints.*heat, load.*got 1"),
    ("too many constraints", (2, 1.0, [-1, -1, -1]), {}, "got 3"),
    ("no constraints", (2, 1.0), {}, "heat, load is missing"),
    ("a missing constraint", (2, 1.0, [-1, None]), {}, "load is missing"),
    ("NaN constraint", (2, 1.0, [-1, NAN]), {}, "load must be finite"),
    ("infinite constraint", (2, 1.0, [INF, -1]), {}, "heat must be finite"),
    ("string constraints", (2, 1.0, "ab"), {}, "list or a dict"),
    ("a string among constraints", (2, 1.0, [-1, "cold"]), {}, "load must be a number"),
    (
        "an unknown constraint",
        (2, 1.0, {"heat": -1, "weight": -1}),
        {},
        "unknown constraint weight.*heat, load",
    ),
    ("a constraint left out by name", (2, 1.0, {"heat": -1}), {}, "load is missing"),
    ("failed not a truth", (2,), {"failed": 1}, "failed must be true or false"),
    ("billed not a truth", (2, 1.0, [-1, -1]), {"billed": None}, "billed must be true or false"),
    ("reason not a string", (2,), {"failed": True, "reason": 3}, "reason must be text"),
]


@pytest.mark.parametrize(
    ("arguments", "more", "message"), [c[1:] for c in BAD_TELLS], ids=[c[0] for c in BAD_TELLS]
)
def test_a_bad_tell_is_refused_and_changes_nothing(arguments, more, message):
    opt = study()
    before = opt.to_dict()
    with pytest.raises(tumble.InputError, match=message) as error:
        opt.tell(*arguments, **more)
    assert isinstance(error.value, ValueError)
    assert opt.to_dict() == before


@pytest.mark.parametrize(
    ("trial", "message"),
    [
        (0, "told already"),
        (1, "skipped already"),
        (9, "no trial 9"),
        (-3, "no trial"),
        ("2", "Suggestion or its number"),
        ([0.5, 3.0], "Suggestion or its number"),
        (None, "Suggestion or its number"),
        (2.0, "Suggestion or its number"),
        (True, "Suggestion or its number"),
    ],
)
def test_a_bad_skip_is_refused_and_changes_nothing(trial, message):
    opt = study()
    before = opt.to_dict()
    with pytest.raises(tumble.InputError, match=message):
        opt.skip(trial)
    assert opt.to_dict() == before


def test_a_suggestion_of_another_optimizer_is_refused():
    opt, other = study(), tumble.Optimizer([(0.0, 1.0), (2.0, 5.0)], seed=5, settings=TINY)
    foreign = [other.ask() for _ in range(3)][2]
    before = opt.to_dict()
    with pytest.raises(tumble.InputError, match="not one of this Optimizer"):
        opt.tell(foreign, 1.0, [-1.0, -1.0])
    assert opt.to_dict() == before


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([], "shape"),
        ([(0.0, 1.0, 2.0)], "shape"),
        ([0.0, 1.0], "shape"),
        ("ab", "pairs of numbers"),
        ([("a", "b")], "pairs of numbers"),
        ([(1.0, 0.0)], "dimension 0"),
        ([(0.0, 1.0), (2.0, 2.0)], "dimension 1"),
        ([(0.0, INF)], "dimension 0"),
        ([(NAN, 1.0)], "dimension 0: low must be finite, not nan"),
        ([(0.0, 1.0), (0.0, None)], "dimension 1: expected two numbers, but None came; where nothing"),
        (None, r"but None came; write for example \[\(0.0, 1.0\)"),
        (NAN, "but nan came; write for example"),
        ([(0.0,), (1.0, 2.0)], "bounds"),
    ],
)
def test_bad_bounds_are_refused(bounds, message):
    with pytest.raises(tumble.InputError, match=message):
        tumble.Optimizer(bounds)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"trials": 0}, "trials must be a whole number of at least 1, not 0"),
        ({"trials": -3}, "trials"),
        ({"trials": 2.5}, "trials.*2.5"),
        ({"trials": "9"}, "trials"),
        ({"trials": None}, "trials"),
        ({"trials": True}, "trials"),
        ({"trials": 10**400}, r"trials must be at most 2\^53"),
        ({"failures": -1}, "failures must be a whole number of at least 0"),
        ({"failures": 1.0}, "failures"),
        ({"failures": 101}, r"failures \(101\) cannot exceed trials \(100\); leave failures out"),
        ({"constraints": -1}, "count from 0 to 1000 or a list of names"),
        ({"constraints": 10**400}, "count from 0 to 1000 or a list of names"),
        ({"constraints": 1.5}, "constraints"),
        ({"constraints": "heat"}, "constraints"),
        ({"constraints": ["a", "a"]}, "distinct names"),
        ({"constraints": ["a", 3]}, "distinct names"),
        ({"constraints": [""]}, "distinct names"),
        ({"constraints": ["crash"]}, "cannot be called 'crash'"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": "a"}, "seed"),
        ({"method": "genetic"}, "method must be one of tumble, xs, xsf"),
        ({"method": 3}, "method"),
        ({"method": ["xs"]}, "method"),
        ({"method": "xs", "constraints": 1}, "'xs' takes no constraints; choose one of tumble, xsf"),
        ({"method": "ei", "constraints": 1}, "takes no constraints"),
        ({"settings": "fast"}, '"default", "paper" or a tumble.Settings, not \'fast\''),
        ({"settings": None}, "settings"),
        ({"settings": {}}, "settings"),
        ({"settings": np.array([1, 2])}, "settings must be"),
        ({"on_exhausted": "explode"}, '"safe" or "stop", not \'explode\''),
        ({"on_exhausted": None}, "on_exhausted"),
    ],
)
def test_bad_arguments_are_refused(more, message):
    with pytest.raises(tumble.InputError, match=message):
        tumble.Optimizer([(0.0, 1.0)], **more)


def test_a_hard_budget_of_nothing_says_at_the_first_question_what_to_do():
    opt = tumble.Optimizer([(0.0, 1.0)], failures=0, on_exhausted="stop")
    with pytest.raises(tumble.BudgetExhausted, match=r"lets no trial start.*or allow at least one failure"):
        opt.ask()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rho_safe": 1.0}, "rho_safe must be a number between 0 and 1"),
        ({"rho_b": 0}, "rho_b"),
        ({"rho_0": NAN}, "rho_0"),
        ({"rho_0": 0.995}, "rho_risk <= rho_0 <= rho_safe"),
        ({"delta": 0.0}, "delta"),
        ({"delta": "a"}, "delta"),
        ({"kernel": "rbf"}, "matern52"),
        ({"kernel": ["se"]}, "kernel"),
        ({"minima": "weibull"}, '"joint", "frechet" or "gumbel"'),
        ({"restarts": 0}, "restarts"),
        ({"restarts": True}, "restarts"),
        ({"grid": 2.0}, "grid"),
        ({"n_minima": -1}, "n_minima"),
        ({"objective": 3}, "objective"),
        ({"calibrate": "yes"}, "calibrate must be true or false, not 'yes'"),
        ({"pi_margin": -1.0}, "pi_margin must be at least 0, not -1.0"),
        ({"ucb_beta": NAN}, "ucb_beta must be finite, not nan"),
        (
            {"objective": replace(TINY.objective, variance=Uniform(1.0, 0.5))},
            "objective: variance needs a law",
        ),
        ({"constraint": replace(TINY.objective, additive=(0.0, 0.0))}, "additive needs a mean and a spread"),
    ],
)
def test_bad_settings_are_refused(more, message):
    with pytest.raises(tumble.InputError, match=message):
        tumble.Settings(**more)


def test_a_noise_of_zero_is_refused():
    with pytest.raises(tumble.InputError, match="noise must be a float above 0"):
        tumble.Settings(objective=replace(TINY.objective, noise=0.0))


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.floats()
    | st.text(max_size=3)
    | st.complex_numbers()
    | st.builds(object)
    | st.just(10**400),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["heat", "load", "x0", "x1", "?"]), inner, max_size=3)
        | st.builds(lambda v: np.array(v, dtype=object), st.lists(inner, max_size=3))
    ),
    max_leaves=4,
)


@given(
    anything, anything, anything, anything | st.just(False), anything | st.just(""), anything | st.just(True)
)
@effort(max_examples=100)
def test_whatever_is_told_is_either_recorded_or_refused_with_nothing_changed(
    trial, value, constraints, failed, reason, billed
):
    opt = STUDY
    before = opt.to_dict()
    try:
        opt.tell(trial, value, constraints, failed=failed, reason=reason, billed=billed)
    except tumble.InputError:
        assert opt.to_dict() == before
    else:
        assert opt.to_dict() != before
        opt.__dict__.update(tumble.Optimizer.from_dict(before).__dict__)


STUDY = study()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"soften_phi": "no"}, "settings.soften_phi must be true or false, not 'no'"),
        ({"standardize": 1}, "settings.standardize must be true or false, not 1"),
        ({"n_minima": 10**400}, "settings.n_minima must be a whole number from 1 to 100000"),
        ({"noise": 1}, "a known noise must be a float above 0, not 1"),
        ({"mean_std": 1e-200}, "mean_std must lie from 1e-6 to 1e6, or be None"),
        ({"additive": (0.0,)}, "additive needs a mean and a spread above 0"),
        ({"additive": 5}, "additive needs a mean and a spread above 0"),
    ],
)
def test_settings_that_would_break_a_fit_are_refused(change, message):
    of_priors = {"noise", "mean_std", "additive"} >= set(change)
    with pytest.raises(tumble.InputError, match=message):
        replace(TINY, **({"objective": replace(TINY.objective, **change)} if of_priors else change))


@pytest.mark.parametrize("part", ["lengthscale", "variance", "noise"])
@pytest.mark.parametrize("law", [(0.5, 1e-160, 1.0), (0.5, 0.7, 1e200), (0.5, 0.7, 0.0), (0.0, 0.7, 1.0)])
def test_a_tail_that_would_break_a_fit_is_refused(part, law):
    change: dict[str, Any] = {part: ParetoTail(*law)}
    with pytest.raises(tumble.InputError, match=f"objective: {part} needs a law with a spread above 0"):
        replace(TINY, objective=replace(TINY.objective, **change))


@pytest.mark.parametrize("data", [None, [], "paper", 3])
def test_settings_are_loaded_from_a_dict_only(data):
    with pytest.raises(tumble.InputError, match="settings must be what to_dict gave, not"):
        tumble.Settings.from_dict(data)


def test_settings_saved_by_an_older_version_are_what_they_were():
    data = tumble.Settings.paper().to_dict()
    del data["temper"], data["objective"]["mean"], data["constraint"]["mean"]
    assert tumble.Settings.from_dict(data) == tumble.Settings.paper()


@pytest.mark.parametrize(
    ("value", "constraints"),
    [
        (np.ma.masked, [1.0]),
        (1.0, [np.ma.masked]),
        (1.0, np.ma.array([1.0], mask=[True])),
        (1.0, {"g0": np.ma.masked}),
    ],
)
def test_a_masked_value_is_not_taken_for_a_number(value, constraints):
    opt = tumble.Optimizer([(0.0, 1.0)], trials=4, constraints=1, seed=0)
    with pytest.raises(tumble.InputError, match="not measured"):
        opt.tell(opt.ask(), value, constraints)


@pytest.mark.parametrize(
    "x0",
    [
        np.ma.array([0.5, 0.2], mask=[False, True]),
        [np.ma.array([0.5, 0.2], mask=[False, True])],
        [0.5, np.ma.masked],
    ],
)
def test_a_masked_start_is_not_run(x0):
    with pytest.raises(tumble.InputError, match="a masked value is none"):
        tumble.minimize(lambda x: 1.0, [(0.0, 1.0)] * 2, trials=2, x0=x0)


def test_a_bound_too_large_for_a_float_is_refused():
    with pytest.raises(tumble.InputError, match="bounds must be pairs of numbers"):
        tumble.Optimizer([(0, 10**400)])


def test_a_masked_bound_is_refused():
    with pytest.raises(tumble.InputError, match="a masked value is none"):
        tumble.Optimizer(np.ma.array([[0.0, 1.0]], mask=[[False, True]]))
