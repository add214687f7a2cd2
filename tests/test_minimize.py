"""`tumble.minimize`: what fun may return and raise, x0, callbacks, progress, budgets."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from scipy.optimize import Bounds, NonlinearConstraint

import tumble
from tumble.space import Categorical, Float, Int, Space

LinearConstraint: Any = optimize.LinearConstraint
TINY = tumble.Settings(raw_samples=16, restarts=2, grid=16, n_minima=4)
BOX = [(-5.0, 5.0), (0.0, 10.0)]


def bowl(x) -> float:
    return float((x[0] - 1.0) ** 2 + 0.1 * (x[1] - 3.0) ** 2)


def run(fun, trials=6, **more):
    more.setdefault("seed", 0)
    more.setdefault("settings", TINY)
    return tumble.minimize(fun, BOX, trials, **more)


def test_a_plain_function_is_minimised():
    res = run(bowl, 20)
    assert res.success
    assert res.fun == bowl(res.x) < 0.5
    assert (res.n_told, res.n_failures, len(res.trials)) == (20, 0, 20)
    assert res.message == "all trials are used"
    assert len(res.constraints) == 0
    assert res.recommended.reached


@pytest.mark.parametrize(
    "returned",
    [
        lambda v, g: (v, g),
        lambda v, g: tumble.Outcome(v, g),
        lambda v, g: (np.float32(v), np.array(g)),
        lambda v, g: (v, {"a": g[0], "b": g[1]}),
    ],
)
def test_constraints_may_come_in_any_shape_and_are_counted_by_the_first_trial(returned):
    res = run(lambda x: returned(bowl(x), [x[0], -1.0]), 8)
    assert all(len(t.constraints) == 2 for t in res.trials)
    assert res.n_failures == sum(t.x[0] > 0.0 for t in res.trials)
    if res.success:
        assert res.constraints[0] <= 0.0


def test_a_failure_is_a_crash_with_its_reason():
    def fun(x):
        if x[0] > 0.0:
            raise tumble.Failure("bit broke")
        return bowl(x)

    res = run(fun, 8, failures=8)
    crashed = [t for t in res.trials if t.crashed]
    assert crashed
    assert {t.reason for t in crashed} == {"bit broke"}
    assert res.n_failures == len(crashed)
    assert all(t.value is None for t in crashed)


@pytest.mark.parametrize(
    ("error", "reason"), [(ValueError("no contact"), "no contact"), (TimeoutError(), "TimeoutError")]
)
def test_a_failure_may_have_an_exception_as_its_reason(error, reason):
    def fun(x):
        raise tumble.Failure(error)

    res = run(fun, 2)
    assert [t.reason for t in res.trials] == [reason] * 2
    assert res.n_failures == 2


def test_a_failure_may_carry_what_was_measured():
    def fun(x):
        raise tumble.Failure("stopped", constraints=[2.0, None, float("nan")])

    res = run(fun, 2)
    assert res.trials[0].constraints == (2.0, None, None)
    assert not res.success
    assert res.message.endswith("nothing safe was seen")
    assert (res.x, res.fun, res.constraints) == (None, None, None)
    assert not res.recommended.reached


@pytest.mark.parametrize(
    ("returned", "reason", "kept"),
    [
        (float("nan"), "returned nan", ()),
        (np.inf, "returned inf", ()),
        (np.float32("nan"), "returned nan", ()),
        (Decimal("sNaN"), "returned nan", ()),
        (-(10**400), "returned -inf", ()),
        ((1.0, [Decimal("Infinity"), -2.0]), "returned inf", (None, -2.0)),
        (np.array([np.nan]), "returned nan", ()),
        ((np.nan, [1.0, -2.0]), "returned nan", (1.0, -2.0)),
        ((1.0, [-np.inf, -2.0]), "returned -inf", (None, -2.0)),
        ((np.nan, {"a": -1.0, "b": np.nan}), "returned nan", (-1.0, None)),
        (tumble.Outcome(np.nan, [3.0]), "returned nan", (3.0,)),
    ],
)
def test_a_value_that_is_not_finite_is_a_crash(returned, reason, kept):
    trial = run(lambda x: returned, 1).trials[0]
    assert trial.crashed
    assert trial.reason == reason
    assert trial.constraints == kept


def test_a_violation_without_a_value_is_not_a_crash():
    res = run(lambda x: tumble.Outcome(None, [1.0]), 2)
    assert not any(t.crashed for t in res.trials)
    assert res.n_failures == 2


class Interrupted(Exception):
    pass


@pytest.mark.parametrize(
    "error",
    [
        Interrupted("power cut"),
        StopIteration(),
        tumble.TrialsExhausted("theirs"),
        tumble.BudgetExhausted("theirs"),
        KeyboardInterrupt(),
        tumble.InputError("theirs"),
    ],
)
def test_any_other_exception_propagates_with_the_result_so_far(error):
    def fun(x):
        if len(seen) == 2:
            raise error
        seen.append(x)
        return bowl(x)

    seen: list = []
    with pytest.raises(type(error)) as raised:
        run(fun, 6)
    assert raised.value is error
    result = error.result
    assert (result.n_told, len(result.trials), result.trials[-1].status) == (2, 3, "skipped")
    assert "interrupted by" in result.message


@pytest.mark.parametrize("x0", [[1.0, 3.0], [[1.0, 3.0]], np.array([[1.0, 3.0], [2.0, 4.0]])])
def test_initial_points_are_tried_first_and_billed(x0):
    points = np.atleast_2d(x0)
    res = run(bowl, 4, x0=x0)
    for trial, point in zip(res.trials, points, strict=False):
        np.testing.assert_allclose(trial.x, point)
        assert trial.billed
    assert res.n_told == 4


@pytest.mark.parametrize("x0", [{"x1": 3.0, "x0": 1.0}, [{"x0": 1.0, "x1": 3.0}, {"x0": 2.0, "x1": 4.0}]])
def test_initial_points_of_a_box_may_have_names(x0):
    points = x0 if isinstance(x0, list) else [x0]
    res = run(bowl, 3, x0=x0)
    for trial, point in zip(res.trials, points, strict=False):
        np.testing.assert_array_equal(trial.x, [point["x0"], point["x1"]])


@pytest.mark.parametrize(
    "given", [lambda table: table, lambda table: table.iloc[0], lambda table: [table.iloc[0]]]
)
def test_a_start_from_pandas_goes_by_its_labels(given):
    space = Space({"temp": Float(0, 100), "press": Float(0, 100)})
    tried = []

    def cost(x):
        tried.append(x)
        return x["temp"]

    tumble.minimize(cost, space, 1, x0=given(pd.DataFrame({"press": [5.0], "temp": [90.0]})), seed=0)
    assert tried == [{"temp": 90.0, "press": 5.0}]


def test_a_start_of_a_box_from_pandas_goes_by_position():
    res = run(bowl, 1, x0=pd.Series({"speed": 1.0, "feed": 3.0}))
    np.testing.assert_array_equal(res.trials[0].x, [1.0, 3.0])


def test_a_start_of_a_box_from_pandas_goes_by_labels_that_are_the_names_of_the_box():
    row = {"x1": 3.0, "x0": 1.0}
    for given in (row, pd.Series(row), pd.DataFrame([row]), [pd.Series(row)], [[1.0, 3.0], pd.Series(row)]):
        np.testing.assert_array_equal(run(bowl, 2, x0=given).trials[0].x, [1.0, 3.0])
    assert run(bowl, 1, x0=pd.DataFrame()).n_told == 1


def test_constraints_from_pandas_go_by_their_labels():
    def limited(x):
        limits = pd.Series({"heat": -5.0, "torque": -3.0})
        return bowl(x), limits if x[0] > 0.0 else limits[::-1]

    res = run(limited, 6, failures=6)
    assert {trial.constraints for trial in res.trials} in ({(-5.0, -3.0)}, {(-3.0, -5.0)})


def test_initial_points_obey_a_hard_budget():
    def fun(x):
        seen.append(x)
        raise tumble.Failure("broke")

    seen: list = []
    res = run(fun, 6, failures=1, x0=[[1.0, 3.0], [2.0, 4.0], [3.0, 5.0]], on_exhausted="stop")
    assert len(seen) == 1
    assert res.n_failures == 1
    assert res.message.startswith("the budget of failures is spent")


def test_a_hard_budget_of_nothing_is_refused_before_anything_runs():
    with pytest.raises(tumble.InputError, match=r'lets no trial start.*use on_exhausted="safe"'):
        run(pytest.fail, 6, failures=0, x0=[[1.0, 3.0]], on_exhausted="stop")


def test_failures_that_can_not_be_compared_are_refused_in_a_sentence():
    with pytest.raises(tumble.InputError, match="failures must be a whole number of at least 0, not array"):
        run(pytest.fail, 6, failures=np.array([1, 2]))


@pytest.mark.parametrize(
    ("returned", "came"),
    [(None, "None"), ("oops", "'oops'"), (True, "True"), (("a", [1.0]), r"\('a'"), ((1, 2, 3), "3 values")],
)
def test_what_fun_may_return_is_said_where_it_returns_something_else(returned, came):
    with pytest.raises(
        tumble.InputError, match=f"fun must return a number.*not {came}.*raise tumble.Failure"
    ):
        run(lambda x: returned, 3)


def test_a_callback_that_cannot_be_called_is_refused_before_anything_runs():
    with pytest.raises(tumble.InputError, match="callback must be callable or None, not 3"):
        run(pytest.fail, 3, callback=3)


def test_constraints_that_change_their_number_are_refused_with_a_remedy():
    counts = iter([2, 1])
    with pytest.raises(
        tumble.InputError, match=r"expected 2 constraints .*got 1; every trial gives the same"
    ):
        run(lambda x: (1.0, [-1.0] * next(counts)), 3)


def test_a_hard_budget_is_never_exceeded():
    res = run(lambda x: (bowl(x), [1.0]), 12, failures=3, on_exhausted="stop")
    assert (res.n_told, res.n_failures) == (3, 3)
    assert "budget" in res.message


def test_a_soft_budget_uses_every_trial_while_it_holds():
    calls = iter([-1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0])
    res = run(lambda x: (bowl(x), [next(calls, -1.0)]), 12, failures=2)
    assert (res.n_told, res.n_failures) == (12, 2)


@pytest.mark.parametrize("seed", range(3))
def test_with_one_failure_to_spend_the_search_does_not_end_with_its_first_step(seed):
    def disk(x):
        if np.hypot(x[0] - 0.5, x[1] - 0.4) > 0.35:
            raise tumble.Failure("stalled")
        return float((x[0] - 0.7) ** 2 + (x[1] - 0.5) ** 2)

    result = tumble.minimize(disk, [(0.0, 1.0)] * 2, trials=20, failures=1, x0=[0.5, 0.3], seed=seed)
    assert result.nfev == 20
    assert result.fun < 0.01 < disk([0.5, 0.3])


def test_a_soft_budget_ends_with_one_failure_beyond_it():
    calls = iter([-1.0] * 6)
    res = run(lambda x: (bowl(x), [next(calls, 1.0)]), 16, failures=2, settings=replace(TINY, delta=None))
    assert (res.n_told, res.n_failures, res.success) == (9, 3, True)
    assert res.message.startswith(
        "3 trials failed where 2 may; unless trials of your own, or a changed budget"
    )


def test_while_nothing_was_safe_even_a_soft_budget_ends_with_its_failures():
    res = run(lambda x: (bowl(x), [1.0]), 12, failures=3)
    assert (res.n_told, res.n_failures, res.success) == (3, 3, False)
    assert res.message == "3 trials failed and no failure is left; nothing safe was seen"
    res = run(lambda x: (bowl(x), [1.0]), 5, failures=0)
    assert res.n_told == 1  # B = 0: the first trial has to be made


def test_the_callback_sees_every_trial_and_may_stop():
    seen = []

    def callback(result):
        seen.append(result.n_told)
        assert result.recommended is None
        if len(seen) == 3:
            raise StopIteration

    res = run(bowl, 10, callback=callback)
    assert seen == [1, 2, 3]
    assert res.n_told == 3
    assert res.message == "stopped by the callback"


def test_progress_is_silent_unless_asked_for(capsys):
    run(bowl, 3)
    assert capsys.readouterr() == ("", "")
    run(lambda x: (bowl(x), [x[0]]), 3, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "3/3" in err
    assert "failures" in err
    assert err.endswith("\n")


def test_one_seed_gives_one_result():
    a, b = (run(lambda x: (bowl(x), [x[0]]), 6, seed=4) for _ in range(2))
    np.testing.assert_array_equal([t.x for t in a.trials], [t.x for t in b.trials])


def test_the_function_may_change_its_argument():
    def fun(x):
        value = bowl(x)
        x[:] = 99.0
        return value

    res = run(fun, 4, x0=[1.0, 3.0])
    np.testing.assert_allclose(res.trials[0].x, [1.0, 3.0])
    assert all(abs(t.x[0]) <= 5.0 for t in res.trials)


@pytest.mark.parametrize(
    ("fun", "more", "message"),
    [
        (3, {}, "fun must be callable"),
        (bowl, {"x0": [1.0]}, "expected 2 values"),
        (bowl, {"x0": [[1.0, 3.0]] * 7}, "x0 holds 7 points, and trials is 6; give more trials"),
        (bowl, {"x0": [1.0, 300.0]}, "x1"),
        (bowl, {"x0": [np.nan, 3.0]}, "x0"),
        (bowl, {"x0": ["a", "b"]}, "x0"),
        (bowl, {"x0": [[1.0, 3.0], [1.0]]}, "x0|expected"),
        (lambda x: "fast", {}, "fun must return a number"),
        (lambda x: (1.0, 2.0, 3.0), {}, "not 3 values"),
        (lambda x: (1.0,), {}, "not 1 value;"),
        (lambda x: None, {}, "fun must return a number"),
        (lambda x: (1.0, [1.0]), {"method": "xs"}, "takes no constraints"),
        (bowl, {"method": "genetic"}, "method must be one of"),
        (bowl, {"x0": {"x0": 1.0}}, "x1"),
        (bowl, {"constraints": "x0<=1"}, "not 'x0<=1'; a text goes to known"),
        (bowl, {"constraints": ["x0<=1"]}, "not 'x0<=1'; a text goes to known"),
        (bowl, {"progress": "yes"}, "progress must be true or false, not 'yes'"),
        (bowl, {"disp": "yes"}, "disp must be true or false, not 'yes'"),
        (
            lambda x: 1.7e308,
            {},
            r"value must be at most 1e\+300 in size, not 1.7e\+308; .*raise tumble.Failure",
        ),
        (lambda x: (1.0, [-1.7e308]), {}, r"constraint g0 must be at most 1e\+300 in size"),
    ],
)
def test_bad_input_says_what_was_expected(fun, more, message):
    with pytest.raises(tumble.InputError, match=message):
        run(fun, **more)


# -- when to stop -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [{"failures": 1}, {"failures": 5, "boldness": 0.0}])
def test_min_gain_does_not_end_a_careful_search_before_it_has_moved(budget):
    def bowl(x):
        return float(np.mean((x - 0.8) ** 2)), [-1.0]

    result = tumble.minimize(
        bowl, [(0.0, 1.0)] * 2, trials=60, x0=[0.25, 0.25], seed=0, min_gain=0.01, **budget
    )
    assert result.fun < 0.01
    assert result.n_told < 60


def test_min_gain_ends_the_search_where_too_little_is_left():
    def bowl(x):
        return float(np.sum((x - 0.3) ** 2))

    result = tumble.minimize(bowl, [(0.0, 1.0)] * 2, trials=40, seed=0, min_gain=1e-2)
    assert result.n_told < 40
    assert "less than min_gain = 0.01" in result.message
    assert re.match(r"the trials left gain at most [\de.-]+ \(90 %\)", result.message)
    assert result.fun < 1e-2
    last = result.trials[-1].suggestion
    assert last is not None
    assert last.gain_bound is not None
    assert last.gain_bound < 1e-2


@pytest.mark.parametrize(("least", "message"), [(0.0, "above 0"), (-1, "above 0"), ("1", "a number")])
def test_a_min_gain_that_is_no_number_above_zero_is_refused(least, message):
    with pytest.raises(tumble.InputError, match=f"min_gain must be {message}, not"):
        tumble.minimize(lambda x: 0.0, [(0.0, 1.0)], trials=3, min_gain=least)


# -- the habits of SciPy -----------------------------------------------------------------------------------


def test_bounds_args_and_constraint_objects_are_those_of_scipy():
    def fun(x, a, b):
        assert isinstance(x, np.ndarray)
        return bowl(x) + a - b

    bounds = Bounds([-5.0, 0.0], [5.0, 10.0])
    limits = [LinearConstraint([1.0, 1.0], -np.inf, 3.0), NonlinearConstraint(lambda x: x[0], -2.0, 0.5)]
    res = tumble.minimize(fun, bounds, 8, seed=0, settings=TINY, args=(2.0, 1.0), constraints=limits)
    assert all(t.x.sum() <= 3.0 and -2.0 <= t.x[0] <= 0.5 for t in res.trials)
    assert res.fun == pytest.approx(bowl(res.x) + 1.0)
    single = tumble.minimize(lambda x, a: bowl(x) + a, bounds, 2, seed=0, settings=TINY, args=5.0)
    assert single.fun == pytest.approx(bowl(single.x) + 5.0)


def test_known_constraints_may_be_text_and_objects():
    res = run(bowl, 6, known=["x0 + x1 <= 3", LinearConstraint([1.0, 0.0], -1.0, 1.0)])
    assert all(t.x.sum() <= 3.0 and abs(t.x[0]) <= 1.0 for t in res.trials)
    assert all(t.x.sum() <= 3.0 for t in run(bowl, 4, known="x0 + x1 <= 3").trials)
    assert all(t.x[0] <= 1.0 for t in run(bowl, 4, known=LinearConstraint([1.0, 0.0], -5.0, 1.0)).trials)


def test_a_start_that_breaks_what_is_known_is_refused_before_anything_runs():
    with pytest.raises(
        tumble.InputError, match=r'x0 = 4, x1 = 3 does not keep "x0 \+ x1 <= 3", which is known'
    ):
        run(pytest.fail, 6, known="x0 + x1 <= 3", x0=[4.0, 3.0])


def test_a_space_hands_out_settings_by_name():
    space = Space({"rate": Float(0.1, 10.0, log=True), "n": Int(1, 5), "kind": Categorical(("a", "b"))})

    def fun(setting):
        assert list(setting) == ["rate", "n", "kind"]
        assert isinstance(setting["n"], int)
        value = np.log(setting["rate"]) ** 2 + setting["n"] + (setting["kind"] == "a")
        setting.clear()
        return value

    start = {"rate": 2.0, "n": 2, "kind": "b"}
    for x0 in (start, [start], [[2.0, 2, "b"]], [2.0, 2, "b"]):
        res = tumble.minimize(fun, space, 4, x0=x0, seed=0, settings=TINY, known="n * rate <= 20")
        assert res.trials[0].x == {**start, "rate": pytest.approx(2.0)}
        assert set(res.x) == set(start)
        assert res.nit == 3


def test_the_callback_may_take_its_argument_by_name_as_in_scipy():
    seen = []

    def callback(*, intermediate_result):
        seen.append((intermediate_result.nfev, intermediate_result.status, intermediate_result.message))

    run(bowl, 3, callback=callback)
    assert seen == [(1, -1, "running"), (2, -1, "running"), (3, -1, "running")]
    run(bowl, 2, callback=print)


def test_a_result_counts_and_says_why_it_ended():
    res = run(bowl, 5, x0=[[1.0, 3.0], [2.0, 4.0]])
    assert (res.nfev, res.nit, res.status, res.success) == (5, 3, 0, True)
    assert run(lambda x: (bowl(x), [1.0]), 12, failures=3, on_exhausted="stop").status == 2
    assert run(lambda x: (bowl(x), [1.0]), 12, failures=3).status == 2


def test_disp_prints_the_result_and_nothing_else_does(capsys):
    res = run(bowl, 3, disp=True)
    assert capsys.readouterr().out == f"{res}\n"
    with pytest.raises(tumble.InputError, match="disp must be true or false, not 3"):
        run(bowl, 3, disp=3)


@pytest.mark.parametrize("dim", [2, 50])
def test_a_result_prints_in_a_dozen_lines(dim):
    res = tumble.minimize(
        lambda x: (float(x @ x), [-1.0] * 50), [(0.0, 1.0)] * dim, 2, 1, seed=0, settings=TINY
    )
    lines = str(res).splitlines()
    assert len(lines) < 20
    assert max(map(len, lines)) < 200
    assert lines[0] == "     message: all trials are used"
    assert repr(res) == str(res)


def test_a_result_shows_the_first_of_many_names():
    wide = Space({f"p{j}": Float(0.0, 1.0) for j in range(30)})
    res = tumble.minimize(lambda p: p["p0"], wide, 2, seed=0, settings=TINY)
    assert "… 22 more" in str(res)


def test_a_result_without_a_safe_trial_prints(capsys):
    res = run(lambda x: (bowl(x), [1.0]), 2)
    assert "x: None" in str(res)
    assert "the safest that is known" in str(res)


def test_where_no_value_was_seen_none_is_predicted():
    result = tumble.minimize(lambda x: np.nan, [(-1.0, 1.0)] * 2, trials=3, failures=3, seed=0)
    assert "no value was seen yet" in repr(result)
    assert "±" not in repr(result)


def test_the_setting_of_a_result_is_ones_own_to_work_with():
    result = tumble.minimize(lambda x: float(x[0]), [(0.0, 1.0)], trials=2, seed=0)
    x, best = result.x, result.x.copy()
    x *= 1000.0
    np.testing.assert_array_equal(min(result.trials, key=lambda t: t.value).x, best)


@pytest.mark.parametrize("x0", [[0.5, -0.5], [[0.5, -0.5], [0.1, 0.2]]])
def test_bounds_of_single_numbers_are_those_of_every_dimension_of_x0(x0):
    result = tumble.minimize(lambda x: float(x @ x), Bounds(-1, 1), x0=x0, trials=3, seed=0)
    assert result.x.shape == (2,)
    assert tumble.minimize(lambda x: float(x @ x), Bounds(-1, 1), trials=2, seed=0).x.shape == (1,)


def test_parallel_without_workers_is_refused():
    with pytest.raises(tumble.InputError, match="parallel = 2 needs as many workers, and workers is 1"):
        tumble.minimize(lambda x: 0.0, [(0.0, 1.0)], trials=2, parallel=2)
    assert tumble.minimize(lambda x: 0.0, [(0.0, 1.0)], trials=2, parallel=1).nfev == 2
