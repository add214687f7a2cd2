"""Saving and restoring: JSON, and a restored optimizer that goes on as if it had never stopped."""

import contextlib
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

import tumble
from tumble.core.process.priors import Gamma, LogNormal, Normal, ParetoTail, Uniform
from tumble.space import Categorical, Float, Int, Space

TINY = tumble.Settings(raw_samples=16, restarts=2, grid=16, n_minima=4)


def through_json(opt: tumble.Optimizer) -> tumble.Optimizer:
    return tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict(), allow_nan=False)))


def same(a: tumble.Suggestion, b: tumble.Suggestion) -> None:
    for name in tumble.Suggestion.__dataclass_fields__:
        left, right = getattr(a, name), getattr(b, name)
        if isinstance(left, dict | str):
            assert left == right, name
        else:
            np.testing.assert_array_equal(left, right, err_msg=name)


steps = st.lists(
    st.sampled_from(["ask", "tell", "crash", "violate", "stop", "skip", "own", "old", "save"]), max_size=14
)


@given(steps, st.integers(0, 2), st.sampled_from(["safe", "stop"]))
@effort(max_examples=20)
def test_saved_at_any_moment_and_restored_it_goes_on_identically(actions, count, on_exhausted):
    make = {"failures": 4, "constraints": count, "seed": 11, "settings": TINY, "on_exhausted": on_exhausted}
    plain, saved = (tumble.Optimizer([(0.0, 2.0), (-1.0, 1.0)], 12, **make) for _ in range(2))
    flying: list[int] = []
    for k, action in enumerate([*actions, "save", "ask"]):
        if action == "save":
            saved = through_json(saved)
            assert saved.to_dict() == plain.to_dict()
        elif action == "ask":
            try:
                s = plain.ask()
            except tumble.TumbleError as error:
                with pytest.raises(type(error)):
                    saved.ask()
            else:
                same(s, saved.ask())
                flying.append(s.number)
        elif action in ("own", "old"):
            x = [0.1 * k, 0.3]
            for opt in (plain, saved):
                if opt.trials_left > 0 or action == "old":
                    opt.tell(x, 0.5 * k, [-1.0] * count, billed=action == "own")
        elif flying:
            number = flying.pop(k % len(flying))
            for opt in (plain, saved):
                if action == "skip":
                    opt.skip(number)
                elif action == "crash" or (count == 0 and action in ("violate", "stop")):
                    opt.tell(number, failed=True, reason="broke")
                elif action == "stop":
                    opt.tell(number, None, [1.0, None][:count])
                else:
                    opt.tell(number, float(np.sin(k)), [1.0 if action == "violate" else -1.0] * count)
    assert (saved.trials_left, saved.failures_left) == (plain.trials_left, plain.failures_left)
    a, b = plain.recommend(), saved.recommend()
    assert (a is None) == (b is None)
    if a is not None and b is not None:
        np.testing.assert_array_equal(a.x, b.x)


@pytest.mark.parametrize("kind", [np.float32, Decimal, Fraction])
def test_what_was_said_and_changed_is_saved_whatever_the_kinds_of_its_numbers(kind):
    """A database or an array hands out numbers of its own kinds."""
    opt = tumble.Optimizer([(0.0, 1.0)], constraints=1, seed=0, settings=TINY)
    opt.tell(opt.ask(), 1.0, [-1.0])
    opt.amend(0, 2.0)
    trial = opt.trials[0]
    assert trial.suggestion is not None
    said = replace(trial.suggestion, number=np.int64(0), rho=kind(0.5), p_each={"g0": kind(0.25)})  # type: ignore[arg-type]
    change = replace(trial.changes[0], value=kind(1.0), constraints=(kind(-1.0),), crashed=np.False_)  # type: ignore[arg-type]
    odd = replace(trial, suggestion=said, changes=(change,))
    restored = through_json(
        tumble.Optimizer.from_trials([(0.0, 1.0)], [odd], constraints=1, seed=0, settings=TINY)
    )
    assert restored.changes == opt.changes
    read = restored.trials[0].suggestion
    assert read is not None
    assert (read.rho, read.p_each) == (0.5, {"g0": 0.25})


def test_a_space_is_saved_with_its_choices():
    space = Space(
        {"rate": Float(1e-4, 1.0, log=True), "teeth": Int(3, 9, step=2), "oil": Categorical(("a", "b", None))}
    )
    opt = tumble.Optimizer(space, 9, 2, ["heat"], seed=3, settings=TINY)
    opt.tell(opt.ask(), 1.0, [-1.0])
    opt.ask()
    back = through_json(opt)
    assert back.space == space
    assert back.trials[0].x == opt.trials[0].x
    same(opt.ask(), back.ask())


def test_every_setting_survives():
    base = TINY.objective
    priors = [
        type(base)(Uniform(0.01, 0.3), Normal(0.5, 0.25), 0.01),
        type(base)(ParetoTail(1.0, 0.5, 2.0), Gamma(1.0, 5.0), LogNormal(0.01, 1.0)),
    ]
    settings = tumble.Settings(rho_safe=0.95, delta=None, kernel="se", minima="gumbel", objective=priors[0],
                               constraint=priors[1], restarts=3)  # fmt: skip
    for chosen in (settings, tumble.Settings(), tumble.Settings.paper()):
        assert tumble.Settings.from_dict(json.loads(json.dumps(chosen.to_dict()))) == chosen
    with pytest.raises(tumble.InputError, match="unknown settings: rho_max"):
        tumble.Settings.from_dict({**settings.to_dict(), "rho_max": 1.0})


def test_a_saved_state_is_not_tied_to_the_optimizer_it_came_from():
    opt = tumble.Optimizer([(0.0, 1.0)], 9, 3, 1, seed=0, settings=TINY)
    opt.tell(opt.ask(), 1.0, [-1.0])
    data = opt.to_dict()
    text = json.dumps(data)
    opt.tell(opt.ask(), 2.0, [1.0])
    tumble.Optimizer.from_dict(data).ask()
    assert json.dumps(data) == text


def saved() -> dict:
    opt = tumble.Optimizer([(0.0, 1.0)], 9, 3, 1, seed=0, settings=TINY)
    opt.tell(opt.ask(), 1.0, [-1.0])
    opt.ask()
    return opt.to_dict()


@pytest.mark.parametrize("rubbish", [None, 3, "text", [], {}, {"format": 99}])
def test_something_else_is_refused(rubbish):
    with pytest.raises(tumble.InputError, match="to_dict"):
        tumble.Optimizer.from_dict(rubbish)


@pytest.mark.parametrize("key", sorted(saved()))
def test_a_part_that_is_missing_is_refused(key):
    data = saved()
    del data[key]
    with pytest.raises(tumble.InputError):
        tumble.Optimizer.from_dict(data)


def test_a_part_that_nobody_knows_is_refused():
    with pytest.raises(tumble.InputError, match=r"the state needs exactly boxed, .*warm"):
        tumble.Optimizer.from_dict({**saved(), "trails": 7})


@pytest.mark.parametrize("key", sorted(set(saved()) - {"boxed"}))
def test_a_part_that_is_damaged_is_refused(key):
    data = saved()
    data[key] = "rubbish"
    with pytest.raises(tumble.InputError):
        tumble.Optimizer.from_dict(data)


def places(data, path=()):
    """The path to every part of a saved state, inner ones too."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


def rich() -> dict:
    space = Space(
        {"rate": Float(1e-4, 1.0, log=True), "teeth": Int(3, 9), "oil": Categorical(("a", "b", "c"))}
    )
    opt = tumble.Optimizer(space, 9, 3, ["heat"], seed=0, settings=TINY)
    opt.tell(opt.ask(), 1.0, [-1.0])
    opt.tell(opt.ask(), failed=True)
    opt.tell(opt.ask(), 2.0, [1.0])
    opt.ask()
    return opt.to_dict()


RICH = json.dumps(rich())
PLACES = list(places(json.loads(RICH)))
RUBBISH = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.floats(),
    st.just(10**400),
    st.text(max_size=4),
    st.just([]),
    st.just({}),
    st.just([[1.0]]),
    st.just({"law": "Gamma"}),
)


@given(st.sampled_from(PLACES), st.sampled_from(["drop", "swap", "add"]), RUBBISH)
@effort(max_examples=300)
def test_damage_anywhere_inside_is_refused_by_name_or_harmless(place, kind, rubbish):
    data = json.loads(RICH)
    *path, key = place
    home = data
    for step in path:
        home = home[step]
    if kind == "drop":
        del home[key]
    elif kind == "swap":
        home[key] = rubbish
    elif isinstance(home, dict):
        home["unheard"] = rubbish
    else:
        home.append(rubbish)
    try:
        opt = tumble.Optimizer.from_dict(data)
    except tumble.InputError:
        return
    assert json.dumps(opt.to_dict(), allow_nan=False)
    if kind == "swap" and place[0] in ("trials", "failures", "history", "warm"):
        with contextlib.suppress(tumble.TumbleError):
            opt.ask()


@pytest.mark.parametrize(
    ("place", "rubbish", "message"),
    [
        (("history", 0, "u", 0), None, "a coordinate must be a number, not None"),
        (("history", 0, "u", 0), 1.5, r"the coordinates of trial 0 must lie in \[0, 1\]"),
        (("history", 0, "number"), 3, "the suggestion of trial 3 is called 0"),
        (("history", 0, "status"), "lost", "status must be .pending., .told., .skipped. or .voided."),
        (("history", 0, "constraints"), [1.0, 2.0], "trial 0 has 2 constraints"),
        (("history", 1, "value"), 1.0, "trial 1 failed and has a value"),
        (("history", 0, "suggestion", "why"), 3, "why must be text, not 3"),
        (("history", 0, "suggestion", "number"), 2, "the suggestion of trial 0 is called 2"),
        (("history", 0), {}, "a trial needs exactly billed, constraints, crashed"),
        (("warm", "objective", "variance"), -1.0, "variance must be above 0, not -1.0"),
        (("warm", "objective", "lengthscales"), [1.0], "5 lengthscales are expected, not 1"),
        (("warm", "objective", "lengthscales"), 1.0, "lengthscales must be a list, not 1.0"),
        (
            ("warm", "laws"),
            [{"width": 1.0, "freedom": None}] * 9,
            "there are 9 laws, and hyperparameters of 1",
        ),
        (("warm", "objective", "additive"), 2.0, r"additive must be a number from 0 to 1, not 2.0"),
        (("settings", "objective", "variance", "sigma"), -1.0, "settings.objective: variance"),
        (("settings", "objective", "lengthscale", "common"), -1.0, "settings.objective: lengthscale"),
        (("boxed",), True, '"boxed" is true, but the parameters are not the plain floats'),
        (("space", "teeth", "low"), 99, "parameter 'teeth': low must be below high"),
    ],
)
def test_the_damage_is_named(place, rubbish, message):
    data = json.loads(RICH)
    *path, key = place
    home = data
    for step in path:
        home = home[step]
    home[key] = rubbish
    with pytest.raises(
        tumble.InputError, match=f"saved Optimizer is damaged .*{message}.*pass what to_dict gave"
    ):
        tumble.Optimizer.from_dict(data)


def test_numbers_may_have_gaps_but_must_rise():
    data = saved()
    del data["history"][1]
    data["history"].append({**data["history"][0], "number": 7, "suggestion": None})
    back = tumble.Optimizer.from_dict(data)
    assert back.ask().number == 8
    back.skip(8)
    back.tell([0.5], 1.0, [-1.0])
    assert [(t.number, t.status) for t in back.trials] == [
        (0, "told"),
        (7, "told"),
        (8, "skipped"),
        (9, "told"),
    ]
    with pytest.raises(tumble.InputError, match="there is no trial 1; 4 trials were asked or told so far"):
        back.skip(1)
    data["history"].reverse()
    with pytest.raises(tumble.InputError, match=r"the numbers of the trials must rise, not \[7, 0\]"):
        tumble.Optimizer.from_dict(data)


def steep(x):
    """A value over five decades, and a limit between -1 and 0 where it is safe and up to 600 beyond."""
    return 10.0 ** (5.0 * x[0]) + x[1], [(0.4 / (0.08 + 0.92 * x[1])) ** 4 - 1.0]


def test_warps_are_saved_with_the_hyperparameters_and_the_search_goes_on_with_them() -> None:
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, trials=30, failures=8, constraints=1, seed=0, settings=TINY)
    for u in np.random.default_rng(0).random((14, 2)):
        opt.tell(u, *steep(u))
    opt.skip(opt.ask())
    assert opt.fitted is not None
    assert [w.is_linear for w in opt.fitted.warps] == [False, False]
    assert [law.is_normal for law in opt.fitted.laws] == [False]
    again = through_json(opt)
    assert again.fitted == opt.fitted
    same(again.ask(), opt.ask())


@pytest.mark.parametrize(
    ("part", "name", "word"), [("warps", "knee", "knee"), ("laws", "freedom", "freedom")]
)
def test_a_damaged_warp_or_law_is_named(part: str, name: str, word: str) -> None:
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, trials=30, failures=8, constraints=1, seed=0, settings=TINY)
    for u in np.random.default_rng(0).random((8, 2)):
        opt.tell(u, *steep(u))
    opt.ask()
    data = opt.to_dict()
    data["warm"][part][0][name] = -1.0
    with pytest.raises(tumble.InputError, match=name):
        tumble.Optimizer.from_dict(data)
